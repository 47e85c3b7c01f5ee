//! What is kept and shown of a run.
//!
//! Law: a report is made from records alone; whatever a reader may want to know is in them.

pub mod date;
pub mod machine;
pub mod record;
pub mod json;
