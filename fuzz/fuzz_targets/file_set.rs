//! Has the fuzzer run `esker_fuzz::file_set`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::file_set::run(input));
