//! Has the fuzzer run `esker_fuzz::block`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::block::run(input));
