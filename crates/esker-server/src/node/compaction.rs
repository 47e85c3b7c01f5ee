//! How far a compaction has come that somebody asked for.

use std::time::Duration;

/// The latest one of a replica.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    /// When it was asked for: seconds since 1970; 0 of one that nobody asked for.
    pub asked_s: u64,
    /// How far it has come.
    pub state: CompactionState,
    /// How long it took, once it is over.
    pub took: Duration,
}

/// How far it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CompactionState {
    /// Nobody asked for one.
    #[default]
    None,
    /// It is under way.
    Running,
    /// Everything is in one run, and nothing is left of what was overwritten.
    Done,
    /// It came to nothing, for that reason.
    Failed(String),
}

impl CompactionState {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            CompactionState::None => "none",
            CompactionState::Running => "running",
            CompactionState::Done => "done",
            CompactionState::Failed(_) => "failed",
        }
    }
}
