//! What all threads know of tables, and of who leads meta.

use std::sync::{Arc, PoisonError, RwLock};

use crate::reconcile::Knowledge;

/// The knowledge of the moment. Any thread may look; the thread of consensus changes it.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<Arc<Knowledge>>);

impl Known {
    pub(crate) fn new(knowledge: Knowledge) -> Known {
        Known(RwLock::new(Arc::new(knowledge)))
    }

    /// As it is now.
    pub(crate) fn get(&self) -> Arc<Knowledge> {
        // A pointer is whole whatever a thread that panicked was about to do; here and below.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on it is that.
    pub(crate) fn set(&self, knowledge: Knowledge) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(knowledge);
    }
}
