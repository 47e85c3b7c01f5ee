//! What all connections of one address share.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::front::bounds::Bounds;
use crate::front::counters::Counters;
use crate::log_lines::LogLines;

/// Which calls are asked at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorKind {
    /// Those on keys, and those about the node.
    Keys,
    /// Those about tables.
    Meta,
}

/// What all connections of one address share.
#[derive(Debug)]
pub(crate) struct Door<S> {
    pub(crate) kind: DoorKind,
    pub(crate) service: Arc<S>,
    pub(crate) bounds: Bounds,
    pub(crate) counters: Arc<Counters>,
    pub(crate) log: LogLines,
    /// What calls of all connections may stand for.
    pub(crate) permits: Arc<Semaphore>,
}
