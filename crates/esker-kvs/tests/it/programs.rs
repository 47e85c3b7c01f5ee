//! Programs in C, each of which tests one side of the library and exits with 0 if it is well.

use std::fs;
use std::path::Path;

use crate::installed::installed;

fn runs(source: &str, variables: &[(&str, &str)]) -> String {
    let program = installed().compile("cc", "gnu99", source);
    installed().run(&program, variables)
}

#[test]
fn the_interface_walk_goes_as_described() {
    // 26 entries, put, got, three deleted: three gets fail, and nothing else.
    let told = runs("walk.c", &[]);
    let fails: Vec<&str> = told.lines().filter(|line| line.ends_with("fail")).collect();
    assert_eq!(fails, ["kv_get 0 fail", "kv_get 2 fail", "kv_get 4 fail"]);
    assert_eq!(
        told.lines().filter(|line| line.starts_with("get:")).count(),
        26
    );
}

#[test]
fn everything_that_is_wrong_is_refused() {
    // Also under KVS_STRICT, whose ten million keys are not reached here.
    runs("refusals.c", &[]);
    runs("refusals.c", &[("KVS_STRICT", "1")]);
}

#[test]
fn threads_work_at_the_same_time() {
    // Eight of them, on keys of their own and on shared ones.
    runs("threads.c", &[]);
}

#[test]
fn what_was_put_outlives_the_process() {
    // An exit and a load, and a kill in the middle.
    runs("persistence.c", &[]);
}

#[test]
fn a_program_without_streams_writes_into_no_file_of_its_store() {
    // Input, output and errors are closed, and spoken to all the same, before each of many writes.
    runs("closed_streams.c", &[]);
}

#[test]
fn handles_walks_and_reasons_work() {
    // What the original did not have.
    runs("beyond.c", &[]);
}

#[test]
fn a_program_of_its_time_builds_and_runs() {
    // With the dialect of its time and with today's; the log goes to standard output.
    for dialect in ["gnu89", "gnu17"] {
        let program = installed().compile_with("cc", dialect, "of_its_time.c", &["-Werror"]);
        let told = installed().run(&program, &[]);
        assert!(told.contains("back time: "), "{told}");
        assert_eq!(told.matches("KVS INIT SUCCESS.").count(), 2, "{told}");
        assert_eq!(told.matches("KVS EXIT.").count(), 2, "{told}");
    }
}

#[test]
fn the_example_of_the_documentation_runs() {
    // The first piece of C in docs/kvs.md, as it stands there.
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kvs.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```c\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let source = installed().prefix().join("example.c");
    fs::write(&source, example).unwrap();
    let program = installed().compile("cc", "c99", source.to_str().unwrap());
    assert_eq!(installed().run(&program, &[]), "at sea\n");
}
