//! A law of this room, read from its files: no function of C is without a guard against panics.

use std::fs;
use std::path::Path;

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
