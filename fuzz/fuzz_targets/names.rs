//! Has the fuzzer run `esker_fuzz::names`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::names::run(input));
