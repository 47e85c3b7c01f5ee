//! What is kept and shown of a run.
//!
//! Law: a report is made from records alone; whatever a reader may want to know is in them. A
//! record goes to `json`; `study` is what its numbers say, `comparison` tells that of two, `chart`
//! draws it, `page` puts it together, `entry` is the command.

pub mod date;
pub mod machine;
pub mod file;
pub mod history;
pub mod record;
pub mod json;
#[cfg(test)]
pub mod sample;
pub mod published;
pub mod study;
pub mod comparison;
pub mod chart;
pub mod page;
pub mod request;
pub mod entry;
