//! Has the fuzzer run `esker_fuzz::raft_log`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::raft_log::run(input));
