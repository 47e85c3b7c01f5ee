//! What a user may plug in.
//!
//! Law: hooks speak only the words of `base/types`, so that every floor may call them.

pub mod merge;
pub mod merge_builtin;
pub mod retain;
pub mod own_log;
pub mod event_reasons;
pub mod events;
pub mod event_line;
