//! Has the fuzzer run `esker_fuzz::raft_message`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::raft_message::run(input));
