//! What a parser makes of some lines: a record, or what is wrong with them.

/// A key and a value read from an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The line where it begins, counted from 1.
    pub line: u64,
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
}

/// Lines that make no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line where the trouble is, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

/// What a parser found.
pub type Parsed = Result<Record, Malformed>;

/// Lines that make no record.
pub fn malformed(line: u64, reason: impl Into<String>) -> Parsed {
    Err(Malformed {
        line,
        reason: reason.into(),
    })
}
