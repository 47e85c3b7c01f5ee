//! The thread of the state machines.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use esker::{Error, ErrorKind, Result};
use esker_raft::Member;

use crate::log_lines::{Level, LogLines};
use crate::meta::ids::ReplicaName;
use crate::node::stall;
use crate::node::{Applied, Applying, Ask, Create, Work};
use crate::shell::complaints::Complaints;
use crate::shell::fault::Faults;
use crate::shell::inbox::{Inbox, Told};
use crate::shell::pending::Pending;

/// Entries that are applied before new orders are looked for.
pub(crate) const ENTRIES_A_ROUND: usize = 256;

/// When replicas that the engine told to wait are tried again, if there is nothing else to do: what
/// they wait for is often over in less, and a tick would make a slowed writer of a stopped one.
const RETRY_AFTER: Duration = Duration::from_millis(2);

/// What the thread is given to do.
pub(crate) enum Order {
    /// Work of a turn.
    Work(Vec<Work>),
    /// A tick: those who were told to wait are tried again.
    Retry,
    /// A replica is to be here.
    Create(Create),
    /// A replica is to go, for good.
    Purge(Member),
    /// A fact is kept, durably.
    Keep(&'static str, Vec<u8>),
}

pub(crate) struct ApplyThread {
    pub(crate) applying: Applying,
    pub(crate) orders: Receiver<Order>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) inbox: Inbox,
    pub(crate) log: LogLines,
    pub(crate) faults: Faults,
    pub(crate) complaints: Complaints,
    /// Facts that the disk had no room for: nobody tells them again.
    pub(crate) unkept: BTreeMap<&'static str, Vec<u8>>,
}

impl ApplyThread {
    /// Applies until nobody can give any more orders, and everything is applied.
    pub(crate) fn run(mut self) {
        if let Err(error) = self.apply_all() {
            self.faults.tell(format!("the database failed: {error}"));
        }
    }

    fn apply_all(&mut self) -> Result<()> {
        loop {
            let order = self.next_order();
            match order {
                Ok(order) => self.obey(order)?,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) if self.applying.is_busy() => {}
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
            // Whatever came meanwhile belongs to the same round.
            while let Ok(order) = self.orders.try_recv() {
                self.obey(order)?;
            }
            let Applied {
                asks,
                replies,
                times,
            } = self.applying.run(ENTRIES_A_ROUND)?;
            self.pending.reply_applied(replies, &times);
            for ask in asks {
                match ask {
                    Ask::Applied(member, index) => self.inbox.applied(member, index),
                    ask => self.inbox.tell(Told::Stage(ask)),
                }
            }
        }
    }

    fn next_order(&mut self) -> std::result::Result<Order, TryRecvError> {
        if self.applying.is_busy() {
            return self.orders.try_recv();
        }
        if self.applying.parked_count() == 0 {
            return self.orders.recv().map_err(|_| TryRecvError::Disconnected);
        }
        match self.orders.recv_timeout(RETRY_AFTER) {
            Ok(order) => Ok(order),
            Err(RecvTimeoutError::Timeout) => {
                self.applying.retry_parked();
                Err(TryRecvError::Empty)
            }
            Err(RecvTimeoutError::Disconnected) => Err(TryRecvError::Disconnected),
        }
    }

    fn obey(&mut self, order: Order) -> Result<()> {
        match order {
            Order::Work(work) => work.into_iter().for_each(|work| self.applying.take(work)),
            Order::Retry => {
                self.applying.retry();
                for (name, fact) in std::mem::take(&mut self.unkept) {
                    self.keep(name, fact)?;
                }
            }
            Order::Create(create) => {
                let name = ReplicaName(create.member);
                let begin = self.applying.create(create);
                let begun = begin.map(|begin| self.inbox.tell(Told::Stage(Ask::Begin(begin))));
                self.settle(begun, &format!("made no room for {name}"))?;
            }
            Order::Purge(member) => {
                let name = ReplicaName(member);
                let purged = self.applying.purge(member);
                let purged = purged.map(|ask| self.inbox.tell(Told::Stage(ask)));
                self.settle(purged, &format!("could not let go of {name}"))?;
            }
            Order::Keep(name, fact) => self.keep(name, fact)?,
        }
        Ok(())
    }

    fn keep(&mut self, name: &'static str, fact: Vec<u8>) -> Result<()> {
        self.unkept.remove(name);
        let kept = self.applying.own_rows().keep_fact(name, &fact);
        if kept.as_ref().is_err_and(Error::is_retryable) {
            self.unkept.insert(name, fact);
        }
        self.settle(kept, &format!("could not keep what it was told of {name}"))
    }

    // What is refused, or has no room, is told again by the leader of meta, which is no news; any
    // other error is the node's end.
    fn settle(&mut self, done: Result<()>, what: &str) -> Result<()> {
        let Err(error) = done else {
            self.complaints.settle(what);
            return Ok(());
        };
        if !(error.is_retryable() || error.kind() == ErrorKind::Invalid) {
            return Err(Error::again(&error));
        }
        let words = stall::words(&error).map_or_else(|| error.to_string(), str::to_owned);
        if let Some(line) = self.complaints.line(what, &words) {
            self.log.write(Level::Warning, &line);
        }
        Ok(())
    }
}
