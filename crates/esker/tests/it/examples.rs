//! The example programs run: each holds what it prints against what it expects.

#[path = "../../examples/counters.rs"]
mod counters;
#[path = "../../examples/log_store.rs"]
mod log_store;
#[path = "../../examples/own_log.rs"]
mod own_log;
#[path = "../../examples/queue.rs"]
mod queue;
#[path = "../../examples/secondary_index.rs"]
mod secondary_index;
#[path = "../../examples/sessions.rs"]
mod sessions;
#[path = "../../examples/time_series.rs"]
mod time_series;

#[test]
fn every_example_program_runs() {
    // Their `main` is `pub(crate)` for this test alone.
    counters::main().unwrap();
    log_store::main().unwrap();
    own_log::main().unwrap();
    queue::main().unwrap();
    secondary_index::main().unwrap();
    sessions::main().unwrap();
    time_series::main().unwrap();
}
