//! The thread that compacts replicas whose table asks for it, one after another.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use esker::ErrorKind;

use crate::log_lines::{Level, LogLines};
use crate::meta::ids::{PartitionId, ReplicaName};
use crate::meta::settings::compaction_asked_s;
use crate::node::{Compaction, CompactionState, Replicas, View};
use crate::shell::known::Known;
use crate::shell::moments::Moments;

/// How often it is looked whether one is due.
const LOOK: Duration = Duration::from_millis(500);

/// What the thread has. It ends when nobody has the other end of `stop`, or the database closes.
pub(crate) struct CompactThread {
    pub(crate) stop: Receiver<()>,
    pub(crate) known: Arc<Known>,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) moments: Moments,
    pub(crate) log: LogLines,
    /// What was asked for before this second is over: the node has been started since.
    pub(crate) since_s: u64,
}

impl CompactThread {
    /// Compacts what is due until it is told to end.
    pub(crate) fn run(self) {
        loop {
            match self.next_due() {
                Some((view, asked_s)) => {
                    if !self.compact(&view, asked_s) {
                        return;
                    }
                    // Between two of them the others get their turn, and an end is heard.
                    if self.stop.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
                        return;
                    }
                }
                None => {
                    if self.stop.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected) {
                        return;
                    }
                }
            }
        }
    }

    /// The first replica that is to be compacted, and since when.
    fn next_due(&self) -> Option<(Arc<View>, u64)> {
        let known = self.known.get();
        let now_s = self.moments.now().unix_s();
        for view in self.replicas.views() {
            let PartitionId { table, index } = PartitionId::of(view.member.group);
            let asked_s = known
                .open_table(table)
                .and_then(|facts| compaction_asked_s(&facts.envs, index));
            let Some(asked_s) = asked_s.filter(|asked_s| *asked_s <= now_s) else {
                continue;
            };
            if asked_s >= self.since_s && asked_s > view.compaction().asked_s {
                return Some((view, asked_s));
            }
        }
        None
    }

    /// False if the database is closed.
    fn compact(&self, view: &View, asked_s: u64) -> bool {
        let begun = self.moments.monotonic();
        let state = |state| Compaction {
            asked_s,
            state,
            took: self.moments.monotonic().saturating_sub(begun),
        };
        view.set_compaction(state(CompactionState::Running));
        match view.keyspace.compact::<&[u8]>(..) {
            Ok(()) => view.set_compaction(state(CompactionState::Done)),
            // The node ends, or the replica was dropped a moment ago.
            Err(error) if error.kind() == ErrorKind::Closed => return self.is_gone(view),
            Err(error) => {
                let name = ReplicaName(view.member);
                let line = format!("{name} was not compacted: {error}");
                self.log.write(Level::Warning, &line);
                view.set_compaction(state(CompactionState::Failed(error.to_string())));
            }
        }
        true
    }

    /// Whether the replica is here no more, and the database goes on.
    fn is_gone(&self, view: &View) -> bool {
        self.replicas.view(view.member.group).is_none_or(|now| {
            now.member != view.member || now.keyspace.name() != view.keyspace.name()
        })
    }
}
