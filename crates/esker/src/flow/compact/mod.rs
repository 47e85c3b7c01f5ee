//! Merging files: pure decisions (`score`, `leveled`) give a plan, `job` carries it out.
//!
//! Law: nothing here changes the set of files; a job returns an edit, and `db/install` applies it.

pub mod plan;
pub mod score;
pub mod leveled;
pub mod intra_l0;
#[cfg(test)]
pub mod test_tree;
pub mod row;
pub mod seqno_rewriting;
pub mod deletes;
pub mod values;
pub mod recompression;
pub mod passing;
pub mod picker;
pub mod buffers;
pub mod job;
