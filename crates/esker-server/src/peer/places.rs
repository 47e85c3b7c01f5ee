//! Which connections of each node a door has.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Connections by node, the oldest first. Any task may call.
#[derive(Debug)]
pub(crate) struct Places {
    of_nodes: Mutex<BTreeMap<u64, VecDeque<Arc<Notify>>>>,
    of_node_max: usize,
}

/// A connection's place. Dropping it leaves it.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    places: &'a Places,
    node: u64,
    replaced: Arc<Notify>,
}

impl Places {
    pub(crate) fn new(of_node_max: usize) -> Places {
        Places {
            of_nodes: Mutex::default(),
            of_node_max,
        }
    }

    /// A place for one more connection of that node; its oldest is told to end if it has more than
    /// it may.
    pub(crate) fn take(&self, node: u64) -> Place<'_> {
        let replaced = Arc::new(Notify::new());
        let mut of_nodes = self.lock();
        let of_node = of_nodes.entry(node).or_default();
        of_node.push_back(Arc::clone(&replaced));
        if of_node.len() > self.of_node_max
            && let Some(oldest) = of_node.pop_front()
        {
            oldest.notify_one();
        }
        Place {
            places: self,
            node,
            replaced,
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, VecDeque<Arc<Notify>>>> {
        // A panic between two lines of this file leaves the map as it was.
        self.of_nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Waits until another connection has taken the place.
    pub(crate) async fn replaced(&self) {
        self.replaced.notified().await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut of_nodes = self.places.lock();
        if let Some(of_node) = of_nodes.get_mut(&self.node) {
            of_node.retain(|other| !Arc::ptr_eq(other, &self.replaced));
            if of_node.is_empty() {
                of_nodes.remove(&self.node);
            }
        }
    }
}
