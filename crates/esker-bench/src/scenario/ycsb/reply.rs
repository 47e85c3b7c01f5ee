//! How an operation ended, in YCSB's words.

/// Every status of YCSB. The order is that of our reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reply {
    /// Done.
    Ok,
    /// Something failed.
    Error,
    /// There is no such record.
    NotFound,
    /// What was read is not what was written.
    UnexpectedState,
}

impl Reply {
    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Reply::Ok => "OK",
            Reply::Error => "ERROR",
            Reply::NotFound => "NOT_FOUND",
            Reply::UnexpectedState => "UNEXPECTED_STATE",
        }
    }
}
