//! Laws of this room: no function lets a panic out, and handles go to the threads they may go to.

use std::fs;
use std::path::Path;

use crate::abi::batch::EskerBatch;
use crate::abi::builder::EskerBuilder;
use crate::abi::comparator::EskerComparator;
use crate::abi::database::EskerDb;
use crate::abi::files::EskerSstWriter;
use crate::abi::interrupter::EskerInterrupter;
use crate::abi::iterator::EskerIter;
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::keyspace_options::EskerKeyspaceOptions;
use crate::abi::merge_operator::EskerMergeOperator;
use crate::abi::retain_rule::EskerRetainRule;
use crate::abi::snapshot::EskerSnapshot;
use crate::abi::transaction::EskerTx;
use crate::abi::value::EskerValue;

/// What cannot panic: it gives what is written here, or a number of a table.
const UNGUARDED: [&str; 5] = [
    "esker_abi_version",
    "esker_version",
    "esker_errmsg",
    "esker_code_name",
    "esker_is_retryable",
];

#[test]
fn every_function_keeps_panics_inside() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/abi");
    let (mut seen, mut bare) = (0, Vec::new());
    let files = fs::read_dir(room)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for file in files.filter(|file| !file.ends_with("tests.rs")) {
        let text = fs::read_to_string(file).unwrap();
        for function in text.split("#[unsafe(no_mangle)]").skip(1) {
            let (head, body) = function.split_once('{').unwrap();
            let (body, _) = body.split_once("\n}\n").unwrap();
            let name = head.split_once("fn ").unwrap().1.split('(').next().unwrap();
            seen += 1;
            let is_guarded = body.contains("answer(|| ") || body.contains("told(");
            if !is_guarded && !UNGUARDED.contains(&name) {
                bare.push(name.to_owned());
            }
        }
    }
    assert!(seen >= 120, "{seen} functions");
    assert_eq!(bare, Vec::<String>::new());
}

/// Many threads at the same time.
const fn all_at_once<T: Send + Sync>() {}

/// One at a time, and not always the same.
const fn one_after_the_other<T: Send>() {}

const _: () = {
    all_at_once::<EskerDb>();
    all_at_once::<EskerKeyspace>();
    all_at_once::<EskerSnapshot>();
    all_at_once::<EskerInterrupter>();
    one_after_the_other::<EskerBatch>();
    one_after_the_other::<EskerBuilder>();
    one_after_the_other::<EskerComparator>();
    one_after_the_other::<EskerIter>();
    one_after_the_other::<EskerKeyspaceOptions>();
    one_after_the_other::<EskerMergeOperator>();
    one_after_the_other::<EskerRetainRule>();
    one_after_the_other::<EskerSstWriter>();
    one_after_the_other::<EskerTx>();
    one_after_the_other::<EskerValue>();
};
