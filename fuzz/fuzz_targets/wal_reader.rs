//! Has the fuzzer run `esker_fuzz::wal_reader`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::wal_reader::run(input));
