//! Has the fuzzer run `esker_fuzz::rpc_frame`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::rpc_frame::run(input));
