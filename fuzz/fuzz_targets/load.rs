//! Has the fuzzer run `esker_fuzz::load`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::load::run(input));
