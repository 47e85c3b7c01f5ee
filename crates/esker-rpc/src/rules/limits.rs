//! How far one call goes before it says that there is more. The numbers are those of Pegasus.

/// Rows that a `MULTI_GET` over a range looks at, expired and filtered ones included.
pub const MULTI_GET_ROWS_MAX: usize = 3000;

/// Bytes that a `MULTI_GET` returns, of a range or of named sort keys. Pegasus has no bound for
/// these: 200 000 times one of them fits a request, and its value may have a megabyte.
pub const MULTI_GET_BYTES_MAX: usize = 30 << 20;

/// Bytes that a `BATCH_GET` returns. Its response cannot say that there is more, so one that would
/// be longer is answered with status 7 and no rows.
pub const BATCH_GET_BYTES_MAX: usize = MULTI_GET_BYTES_MAX;

/// Rows that one step of a scan looks at, and returns at most.
pub const SCAN_ROWS_MAX: usize = 1000;

/// Bytes of rows after which a step of a scan ends, which returns one row at least. Pegasus has no
/// such bound: 1000 rows of a megabyte each would be more than any connection takes, and their scan
/// would never come to an end.
pub const SCAN_BYTES_MAX: usize = 1 << 20;

/// How long one read goes on.
pub const READ_MS_MAX: u64 = 30_000;

/// How long a scan context lives that nobody uses.
pub const SCAN_CONTEXT_MS_MAX: u64 = 300_000;

/// Bytes of the body of a write: what a server takes unless told otherwise.
pub const WRITE_BODY_BYTES_MAX: usize = 1 << 20;

/// Rows that one step of a scan returns when a client asks for `batch_size`.
pub fn scan_rows(batch_size: i32) -> usize {
    match usize::try_from(batch_size) {
        Ok(rows @ 1..=SCAN_ROWS_MAX) => rows,
        _ => SCAN_ROWS_MAX,
    }
}

/// What a client's limit of rows or bytes means: none for a number that is not above 0.
pub fn asked(limit: i32) -> usize {
    match usize::try_from(limit) {
        Ok(limit @ 1..) => limit,
        _ => usize::MAX,
    }
}

#[cfg(test)]
mod tests;
