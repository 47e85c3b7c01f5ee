//! One node of a simulated cluster, with one replica of one group.
//!
//! The log, the engine and the consensus are the real ones; the disk and the network are simulated.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use esker::internals::env::random::Random;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::{Db, Durability, Keyspace, KeyspaceOptions, OwnLog, WriteOptions};
use esker_raft::{
    Apply, Committed, Effect, Envelope, Event, GroupId, Keep, Mark, Member, NodeId, Options,
    Outcome, Output, Point, ReplicaId, SaveNumber, Shard, Start, Token, decode_frame,
    encode_frames,
};
use esker_rpc::message::data::KeyAnswer;
use esker_server::disk_log::{DiskLog, DiskLogOptions};
use esker_server::partition::command::Command;
use esker_server::partition::machine::Machine;

/// The only group.
pub const GROUP: GroupId = GroupId(1);

const LOG: DiskLogOptions = DiskLogOptions {
    segment_bytes: 64 << 10,
};

/// Entries that are kept though nobody lacks them.
const KEPT: u64 = 50;

/// What a node has that can go wrong, for tests that must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// A save is told durable before it is synced.
    DurableTooEarly,
    /// The mark says one entry more than was applied.
    MarkAhead,
    /// The log is compacted up to what is applied, not to what is flushed.
    CompactsTooFar,
}

/// The raft log as the engine asks for it.
#[derive(Default)]
struct Own {
    /// The last entry of the group that is durable in the log.
    durable: AtomicU64,
    /// The last one that is in files, which needs no log any more.
    flushed: AtomicU64,
}

impl OwnLog for Own {
    fn is_durable(&self, _keyspace: &str, mark: &[u8]) -> bool {
        // `raft` hands out nothing that is not durable here, so the answer is yes; it is asked all
        // the same, for the log's sake.
        read_mark(mark).0.index <= self.durable.load(Ordering::SeqCst)
    }

    fn flushed(&self, _keyspace: &str, mark: &[u8]) {
        self.flushed
            .store(read_mark(mark).0.index, Ordering::SeqCst);
    }
}

fn write_mark(applied: Point, machine: Machine) -> Vec<u8> {
    let words = [applied.index, applied.term, machine.clock_us];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn read_mark(mark: &[u8]) -> (Point, Machine) {
    let word = |at: usize| u64::from_le_bytes(mark[at..at + 8].try_into().unwrap());
    let (index, term, clock_us) = (word(0), word(8), word(16));
    (Point { index, term }, Machine { clock_us })
}

/// What a client is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// What came of its writes.
    Answers(Vec<KeyAnswer>),
    /// Nothing was written, and nothing will be.
    Undone,
    /// Nobody can say.
    Unknown,
}

/// A running process.
struct Process {
    db: Db,
    keyspace: Keyspace,
    own: Arc<Own>,
    log: DiskLog,
    shard: Shard,
    member: Member,
    machine: Machine,
    applied: Point,
    /// Committed entries that are to be applied.
    queue: Vec<Committed>,
    unsynced: Option<SaveNumber>,
}

/// One node, up or down.
pub struct Node {
    /// Which.
    pub id: NodeId,
    /// Its replica.
    pub replica: ReplicaId,
    world: SimWorld,
    process: Option<Process>,
    incarnation: u64,
    planted: Planted,
    /// The last entry that is in its files for certain, up or down.
    pub flushed: u64,
    /// What clients are told, to be taken.
    pub told: Vec<(Token, Told)>,
}

fn voters() -> Vec<(ReplicaId, NodeId)> {
    (1..=3).map(|id| (ReplicaId(id), NodeId(id))).collect()
}

impl Node {
    /// A node with an empty disk, up.
    pub fn new(id: u64, seed: u64, planted: Planted) -> Node {
        let mut node = Node {
            id: NodeId(id),
            replica: ReplicaId(id),
            world: SimWorld::new(seed * 10 + id),
            process: None,
            incarnation: 0,
            planted,
            flushed: 0,
            told: Vec::new(),
        };
        node.boot();
        node
    }

    /// Whether it runs.
    pub fn is_up(&self) -> bool {
        self.process.is_some()
    }

    /// Starts the process with what is on the disk.
    pub fn boot(&mut self) {
        self.incarnation += 1;
        let env = self.world.env();
        let (log, opened) = DiskLog::open(&env, Path::new("/raft"), LOG).unwrap();
        assert!(opened.loss.is_none(), "{:?}", opened.loss);
        let state = log.reader().state(GROUP);
        let own = Arc::<Own>::default();
        let last = state.as_ref().map_or(0, |state| state.last.index);
        own.durable.store(last, Ordering::SeqCst);
        let builder = Db::builder("/db").env(env);
        let db = builder.own_log(Arc::<Own>::clone(&own)).open().unwrap();
        let options = KeyspaceOptions {
            is_unlogged: true,
            ..KeyspaceOptions::default()
        };
        let keyspace = db.keyspace_with("1", options).unwrap();
        let mut mark = Mark::first(&voters());
        let mut machine = Machine::default();
        if let Some(flushed) = keyspace.flushed_mark().unwrap() {
            (mark.applied, machine) = read_mark(&flushed);
        }
        let applied = mark.applied;
        let options = Options {
            seed: 1,
            incarnation: self.incarnation,
            log_lag_max: 1 << 20,
            ..Options::default()
        };
        let reader = Arc::new(log.reader().clone());
        let mut shard = Shard::new(self.id, options, reader, BTreeMap::new());
        let start = match state {
            None => Start::First(voters()),
            Some(state) => Start::Again(Box::new(state), mark),
        };
        shard.start(GROUP, self.replica, start).unwrap();
        self.process = Some(Process {
            db,
            keyspace,
            own,
            log,
            shard,
            member: Member {
                group: GROUP,
                replica: self.replica,
            },
            machine,
            applied,
            queue: Vec::new(),
            unsynced: None,
        });
    }

    /// The power goes.
    pub fn crash(&mut self, mode: CrashMode, seed: u64) {
        self.process = None;
        self.world = self.world.after_crash(mode, seed);
    }

    /// Who leads, as far as it knows.
    pub fn leader(&self) -> Option<ReplicaId> {
        let process = self.process.as_ref()?;
        process.shard.status(GROUP)?.leader
    }

    /// The last entry that it has applied.
    pub fn applied(&self) -> u64 {
        self.process
            .as_ref()
            .map_or(0, |process| process.applied.index)
    }

    /// Proposes an entry; `false` when it cannot.
    pub fn propose(&mut self, token: Token, entry: Vec<u8>) -> bool {
        let process = self.process.as_mut();
        process.is_some_and(|process| {
            let proposed = process.shard.propose(GROUP, token, entry.into());
            proposed.is_ok()
        })
    }

    /// A frame has come.
    pub fn receive(&mut self, frame: &[u8]) {
        if let Some(process) = &mut self.process {
            for message in decode_frame(frame).unwrap() {
                process.shard.offer(message).unwrap();
            }
        }
    }

    /// One turn, and some of what the disk and the state machine have to do; nobody lacks entries
    /// up to `unneeded`. Gives frames.
    pub fn step(
        &mut self,
        is_tick: bool,
        unneeded: u64,
        dice: &mut Random,
    ) -> Vec<(NodeId, Vec<u8>)> {
        let Some(process) = &mut self.process else {
            return Vec::new();
        };
        let output = process.shard.turn(is_tick);
        let frames = process.take(output, self.planted, &mut self.told);
        if dice.one_in(2) {
            process.sync();
        }
        for _ in 0..dice.below(6) {
            process.apply_one(self.planted, &mut self.told);
        }
        process.upkeep(&self.world, (self.planted, unneeded), dice);
        self.flushed = self.flushed.max(process.own.flushed.load(Ordering::SeqCst));
        frames
    }

    /// All rows that it has.
    pub fn rows(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let process = self.process.as_ref().unwrap();
        let rows = process.keyspace.iter().unwrap().map(|row| row.unwrap());
        rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    }
}

impl Process {
    fn take(
        &mut self,
        output: Output,
        planted: Planted,
        told: &mut Vec<(Token, Told)>,
    ) -> Vec<(NodeId, Vec<u8>)> {
        assert!(output.installs.is_empty(), "the log is kept for everyone");
        if !output.save.records.is_empty() {
            self.log.append(&output.save.records).unwrap();
            self.unsynced = Some(output.save.number);
            if planted == Planted::DurableTooEarly {
                self.shard.durable(output.save.number);
            }
        }
        for Apply { entries, .. } in output.applies {
            self.queue.extend(entries);
        }
        for event in output.events {
            match event {
                Event::Proposal(_, token, Outcome::NotProposed | Outcome::Overwritten) => {
                    told.push((token, Told::Undone));
                }
                Event::Proposal(_, token, _) => told.push((token, Told::Unknown)),
                Event::Damaged(_, why) => panic!("damaged: {why}"),
                _ => {}
            }
        }
        let frames = output.sends.into_iter();
        let frames = frames.flat_map(|(to, messages): (NodeId, Vec<Envelope>)| {
            let frames = encode_frames(&messages).into_iter();
            frames.map(move |frame| (to, frame))
        });
        frames.collect()
    }

    fn sync(&mut self) {
        let Some(number) = self.unsynced.take() else {
            return;
        };
        self.log.sync().unwrap();
        self.shard.durable(number);
        let last = self.log.reader().state(GROUP).unwrap().last.index;
        self.own.durable.store(last, Ordering::SeqCst);
        self.keyspace.own_log_is_durable();
    }

    fn apply_one(&mut self, planted: Planted, told: &mut Vec<(Token, Told)>) {
        if self.queue.is_empty() {
            return;
        }
        let entry = self.queue.remove(0);
        assert_eq!(entry.index, self.applied.index + 1, "none is left out");
        let mut batch = self.db.batch();
        let mut answers = Vec::new();
        if let Effect::Write(bytes) = &entry.effect {
            let command = Command::read(bytes).unwrap();
            let applied = self.machine.apply(&self.keyspace, &command, &mut batch);
            answers = applied.unwrap();
        }
        self.applied = Point {
            index: entry.index,
            term: entry.term,
        };
        let mut at = self.applied;
        at.index += u64::from(planted == Planted::MarkAhead);
        batch.mark(&self.keyspace, write_mark(at, self.machine));
        let options = WriteOptions {
            durability: Some(Durability::Memory),
            no_wait: true,
        };
        batch.commit_with(options).unwrap();
        self.shard.applied(self.member, entry.index);
        if let Some(token) = entry.token {
            told.push((token, Told::Answers(answers)));
        }
    }

    fn upkeep(&mut self, world: &SimWorld, (planted, unneeded): (Planted, u64), dice: &mut Random) {
        if dice.one_in(12) {
            self.keyspace.flush_soon().unwrap();
        }
        if dice.one_in(3) {
            world.pool.run_all();
        }
        if dice.one_in(20) {
            let up_to = match planted {
                Planted::CompactsTooFar => self.applied.index,
                // There are no images here, so nobody may come to lack what is compacted. An answer
                // that comes late has `raft` 0.7.0 look for where the logs agree far before that.
                _ => unneeded.saturating_sub(KEPT),
            };
            if up_to > 0 {
                self.shard.compact(self.member, up_to, Keep::ForFollowers);
            }
            self.log.release().unwrap();
        }
    }
}

/// A frame on its way.
struct Sent {
    arrives: u64,
    from: NodeId,
    to: NodeId,
    frame: Vec<u8>,
}

/// Frames on their way.
#[derive(Default)]
pub struct Net {
    frames: Vec<Sent>,
}

impl Net {
    /// Sends frames at `now`; one in ten is lost, others take up to five ticks, some come twice.
    pub fn send(
        &mut self,
        from: NodeId,
        frames: Vec<(NodeId, Vec<u8>)>,
        now: u64,
        dice: &mut Random,
    ) {
        for (to, frame) in frames {
            if dice.one_in(10) {
                continue;
            }
            for _ in 0..1 + u64::from(dice.one_in(15)) {
                self.frames.push(Sent {
                    arrives: now + dice.below(5),
                    from,
                    to,
                    frame: frame.clone(),
                });
            }
        }
    }

    /// What has arrived by `now`, but for what comes from or to those that are cut off.
    pub fn arrived(&mut self, now: u64, cut: &[NodeId]) -> Vec<(NodeId, Vec<u8>)> {
        let all = std::mem::take(&mut self.frames).into_iter();
        let (due, later): (Vec<_>, Vec<_>) = all.partition(|sent| sent.arrives <= now);
        self.frames = later;
        let is_whole = |sent: &Sent| !cut.contains(&sent.from) && !cut.contains(&sent.to);
        let whole = due.into_iter().filter(is_whole);
        whole.map(|sent| (sent.to, sent.frame)).collect()
    }
}
