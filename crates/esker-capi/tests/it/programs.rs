//! Programs in C, each of which tests one side of the library and exits with 0 if it is well.

use std::fs;
use std::path::Path;

use crate::installed::{Linked, installed};

/// Runs it against the shared library, and against the other one while it is watched.
fn runs(source: &str) {
    for linked in [Linked::Shared, Linked::Watched] {
        let program = installed().compile("cc", "gnu99", source, linked);
        installed().run(&program);
    }
}

#[test]
fn databases_open_as_they_are_told() {
    runs("opening.c");
}

#[test]
fn keyspaces_are_made_changed_measured_and_dropped() {
    runs("keyspaces.c");
}

#[test]
fn reads_find_what_is_there_now_or_was_then() {
    runs("reading.c");
}

#[test]
fn writes_do_what_their_flags_say() {
    runs("writing.c");
}

#[test]
fn conditions_are_looked_at_and_written_as_one() {
    runs("conditions.c");
}

#[test]
fn a_program_hears_and_counts_what_a_database_does() {
    runs("watching.c");
}

#[test]
fn a_program_has_a_log_of_its_own() {
    runs("own_log.c");
}

#[test]
fn a_damaged_database_is_read_and_repaired() {
    runs("repairing.c");
}

#[test]
fn a_batch_happens_as_a_whole() {
    runs("batches.c");
}

#[test]
fn iterators_go_both_ways_within_their_bounds() {
    runs("iterators.c");
}

#[test]
fn transactions_happen_as_a_whole_in_one_phase_or_two() {
    runs("transactions.c");
}

#[test]
fn locks_are_shared_waited_for_and_given_up() {
    runs("locks.c");
}

#[test]
fn callbacks_and_children_are_refused_every_call() {
    runs("refused.c");
}

#[test]
fn callbacks_are_called_may_refuse_and_are_ended_once() {
    runs("callbacks.c");
}

#[test]
fn sorted_files_leave_and_come_in() {
    runs("files.c");
}

#[test]
fn every_null_is_met_as_the_header_says() {
    runs("nulls.c");
}

#[test]
fn handles_outlive_their_database_and_go_in_any_order() {
    runs("closing.c");
}

#[test]
fn threads_share_a_database() {
    runs("threads.c");
}

#[test]
fn the_example_of_the_guide_runs() {
    // The first piece of C in docs/guide/c.md, as it stands there.
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/c.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```c\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let source = installed().prefix().join("example.c");
    fs::write(&source, example).unwrap();
    for linked in [Linked::Shared, Linked::Watched] {
        let program = installed().compile("cc", "c99", source.to_str().unwrap(), linked);
        assert_eq!(installed().run(&program), "anna: at sea\nbela: in port\n");
    }
}
