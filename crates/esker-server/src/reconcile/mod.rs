//! What is wished in the meta group, and what is on the nodes, brought together.
//!
//! Each node sends a report to the leader of meta (`reporting`), is told what must be true of it,
//! and does that (`doing`); what it is told of tables and nodes it keeps (`knowledge`). The side of
//! the leader is in `leading`: it hears reports, answers administration, and proposes what is due.
//!
//! Law: pure, as the stages that it stands between: no thread, socket or clock, and nothing waits.
//! Whatever is said twice, late, or by a leader that was deposed meanwhile does no harm.
//!
//! Not here: what the brain decides (`meta`), connections, and when a second is over.

pub mod knowledge;
pub mod reporting;
pub mod doing;
pub mod leading;
pub mod succession;
#[cfg(test)]
mod trial;

pub use doing::{Action, actions};
pub use knowledge::Knowledge;
pub use leading::{CallId, Leading, Out, Told, Untold};
pub use reporting::{Home, Reporter, Space};
pub use succession::{Due, Succession};
