//! Has the fuzzer run `esker_fuzz::vlog`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::vlog::run(input));
