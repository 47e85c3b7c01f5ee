//! Has the fuzzer run `esker_fuzz::rpc_message`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| esker_fuzz::rpc_message::run(input));
