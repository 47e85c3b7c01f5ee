//! Has the fuzzer run `esker_fuzz::database`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::database::run(input));
