//! Why a benchmark stops: one line for the person, one exit code for the script.

use std::fmt;
use std::io;

/// What every step of a benchmark returns.
pub type Outcome<T = ()> = Result<T, Failure>;

/// What class of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command line asks for something that makes no sense; nothing was touched.
    Usage,
    /// The engine under test does not have the operation.
    Unsupported,
    /// Something went wrong.
    Failed,
    /// The reader of standard output went away, as in `db_bench | head`: not an error.
    ReaderGone,
    /// In a dialect's own words and with its exit code: the message is a whole line, or empty where
    /// everything was said already.
    Own(u8),
}

/// Why a benchmark stops: a class and a message that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class.
    pub kind: FailureKind,
    /// What happened, and after a semicolon what to do.
    pub message: String,
}

impl Failure {
    /// A request that makes no sense.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Usage, message)
    }

    /// A failure of the world or of the engine under test.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Failed, message)
    }

    /// An operation that the engine under test does not have.
    pub fn unsupported(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Unsupported, message)
    }

    /// A line in a dialect's own words, and its exit code.
    pub fn own(code: u8, line: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Own(code), line)
    }

    /// The operating system refused something; `doing` reads like "cannot read values.txt".
    pub fn system(doing: impl fmt::Display, cause: &io::Error) -> Failure {
        Failure::failed(format!("{doing}: {cause}"))
    }

    fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure {
            kind,
            message: message.into(),
        }
    }

    /// What the process exits with: 0 when only the reader went away, 1 for failures, 2 for usage.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::ReaderGone => 0,
            FailureKind::Usage => 2,
            FailureKind::Unsupported | FailureKind::Failed => 1,
            FailureKind::Own(code) => code,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// For the output streams only; other files name themselves through [`Failure::system`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::new(FailureKind::ReaderGone, ""),
            _ => Failure::system("cannot write the output", &error),
        }
    }
}

impl From<esker::Error> for Failure {
    fn from(error: esker::Error) -> Failure {
        let told = error.to_string().replace('\n', " ");
        match error.kind() {
            esker::ErrorKind::Invalid => Failure::usage(told),
            _ => Failure::failed(told),
        }
    }
}

/// The first sentences of what the parser says: the slip and what was meant, not the usage below.
impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        let text = error.to_string();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_below = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more ");
        let told: Vec<&str> = lines.take_while(|line| !is_below(line)).collect();
        let told = told.join("; ");
        Failure::usage(told.strip_prefix("error: ").unwrap_or(&told))
    }
}
