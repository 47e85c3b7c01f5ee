//! The lines of the scenario by name, and what a person should know of each.

use clap::ValueEnum;

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Line {
    /// Durable replicated writes of 50 connections
    Writes,
    /// Linearizable reads of 50 connections, with and without leases
    Reads,
    /// What a get, and a multi-get of 100, cost over the wire and in the engine alone
    Cost,
    /// What 1 024 partitions cost while nobody asks
    Idle,
    /// Writes, reads and memory with 16 to 1 024 partitions
    Growth,
    /// For how long a partition takes no writes when its leader is killed
    Failover,
    /// How long a killed node takes until it serves again
    Recovery,
    /// How long a node that lost its disk takes until all is whole
    Rebuild,
}

impl Line {
    /// All of them, in the order of a run.
    pub const ALL: [Line; 8] = [
        Line::Writes,
        Line::Reads,
        Line::Cost,
        Line::Idle,
        Line::Growth,
        Line::Failover,
        Line::Recovery,
        Line::Rebuild,
    ];

    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Line::Writes => "writes",
            Line::Reads => "reads",
            Line::Cost => "cost",
            Line::Idle => "idle",
            Line::Growth => "growth",
            Line::Failover => "failover",
            Line::Recovery => "recovery",
            Line::Rebuild => "rebuild",
        }
    }
}

/// Who is measured in turns with ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rival {
    /// Three members of etcd, if it is installed
    Etcd,
}

/// What is said beside figures of etcd, each time.
pub const CAUTION: &str = "\
Beside etcd: three members with their own defaults, on the same disk, spoken to at their leader by
gRPC, by as small a client as ours. Who speaks for etcd would say: it keeps every version of a key,
serves watches, leases and transactions over all keys, and orders all writes in one log, which ours
does not: 64 partitions have a log each, and order holds within one hash key. Its commits are
batched for networks, and it is meant for thousands of writes a second and a few gigabytes; with
more calls under way on each connection, or on more processors, either may gain more. Client and
servers share the processors here, and what else the machine does presses a ratio towards one.
";

/// What the scenario's own help says.
pub const TEACHES: &str = "\
It starts its clusters itself, as `esker cluster start` does: nodes are processes of this machine,
below --dir, on ports that are free, and they are stopped and removed behind. A run that was
interrupted leaves them: the next one stops them, and so does `esker cluster --dir DIR stop`.

Lines, all of them unless --only names some (as often as wanted):
  writes    50 connections put values of 1 000 bytes on 3 nodes, 64 partitions, 3 replicas; every
            one is on the medium of a majority when it is acknowledged
  reads     the same get them, linearizably: on a cluster that asks a majority for each read, and
            on one with leases (read_promise=600ms)
  cost      processor time of a one-node server for a get, less that of the same get in the engine
            without a server; and for a multi-get of 100 values, beside the engine's
  idle      a table of 1 024 partitions that nobody uses: share of one core for each node
  growth    writes, reads and memory with 16, 64, 256 and 1 024 partitions
  failover  one writer for each partition while leaders are killed (SIGKILL) and started again: the
            gap between two acknowledged writes; then every acknowledged write is looked for
  recovery  a node is killed with much that is only in its log: how long until it serves again
  rebuild   a node is killed and its disk is empty: how long until every partition has all copies
            again, and how much slower calls of 8 connections are meanwhile

What is to be read with care:
  - Client and servers share the processors of this machine, so a rate is what is left for the
    servers. The processor time of both is told apart, for each operation.
  - The client is one thread with 50 connections to each node, one call under way on each. Programs
    with a thread for each call pay more.
  - --beside etcd measures a three-member etcd in turns with ours, on the same disk, by its own
    protocol (gRPC) and as small a client as ours, at its leader. etcd keeps every version of a key
    and serves watches, leases and transactions over all keys; a table of ours is cut into 64
    partitions, each with a log of its own order, and promises order within one hash key only.
    So a ratio says what a program pays that needs no more than that.
  - Processes of one machine share one disk and have no network between them.

Examples:
  esker bench scenario service --only writes --only reads
  esker bench scenario service --only writes --only reads --beside etcd --rounds 5
  esker bench scenario service --only reads --against ../before/esker   what a change brought
  esker bench scenario service --only failover --size full --json gaps.json
";
