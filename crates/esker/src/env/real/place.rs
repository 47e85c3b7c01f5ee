//! Where a file lies: a name in an open directory, or a path from wherever the process stands.
//!
//! Nothing that lies in the directory of a database is followed out of it: a symbolic link where a
//! file should be is refused, whoever put it there. (The way to the directory may lead over links.)
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use crate::base::types::error::Error;
use crate::env::real::descriptors::{above_streams, patiently};
use crate::env::real::system::raw_mode;

/// Mode of new files: what a database holds is nobody else's to read.
pub const FILE_MODE: u16 = 0o600;

/// By what a directory calls itself.
pub const SELF: &str = ".";

/// Where one file lies.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    dir: BorrowedFd<'a>,
    name: &'a Path,
    path: &'a Path,
}

impl<'a> Place<'a> {
    /// The file `name` of an open directory; messages call it `path`.
    pub fn within(dir: &'a impl AsFd, name: &'a Path, path: &'a Path) -> Place<'a> {
        let dir = dir.as_fd();
        Place { dir, name, path }
    }

    /// Whether the place is the open directory itself.
    pub fn is_held_dir(&self) -> bool {
        self.name == Path::new(SELF) && self.path != self.name
    }

    /// The directory of the place, for calls that exist only there.
    pub fn dir(&self) -> BorrowedFd<'a> {
        self.dir
    }

    /// The name in that directory.
    pub fn name(&self) -> &'a Path {
        self.name
    }

    /// What messages call the file.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// An error of the operating system about this place.
    #[track_caller]
    pub fn error(&self, doing: &str, cause: impl Into<io::Error>) -> Error {
        let cause = cause.into();
        // `O_NOFOLLOW` has no message of its own, and what others put here nobody else removes.
        let is_link = cause.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        let error = match is_link {
            true => Error::io(
                format!(
                    "{doing}: a symbolic link is not followed; move it away, or put the file that \
                     it names in its place"
                ),
                cause,
            ),
            false => Error::io(doing, cause),
        };
        error.in_file(self.path.display())
    }

    /// Opens the file; a symbolic link is refused.
    pub fn open(&self, flags: OFlags) -> io::Result<File> {
        // A pipe that somebody put in a file's place would keep us waiting for its other end;
        // opened so it is an empty file, and for files the flag means nothing.
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mode = Mode::from_raw_mode(raw_mode(FILE_MODE));
        let opened = patiently(|| Ok(retry_on_intr(|| openat(self.dir, self.name, flags, mode))?));
        opened.and_then(above_streams)
    }

    /// What the system knows of the file, or of a symbolic link in its place.
    pub fn stat(&self) -> rustix::io::Result<Stat> {
        retry_on_intr(|| statat(self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Removes the file.
    pub fn remove(&self) -> rustix::io::Result<()> {
        unlinkat(self.dir, self.name, AtFlags::empty())
    }
}

impl<'a> From<&'a Path> for Place<'a> {
    fn from(path: &'a Path) -> Place<'a> {
        Place::within(&CWD, path, path)
    }
}
