//! Has the fuzzer run `esker_fuzz::settings`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::settings::run(input));
