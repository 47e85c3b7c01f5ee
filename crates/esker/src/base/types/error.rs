//! Why an operation failed: kind, place, cause, and the line that saw it; one word wide.

use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

/// The result of every fallible operation of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What class of failure an [`Error`] is; a program decides by this, a person reads the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument or a setting is wrong; nothing was changed.
    Invalid,
    /// A key or value is beyond its limit; nothing was written.
    TooLarge,
    /// The files are of a format, or name a hook, that this program does not have.
    Unsupported,
    /// The files, or the settings kept with them, need a part of the engine that was left out of
    /// this build; nothing is wrong with them.
    NotBuilt,
    /// Bytes on disk are not what was written.
    Corruption,
    /// The operating system refused an operation on a file.
    Io,
    /// The disk, or the share of it that the database may use, is full.
    OutOfSpace,
    /// The process, or the whole machine, may not open one more file; the same call may succeed
    /// when some were closed.
    OutOfFiles,
    /// Another process holds the directory.
    Locked,
    /// The database cannot take the operation now; the same call may succeed later.
    Busy,
    /// Somebody else wrote to what a transaction read or writes, or has locked what it writes;
    /// nothing of it was written. The same transaction, run again, may succeed.
    Conflict,
    /// What was to be read or written is locked by somebody else, and did not become free in time.
    /// Nothing of that call happened; a transaction goes on with what it had.
    LockTimeout,
    /// To wait for a lock would be to wait for oneself: somebody who waits for this transaction has
    /// it. Nothing of that call happened; those others wait until the transaction is rolled back,
    /// to a savepoint before what they wait for or altogether.
    Deadlock,
    /// Somebody ended the wait for a lock ([`Interrupter`](crate::Interrupter)). Nothing of that
    /// call happened; the transaction has what it had.
    Interrupted,
    /// An earlier write or sync failed, and writes are refused until the database is reopened.
    Faulted,
    /// The handle was closed.
    Closed,
}

impl ErrorKind {
    /// The lower-case word used in messages and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            ErrorKind::Invalid => "invalid",
            ErrorKind::TooLarge => "too large",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::NotBuilt => "not built",
            ErrorKind::Corruption => "corruption",
            ErrorKind::Io => "io",
            ErrorKind::OutOfSpace => "out of space",
            ErrorKind::OutOfFiles => "out of files",
            ErrorKind::Locked => "locked",
            ErrorKind::Busy => "busy",
            ErrorKind::Conflict => "conflict",
            ErrorKind::LockTimeout => "lock timeout",
            ErrorKind::Deadlock => "deadlock",
            ErrorKind::Interrupted => "interrupted",
            ErrorKind::Faulted => "faulted",
            ErrorKind::Closed => "closed",
        }
    }
}

// Numbers of errors on Linux, everywhere the same.
/// The machine has no more file descriptors.
const ENFILE: i32 = 23;
/// The process has no more file descriptors.
pub(crate) const EMFILE: i32 = 24;

fn out_of_files(doing: String) -> String {
    format!(
        "{doing}: no more files can be opened; close some, allow the process more (ulimit -n), or \
         keep fewer open (setting files.open_max)"
    )
}

fn folder_in_place(doing: String) -> String {
    format!("{doing}: a folder lies where a file belongs; move it away")
}

/// Why an operation failed.
///
/// Holds numbers and text only, never a live object, so that it can cross threads and be kept.
/// The message says what happened and what the reader can do.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    file: Option<String>,
    offset: Option<u64>,
    io_kind: Option<std::io::ErrorKind>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
    seen_at: &'static Location<'static>,
}

impl Error {
    /// An error of `kind` with a message for people.
    #[track_caller]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            file: None,
            offset: None,
            io_kind: None,
            cause: None,
            seen_at: Location::caller(),
        }))
    }

    /// A wrong argument or setting.
    #[track_caller]
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message)
    }

    /// Bytes on disk that are not what was written; say where with [`Error::in_file`].
    #[track_caller]
    pub fn corruption(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Corruption, message)
    }

    /// A failure of the operating system. A full disk or quota becomes `OutOfSpace`, and the lack
    /// of file descriptors `OutOfFiles`.
    #[track_caller]
    pub fn io(doing: impl Into<String>, cause: std::io::Error) -> Error {
        use std::io::ErrorKind as Os;
        let (kind, doing) = match (cause.kind(), cause.raw_os_error()) {
            (Os::StorageFull | Os::QuotaExceeded, _) => (ErrorKind::OutOfSpace, doing.into()),
            // The standard library has no class of its own for these.
            (_, Some(ENFILE | EMFILE)) => (ErrorKind::OutOfFiles, out_of_files(doing.into())),
            (Os::IsADirectory, _) => (ErrorKind::Io, folder_in_place(doing.into())),
            _ => (ErrorKind::Io, doing.into()),
        };
        let mut error = Error::new(kind, doing);
        error.0.io_kind = Some(cause.kind());
        error.0.cause = Some(Box::new(cause));
        error
    }

    /// The same error, with the file it concerns. The innermost name wins.
    pub fn in_file(mut self, file: impl fmt::Display) -> Error {
        self.0.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// The same error, with a byte offset inside its file. The innermost offset wins.
    pub fn at_offset(mut self, offset: u64) -> Error {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// The same error, with the error that caused it.
    pub fn caused_by(mut self, cause: Error) -> Error {
        self.0.cause = Some(Box::new(cause));
        self
    }

    /// A second error that tells the same story, for a caller other than the first.
    ///
    /// The cause is kept as text, because causes need not be cloneable.
    #[track_caller]
    pub fn again(&self) -> Error {
        let mut copy = Error::new(self.0.kind, self.0.message.clone());
        copy.0.file.clone_from(&self.0.file);
        copy.0.offset = self.0.offset;
        copy.0.io_kind = self.0.io_kind;
        copy.0.cause = self.0.cause.as_ref().map(|cause| cause.to_string().into());
        copy.0.seen_at = self.0.seen_at;
        copy
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What happened, without place and cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file concerned, if the failure has one.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The byte offset inside [`Error::file`], if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The operating system's class of the failure, if it came from there.
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        self.0.io_kind
    }

    /// Whether the operating system said that the file or directory does not exist.
    pub fn is_missing_file(&self) -> bool {
        self.0.io_kind == Some(std::io::ErrorKind::NotFound)
    }

    /// Whether the same call, or the transaction that it is part of, may succeed later without
    /// anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        self.is_shortage()
            || self.has_met_others()
            || matches!(self.0.kind, ErrorKind::Busy | ErrorKind::Locked)
    }

    /// Whether a transaction came to nothing because it met others: run again, it may succeed.
    pub fn has_met_others(&self) -> bool {
        use ErrorKind::{Conflict, Deadlock, LockTimeout};
        matches!(self.0.kind, Conflict | LockTimeout | Deadlock)
    }

    /// Whether something ran out that may be there again later, space or file descriptors: what
    /// failed for it was not begun, or can be begun again.
    pub fn is_shortage(&self) -> bool {
        matches!(self.0.kind, ErrorKind::OutOfSpace | ErrorKind::OutOfFiles)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind.word(), self.0.message)?;
        if let Some(file) = &self.0.file {
            write!(f, " (file {file}")?;
            if let Some(offset) = self.0.offset {
                write!(f, ", offset {offset}")?;
            }
            write!(f, ")")?;
        }
        if let Some(cause) = &self.0.cause {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [seen at {}]", self.0.seen_at)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .cause
            .as_ref()
            .map(|cause| &**cause as &(dyn StdError + 'static))
    }
}

const _: () = assert!(std::mem::size_of::<Error>() == std::mem::size_of::<usize>());

#[cfg(test)]
mod tests;
