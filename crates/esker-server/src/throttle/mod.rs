//! How much of a table clients may ask for, as its settings say.
//!
//! `form` reads what settings say, in the forms of Pegasus; `table_limits` is all that one table's
//! settings say, as shares of a partition; `partition_throttle` counts what one partition was asked
//! for and says what becomes of the next call.
//!
//! Law: no clock, no thread, no timer: whoever asks says what time it is, and does the waiting.
//!
//! Not here: who is asked (the leader, before anything is proposed), and how a call waits.

pub mod form;
pub mod table_limits;
pub mod partition_throttle;

pub use form::{Denial, Denied, Throttle};
pub use partition_throttle::{Arriving, PartitionThrottle, Verdict};
pub use table_limits::TableLimits;
