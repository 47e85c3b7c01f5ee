//! What a run is made of: how many nodes and groups, how much goes wrong, and which bug is planted.

use std::time::Duration;

use crate::sim::rng::Rng;

/// A mistake of whoever owns a shard, its disk, its state machines or its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// None: the run must hold.
    Nothing,
    /// Saves are told durable as soon as they are handed over.
    AckBeforeDurable,
    /// A restarted replica does not know whom it voted for.
    ForgetVote,
    /// A restarted replica knows neither term nor vote.
    ForgetHardState,
    /// A restarted state machine takes one entry for applied that was not.
    SkipEntry,
    /// A restarted state machine gets its last entry again.
    ApplyTwice,
    /// Reads are served from what is applied here, without asking anybody.
    ReadLocally,
    /// An image carries the members of today.
    WrongImageMembers,
    /// A replica speaks on after it was destroyed: its tombstone is forgotten.
    ForgetTombstone,
    /// A replica comes back under its id with an empty disk.
    ReuseReplicaId,
    /// What an append takes the place of is still there after a crash.
    KeepTruncated,
    /// The last record of a save is lost in a crash though it was told durable.
    LyingDisk,
    /// A proposal is acknowledged once it is appended.
    AckBeforeCommit,
    /// The names of reads begin anew with each restart.
    ReuseReadNames,
    /// The log is reset to an image before the state machine has switched to it.
    ResetBeforeSwitch,
    /// Nothing of what is compacted stands in an image, since it is taken of a newer index than it
    /// says.
    MislabelledImage,
    /// The clock that turns are given stands while the process is stopped.
    ClockStops,
    /// All clocks but the first node's run thirty times as fast.
    WildClocks,
}

/// The shape of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub nodes: u64,
    pub groups: u64,
    /// Voters that a group begins with; fewer nodes are fewer voters.
    pub first_voters: u64,
    /// Ticks with faults.
    pub ticks: u64,
    /// Ticks after all faults have ended, within which everything must be well.
    pub heal_ticks: u64,
    pub planted: Planted,
    /// Per mille of messages dropped, and sent twice.
    pub drop: u64,
    pub twice: u64,
    /// Per mille of a node's ticks that bring a crash, and a pause.
    pub crash: u64,
    pub pause: u64,
    /// Per mille of ticks in which the network is cut anew or made whole.
    pub cut: u64,
    /// Per mille of ticks in which a change of a configuration is asked for, or a transfer.
    pub change: u64,
    pub transfer: u64,
    /// Per mille of a replica's ticks in which its state is made durable and its log compacted.
    pub flush: u64,
    /// Per mille of ticks in which a group is read.
    pub read: u64,
    /// For how long voters promise to leave a leader alone; zero in some runs.
    pub read_promise: Duration,
    /// Milliseconds of a tick of the world: in some runs a promise outlasts an election's timeout.
    pub tick_ms: u64,
}

impl Plan {
    /// Everything goes wrong, a little differently for each seed.
    pub fn stormy(seed: u64) -> Plan {
        // Some seeds leave out one kind of fault, so that the others do more.
        let mut rng = Rng::new(seed);
        let mut rate = |per_mille: u64| match rng.below(5) {
            0 => 0,
            1 => 2 * per_mille,
            _ => per_mille,
        };
        Plan {
            seed,
            nodes: 3 + seed % 3,
            groups: 1 + seed / 3 % 3,
            // Some grow from one, who never waited for anybody's promise.
            first_voters: if seed % 4 == 3 { 1 } else { 3 },
            ticks: 1000,
            heal_ticks: 600,
            planted: Planted::Nothing,
            drop: rate(20),
            twice: rate(20),
            crash: rate(3),
            pause: rate(3),
            cut: rate(12),
            change: rate(20),
            transfer: rate(5),
            flush: 30,
            read: 200,
            tick_ms: [100, 50, 20][usize::from(seed.to_le_bytes()[0] / 20 % 3)],
            read_promise: Duration::from_millis(
                [0, 500, 700, 1000][usize::from(seed.to_le_bytes()[0] / 5 % 4)],
            ),
        }
    }

    /// Leaders that read without asking are stopped and cut off, and elections come early.
    pub fn leased(seed: u64) -> Plan {
        Plan {
            pause: 12,
            cut: 10,
            read: 950,
            read_promise: Duration::from_secs(1),
            tick_ms: if seed.is_multiple_of(2) { 50 } else { 20 },
            ..Plan::stormy(seed)
        }
    }

    /// Nothing goes wrong.
    pub fn calm(seed: u64) -> Plan {
        Plan {
            drop: 0,
            twice: 0,
            crash: 0,
            pause: 0,
            cut: 0,
            change: 0,
            transfer: 0,
            ..Plan::stormy(seed)
        }
    }
}
