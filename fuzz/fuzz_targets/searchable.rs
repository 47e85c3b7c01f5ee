//! Has the fuzzer run `esker_fuzz::searchable`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::searchable::run(input));
