//! One machine of the service, without thread, socket or clock: stages that own their state.
//!
//! `Consensus` has the groups, `Logging` the raft log, `Applying` the state machines; `Replicas` is
//! the directory that all threads read, and reads that consensus has cleared are served from its
//! views. What goes from one to the other are plain values: `Ask` into consensus, `Turn` out of it,
//! saves to the log, `Work` to the state machines. The shell gives each stage a thread and a
//! channel; tests call them one by one in an order that a seed draws (docs/decisions/0029).
//!
//! Law: every request is answered once. Nothing waits for a lock that is held over I/O, nothing
//! reads a clock: whoever calls gives the time. On the disk: log sync, then apply, then flush with
//! the mark, then truncation.
//!
//! Not here: threads and sockets (the shell), who decides which replica goes where (`meta`).

pub mod request;
pub mod limits;
pub mod stall;
pub mod reserve;
pub mod keyspace_name;
pub mod identity;
pub mod switch;
pub mod ask;
pub mod turn;
pub mod lease;
pub mod traffic;
pub mod compaction;
pub mod view;
pub mod replicas;
pub mod image_page;
pub mod images;
pub mod seat;
pub mod consensus;
pub mod absorb;
pub mod logging;
pub mod applying;
pub mod creating;
mod adopting;
pub mod stages;
pub mod rejoining;
pub mod opening;

pub use applying::{Applied, Applying};
pub use ask::{Ask, Begin, Entry, EntryTimes, LogPressure, Work};
pub use compaction::{Compaction, CompactionState};
pub use consensus::Consensus;
pub use creating::Create;
pub use identity::Identity;
pub use image_page::{PageAnswer, PageRequest, Wish};
pub use images::{Fetch, Images, Progress};
pub use logging::Logging;
pub use opening::{NodeOptions, open};
pub use replicas::Replicas;
pub use request::{Answer, Now, Reply, RequestId};
pub use stages::{Found, Outcome, Stages};
pub use traffic::{Traffic, TrafficCounts};
pub use turn::{Cleared, NodeEvent, Turn};
pub use view::{Alarm, Standing, View};
