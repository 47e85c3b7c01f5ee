//! Tests of `Announcer`.

use std::sync::Mutex;

use super::*;
use crate::base::types::error::Result;

/// A file that notes what is announced of it.
#[derive(Default)]
struct Noting {
    announced: Mutex<Vec<(u64, u64)>>,
}

impl ReadFile for Noting {
    fn read_at(&self, _: u64, _: &mut [u8]) -> Result<()> {
        unreachable!("nothing is read")
    }

    fn size_bytes(&self) -> u64 {
        1 << 30
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.announced.lock().unwrap().push((offset, len));
    }
}

fn announced(wanted: &[(u64, u64, u64)]) -> Vec<(u64, u64)> {
    let (file, mut announcer) = (Noting::default(), Announcer::default());
    for (number, offset, len) in wanted {
        announcer.announce(&file, FileNumber(*number), *offset, *len);
    }
    file.announced.into_inner().unwrap()
}

#[test]
fn the_same_place_is_announced_once() {
    let twice = [(1, 4_096, 100), (1, 4_096, 100), (1, 4_100, 20)];
    assert_eq!(announced(&twice), [(4_096, 100)]);
}

#[test]
fn neighbours_are_announced_without_a_gap() {
    let neighbours = [(1, 0, 100), (1, 100, 50), (1, 1_000, 10)];
    assert_eq!(announced(&neighbours), [(0, 100), (100, 50), (150, 860)]);
}

#[test]
fn what_lies_far_behind_or_in_front_is_announced_alone() {
    let far = [(1, 0, 100), (1, 1 << 20, 50), (1, 200, 10)];
    assert_eq!(announced(&far), [(0, 100), (1 << 20, 50), (200, 10)]);
}

#[test]
fn places_of_two_files_have_nothing_in_common() {
    let two = [(1, 0, 100), (2, 0, 100), (2, 100, 1)];
    assert_eq!(announced(&two), [(0, 100), (0, 100), (100, 1)]);
}
