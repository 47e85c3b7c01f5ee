//! How long, how many and how much: every bound of the brain by its name.

/// Bytes of a name of a table: it becomes part of log lines and of pages, not of file names.
pub const NAME_BYTES_MAX: usize = 128;

/// Bytes of any text: a label, the value of a setting, why something is so.
pub const TEXT_BYTES_MAX: usize = 4096;

/// Partitions of a table: each is a group on every node that has a replica of it.
pub const PARTITIONS_MAX: u32 = 1024;

/// Replicas of a partition, as in Pegasus.
pub const REPLICAS_MAX: u32 = 5;

/// Tables, dropped ones among them: each node is told of all of them.
pub const TABLES_MAX: usize = 10_000;

/// Partitions of all tables: the state is copied whole for readers after each change.
pub const ALL_PARTITIONS_MAX: usize = 65_536;

/// Nodes of a cluster.
pub const NODES_MAX: usize = 1024;

/// Bytes of a command: what one entry of the raft log may have.
pub const COMMAND_BYTES_MAX: usize = 1 << 20;

/// Bytes of what a node says of itself that has no number yet: a label, and what is short.
pub const NEW_NODE_BYTES_MAX: usize = 4096;

/// Bytes of a report: what nodes ask one another has room for it, and it for about 25 000 replicas
/// of which a third lead.
pub const REPORT_BYTES_MAX: usize = (2 << 20) - 1024;

/// Bytes of a report for what replicas know while nobody leads: about 2 900 of three replicas each.
/// After a restart of all nobody leads for a while, and of all replicas of a node there is no room.
pub const LEADERLESS_BYTES_MAX: usize = 256 << 10;

/// Bytes of the fact that says which meta service a cluster has.
pub const EPOCH_BYTES_MAX: usize = 64;

/// Bytes of directives: all tables with their settings fit.
pub const DIRECTIVES_BYTES_MAX: usize = 16 << 20;

/// Directives in one answer, beyond what a node is to know: the rest comes with the next one.
pub const DIRECTIVES_MAX: usize = 1024;

/// A node is alive if it was heard in that time: five reports, and what a busy machine is late.
pub const ALIVE_MS: u64 = 5_000;

/// A node that is silent for that long is replaced: it may be on its way back, and every byte of
/// it would be copied.
pub const SILENT_MS_MAX: u64 = 600_000;

/// A node that is silent for that long is taken for dead where copies are few, where it is to
/// leave, and where another one is at its address.
pub const QUICK_MS: u64 = 2 * ALIVE_MS;

/// Clocks of the day that are so far apart are told of. A report takes up to two seconds to where
/// it is read, and a thread there may be late; clocks that anybody sets right are within a fraction
/// of a second, and ends of rows are whole seconds.
pub const CLOCKS_APART_MS: u64 = 5_000;

/// For how long they must be told to be apart: reports that were read late are past by then.
pub const CLOCKS_SURE_MS: u64 = 3_000;

/// Changes of membership that one round begins.
pub const REPAIRS_MAX: usize = 64;

/// Replicas on their way to one node: each takes a share of its disk and network.
pub const INCOMING_MAX: usize = 8;

/// Replicas that are on their way for the sake of balance: each is a copy of a partition, and takes
/// from those who read and write.
pub const BALANCE_MOVES_MAX: usize = 8;

/// Leads that one round hands over: each stops the writes of a partition for a moment.
pub const HANDOVERS_MAX: usize = 16;

/// How long every node that lives has lived before the brain evens out by itself.
pub const CALM_MS: u64 = 5_000;

/// Of a node that was not heard for so long nobody knows whether it lives: it reports each second.
pub const UNSURE_MS: u64 = 1_500;

/// Groups that are counted each second for a balance; for so many more a second later.
pub const BALANCE_EVERY_GROUPS: usize = 8192;

/// Seconds that a dropped table can be recalled, unless its end was told: a week, as in Pegasus.
pub const RESERVE_S: u64 = 7 * 86_400;

/// Ids of replicas of a group that a meta service which went on without its majority may have given
/// and forgotten: so many are left out.
pub const FORGOTTEN_REPLICAS_MAX: u64 = 1 << 12;

/// The same of numbers of tables.
pub const FORGOTTEN_TABLES_MAX: u32 = 1 << 12;

/// The same of numbers of nodes, which people read.
pub const FORGOTTEN_NODES_MAX: u64 = 100;

/// The same of revisions of what nodes are told.
pub const FORGOTTEN_REVISIONS_MAX: u64 = 1 << 20;

/// So many times as much is left out at the most, where one or several went on elsewhere that
/// nobody here knows any more than the number of.
pub const EPOCHS_LEFT_OUT_MAX: u64 = 16;

/// Replicas of the meta group that are wished once there are nodes for them.
pub const META_REPLICAS: u32 = 3;

const _: () = assert!(PARTITIONS_MAX.is_power_of_two());
const _: () = assert!(ALIVE_MS < SILENT_MS_MAX);
