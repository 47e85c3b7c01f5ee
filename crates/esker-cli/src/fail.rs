//! Why a command failed: one line for the person, one exit code for the script.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use esker::{Error, ErrorKind};

/// What a command returns.
pub type Outcome<T = ()> = Result<T, Failure>;

/// The exit codes other than 0. Code 2 is also what the parser of the command line uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Something went wrong.
    Failed = 1,
    /// The command line asks for something that makes no sense.
    Usage = 2,
    /// The key is not there, or damage was found.
    NotFound = 3,
    /// A write was sent, and nobody knows whether it was done.
    Unknown = 4,
    /// Ctrl-C ended it, which shells know by 128 and the signal's number.
    Interrupted = 130,
    /// `kill` ended it.
    Terminated = 143,
}

/// Why a command stops.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// With a message, written as one line on standard error.
    Told {
        /// What the process exits with.
        code: Code,
        /// What happened, and after a semicolon what to do.
        message: String,
    },
    /// Damage, with a message as above.
    Damaged(String),
    /// With a code only: everything was said already.
    Silent(Code),
    /// With a code that another tool chose, which has said everything already.
    Elsewhere(u8),
    /// The reader of standard output went away, as in `esker scan | head`: not an error.
    ReaderGone,
}

impl Failure {
    /// A failure of the world.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure::Told {
            code: Code::Failed,
            message: message.into(),
        }
    }

    /// A request that makes no sense.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Told {
            code: Code::Usage,
            message: message.into(),
        }
    }

    /// Something asked for is not there.
    pub fn not_found(message: impl Into<String>) -> Failure {
        Failure::Told {
            code: Code::NotFound,
            message: message.into(),
        }
    }

    /// A write of which nobody knows what became.
    pub fn unknown(message: impl Into<String>) -> Failure {
        Failure::Told {
            code: Code::Unknown,
            message: message.into(),
        }
    }

    /// Somebody asked the process to stop; `code` says how.
    pub fn stopped(code: Code, message: impl Into<String>) -> Failure {
        Failure::Told {
            code,
            message: message.into(),
        }
    }

    /// The operating system refused something; `doing` reads like "cannot read reviews.txt".
    pub fn system(doing: impl Display, cause: &io::Error) -> Failure {
        Failure::failed(format!("{doing}: {cause}"))
    }

    /// The same; where damage is the reason, with one more piece of advice.
    pub fn advised_on_damage(self, advice: &str) -> Failure {
        match self {
            Failure::Damaged(message) => Failure::Damaged(format!("{message}; {advice}")),
            other => other,
        }
    }

    /// Writes the line, if there is one, and says what the process exits with.
    pub fn report(&self) -> ExitCode {
        let code = match self {
            Failure::Told { code, message } => {
                remark!("esker: {message}");
                *code
            }
            Failure::Damaged(message) => {
                remark!("esker: {message}");
                Code::NotFound
            }
            Failure::Silent(code) => *code,
            Failure::Elsewhere(code) => return ExitCode::from(*code),
            Failure::ReaderGone => return ExitCode::SUCCESS,
        };
        ExitCode::from(match code {
            Code::Failed => 1,
            Code::Usage => 2,
            Code::NotFound => 3,
            Code::Unknown => 4,
            Code::Interrupted => 130,
            Code::Terminated => 143,
        })
    }
}

/// For standard output only; other files name themselves through [`Failure::system`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::system("cannot write the output", &error),
        }
    }
}

/// What the benchmarks' crate says of inputs that both read.
impl From<esker_bench::fail::Failure> for Failure {
    fn from(failure: esker_bench::fail::Failure) -> Failure {
        match failure.exit_code() {
            2 => Failure::usage(failure.message),
            _ => Failure::failed(failure.message),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let mut told = error.to_string().replace('\n', " ");
        if error.kind() == ErrorKind::Locked {
            // The engine goes on with calls of its API, which mean nothing in a shell.
            told.truncate(told.find(';').unwrap_or(told.len()));
        }
        // The engine's own advice, where it gives any, knows more than the class of the error.
        let advice = if told.contains(';') {
            None
        } else {
            advice(&error)
        };
        let message = match advice {
            Some(advice) => format!("{told}; {advice}"),
            None => told,
        };
        match error.kind() {
            ErrorKind::Corruption => Failure::Damaged(message),
            _ => Failure::failed(message),
        }
    }
}

/// What to do about an error of that class.
fn advice(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::Io => match error.io_kind()? {
            io::ErrorKind::NotADirectory => {
                Some("a part of that path is a file; name a directory with --db")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Some("ask whose directory it is, or name another with --db")
            }
            _ => None,
        },
        ErrorKind::Invalid => Some("`--help` tells what the command takes"),
        ErrorKind::Corruption => Some(
            "`esker verify` lists all damage, `esker repair` tells, changing nothing, what a \
             repair would keep and lose",
        ),
        ErrorKind::OutOfSpace => {
            Some("nothing is lost: free some space on that disk and run the command again")
        }
        ErrorKind::Locked => {
            Some("wait until that process ends; commands that only read work meanwhile")
        }
        ErrorKind::OutOfFiles => Some("nothing is lost: allow it more files (ulimit -n)"),
        ErrorKind::Busy => Some("run the command again"),
        ErrorKind::Faulted => Some("look after the disk, then run the command again"),
        ErrorKind::Unsupported => {
            Some("use the program that wrote the database, or a newer version of this one")
        }
        ErrorKind::TooLarge => Some("keys hold 65 535 bytes at most, values 1 GiB"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
