//! Why bytes are no dictionary, or no record of one.

use std::error::Error as StdError;
use std::fmt;

/// The result of whatever reads bytes.
pub type Result<T> = std::result::Result<T, Error>;

/// Why bytes were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// They are not what was written; the text says what does not fit.
    Damaged(Box<str>),
    /// The dictionary is of that format, which is newer than this program.
    Newer(u32),
}

impl Error {
    pub(crate) fn damaged(what: impl Into<Box<str>>) -> Error {
        Error::Damaged(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Damaged(what) => f.write_str(what),
            Error::Newer(version) => write!(
                f,
                "phrase dictionary of format {version}, which this program does not read: open it \
                 with a newer release"
            ),
        }
    }
}

impl StdError for Error {}
