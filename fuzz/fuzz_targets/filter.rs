//! Has the fuzzer run `esker_fuzz::filter`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::filter::run(input));
