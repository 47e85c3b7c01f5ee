//! What all threads may know of one replica here, and the reads that are served from it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker::internals::env::clock::Clock;
use esker::{Error, ErrorKind, Keyspace, Result};
use esker_raft::{Member, NodeId, ReplicaId};
use esker_rpc::message::call::Silence;
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::time::WireSecond;

use crate::meta::state::State;
use crate::node::compaction::Compaction;
use crate::node::lease::LeaseCell;
use crate::node::limits::GROUP_WAITING_BYTES_MAX;
use crate::node::traffic::Traffic;
use crate::partition::reads::Reads;
use crate::partition::rows::Moment;
use crate::partition::scans::Scans;
use crate::partition::signature::Signature;
use crate::throttle::PartitionThrottle;

/// Microseconds of a second.
const US_PER_S: u64 = 1_000_000;

/// Who leads the group, as far as the replica knows, and whether it takes part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its term.
    pub term: u64,
    /// Who leads, and where.
    pub leader: Option<(ReplicaId, Option<NodeId>)>,
    /// Why it takes no part any more, if it does not.
    pub damage: Option<String>,
}

/// Set when a read has met rows that are not what was written, of whichever replica: whoever
/// retires these need not look at each of them all the time.
pub type Alarm = Arc<AtomicBool>;

/// One replica here, with one keyspace: another image is another view.
///
/// Any thread may call anything. The lock is held over no call of the engine.
pub struct View {
    /// Whose.
    pub member: Member,
    /// Its rows.
    pub keyspace: Keyspace,
    /// What its answers say of where they come from.
    pub signature: Signature,
    scans: Scans,
    standing: Mutex<Standing>,
    meta: Mutex<Option<Arc<State>>>,
    /// Whether reads need to be cleared.
    pub lease: LeaseCell,
    /// What clients have asked for within the second.
    pub throttle: PartitionThrottle,
    /// Calls that read.
    pub reads: Traffic,
    /// Calls that write.
    pub writes: Traffic,
    clock_us: AtomicU64,
    applied: AtomicU64,
    durable: AtomicU64,
    flushed: AtomicU64,
    unapplied_bytes: AtomicUsize,
    is_unreadable: AtomicBool,
    alarm: Alarm,
    compaction: Mutex<Compaction>,
    stall: Mutex<Option<String>>,
    is_stalled: AtomicBool,
}

impl View {
    /// A view of a replica that has applied everything up to an entry, at the partition's time. Ids
    /// of its scans begin with the lower bits of the last number.
    pub fn new(
        member: Member,
        keyspace: Keyspace,
        signature: Signature,
        (applied, clock_us, life): (u64, u64, u64),
        alarm: Alarm,
    ) -> View {
        View {
            member,
            keyspace,
            signature,
            scans: Scans::new(life, None),
            standing: Mutex::default(),
            meta: Mutex::default(),
            lease: LeaseCell::default(),
            throttle: PartitionThrottle::default(),
            reads: Traffic::default(),
            writes: Traffic::default(),
            clock_us: AtomicU64::new(clock_us),
            applied: AtomicU64::new(applied),
            durable: AtomicU64::new(0),
            flushed: AtomicU64::new(0),
            unapplied_bytes: AtomicUsize::new(0),
            is_unreadable: AtomicBool::new(false),
            alarm,
            compaction: Mutex::default(),
            stall: Mutex::default(),
            is_stalled: AtomicBool::new(false),
        }
    }

    /// Answers a call that reads, and that consensus or its lease has cleared.
    ///
    /// Errors: those of reading; `Invalid` of a call that writes. `Corruption` retires the replica.
    pub fn serve(&self, call: &KeyCall, clock: &dyn Clock) -> Result<KeyAnswer> {
        let served = self.read(call, clock);
        if let Err(error) = &served
            && error.kind() == ErrorKind::Corruption
        {
            self.is_unreadable.store(true, Ordering::SeqCst);
            self.alarm.store(true, Ordering::SeqCst);
        }
        served
    }

    fn read(&self, call: &KeyCall, clock: &dyn Clock) -> Result<KeyAnswer> {
        // The partition's clock stands while nobody writes; values end all the same.
        let unix_s = clock.unix_time().as_secs();
        let now = WireSecond::of_unix(unix_s.max(self.clock_us() / US_PER_S));
        let moment = Moment { now, clock };
        let reads = Reads {
            keyspace: &self.keyspace,
            moment,
        };
        let answer = match call {
            KeyCall::Get(key) => KeyAnswer::Get(reads.get(key)?),
            KeyCall::Ttl(key) => KeyAnswer::Ttl(reads.ttl(key)?),
            KeyCall::MultiGet(request) => KeyAnswer::MultiGet(reads.multi_get(request)?),
            KeyCall::BatchGet(request) => KeyAnswer::BatchGet(reads.batch_get(request)?),
            KeyCall::SortkeyCount(key) => KeyAnswer::SortkeyCount(reads.sortkey_count(key)?),
            KeyCall::GetScanner(request) => {
                let page = self.scans.begin(&self.keyspace, request.clone(), moment)?;
                KeyAnswer::GetScanner(page)
            }
            KeyCall::Scan(request) => {
                let id = request.context_id;
                KeyAnswer::Scan(self.scans.go_on(&self.keyspace, id, moment)?)
            }
            KeyCall::ClearScanner(id) => {
                self.scans.clear(*id);
                KeyAnswer::ClearScanner(Silence)
            }
            KeyCall::Put(_)
            | KeyCall::Remove(_)
            | KeyCall::MultiPut(_)
            | KeyCall::MultiRemove(_)
            | KeyCall::Incr(_)
            | KeyCall::CheckAndSet(_)
            | KeyCall::CheckAndMutate(_) => {
                return Err(Error::invalid("a call that writes is not served as a read"));
            }
        };
        Ok(self.signature.sign(answer, self.applied()))
    }

    /// Who leads, and where, as far as it knows.
    pub fn leader(&self) -> Option<(ReplicaId, Option<NodeId>)> {
        self.standing().leader
    }

    /// Whether it leads itself, as far as it knows.
    pub fn is_leader(&self) -> bool {
        self.leader()
            .is_some_and(|leader| leader.0 == self.member.replica)
    }

    /// Term, leader, damage.
    pub fn standing(&self) -> Standing {
        self.standing_cell().clone()
    }

    /// Changes them.
    pub fn set_standing(&self, change: impl FnOnce(&mut Standing)) {
        change(&mut self.standing_cell());
    }

    /// What the meta service knows, of its own replica.
    pub fn meta(&self) -> Option<Arc<State>> {
        // A pointer is whole whatever a thread that panicked was about to do; here and below.
        let meta = self.meta.lock().unwrap_or_else(PoisonError::into_inner);
        meta.clone()
    }

    /// The meta service knows that from now on.
    pub fn set_meta(&self, state: Arc<State>) {
        let mut meta = self.meta.lock().unwrap_or_else(PoisonError::into_inner);
        *meta = Some(state);
    }

    /// The last entry that it has applied.
    pub fn applied(&self) -> u64 {
        self.applied.load(Ordering::SeqCst)
    }

    /// The partition's clock: microseconds since 1970.
    pub fn clock_us(&self) -> u64 {
        self.clock_us.load(Ordering::SeqCst)
    }

    /// The replica has applied that entry, at that time.
    pub fn set_applied(&self, index: u64, clock_us: u64) {
        self.clock_us.store(clock_us, Ordering::SeqCst);
        self.applied.store(index, Ordering::SeqCst);
    }

    /// The last entry of its log that is durable.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::SeqCst)
    }

    /// The log is durable up to there, and no further: entries behind it are being overwritten, or
    /// are not synced.
    pub fn set_durable(&self, index: u64) {
        self.durable.store(index, Ordering::SeqCst);
    }

    /// Whether a read has met rows that are not what was written.
    pub fn is_unreadable(&self) -> bool {
        self.is_unreadable.load(Ordering::SeqCst)
    }

    /// Why it does not go on for now, if it does not: it is no good copy while that lasts.
    pub fn stall(&self) -> Option<String> {
        self.stall_cell().clone()
    }

    /// Whether it does not go on for now.
    pub fn is_stalled(&self) -> bool {
        self.is_stalled.load(Ordering::SeqCst)
    }

    /// It does not go on for that reason; `None` when it does again.
    pub fn set_stall(&self, why: Option<String>) {
        let mut stall = self.stall_cell();
        self.is_stalled.store(why.is_some(), Ordering::SeqCst);
        *stall = why;
    }

    /// How far the latest compaction has come that somebody asked for.
    pub fn compaction(&self) -> Compaction {
        // A value is whole whatever a thread that panicked was about to do; here and below.
        let compaction = self.compaction.lock();
        compaction.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It has come so far.
    pub fn set_compaction(&self, to: Compaction) {
        let compaction = self.compaction.lock();
        *compaction.unwrap_or_else(PoisonError::into_inner) = to;
    }

    /// Bytes of entries that are committed and not applied.
    pub fn unapplied_bytes(&self) -> usize {
        self.unapplied_bytes.load(Ordering::SeqCst)
    }

    /// Whether there are so many of them that it takes no more.
    pub fn is_behind(&self) -> bool {
        self.unapplied_bytes() > GROUP_WAITING_BYTES_MAX
    }

    /// So many more of them.
    pub fn add_unapplied(&self, bytes: usize) {
        self.unapplied_bytes.fetch_add(bytes, Ordering::SeqCst);
    }

    /// So many fewer, or none: a view that is new did not see all of them come.
    pub fn take_unapplied(&self, bytes: usize) {
        let fewer = |now: usize| Some(now.saturating_sub(bytes));
        // It always finds a number to put.
        let _ = self
            .unapplied_bytes
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
    }

    /// The last entry that is in files.
    pub fn flushed(&self) -> u64 {
        self.flushed.load(Ordering::SeqCst)
    }

    /// Everything up to that entry is in files.
    pub fn set_flushed(&self, index: u64) {
        self.flushed.fetch_max(index, Ordering::SeqCst);
    }

    // A text is whole whatever a thread that panicked was about to do.
    fn stall_cell(&self) -> MutexGuard<'_, Option<String>> {
        self.stall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // A standing is whole whatever a thread that panicked was about to do.
    fn standing_cell(&self) -> MutexGuard<'_, Standing> {
        let standing = &self.standing;
        standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
