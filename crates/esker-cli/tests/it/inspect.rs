//! Inspecting single files: each kind tells what lies in it, whole or damaged.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::tool::{Bench, Ran};

/// A database with many keys in sorted files.
fn bench() -> Bench {
    let bench = Bench::new();
    let lines: String = (0..2000)
        .map(|n| format!("key{n:05}\tvalue {n}\n"))
        .collect();
    bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    bench
}

/// Each line of standard output as JSON.
fn lines(ran: &Ran) -> Vec<Value> {
    let lines = ran.text().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The first sorted file.
fn sorted_file(bench: &Bench) -> PathBuf {
    let files = fs::read_dir(bench.path("db")).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let is_sst = |path: &PathBuf| path.extension().is_some_and(|end| end == "sst");
    paths.into_iter().find(is_sst).unwrap()
}

#[test]
fn sorted_files_tell_properties_and_blocks() {
    // The blocks hold together as many entries as the properties say.
    let bench = bench();
    let text = bench.ok(&["inspect", "sst"]);
    assert!(
        text.text().contains("comparator bytewise"),
        "{}",
        text.text()
    );
    assert!(text.text().contains("\"key00000\" to "), "{}", text.text());
    let found = lines(&bench.ok(&["inspect", "sst", "--json"]));
    let sum = |item: &str| -> u64 {
        let of_kind = found.iter().filter(|line| line["item"] == item);
        of_kind.map(|line| line["entries"].as_u64().unwrap()).sum()
    };
    assert_eq!((sum("properties"), sum("block")), (2000, 2000));
}

#[test]
fn manifests_tell_their_edits() {
    // The sorted file is added by an edit that the dump shows.
    let bench = bench();
    let text = bench.ok(&["inspect", "manifest"]);
    assert!(text.text().starts_with("MANIFEST-"), "{}", text.text());
    assert!(text.text().contains("add file "), "{}", text.text());
    let found = lines(&bench.ok(&["inspect", "manifest", "--json"]));
    assert!(found.iter().any(|line| line["item"] == "head"));
    assert!(found.iter().any(|line| line["item"] == "edit"));
}

#[test]
fn segments_tell_their_batches() {
    // The database is open elsewhere, so the write of one key still lies in its log.
    let bench = Bench::new();
    let db = esker::Db::open(bench.path("db")).unwrap();
    db.put("ship:anna", "in port").unwrap();
    let found = lines(&bench.ok(&["inspect", "wal", "--json"]));
    assert!(!found.is_empty());
    let is_known = |line: &Value| {
        let items = ["head", "mark", "batch"];
        items.iter().any(|item| line["item"] == *item)
    };
    assert!(found.iter().all(is_known), "{found:?}");
    let batch = found.iter().find(|line| line["item"] == "batch").unwrap();
    assert_eq!(batch["entries"][0]["key"], "ship:anna");
    assert_eq!(batch["entries"][0]["value_bytes"], 7);
    let text = bench.ok(&["inspect", "wal"]);
    assert!(text.text().contains(".wal: "), "{}", text.text());
    // What is left of it when the database is closed: the head of one segment.
    db.close().unwrap();
    let left = lines(&bench.ok(&["inspect", "wal", "--json"]));
    assert!(left.iter().all(|line| line["item"] == "head"), "{left:?}");
}

#[test]
fn damage_is_shown_in_its_place_and_is_three() {
    // A byte of the first block changes: that block is told, the others are still shown.
    let bench = bench();
    let path = sorted_file(&bench);
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let ran = bench.run(&["inspect", "sst", name]).exits(3);
    assert!(ran.text().contains("damaged: "), "{}", ran.text());
    assert!(ran.text().contains("comparator bytewise"), "{}", ran.text());
    // Without its footer nothing more can be told than that.
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let found = lines(&bench.run(&["inspect", "sst", name, "--json"]).exits(3));
    assert_eq!((found.len(), &found[0]["item"]), (1, &"damage".into()));
}

#[test]
fn what_is_not_there_cannot_be_inspected() {
    // A kind that is none, a name that fits no file, a file that is missing, no database.
    let bench = bench();
    bench.run(&["inspect", "teapot"]).exits(2);
    bench.run(&["inspect", "sst", "CURRENT"]).exits(1);
    bench.run(&["inspect", "sst", "999999.sst"]).exits(1);
    bench.run(&["inspect", "wal", "--db", "nowhere"]).exits(1);
}
