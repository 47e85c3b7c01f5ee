//! Tests of `bus_errors`.
#![allow(
    clippy::disallowed_methods,
    reason = "files are cut, and processes begun, from outside"
)]

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use super::*;
use crate::env::fs::{MappedFile, Unchanging};
use crate::env::real::map::{MappedBytes, MappedWindow};

const SIZE: usize = 64 << 10;

fn mapped_file() -> (tempfile::TempDir, File) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, vec![1; SIZE]).unwrap();
    let file = File::options().read(true).write(true).open(path).unwrap();
    (dir, file)
}

#[test]
fn a_store_behind_the_end_of_a_cut_file_is_an_error() {
    // The file loses all but its first page. What lies in that page can still be written; what lies
    // behind it cannot, and from then on nothing can. Another window is not concerned.
    let (_dir, file) = mapped_file();
    let (_other_dir, other_file) = mapped_file();
    let mut window = MappedWindow::map(&file, 0, SIZE).unwrap();
    let mut other = MappedWindow::map(&other_file, 0, SIZE).unwrap();
    window.write(40_000, b"before").unwrap();
    file.set_len(4_096).unwrap();
    window.write(0, b"whole").unwrap();
    window.write(40_000, b"behind").unwrap_err();
    window.write(0, b"after").unwrap_err();
    other.write(40_000, b"other").unwrap();
    drop(window);
    // The place is free again, and nothing is left of the failure.
    file.set_len(SIZE as u64).unwrap();
    let mut window = MappedWindow::map(&file, 0, SIZE).unwrap();
    window.write(40_000, b"again").unwrap();
}

const CHILD: &str = "ESKER_BUS_ERRORS_CHILD";

// Runs this test again in a process of its own, which does `work`; how that ended.
fn end_of_child(test: &str, work: fn()) -> ExitStatus {
    if std::env::var_os(CHILD).is_some() {
        work();
        std::process::exit(0);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("env::real::bus_errors::tests::{test}")])
        .arg("--nocapture")
        .env(CHILD, "1")
        .output();
    output.unwrap().status
}

#[test]
fn a_window_that_finds_no_place_is_not_mapped() {
    let work = || {
        let (_dir, file) = mapped_file();
        let windows: Vec<_> = std::iter::repeat_with(|| MappedWindow::map(&file, 0, SIZE))
            .take(SLOTS + 1)
            .filter_map(Result::ok)
            .collect();
        assert_eq!(windows.len(), SLOTS);
        drop(windows);
        MappedWindow::map(&file, 0, SIZE).unwrap();
    };
    let ended = end_of_child("a_window_that_finds_no_place_is_not_mapped", work);
    assert!(ended.success(), "{ended}");
}

#[test]
fn the_signal_of_others_ends_the_process_as_before() {
    // A look behind the end of a cut file through a map that is not guarded, beside one that is.
    let test = "the_signal_of_others_ends_the_process_as_before";
    let fatal = || {
        let (_dir, file) = mapped_file();
        let mut window = MappedWindow::map(&file, 0, SIZE).unwrap();
        let bytes = MappedBytes::map(&file, SIZE, Unchanging::word()).unwrap();
        file.set_len(0).unwrap();
        window.write(0, b"behind").unwrap_err();
        assert_eq!(std::hint::black_box(bytes.bytes(0, 1).unwrap()), [1]);
    };
    assert_eq!(end_of_child(test, fatal).signal(), Some(SIGBUS));
}

#[test]
fn a_handler_that_was_there_before_is_asked() {
    // The program's own handler comes before the first window, and ends the process in its way.
    extern "C" fn own(_signal: c_int) {
        // SAFETY: a handler may end the process by another signal.
        unsafe {
            libc::raise(libc::SIGKILL);
        }
    }
    let test = "a_handler_that_was_there_before_is_asked";
    let fatal = || {
        // SAFETY: a handler without SA_SIGINFO, in a process of its own.
        unsafe { libc::signal(SIGBUS, own as *const () as usize) };
        let (_dir, file) = mapped_file();
        let mut window = MappedWindow::map(&file, 0, SIZE).unwrap();
        file.set_len(0).unwrap();
        window.write(0, b"behind").unwrap_err();
        // SAFETY: a signal to this process.
        unsafe { libc::raise(SIGBUS) };
    };
    assert_eq!(end_of_child(test, fatal).signal(), Some(libc::SIGKILL));
}
