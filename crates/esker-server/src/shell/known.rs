//! What all threads know of tables, and of who leads meta.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use crate::meta::ids::TableId;
use crate::reconcile::Knowledge;
use crate::throttle::TableLimits;

/// What a node was told last, and what follows from it for each call.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    knowledge: Knowledge,
    /// Of the tables that are limited.
    limits: BTreeMap<TableId, TableLimits>,
}

impl Learned {
    fn of(knowledge: Knowledge) -> Learned {
        let tables = knowledge.tables.iter();
        let limits = tables.filter_map(|(table, facts)| {
            Some((*table, TableLimits::of(&facts.envs, facts.partition_count)?))
        });
        Learned {
            limits: limits.collect(),
            knowledge,
        }
    }

    /// How much of a table may be asked for, if that is limited.
    pub(crate) fn limits(&self, table: TableId) -> Option<&TableLimits> {
        self.limits.get(&table)
    }
}

impl Deref for Learned {
    type Target = Knowledge;

    fn deref(&self) -> &Knowledge {
        &self.knowledge
    }
}

/// The knowledge of the moment. Any thread may look; the thread of consensus changes it.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<Arc<Learned>>);

impl Known {
    pub(crate) fn new(knowledge: Knowledge) -> Known {
        Known(RwLock::new(Arc::new(Learned::of(knowledge))))
    }

    /// As it is now.
    pub(crate) fn get(&self) -> Arc<Learned> {
        // A pointer is whole whatever a thread that panicked was about to do; here and below.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on it is that.
    pub(crate) fn set(&self, knowledge: Knowledge) {
        let learned = Arc::new(Learned::of(knowledge));
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = learned;
    }
}
