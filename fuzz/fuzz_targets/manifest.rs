//! Has the fuzzer run `esker_fuzz::manifest`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::manifest::run(input));
