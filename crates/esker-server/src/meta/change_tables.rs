//! Commands about tables.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId};

use crate::meta::change_nodes::{begun, usable};
use crate::meta::command::{Deed, EnvChange, NewTable};
use crate::meta::ids::{PartitionId, TableId};
use crate::meta::limits::{
    ALL_PARTITIONS_MAX, NAME_BYTES_MAX, PARTITIONS_MAX, REPLICAS_MAX, TABLES_MAX,
};
use crate::meta::outcome::{Cause, Outcome, Refusal};
use crate::meta::placement::place;
use crate::meta::rows::{Level, PartitionRow, TableRow, TableStatus};
use crate::meta::settings;
use crate::meta::state::State;
use crate::meta::touched::{Result, Touched};

/// The furthest end of a dropped table, so that no sum of seconds overflows.
const RESERVE_S_MAX: u64 = 100 * 366 * 86_400;

/// Creates a table, or takes one that is just like it.
pub(crate) fn create(
    state: &mut State,
    new: &NewTable,
    unix_ms: u64,
    touched: &mut Touched,
) -> Result {
    check_new(new)?;
    if begun(state)?.level <= Level::Frozen {
        let why = "the level is frozen or below: raise it to steady first";
        return Err(Refusal::new(Cause::Frozen, why));
    }
    if let Some((id, table)) = state.table(&new.name) {
        return same_or_refused(id, table, new);
    }
    check_room(state, new)?;
    check_hosts(state, new.replica_count)?;
    let candidates = usable(state, &new.candidates);
    let hosts: BTreeSet<_> = candidates.iter().map(|node| state.host(*node)).collect();
    let replicas = usize::try_from(new.replica_count).unwrap_or(usize::MAX);
    // What has no place now gets one when its node is back.
    let replicas = replicas.min(hosts.len());
    let Some(placed) = place(state, &candidates, new.partition_count, replicas) else {
        let why = "no node lives that has room and stays";
        return Err(Refusal::new(Cause::TooFewNodes, why));
    };
    let row = TableRow {
        name: new.name.clone(),
        status: TableStatus::Creating,
        partition_count: new.partition_count,
        replica_count: new.replica_count,
        kind: new.kind.clone(),
        envs: new.envs.clone(),
        created_s: unix_ms / 1000,
    };
    begin(state, row, placed, touched)
}

/// Gives a table its number, and each partition the nodes that were found for it.
fn begin(
    state: &mut State,
    row: TableRow,
    placed: Vec<Vec<NodeId>>,
    touched: &mut Touched,
) -> Result {
    let cluster = begun(state)?;
    let id = cluster.next_table;
    cluster.next_table = TableId(id.0 + 1);
    state.tables.insert(id, row);
    touched.table(state, id);
    for (index, nodes) in (0..).zip(placed) {
        let group = PartitionId { table: id, index }.group();
        state.partitions.insert(group, PartitionRow::begun(&nodes));
        touched.partition(group);
    }
    Ok(Outcome::Table { table: id })
}

/// Places a table that is being made elsewhere, under another number: by the old one nobody has
/// ever written to it, and its replicas go wherever they turn up. It gets as many replicas as any
/// table of this cluster, or stays as it is.
fn make_anew(
    state: &mut State,
    table: TableId,
    candidates: &[NodeId],
    touched: &mut Touched,
) -> Result {
    let row = state.tables.get(&table).ok_or_else(no_table)?.clone();
    // That it was opened may be in entries that are lost.
    if row.status != TableStatus::Creating || state.may_have_opened(table) {
        let why = "the table is open, or was";
        return Err(Refusal::new(Cause::Stale, why));
    }
    if begun(state)?.level <= Level::Frozen {
        let why = "the level is frozen or below";
        return Err(Refusal::new(Cause::Frozen, why));
    }
    check_numbers(state)?;
    let candidates = usable(state, candidates);
    let replicas = state.replicas_to_place(&row);
    let Some(placed) = place(state, &candidates, row.partition_count, replicas) else {
        let why = "fewer hosts live than it is to have replicas";
        return Err(Refusal::new(Cause::TooFewNodes, why));
    };
    remove(state, table, touched);
    begin(state, row, placed, touched)
}

/// Does the other deeds about tables.
pub(crate) fn act(state: &mut State, deed: &Deed, unix_ms: u64, touched: &mut Touched) -> Result {
    match deed {
        Deed::OpenTable { table } => open(state, *table, touched),
        Deed::DropTable {
            name,
            reserve_s,
            or_absent,
        } => match named(state, name) {
            Ok(table) => drop_table(state, table, (unix_ms / 1000, *reserve_s), touched),
            Err(_) if *or_absent => Ok(Outcome::Done),
            Err(refusal) => Err(refusal),
        },
        Deed::RecallTable { table, name } => recall(state, *table, name, unix_ms, touched),
        Deed::RenameTable { old, new } => {
            check_name(new)?;
            let table = named(state, old)?;
            check_free(state, new)?;
            change(state, table, touched, |row| row.name.clone_from(new))
        }
        Deed::SetEnvs { name, change: envs } => {
            let table = named(state, name)?;
            if let EnvChange::Set { envs } = envs {
                settings::check(envs)?;
            }
            change(state, table, touched, |row| {
                change_envs(&mut row.envs, envs)
            })
        }
        Deed::SetReplicaCount { name, count, hosts } => {
            let table = named(state, name)?;
            check_replicas(*count)?;
            let before = state.tables.get(&table).map_or(0, |row| row.replica_count);
            if *count > before && count > hosts {
                return Err(too_few_hosts(*count, *hosts));
            }
            change(state, table, touched, |row| row.replica_count = *count)?;
            Ok(Outcome::Count { before })
        }
        Deed::ForgetTable { table } => forget(state, *table, unix_ms, touched),
        Deed::MakeAnew { table, candidates } => make_anew(state, *table, candidates, touched),
        _ => Err(Refusal::new(Cause::Unreadable, "not about tables")),
    }
}

fn open(state: &mut State, table: TableId, touched: &mut Touched) -> Result {
    if state.tables.get(&table).map(|row| row.status) != Some(TableStatus::Creating) {
        return Err(Refusal::new(Cause::Stale, "the table is not being created"));
    }
    change(state, table, touched, |row| row.status = TableStatus::Open)
}

fn drop_table(
    state: &mut State,
    table: TableId,
    (dropped_s, reserve_s): (u64, u64),
    touched: &mut Touched,
) -> Result {
    // That it was open, and written to, may be in entries that are lost.
    let may_have_opened = state.may_have_opened(table);
    change(state, table, touched, |row| {
        let was_open = row.status == TableStatus::Open || may_have_opened;
        // Nobody has written to one that never opened, and its nodes may wait to be free of it.
        let reserve_s = if was_open {
            reserve_s.min(RESERVE_S_MAX)
        } else {
            0
        };
        row.status = TableStatus::Dropped {
            dropped_s,
            ends_s: dropped_s.saturating_add(reserve_s),
            was_open,
        };
    })
}

fn recall(
    state: &mut State,
    table: TableId,
    name: &str,
    unix_ms: u64,
    touched: &mut Touched,
) -> Result {
    let row = state.tables.get(&table).ok_or_else(no_table)?;
    let TableStatus::Dropped {
        ends_s, was_open, ..
    } = row.status
    else {
        return Err(Refusal::new(Cause::NotDropped, "the table is not dropped"));
    };
    if ends_s <= unix_ms / 1000 {
        return Err(Refusal::new(Cause::NoTable, "the table's time is over"));
    }
    let name = match name {
        "" => row.name.clone(),
        name => name.to_owned(),
    };
    check_name(&name)?;
    check_free(state, &name)?;
    let status = match was_open {
        true => TableStatus::Open,
        false => TableStatus::Creating,
    };
    change(state, table, touched, |row| {
        row.name = name;
        row.status = status;
    })
}

fn forget(state: &mut State, table: TableId, unix_ms: u64, touched: &mut Touched) -> Result {
    let row = state.tables.get(&table).ok_or_else(no_table)?;
    let is_over = match row.status {
        TableStatus::Dropped { ends_s, .. } => ends_s <= unix_ms / 1000,
        _ => false,
    };
    if !is_over {
        return Err(Refusal::new(Cause::Timing, "the table's time is not over"));
    }
    remove(state, table, touched);
    Ok(Outcome::Table { table })
}

/// From now on nobody knows the table: what nodes have of it goes.
fn remove(state: &mut State, table: TableId, touched: &mut Touched) {
    let groups: Vec<GroupId> = state.groups(table).map(|group| group.0).collect();
    for group in groups {
        state.partitions.remove(&group);
        touched.partition(group);
        if state.recoveries.remove(&group).is_some() {
            touched.recovery(group);
        }
    }
    state.tables.remove(&table);
    touched.table(state, table);
}

fn change(
    state: &mut State,
    table: TableId,
    touched: &mut Touched,
    change: impl FnOnce(&mut TableRow),
) -> Result {
    change(state.tables.get_mut(&table).ok_or_else(no_table)?);
    touched.table(state, table);
    Ok(Outcome::Table { table })
}

fn change_envs(envs: &mut BTreeMap<String, String>, change: &EnvChange) {
    match change {
        EnvChange::Set { envs: set } => envs.extend(set.clone()),
        EnvChange::Remove { keys } => envs.retain(|key, _| !keys.contains(key)),
        EnvChange::Clear { prefix } => {
            let dotted = format!("{prefix}.");
            envs.retain(|key, _| !prefix.is_empty() && !key.starts_with(&dotted));
        }
    }
}

fn same_or_refused(id: TableId, table: &TableRow, new: &NewTable) -> Result {
    let is_same = table.partition_count == new.partition_count
        && table.replica_count == new.replica_count
        && table.kind == new.kind
        && table.envs == new.envs;
    match (new.or_same, is_same) {
        (true, true) => Ok(Outcome::Table { table: id }),
        (true, false) => Err(Refusal::new(
            Cause::OtherTableExists,
            "a table has that name and is not like that",
        )),
        (false, _) => Err(Refusal::new(Cause::TableExists, "a table has that name")),
    }
}

fn check_new(new: &NewTable) -> Result<()> {
    check_name(&new.name)?;
    check_replicas(new.replica_count)?;
    let count = new.partition_count;
    if !count.is_power_of_two() || count > PARTITIONS_MAX {
        let why = format!("partitions are a power of two, from 1 to {PARTITIONS_MAX}");
        return Err(Refusal::bad(why));
    }
    if new.kind.len() > NAME_BYTES_MAX {
        let why = format!("a table's kind has at most {NAME_BYTES_MAX} bytes");
        return Err(Refusal::bad(why));
    }
    settings::check(&new.envs)
}

fn check_room(state: &State, new: &NewTable) -> Result<()> {
    let partitions = usize::try_from(new.partition_count).unwrap_or(usize::MAX);
    let is_full = state.tables.len() >= TABLES_MAX
        || state.partitions.len() + partitions > ALL_PARTITIONS_MAX;
    if is_full {
        let why = format!("at most {TABLES_MAX} tables and {ALL_PARTITIONS_MAX} partitions");
        return Err(Refusal::new(Cause::TooMany, why));
    }
    check_numbers(state)
}

/// Checks that there is a number for one more table.
fn check_numbers(state: &State) -> Result<()> {
    let cluster = state.cluster.as_ref();
    match cluster.is_some_and(|row| row.next_table.wire() < i32::MAX) {
        true => Ok(()),
        false => Err(Refusal::new(
            Cause::TooMany,
            "all numbers of tables were given",
        )),
    }
}

/// Checks a name of a table or of the cluster.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_sound = (1..=NAME_BYTES_MAX).contains(&name.len())
        && !name
            .chars()
            .any(|letter| letter.is_control() || letter.is_whitespace());
    if !is_sound {
        let why = format!("a name has 1 to {NAME_BYTES_MAX} bytes and no space in it");
        return Err(Refusal::bad(why));
    }
    Ok(())
}

fn check_free(state: &State, name: &str) -> Result<()> {
    match state.table(name) {
        Some(_) => Err(Refusal::new(
            Cause::OtherTableExists,
            "a table has that name",
        )),
        None => Ok(()),
    }
}

fn check_replicas(count: u32) -> Result<()> {
    if !(1..=REPLICAS_MAX).contains(&count) {
        let why = format!("replicas are 1 to {REPLICAS_MAX}");
        return Err(Refusal::bad(why));
    }
    Ok(())
}

/// Checks that there are hosts for so many replicas, whether they live at the moment or not.
fn check_hosts(state: &State, replicas: u32) -> Result<()> {
    let hosts = state.host_count();
    match replicas <= hosts {
        true => Ok(()),
        false => Err(too_few_hosts(replicas, hosts)),
    }
}

fn too_few_hosts(replicas: u32, hosts: u32) -> Refusal {
    let why = format!(
        "{replicas} replicas need as many hosts of nodes that stay, and there are {hosts}: add \
         nodes, or ask for fewer replicas"
    );
    Refusal::new(Cause::TooFewNodes, why)
}

fn named(state: &State, name: &str) -> Result<TableId> {
    state.table(name).map(|table| table.0).ok_or_else(no_table)
}

fn no_table() -> Refusal {
    Refusal::new(Cause::NoTable, "there is no such table")
}
