//! Keys of records: YCSB's hash and its way to write a number as a key.

/// FNV's start for 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV's prime for 64 bits.
const FNV_PRIME: u64 = 1_099_511_628_211;

/// FNV-1a of the eight bytes of `number`, little-endian, made positive as YCSB does it: as a signed
/// number without its sign. The one number that has no positive twin stays as it is.
pub fn fnv64(number: u64) -> i64 {
    let hash = number.to_le_bytes().iter().fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    });
    hash.cast_signed().wrapping_abs()
}

/// Writes the key of record `number` into `key`: `user`, and the number's hash.
pub fn write_key(number: u64, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(b"user");
    key.extend_from_slice(fnv64(number).to_string().as_bytes());
}

#[cfg(test)]
mod tests;
