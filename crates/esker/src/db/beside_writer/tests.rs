//! When a reader beside a writer begins again, and when it gives up.

use super::*;
use std::io;

fn missing(name: &str) -> Error {
    Error::io("open", io::ErrorKind::NotFound.into()).in_file(name)
}

fn tries(error: impl Fn(usize) -> Error) -> usize {
    let mut tries = Tries::default();
    let mut count = 1;
    while tries.again_after(&error(count)) {
        count += 1;
    }
    count
}

#[test]
fn a_file_that_stays_away_is_missing() {
    assert_eq!(tries(|_| missing("7.wal")), ALIKE_TRIES_MAX);
    let damage = |_| Error::new(ErrorKind::Corruption, "a checksum is wrong");
    assert_eq!(tries(damage), ALIKE_TRIES_MAX);
}

#[test]
fn who_is_overtaken_goes_on_longer() {
    assert_eq!(tries(|count| missing(&format!("{count}.wal"))), TRIES_MAX);
    assert_eq!(tries(|_| Error::new(ErrorKind::Busy, "flushed")), TRIES_MAX);
}

#[test]
fn what_is_no_doing_of_the_writer_ends_it() {
    assert_eq!(tries(|_| Error::new(ErrorKind::Invalid, "no setting")), 1);
}
