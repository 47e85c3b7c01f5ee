//! What all threads know of tables, and of whether anybody leads meta.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::meta::directive::TableFacts;
use crate::meta::ids::TableId;
use crate::meta::settings::slow_threshold;
use crate::reconcile::Knowledge;
use crate::shell::meta_watch::MetaWatch;
use crate::throttle::TableLimits;

/// What a node was told last, and what follows from it for each call.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    knowledge: Knowledge,
    /// Of the tables whose settings say something.
    rules: BTreeMap<TableId, TableRules>,
}

/// What the settings of a table say of each call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TableRules {
    /// How much may be asked for, if that is limited.
    pub(crate) limits: Option<TableLimits>,
    /// How long a call takes that is slow, if the table says it and not the node.
    pub(crate) slow: Option<Duration>,
}

impl TableRules {
    fn of(facts: &TableFacts) -> Option<TableRules> {
        let rules = TableRules {
            limits: TableLimits::of(&facts.envs, facts.partition_count),
            slow: slow_threshold(&facts.envs),
        };
        (rules.limits.is_some() || rules.slow.is_some()).then_some(rules)
    }
}

impl Learned {
    fn of(knowledge: Knowledge) -> Learned {
        let tables = knowledge.tables.iter();
        let rules = tables.filter_map(|(table, facts)| Some((*table, TableRules::of(facts)?)));
        Learned {
            rules: rules.collect(),
            knowledge,
        }
    }

    /// What the settings of a table say, if they say anything.
    pub(crate) fn rules(&self, table: TableId) -> Option<&TableRules> {
        self.rules.get(&table)
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
pub(crate) struct Known {
    learned: RwLock<Arc<Learned>>,
    /// Whether a leader of the meta service answers.
    pub(crate) meta: MetaWatch,
    // A number of its own: nothing else is read by it.
    clocks_apart: AtomicUsize,
}

impl Known {
    pub(crate) fn new(knowledge: Knowledge) -> Known {
        Known {
            learned: RwLock::new(Arc::new(Learned::of(knowledge))),
            meta: MetaWatch::default(),
            clocks_apart: AtomicUsize::new(0),
        }
    }

    /// As it is now.
    pub(crate) fn get(&self) -> Arc<Learned> {
        // A pointer is whole whatever a thread that panicked was about to do; here and below.
        let learned = self.learned.read();
        Arc::clone(&learned.unwrap_or_else(PoisonError::into_inner))
    }

    /// How many nodes have a clock far from this one's, if this one leads meta.
    pub(crate) fn clocks_apart(&self) -> usize {
        self.clocks_apart.load(Ordering::Relaxed)
    }

    /// From now on it is so many.
    pub(crate) fn set_clocks_apart(&self, count: usize) {
        self.clocks_apart.store(count, Ordering::Relaxed);
    }

    /// From now on it is that.
    pub(crate) fn set(&self, knowledge: Knowledge) {
        let learned = Arc::new(Learned::of(knowledge));
        *self.learned.write().unwrap_or_else(PoisonError::into_inner) = learned;
    }
}
