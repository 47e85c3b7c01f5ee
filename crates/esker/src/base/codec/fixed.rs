//! Little-endian integers to and from bytes.

/// Appends a `u32`.
pub fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends a `u64`.
pub fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// The `u16` at `offset`, or `None` beyond the end.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes
        .get(offset..)?
        .first_chunk()
        .copied()
        .map(u16::from_le_bytes)
}

/// The `u32` at `offset`, or `None` beyond the end.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes
        .get(offset..)?
        .first_chunk()
        .copied()
        .map(u32::from_le_bytes)
}

/// The `u64` at `offset`, or `None` beyond the end.
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes
        .get(offset..)?
        .first_chunk()
        .copied()
        .map(u64::from_le_bytes)
}
