//! Has the fuzzer run `esker_fuzz::peer_frame`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::peer_frame::run(input));
