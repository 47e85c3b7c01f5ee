//! The three files of a store: the disk file's directory, the image, and the marks inside them.
//!
//! | path | what it is |
//! |---|---|
//! | `<disk_file>.d/` | an Esker database, and the store's mark `libkvs.store` |
//! | `<disk_file>` | some words about where the values are, unless something lies there already |
//! | `<IMAGE_file>` | the same mark: the store is whole, and which one it is |
//!
//! A mark is text: `libkvs 1`, and on the next line `store ` and the store's identity, written
//! when it is created. What follows is for people. A store can be loaded if and only if image and
//! directory carry the same identity: creating removes the image first and writes it last, so
//! that half a store is never loaded.

use std::path::{Path, PathBuf};

use esker::Error;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::store::names::FileName;

use crate::refusal::Refusal;

/// The mark inside the directory: without it nothing there is removed.
const MARK_NAME: &str = "libkvs.store";

/// First line of every mark; another number would be another layout.
const MARK_HEAD: &str = "libkvs 1";

/// What stands before the identity.
const MARK_STORE: &str = "store ";

/// A mark is a few lines; of a larger file no more than this is looked at.
const MARK_BYTES_MAX: u64 = 4096;

/// Bytes of every image of the original library, whatever is in it.
const ORIGINAL_IMAGE_BYTES: u64 = 360_002_228;

/// The places of one store.
pub struct StoreFiles<'a> {
    env: &'a Env,
    dir: PathBuf,
    disk_path: &'a Path,
    image_path: &'a Path,
}

/// What lies at the path of an image.
#[derive(Debug, PartialEq, Eq)]
enum Image {
    Nothing,
    Empty,
    /// Ours, of the store with this identity.
    Mark(String),
    /// An image of the original library.
    Original,
    Foreign,
}

impl<'a> StoreFiles<'a> {
    /// The places that these paths name.
    pub fn new(
        env: &'a Env,
        dir: PathBuf,
        disk_path: &'a Path,
        image_path: &'a Path,
    ) -> StoreFiles<'a> {
        StoreFiles {
            env,
            dir,
            disk_path,
            image_path,
        }
    }

    /// Makes room for a new store: removes the one that is there, and makes and marks the
    /// directory. Returns the identity for [`StoreFiles::seal`].
    ///
    /// Errors: `Files` when something lies in the directory, or at the image's path, that this
    /// library did not make; nothing was touched then. `Engine` with `Locked` when somebody has the
    /// store open; then it stays as it is.
    pub fn clear(&self) -> Result<String, Refusal> {
        if self.image()? == Image::Foreign {
            return Err(Refusal::Files(format!(
                "{} is there and is no image: remove it, or name another IMAGE_file_path",
                self.image_path.display()
            )));
        }
        for path in [self.disk_path, self.image_path] {
            if !self.fs().exists(parent(path))? {
                return Err(Refusal::Files(format!(
                    "there is no directory for {}",
                    path.display()
                )));
            }
        }
        let fs = self.fs();
        let mark = self.dir.join(MARK_NAME);
        if !fs.exists(&mark)? {
            if fs.exists(&self.dir)? && !fs.list(&self.dir)?.is_empty() {
                return Err(Refusal::Files(format!(
                    "{} is there and was not made by libkvs ({MARK_NAME} is missing): remove it, \
                     or name another disk_file_path",
                    self.dir.display()
                )));
            }
            fs.create_dir_all(&self.dir)?;
            self.write(&mark, "")?;
        }
        // Held to the end, so that nobody opens what is being removed.
        let _lock = fs.lock(&self.dir.join(FileName::Lock.to_string()))?;
        if fs.exists(self.image_path)? {
            fs.remove_file(self.image_path)?;
            fs.sync_dir(parent(self.image_path))?;
        }
        self.remove_database()?;
        let identity = format!(
            "{:x}-{:x}",
            self.env.clock.unix_time().as_nanos(),
            std::process::id()
        );
        self.write(&mark, &mark_text(&identity))?;
        Ok(identity)
    }

    /// Says that the store is whole: from here on it can be loaded.
    pub fn seal(&self, identity: &str) -> Result<(), Refusal> {
        self.note_disk()?;
        let text = format!(
            "{}Without this file the store is not loaded; the keys and values lie in {}\n",
            mark_text(identity),
            self.dir.display()
        );
        self.write(self.image_path, &text)
    }

    /// Whether there is a whole store to load.
    ///
    /// Errors: `Files`, with what is missing and why.
    pub fn check(&self) -> Result<(), Refusal> {
        let image = self.image_path.display();
        let why = |text: String| Err(Refusal::Files(text));
        let identity = match self.image()? {
            Image::Mark(identity) => identity,
            Image::Nothing => {
                return why(format!(
                    "there is no image {image}: INIT_TYPE_LOAD goes on with what \
                     INIT_TYPE_CREATE began"
                ));
            }
            Image::Original => {
                return why(format!(
                    "{image} is an image of the original library, which holds hashes and no keys, \
                     so that it cannot be taken over: read the store with the original, and put \
                     it anew"
                ));
            }
            Image::Empty | Image::Foreign => return why(format!("{image} is no image of libkvs")),
        };
        let mark = self.dir.join(MARK_NAME);
        if !self.fs().exists(&mark)? {
            return why(format!(
                "the image {image} is there, its store {} is not",
                self.dir.display()
            ));
        }
        if read_mark(self.fs(), &mark)?.as_deref() != Some(&identity) {
            return why(format!(
                "{image} belongs to another store than {}, or that was only half created",
                self.dir.display()
            ));
        }
        self.note_disk()
    }

    /// Leaves some words in the disk file. What lies there already is never touched: programs that
    /// were written for the original may have made it long, for its sake.
    fn note_disk(&self) -> Result<(), Refusal> {
        if self.fs().exists(self.disk_path)? && self.fs().file_size(self.disk_path)? > 0 {
            return Ok(());
        }
        let text = format!("The keys and values lie in {}\n", self.dir.display());
        self.write(self.disk_path, &text)
    }

    fn image(&self) -> Result<Image, Refusal> {
        if !self.fs().exists(self.image_path)? {
            return Ok(Image::Nothing);
        }
        match self.fs().file_size(self.image_path)? {
            0 => return Ok(Image::Empty),
            ORIGINAL_IMAGE_BYTES => return Ok(Image::Original),
            _ => {}
        }
        let identity = read_mark(self.fs(), self.image_path)?;
        Ok(identity.map_or(Image::Foreign, Image::Mark))
    }

    /// Only files that the engine names, `CURRENT` first: a removal that was cut short leaves no
    /// database. What else lies there stays.
    fn remove_database(&self) -> Result<(), Refusal> {
        let fs = self.fs();
        let mut names: Vec<FileName> = fs
            .list(&self.dir)?
            .iter()
            .filter_map(|name| FileName::parse(name))
            .filter(|name| *name != FileName::Lock)
            .collect();
        names.sort_by_key(|name| *name != FileName::Current);
        for name in names {
            fs.remove_file(&self.dir.join(name.to_string()))?;
            if name == FileName::Current {
                fs.sync_dir(&self.dir)?;
            }
        }
        Ok(fs.sync_dir(&self.dir)?)
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), Refusal> {
        let mut file = self.fs().create(path)?;
        file.append(text.as_bytes())?;
        file.sync()?;
        Ok(self.fs().sync_dir(parent(path))?)
    }

    fn fs(&self) -> &dyn Fs {
        &*self.env.fs
    }
}

fn mark_text(identity: &str) -> String {
    format!("{MARK_HEAD}\n{MARK_STORE}{identity}\n")
}

/// The identity in a mark; `None` in what is no whole mark.
fn read_mark(fs: &dyn Fs, path: &Path) -> Result<Option<String>, Error> {
    let file = fs.open_read(path)?;
    let len = file.size_bytes().min(MARK_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(len).expect("a few kilobytes")];
    file.read_at(0, &mut bytes)?;
    Ok(parse_mark(&bytes))
}

fn parse_mark(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let rest = text.strip_prefix(MARK_HEAD)?.strip_prefix('\n')?;
    let (identity, _) = rest.strip_prefix(MARK_STORE)?.split_once('\n')?;
    (!identity.is_empty()).then(|| identity.to_owned())
}

/// The directory that a path lies in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests;
