//! Tests of how bytes divide.

use super::*;
use crate::make::prose::Prose;
use crate::target::embedded::Esker;
use crate::target::settings::StoreSettings;
use crate::target::store::{Engine, Opened, WriteHow};

fn filled(compression: &str) -> Vec<(String, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let settings = StoreSettings {
        own: [
            ("compression", compression),
            ("sst.dictionary_min", "64KiB"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec(),
        ..StoreSettings::default()
    };
    let Opened { store, .. } = Esker.open(dir.path(), &settings).unwrap();
    let mut prose = Prose::new(400, 1);
    for _ in 0..400 {
        let (key, text) = prose.next_record();
        store.put(&key, &text, WriteHow::default()).unwrap();
    }
    store.flush().unwrap();
    store.compact().unwrap();
    store.drain().unwrap();
    store.close().unwrap();
    division(dir.path()).unwrap()
}

#[test]
fn parts_of_a_searchable_file_are_told_one_by_one() {
    // Four hundred texts: most bytes are records, and there are no blocks.
    let division = filled("searchable");
    let names: Vec<&str> = division.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["records", "keys", "dictionary", "rest"]);
    let all: u64 = division.iter().map(|(_, bytes)| bytes).sum();
    assert!(division[0].1 > all / 2, "{division:?}");
}

#[test]
fn files_of_blocks_have_blocks_alone() {
    // The same texts, packed with Zstd.
    let division = filled("zstd");
    let names: Vec<&str> = division.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["blocks", "rest"]);
}
