//! Has the fuzzer run `esker_fuzz::merge`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::merge::run(input));
