//! Has the fuzzer run `esker_fuzz::phrase`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::phrase::run(input));
