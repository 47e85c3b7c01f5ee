//! Tests of `run`.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use esker::{Comparator, CustomComparator, Db, KeyspaceOptions, MergeOperator, MergeRule};

use super::*;

struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        right.cmp(left)
    }
}

struct Longest;

impl MergeOperator for Longest {
    fn name(&self) -> &str {
        "longest"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let all = base.into_iter().chain(operands.iter().copied());
        let longest = all.max_by_key(|value| value.len());
        Ok(longest.unwrap_or_default().to_vec())
    }

    fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

fn backwards() -> Comparator {
    Comparator::Custom(Arc::new(Backwards))
}

fn longest() -> MergeRule {
    MergeRule(Arc::new(Longest))
}

fn make(dir: &Path) {
    let builder = Db::builder(dir).known_comparator(backwards());
    let db = builder.known_merge_operator(longest()).open().unwrap();
    let options = KeyspaceOptions::default().comparator(backwards());
    let ships = db
        .keyspace_with("ships", options.merge_operator(longest()))
        .unwrap();
    ships.put("anna", "1").unwrap();
    ships.merge("anna", "22").unwrap();
    db.close().unwrap();
}

fn told(plugins: Plugins, dir: &Path, words: &[&str]) -> Result<(), String> {
    let dir = dir.to_str().unwrap();
    let begin = ["esker", "--db", dir, "--keyspace", "ships"];
    let words = begin.iter().chain(words).map(OsString::from);
    carry_out_words(plugins, words).map_err(|failure| format!("{failure:?}"))
}

#[test]
fn a_program_with_plugins_reads_what_the_tool_alone_refuses() {
    // A database with an order and an operator of its program's: the tool names what it lacks, and
    // with both it reads, writes, copies, verifies and repairs.
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("db");
    make(&db);
    let error = told(Plugins::default(), &db, &["count"]).unwrap_err();
    assert!(error.contains("backwards"), "{error}");
    let ordered = Plugins::default().comparator(backwards());
    let error = told(ordered.clone(), &db, &["count"]).unwrap_err();
    assert!(error.contains("longest"), "{error}");
    let plugins = ordered.merge_operator(longest());
    let copy = dir.path().join("copy");
    let copy = copy.to_str().unwrap();
    let commands: [&[&str]; 7] = [
        &["get", "anna"],
        &["put", "bela", "2"],
        &["scan"],
        &["compact"],
        &["checkpoint", copy],
        &["verify"],
        &["repair"],
    ];
    for words in commands {
        let done = told(plugins.clone(), &db, words);
        assert_eq!(done, Ok(()), "{words:?}");
    }
}

#[test]
fn a_bulk_load_takes_every_record_or_says_at_once_why_not() {
    // Into a keyspace with an operator of a program's own it loads; one in an order of its own
    // refuses files that are in another, and no record is taken for malformed.
    let dir = tempfile::tempdir().unwrap();
    let (db, input) = (dir.path().join("db"), dir.path().join("in.tsv"));
    std::fs::write(&input, "b\t1\na\t2\n").unwrap();
    let made = Db::builder(&db).known_merge_operator(longest());
    let made = made.open().unwrap();
    let options = KeyspaceOptions::default().merge_operator(longest());
    made.keyspace_with("ships", options).unwrap();
    made.close().unwrap();
    let plugins = Plugins::default().merge_operator(longest());
    let load = ["load", "--bulk", input.to_str().unwrap()];
    told(plugins.clone(), &db, &load).unwrap();
    let opened = Db::builder(&db).known_merge_operator(longest());
    let opened = opened.open().unwrap();
    assert_eq!(opened.keyspace("ships").unwrap().iter().unwrap().count(), 2);
    opened.close().unwrap();

    let ordered = dir.path().join("ordered");
    make(&ordered);
    let error = told(plugins.comparator(backwards()), &ordered, &load).unwrap_err();
    assert!(error.contains("order"), "{error}");
}
