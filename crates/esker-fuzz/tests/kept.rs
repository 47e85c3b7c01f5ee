//! Every fuzz target over all inputs that are kept, and over changes of them.
//!
//! A target starts from what the engine's own writers make (`starts`). Beside that,
//! `kept/TARGET` holds inputs by which the fuzzer came to parts of a target that others miss;
//! `found/TARGET` holds each input that made one fail, under a name that says how.
//! `ESKER_FUZZ_RUNS` sets how many changed inputs each target gets, `ESKER_FUZZ_SEED` which ones.
#![allow(clippy::disallowed_methods, reason = "inputs lie in files of the tree")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use esker::internals::store::batch::BatchReader;
use esker::internals::store::sst::block::checked::Checked;
use esker::internals::store::version::decode::decode_edit;
use esker_fuzz::mutation::Mutation;
use esker_fuzz::{TARGETS, sorted_file, starts};
use esker_rpc::codec::request_reader::RequestReader;

/// Changed inputs for each target, unless the environment says otherwise: a few seconds in all.
const RUNS: u64 = 500;

/// Databases that are opened, each of which takes as long as hundreds of other inputs.
const DATABASE_RUNS: u64 = 60;

macro_rules! tests_of {
    ($($target:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($target)),*];
        $(mod $target {
            #[test]
            fn holds_for_kept_inputs() {
                super::run_kept(stringify!($target));
            }

            #[test]
            fn holds_for_changed_inputs() {
                super::run_changed(stringify!($target));
            }
        })*
    };
}

tests_of! {
    batch_reader block database file_set filter http_head load manifest merge names peer_frame
    phrase raft_log raft_message rpc_frame rpc_message searchable settings sst_reader vlog
    wal_reader
}

#[test]
fn no_target_is_forgotten() {
    // What the fuzzer knows is what is tested here, and each has inputs to start from.
    let manifest = crate_dir().join("../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let mut binaries = BTreeSet::new();
    for binary in manifest.split("[[bin]]").skip(1) {
        let quoted = |field: &str| {
            let line = binary.lines().find(|line| line.starts_with(field)).unwrap();
            line.split('"').nth(1).unwrap().to_owned()
        };
        let name = quoted("name");
        assert_eq!(quoted("path"), format!("fuzz_targets/{name}.rs"));
        let path = crate_dir().join(format!("../../fuzz/fuzz_targets/{name}.rs"));
        let source = std::fs::read_to_string(path).unwrap();
        assert!(source.contains(&format!("esker_fuzz::{name}::run(input)")));
        assert!(!starts::of(&name).is_empty());
        binaries.insert(name);
    }
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.0.to_owned()).collect();
    assert_eq!(binaries, names);
    let tested: BTreeSet<String> = TESTED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(tested, names);
    for folder in ["kept", "found"] {
        // Git keeps no empty folder.
        for entry in std::fs::read_dir(crate_dir().join(folder))
            .into_iter()
            .flatten()
        {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(
                names.contains(&name),
                "{folder}/{name} belongs to no target"
            );
        }
    }
}

#[test]
fn starts_are_sound_files() {
    // A start that the reader refuses at its first byte would lead the fuzzer nowhere.
    let sorted = |target| starts::of(target).swap_remove(0);
    for target in ["sst_reader", "searchable"] {
        assert!(sorted_file::read(sorted(target), usize::MAX).is_some());
    }
    assert!(
        BatchReader::new(&sorted("batch_reader"))
            .unwrap()
            .check()
            .is_ok()
    );
    assert!(Checked::new(sorted("block")).is_ok());
    assert!(decode_edit(&sorted("manifest")[1..]).is_ok());
    assert!(esker_fuzz::file_set::read(&starts::of("file_set")[0][1..]));
    let mut reader = RequestReader::new(1000);
    reader.buffer().extend_from_slice(&sorted("rpc_frame")[1..]);
    for _ in 0..3 {
        assert!(reader.next().unwrap().is_some());
    }
    for start in starts::of("rpc_message") {
        assert!(esker_fuzz::rpc_message::is_read(&start));
    }
}

#[test]
fn a_target_that_fails_is_told_with_its_input() {
    // A panic inside a target must not pass, and the input must be there to be kept.
    let failed = catch_unwind(|| check("planted", |_| panic!("planted"), &[7, 255]));
    let message = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("planted") && message.contains("07ff"));
}

fn run_kept(name: &str) {
    for (origin, bytes) in all_inputs(name) {
        check(&origin, run_of(name), &bytes);
    }
}

fn run_changed(name: &str) {
    let starts: Vec<Vec<u8>> = all_inputs(name).into_iter().map(|input| input.1).collect();
    let runs = match name {
        "database" => DATABASE_RUNS,
        _ => RUNS,
    };
    let seed = from_environment("ESKER_FUZZ_SEED").unwrap_or(25);
    let mut mutation = Mutation::new(seed);
    for _ in 0..from_environment("ESKER_FUZZ_RUNS").unwrap_or(runs) {
        check(name, run_of(name), &mutation.next(&starts));
    }
}

fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

fn run_of(name: &str) -> esker_fuzz::Run {
    let target = TARGETS.iter().find(|target| target.0 == name);
    target.expect("every tested target is listed").1
}

// Runs one input. Panics with the input as hexadecimal digits, as `xxd -r -p` reads them.
fn check(origin: &str, run: impl Fn(&[u8]), input: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| run(input))).is_err() {
        let mut digits = String::new();
        for byte in input {
            write!(digits, "{byte:02x}").expect("a string takes all");
        }
        panic!("{origin} fails; mend it and keep this input in found/: {digits}");
    }
}

// Every input of one target that is no change of another, and where it comes from.
fn all_inputs(name: &str) -> Vec<(String, Vec<u8>)> {
    let starts = starts::of(name).into_iter().enumerate();
    let mut inputs: Vec<_> = starts
        .map(|(index, bytes)| (format!("start {index} of {name}"), bytes))
        .collect();
    for folder in ["kept", "found"] {
        let Ok(entries) = std::fs::read_dir(crate_dir().join(folder).join(name)) else {
            // Not every target has been given inputs.
            continue;
        };
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.sort();
        for path in paths {
            let bytes = std::fs::read(&path).expect("a readable file");
            inputs.push((path.display().to_string(), bytes));
        }
    }
    inputs
}

fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
