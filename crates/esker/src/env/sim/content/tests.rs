//! Tests of `content`.

use std::collections::BTreeSet;

use super::*;
use crate::env::sim::crash::CrashMode;

// The images of many power cuts in one mode.
fn images(content: &Content, mode: CrashMode, call_count: u64) -> BTreeSet<Vec<u8>> {
    (0..500)
        .map(|seed| {
            let image = content.image(&mut Survival::new(mode, seed, call_count));
            let mut bytes = vec![0; usize::try_from(image.len()).unwrap()];
            image.read(0, &mut bytes);
            bytes
        })
        .collect()
}

// A synced file of three sectors of 1, whose first two sectors were overwritten twice.
fn rewritten() -> Content {
    let mut content = Content::default();
    content.write(1, 0, &[1; 1536]);
    content.sync();
    content.write(3, 0, &[2; 1024]);
    content.write(4, 0, &[3; 1024]);
    content
}

fn sectors(values: [u8; 3]) -> Vec<u8> {
    values.iter().flat_map(|value| [*value; 512]).collect()
}

#[test]
fn unsynced_sectors_survive_each_on_its_own() {
    // Every mixture of old, middle and new is met; the synced third sector never changes.
    let found = images(&rewritten(), CrashMode::Sectors, 4);
    let mut expected = BTreeSet::new();
    for first in 1..=3 {
        expected.extend((1..=3).map(|second| sectors([first, second, 1])));
    }
    assert_eq!(found, expected);
}

#[test]
fn pages_survive_whole() {
    // The two sectors lie in one page, so they are always of the same age.
    let found = images(&rewritten(), CrashMode::Pages, 4);
    let expected = [1, 2, 3].map(|age| sectors([age, age, 1]));
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn only_the_call_in_flight_is_torn() {
    // An ordered disk: old and middle may mix, middle and new may, old and new never.
    let found = images(&rewritten(), CrashMode::Prefix, 4);
    let pairs = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3)];
    let expected = pairs.map(|(first, second)| sectors([first, second, 1]));
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn the_plain_modes_have_one_image() {
    // Nothing or everything.
    let content = rewritten();
    let lost = images(&content, CrashMode::LoseUnsynced, 4);
    assert_eq!(lost, BTreeSet::from([sectors([1, 1, 1])]));
    let kept = images(&content, CrashMode::KeepAll, 4);
    assert_eq!(kept, BTreeSet::from([sectors([3, 3, 1])]));
}

#[test]
fn an_unsynced_size_may_cover_sectors_that_were_lost() {
    // The size reached the disk and the bytes did not: zeros, as after delayed allocation.
    let mut content = Content::default();
    content.write(1, 0, &[1; 700]);
    let found = images(&content, CrashMode::Sectors, 1);
    for expected in [vec![], vec![0; 700], vec![1; 700]] {
        assert!(found.contains(&expected));
    }
    let half: Vec<u8> = [vec![1; 512], vec![0; 188]].concat();
    assert!(found.contains(&half));
}

#[test]
fn a_truncation_happens_whole_or_not_at_all() {
    // Old bytes never show in the new file.
    let mut content = rewritten();
    content.sync();
    content.truncate(6);
    content.write(7, 0, &[9; 512]);
    for mode in CrashMode::ALL {
        for image in images(&content, mode, 7) {
            let is_old = image == sectors([3, 3, 1]);
            let is_new = image.is_empty() || image == [0; 512] || image == [9; 512];
            assert!(is_old || is_new, "{mode:?}");
        }
    }
    content.sync();
    let lost = images(&content, CrashMode::LoseUnsynced, 7);
    assert_eq!(lost, BTreeSet::from([vec![9; 512]]));
}

#[test]
fn a_failed_sync_loses_what_a_later_one_does_not_bring_back() {
    // Processes still see the bytes, the second sync succeeds, and the power cut shows the loss.
    let mut random = Random::new(5);
    let mut content = Content::default();
    content.write(1, 0, &[1; 512 * 64]);
    content.sync();
    content.write(2, 0, &[2; 512 * 64]);
    content.fail_sync(&mut random);
    assert_eq!(content.now().sector(63), [2; 512]);
    content.write(3, 0, &[3; 512]);
    content.sync();
    let image = images(&content, CrashMode::KeepAll, 3).pop_first().unwrap();
    assert_eq!(image[..512], [3; 512]);
    assert!(image[512..].contains(&1) && image[512..].contains(&2));
}
