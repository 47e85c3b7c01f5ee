//! What the side of meta on a node leans on.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use tokio::sync::watch;

use crate::log_lines::LogLines;
use crate::node::Replicas;
use crate::peer::links::Links;
use crate::reconcile::Space;
use crate::shell::apply_thread::Order;
use crate::shell::fault::Faults;
use crate::shell::inbox::Inbox;
use crate::shell::known::Known;
use crate::shell::pending::Pending;

/// What the brain leans on.
pub(crate) struct Surroundings {
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) inbox: Inbox,
    pub(crate) orders: Sender<Order>,
    pub(crate) links: Arc<Links>,
    pub(crate) known: Arc<Known>,
    pub(crate) faults: Faults,
    pub(crate) log: LogLines,
    /// Is told once the leader of meta has said what there is.
    pub(crate) serving: watch::Sender<bool>,
    /// Room on the disk.
    pub(crate) space: Box<dyn Fn() -> Space + Send>,
}
