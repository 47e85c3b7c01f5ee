//! Why a call is refused, in the words that the original library wrote into its log.

use std::fmt;

/// Why a call is refused. Nothing was changed then, unless the engine's error says otherwise.
#[derive(Debug)]
pub enum Refusal {
    /// The key is there already.
    Exists,
    /// The key is not there.
    Missing,
    /// The value does not fit where the caller wants it.
    SmallBuffer {
        /// Bytes of the value.
        needed: usize,
        /// Bytes that the caller has.
        capacity: usize,
    },
    /// A size is negative or beyond its limit.
    Size {
        /// The parameter.
        name: &'static str,
        /// What the caller gave.
        given: i64,
        /// The largest that is taken.
        max: usize,
    },
    /// A pointer is NULL that must not be.
    Null(&'static str),
    /// No more keys are taken, as the original would not.
    Full(u64),
    /// `kv_init` was not called, or failed.
    NotOpen,
    /// `kv_init` was called before, and `kv_exit` was not.
    AlreadyOpen,
    /// A field of the environment cannot be used.
    Environment(String),
    /// The files are not what the call needs.
    Files(String),
    /// The engine failed.
    Engine(esker::Error),
    /// A defect of this library.
    Panicked(String),
}

impl From<esker::Error> for Refusal {
    fn from(error: esker::Error) -> Refusal {
        Refusal::Engine(error)
    }
}

impl Refusal {
    /// What the log says of it, a line each: scripts that read the original's log find its words.
    pub fn lines(&self, call: &str) -> Vec<String> {
        let first = match self {
            Refusal::Exists => Some("idx_insert---key already exist."),
            Refusal::Missing => Some("idx_search---key not found."),
            _ => None,
        };
        let last = match self {
            Refusal::Exists => format!("{call}---idx_insert fail."),
            Refusal::Missing => format!("{call}---idx_search fail."),
            Refusal::Size { name, .. } => format!("{call}---{name} illegal. {self}"),
            Refusal::SmallBuffer { .. } => format!("{call}---buf_size too small. {self}"),
            _ => format!("{call}---{self}"),
        };
        first.map(str::to_owned).into_iter().chain([last]).collect()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Exists => write!(f, "the key is there already; delete it first, or kvs_put"),
            Refusal::Missing => write!(f, "the key is not there"),
            Refusal::SmallBuffer { needed, capacity } => {
                write!(f, "the value has {needed} bytes, the buffer {capacity}")
            }
            Refusal::Size { name, given, max } => {
                write!(f, "{name} is {given}; it is 0 to {max}")
            }
            Refusal::Null(name) => write!(f, "{name} is NULL"),
            Refusal::Full(count) => write!(
                f,
                "there are {count} keys, and KVS_STRICT=1 takes no more than the original"
            ),
            Refusal::NotOpen => write!(f, "no store is open; call kv_init first"),
            Refusal::AlreadyOpen => write!(f, "a store is open already; call kv_exit first"),
            Refusal::Environment(text) | Refusal::Files(text) => write!(f, "{text}"),
            Refusal::Engine(error) => write!(f, "{error}"),
            Refusal::Panicked(text) => write!(f, "a defect of libkvs, please report it: {text}"),
        }
    }
}
