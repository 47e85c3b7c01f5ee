//! Keys and values of the load.

use esker_bench::make::values::Values;

use crate::fault::Fault;

/// Bytes of a key.
pub const KEY_BYTES: usize = 16;

/// The seed of all values.
const VALUE_SEED: u64 = 301;

/// The key of a number below 10^16: sixteen decimal digits.
pub fn key(number: u64) -> [u8; KEY_BYTES] {
    let text = format!("{number:016}");
    let digits = text.as_bytes().first_chunk();
    *digits.expect("a number is written with at least sixteen digits")
}

/// Values of so many bytes, which pack to half.
pub fn values(bytes: usize) -> Result<Values, Fault> {
    Ok(Values::new(bytes, 0.5, VALUE_SEED)?)
}
