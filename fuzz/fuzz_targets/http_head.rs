//! Has the fuzzer run `esker_fuzz::http_head`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::http_head::run(input));
