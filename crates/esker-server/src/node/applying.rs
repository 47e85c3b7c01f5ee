//! The stage that has the state machines: committed entries in; answers, and how far it came, out.
//!
//! Replicas have their turns one after the other, some entries at a time. One that the engine tells
//! to wait is parked, and tried again at the next tick; the others go on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use esker::internals::base::codec::checksum::hash64;
use esker::{Db, Error, Keyspace, Result};
use esker_raft::{GroupId, Member, ReplicaId};

use crate::disk_log::LogReader;
use crate::node::absorb::entry_bytes;
use crate::node::ask::{Ask, Entry, EntryTimes, Work};
use crate::node::images::Images;
use crate::node::keyspace_name::{ReplicaKeyspace, partition_of};
use crate::node::limits::{ENTRIES_AT_ONCE, STALLED_TICKS_MAX};
use crate::node::replicas::Replicas;
use crate::node::request::{Answer, Reply, RequestId};
use crate::node::stall;
use crate::node::switch::{State, Switch, Switches};
use crate::node::view::{Alarm, View};
use crate::partition::ended::keyspace_options;
use crate::partition::mark::ReplicaMark;
use crate::partition::replica::{Brought, NotApplied, Replica};
use crate::partition::signature::Signature;

/// What came of applying.
#[derive(Debug, Default)]
pub struct Applied {
    /// What consensus is to be told.
    pub asks: Vec<Ask>,
    /// Answers.
    pub replies: Vec<(RequestId, Reply)>,
    /// Of the replies from an index on, the times of their entry.
    pub times: Vec<(usize, EntryTimes)>,
}

/// What a node says of itself in answers and ids.
#[derive(Clone, Debug, Default)]
pub struct Voice {
    /// The address for clients.
    pub server: String,
    /// The node.
    pub node: u64,
    /// The incarnation.
    pub incarnation: u64,
}

// What the ids of scans begin with: another number for each node, life and keyspace, so that nobody
// goes on with a stranger's scan after the lead has moved.
fn scan_life(voice: &Voice, keyspace: &str) -> u64 {
    let mut bytes = voice.node.to_le_bytes().to_vec();
    bytes.extend_from_slice(&voice.incarnation.to_le_bytes());
    bytes.extend_from_slice(keyspace.as_bytes());
    hash64(&bytes)
}

/// What of a node's disk the state machines need.
pub struct Disk {
    /// The database of all replicas.
    pub db: Db,
    /// Which of its keyspaces are whose.
    pub switches: Switches,
    /// The raft log, which knows who was destroyed.
    pub log: LogReader,
}

/// One replica, and what it has to do.
pub(crate) struct Machinery {
    pub(crate) member: Member,
    pub(crate) replica: Replica,
    view: Arc<View>,
    pub(crate) queue: VecDeque<Entry>,
    is_ready: bool,
    is_parked: bool,
    /// For how long it has stood still.
    stalled_ticks: u32,
}

/// The replicas of a node. One thread calls it.
pub struct Applying {
    pub(crate) db: Db,
    pub(crate) switches: Switches,
    pub(crate) log: LogReader,
    replicas: Arc<Replicas>,
    pub(crate) images: Arc<Images>,
    voice: Voice,
    pub(crate) machines: BTreeMap<GroupId, Machinery>,
    unreadable: Alarm,
    /// Those with something to do, in the order of their turns.
    ready: VecDeque<GroupId>,
    parked: Vec<GroupId>,
    /// What the disk had no room for.
    later: Vec<Work>,
    pub(crate) out: Applied,
    fault: Option<Error>,
}

impl Applying {
    /// No replica yet.
    pub fn new(disk: Disk, replicas: Arc<Replicas>, voice: Voice) -> Applying {
        Applying {
            db: disk.db,
            switches: disk.switches,
            log: disk.log,
            replicas,
            images: Arc::default(),
            voice,
            machines: BTreeMap::new(),
            unreadable: Alarm::default(),
            ready: VecDeque::new(),
            parked: Vec::new(),
            later: Vec::new(),
            out: Applied::default(),
            fault: None,
        }
    }

    /// Takes work, for the next [`Applying::run`].
    pub fn take(&mut self, work: Work) {
        match work {
            Work::Apply(member, entries) => self.queue(member, entries),
            Work::Retire(member, why) => {
                let retired = self.retire(member, &why);
                self.settle(retired, Work::Retire(member, why));
            }
            Work::Drop(member) => {
                let dropped = self.drop_replica(member);
                self.settle(dropped, Work::Drop(member));
            }
            Work::Begun(member) => {
                let noted = self.begun(member);
                self.settle(noted, Work::Begun(member));
            }
            Work::Purge(member) => match self.purge(member) {
                Ok(ask) => self.out.asks.push(ask),
                Err(error) => self.settle(Err(error), Work::Purge(member)),
            },
            Work::MakeImage(member, index) => self.make_image(member, index),
            Work::Install(member, ticket) => {
                if let Err(error) = self.install(member, ticket.index) {
                    self.fault.get_or_insert(error);
                }
            }
            Work::DropReplaced(member) => {
                let dropped = self.drop_replaced(member);
                self.settle(dropped, Work::DropReplaced(member));
            }
            Work::DropImage(member, index) => {
                let dropped = self.drop_image(member, index);
                self.settle(dropped, Work::DropImage(member, index));
            }
        }
    }

    /// Applies up to so many entries, and tells what came of all that was taken.
    ///
    /// Errors: the whole database refuses writes, and the node must end.
    pub fn run(&mut self, entries_max: usize) -> Result<Applied> {
        let mut left = entries_max;
        while left > 0 {
            let Some(group) = self.ready.pop_front() else {
                break;
            };
            left -= self.run_one(group, left.min(ENTRIES_AT_ONCE));
        }
        match self.fault.take() {
            None => Ok(std::mem::take(&mut self.out)),
            Some(fault) => {
                self.fault = Some(fault.again());
                Err(fault)
            }
        }
    }

    /// Whether something can be applied now.
    pub fn is_busy(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Replicas that were told to wait are tried again by the next [`Applying::run`], and what the
    /// disk had no room for is tried now.
    pub fn retry(&mut self) {
        for work in std::mem::take(&mut self.later) {
            self.take(work);
        }
        self.out.asks.extend(self.images.tick());
        if self.unreadable.swap(false, Ordering::SeqCst) {
            self.retire_unreadable();
        }
        self.answer_stalled();
        self.retry_parked();
    }

    // What is committed is done once there is room, which may be never. Who waits for it hears that
    // nobody knows, whether or not another node leads by then.
    fn answer_stalled(&mut self) {
        let machines = self.machines.values_mut();
        for machine in machines.filter(|machine| machine.view.is_stalled()) {
            machine.stalled_ticks = machine.stalled_ticks.saturating_add(1);
            if machine.stalled_ticks > STALLED_TICKS_MAX {
                let entries = machine.queue.iter_mut();
                let requests = entries.flat_map(|entry| std::mem::take(&mut entry.requests));
                let unknown = requests.map(|it| (it, Reply::Unknown));
                self.out.replies.extend(unknown);
            }
        }
    }

    fn retire_unreadable(&mut self) {
        let machines = self.machines.values();
        let unreadable = machines.filter(|machine| machine.view.is_unreadable());
        for member in unreadable.map(|it| it.member).collect::<Vec<_>>() {
            self.out.asks.push(Ask::Retired(member));
            let why = "its rows cannot be read".to_owned();
            self.take(Work::Retire(member, why));
        }
    }

    /// Replicas that were told to wait are tried again by the next [`Applying::run`]: what they
    /// wait for is often over in a few milliseconds, so whoever has a timer calls this before the
    /// tick.
    pub fn retry_parked(&mut self) {
        for group in std::mem::take(&mut self.parked) {
            if let Some(machine) = self.machines.get_mut(&group) {
                machine.is_parked = false;
                machine.is_ready = true;
                self.ready.push_back(group);
            }
        }
    }

    /// How many replicas wait until the engine lets them go on.
    pub fn parked_count(&self) -> usize {
        self.parked.len()
    }

    /// Opens a replica on its keyspace, which is made if need be, as its mark says.
    pub(crate) fn open(&mut self, keyspace: ReplicaKeyspace, mark: ReplicaMark) -> Result<()> {
        let member = keyspace.member;
        let options = keyspace_options(member.group);
        let keyspace = self.db.keyspace_with(&keyspace.name(), options)?;
        let view = Arc::new(self.view(member, &keyspace, &mark));
        let replica = Replica::new(&self.db, member.group, (keyspace, mark))?;
        if let Some(state) = replica.meta() {
            view.set_meta(Arc::clone(state));
        }
        // Who leads is the same whatever keyspace it has.
        let before = self.replicas.view(member.group);
        if let Some(before) = before.filter(|before| before.member == member) {
            view.set_standing(|standing| *standing = before.standing());
        }
        self.replicas.set_view(Arc::clone(&view));
        let machinery = Machinery {
            member,
            replica,
            view,
            queue: VecDeque::new(),
            is_ready: false,
            is_parked: false,
            stalled_ticks: 0,
        };
        self.machines.insert(member.group, machinery);
        Ok(())
    }

    fn view(&self, member: Member, keyspace: &Keyspace, mark: &ReplicaMark) -> View {
        let (table, partition) = partition_of(member.group);
        let signature = Signature {
            app_id: i32::try_from(table).unwrap_or(i32::MAX),
            partition_index: i32::try_from(partition).unwrap_or(i32::MAX),
            server: self.voice.server.clone(),
        };
        let since = (
            mark.raft.applied.index,
            mark.clock_us,
            scan_life(&self.voice, keyspace.name()),
        );
        let alarm = Arc::clone(&self.unreadable);
        View::new(member, keyspace.clone(), signature, since, alarm)
    }

    /// The images that are offered here, and those that have arrived.
    pub fn images(&self) -> &Arc<Images> {
        &self.images
    }

    /// Every replica that the disk has, whether it takes part or is damaged.
    pub fn switches(&self) -> Result<Vec<Switch>> {
        self.switches.all()
    }

    /// The replica is known to be damaged from now on, whatever happens.
    pub(crate) fn write_retired(&mut self, member: Member, why: &str) -> Result<()> {
        self.retire(member, why)
    }

    /// The largest replica id of a group that was destroyed here.
    pub(crate) fn destroyed(&self, group: GroupId) -> Option<ReplicaId> {
        self.log.destroyed(group)
    }

    /// The rows of the node's own.
    pub fn own_rows(&self) -> &Switches {
        &self.switches
    }

    fn queue(&mut self, member: Member, entries: Vec<Entry>) {
        let found = self.machines.get_mut(&member.group);
        let Some(machine) = found.filter(|machine| machine.member == member) else {
            self.forget(member.group, entries);
            return;
        };
        machine.queue.extend(entries);
        if !machine.is_parked && !std::mem::replace(&mut machine.is_ready, true) {
            self.ready.push_back(member.group);
        }
    }

    // Entries that nobody here will apply: they may be done elsewhere.
    fn forget(&mut self, group: GroupId, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.replicas
                .take_unapplied(group, entry_bytes(&entry.committed));
            let unknown = entry.requests.into_iter().map(|it| (it, Reply::Unknown));
            self.out.replies.extend(unknown);
        }
    }

    // Gives a replica its turn. Says how many entries it took, one at least.
    fn run_one(&mut self, group: GroupId, entries_max: usize) -> usize {
        let Some(machine) = self.machines.get_mut(&group) else {
            return 1;
        };
        machine.is_ready = false;
        let (mut count, mut damage) = (0, None);
        while count < entries_max {
            let Some(entry) = machine.queue.front() else {
                break;
            };
            match machine.replica.apply(&entry.committed) {
                Ok(brought) => {
                    count += 1;
                    let Some(entry) = machine.queue.pop_front() else {
                        break;
                    };
                    self.replicas
                        .take_unapplied(group, entry_bytes(&entry.committed));
                    let clock_us = machine.replica.mark().clock_us;
                    if let Some(state) = machine.replica.meta() {
                        machine.view.set_meta(Arc::clone(state));
                    }
                    machine.view.set_applied(entry.committed.index, clock_us);
                    if machine.view.is_stalled() {
                        machine.view.set_stall(None);
                        machine.stalled_ticks = 0;
                    }
                    let replies = &mut self.out.replies;
                    self.out.times.push((replies.len(), entry.times));
                    answer(&machine.view.signature, entry, brought, replies);
                }
                Err(NotApplied::Later(error)) => {
                    if let Some(words) = stall::words(&error) {
                        machine.view.set_stall(Some(words.to_owned()));
                    }
                    machine.is_parked = true;
                    self.parked.push(group);
                    break;
                }
                Err(NotApplied::Damaged(error)) => {
                    damage = Some((machine.member, error.to_string()));
                    break;
                }
                Err(NotApplied::Ended(error)) => {
                    self.fault = Some(error);
                    break;
                }
            }
        }
        if count > 0 {
            let index = machine.replica.mark().raft.applied.index;
            self.out.asks.push(Ask::Applied(machine.member, index));
        }
        let is_left = !machine.queue.is_empty() && !machine.is_parked;
        if is_left && damage.is_none() && self.fault.is_none() {
            machine.is_ready = true;
            self.ready.push_back(group);
        }
        if let Some((member, why)) = damage {
            self.out.asks.push(Ask::Retired(member));
            self.take(Work::Retire(member, why));
        }
        count.max(1)
    }

    // The replica takes no part any more. Its state is kept, and so is the word of it: it must not
    // vote after a restart either.
    fn retire(&mut self, member: Member, why: &str) -> Result<()> {
        let found = self.machines.get(&member.group);
        if found.is_some_and(|machine| machine.member == member)
            && let Some(machine) = self.machines.remove(&member.group)
        {
            machine.view.set_standing(|standing| {
                standing.leader = None;
                standing.damage = Some(why.to_owned());
            });
            machine.view.set_stall(None);
            self.images.withdraw(member);
            self.forget(member.group, machine.queue);
        }
        match self.switches.get(member.group)? {
            Some(known) if known.member == member && !is_ended(&known) => {
                let state = State::Retired;
                self.switches.keep_reason(member, why)?;
                self.switches.set(&Switch { state, ..known })
            }
            _ => Ok(()),
        }
    }

    // Nothing of the replica is needed. Its record goes last: rows without one are a loss.
    pub(crate) fn drop_replica(&mut self, member: Member) -> Result<()> {
        let found = self.machines.get(&member.group);
        if found.is_some_and(|machine| machine.member == member)
            && let Some(machine) = self.machines.remove(&member.group)
        {
            self.images.withdraw(member);
            self.forget(member.group, machine.queue);
        }
        self.replicas.remove_view(member);
        self.drop_keyspaces(member)?;
        let known = self.switches.get(member.group)?;
        if known.is_some_and(|known| known.member == member) {
            self.switches.remove(member.group)?;
        }
        Ok(())
    }

    pub(crate) fn drop_keyspaces(&self, member: Member) -> Result<()> {
        for name in self.db.keyspaces() {
            let keyspace = ReplicaKeyspace::parse(&name);
            if keyspace.is_some_and(|keyspace| keyspace.member == member) {
                self.db.drop_keyspace(&name)?;
            }
        }
        Ok(())
    }

    /// Whether that it is retired could not be written down yet.
    pub(crate) fn is_being_retired(&self, member: Member) -> bool {
        let retires = |work: &Work| matches!(work, Work::Retire(other, _) if *other == member);
        self.later.iter().any(retires)
    }

    // What cannot be done for want of room is done later; any other error is the node's end.
    fn settle(&mut self, done: Result<()>, work: Work) {
        match done {
            Ok(()) => {}
            Err(error) if error.is_retryable() => self.later.push(work),
            Err(error) => {
                self.fault.get_or_insert(error);
            }
        }
    }
}

fn is_ended(switch: &Switch) -> bool {
    matches!(switch.state, State::Retired | State::Purging)
}

// Tells those who asked for an entry what it brought.
fn answer(
    signature: &Signature,
    entry: Entry,
    brought: Brought,
    replies: &mut Vec<(RequestId, Reply)>,
) {
    let index = entry.committed.index;
    match brought {
        Brought::Keys(answers) => {
            let signed = answers.into_iter().map(|it| signature.sign(it, index));
            let done = signed.map(|it| Reply::Done(Answer::Key(it)));
            replies.extend(entry.requests.into_iter().zip(done));
        }
        Brought::Meta(answer) => {
            let done = |request| (request, Reply::Done(Answer::Meta(answer.clone())));
            replies.extend(entry.requests.into_iter().map(done));
        }
        Brought::Nothing => {
            let done = |request| (request, Reply::Done(Answer::Nothing));
            replies.extend(entry.requests.into_iter().map(done));
        }
    }
}
