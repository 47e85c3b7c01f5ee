//! The stages of a node together: to be given to threads, or called one by one by a simulator.

use std::sync::Arc;

use esker::internals::env::fs::DirLock;
use esker::{Db, Result};
use esker_raft::{GroupId, Member, NodeId};

use crate::node::applying::{Applied, Applying};
use crate::node::ask::Ask;
use crate::node::consensus::Consensus;
use crate::node::creating::Create;
use crate::node::identity::Identity;
use crate::node::logging::Logging;
use crate::node::replicas::Replicas;
use crate::node::request::{Now, Reply, RequestId};
use crate::node::turn::{Cleared, NodeEvent};

/// The stages of a node, to be given to threads, or called one by one.
pub struct Stages {
    /// Who the node is.
    pub identity: Identity,
    /// The groups.
    pub consensus: Consensus,
    /// The raft log.
    pub logging: Logging,
    /// The state machines.
    pub applying: Applying,
    /// The directory for all threads.
    pub replicas: Arc<Replicas>,
    /// The engine, for its statistics; and to be closed last.
    pub db: Db,
    /// Nobody else opens the directory as long as this lives.
    pub lock: Box<dyn DirLock>,
}

/// What an opening found.
#[derive(Debug, Default)]
pub struct Found {
    /// Replicas that take part.
    pub running: Vec<Member>,
    /// Replicas that do not any more, and why: each is to be replaced under another id. What is
    /// left of them is kept until they are destroyed.
    pub damaged: Vec<(Member, String)>,
    /// Keyspaces that nobody owned, and that were dropped.
    pub dropped: Vec<String>,
    /// What the raft log has lost, if it has.
    pub loss: Option<String>,
    /// The disk was full, and the room that was kept for this opening is used.
    pub is_short_of_space: bool,
}

/// What leaves the node.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Frames for other nodes.
    pub frames: Vec<(NodeId, Vec<u8>)>,
    /// Reads that may be served now.
    pub cleared: Vec<Cleared>,
    /// Answers.
    pub replies: Vec<(RequestId, Reply)>,
    /// What happened.
    pub events: Vec<NodeEvent>,
}

impl Stages {
    /// One turn of consensus. Saves wait for [`Stages::write_log`], work for [`Stages::apply`].
    pub fn turn(&mut self, now: Now, is_tick: bool) -> Outcome {
        let turn = self.consensus.turn(now, is_tick);
        turn.saves
            .into_iter()
            .for_each(|save| self.logging.take(save));
        turn.work
            .into_iter()
            .for_each(|work| self.applying.take(work));
        if is_tick {
            self.applying.retry();
        }
        Outcome {
            frames: turn.frames,
            cleared: turn.cleared,
            replies: turn.replies,
            events: turn.events,
        }
    }

    /// Writes and syncs the raft log.
    ///
    /// Errors: the node must end.
    pub fn write_log(&mut self, now: Now) -> Result<()> {
        if let Some(number) = self.logging.write()? {
            self.consensus.ask(Ask::Durable(number), now);
        }
        Ok(())
    }

    /// Applies up to so many entries; gives the answers that they bring.
    ///
    /// Errors: the node must end.
    pub fn apply(&mut self, now: Now, entries_max: usize) -> Result<Vec<(RequestId, Reply)>> {
        let Applied { asks, replies, .. } = self.applying.run(entries_max)?;
        asks.into_iter()
            .for_each(|ask| self.consensus.ask(ask, now));
        Ok(replies)
    }

    /// Gives back what the raft log needs no more, and sees to it that no group keeps too much. It
    /// says as well how far the log was synced, which else is done while nothing comes.
    ///
    /// Errors: the node must end.
    pub fn upkeep(&mut self, now: Now) -> Result<()> {
        self.logging.rest()?;
        let pressure = self.logging.upkeep()?;
        self.consensus.ask(Ask::LogPressure(pressure), now);
        Ok(())
    }

    /// Has a replica here from now on. May be said again.
    ///
    /// Errors: those of [`Applying::create`](crate::node::Applying::create).
    pub fn create(&mut self, create: Create, now: Now) -> Result<()> {
        let begin = self.applying.create(create)?;
        self.consensus.ask(Ask::Begin(begin), now);
        Ok(())
    }

    /// The replica of that group here takes no part before it is freed.
    pub fn hold(&mut self, group: GroupId) {
        self.consensus.shard.hold(group);
    }

    /// Destroys a replica here, for good. May be said again.
    ///
    /// Errors: those of the engine.
    pub fn purge(&mut self, member: Member, now: Now) -> Result<()> {
        let ask = self.applying.purge(member)?;
        self.consensus.ask(ask, now);
        Ok(())
    }
}
