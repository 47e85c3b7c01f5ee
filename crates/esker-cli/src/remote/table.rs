//! The command `table`: tables of a cluster, made, looked at, dropped.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use esker_bench::report::date::utc;
use esker_bench::table::Table as Lines;
use esker_rpc::client::ClientError;
use esker_rpc::codec::scalars::Address;
use esker_rpc::message::meta::{PartitionConfiguration, TableDescription, TableStatus};
use esker_rpc::message::own::NodeFacts;
use serde_json::json;

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::quantity::counted;
use crate::remote::agreeing::agree;
use crate::remote::compacting::{compact, progress};
use crate::remote::creating::{Create, create};
use crate::remote::described::{spell_table, state};
use crate::remote::flags::{ClusterFlags, refuse_local};
use crate::remote::in_force::await_nodes;
use crate::remote::keys::whole_seconds;
use crate::remote::link::{Link, shown};
use crate::remote::nodes::{facts_for_notes, note, unix_ms};
use crate::remote::page::statuses;
use crate::remote::placing::{address, health, replica_count, secondaries, spell};
use crate::remote::recovering::{Recover, recover};
use crate::remote::refusal::{change_failure, is_no_table, is_nonsense};
use crate::remote::stalls::stalls;
use crate::remote::unsetting::unset;
use crate::remote::waiting::wait_for;

/// Create, list, describe and drop tables of a cluster
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker table create ships --partitions 64            three replicas, where there are three nodes
  esker table list                                    the tables
  esker table describe ships                          its partitions: who leads, who follows
  esker table set ships default_ttl 86400             a setting
  esker table set ships replicas 3 --wait             more or fewer of them, without a pause
  esker table set ships replica.write_throttling '20K*delay*100,30K*reject*200'
                                                      beyond 20000 writes a second they wait 100 ms
  esker table unset ships default_ttl                 none any more
  esker table compact ships --wait                    drop what was overwritten, at every replica
  esker table compact ships --partition 3             the same of one partition
  esker table rename ships boats
  esker table recover boats                           what has lost most of its replicas
  esker table drop boats --yes                        it can be recalled for a week
  esker table list --dropped                          what can be recalled, with its numbers
  esker table recall boats --as ships                 back again, by name or by number

Settings that a cluster of Esker honours: default_ttl (seconds that a value lives of which nothing
else is said), replica.write_throttling and replica.read_throttling (calls a second, of which those
beyond wait or are refused), the same with _by_size (bytes), replica.deny_client_request,
replica.split.validate_partition_hash (true or false), business.info (any text). Of others it says
what to do instead; Apache Pegasus has some thirty. docs/guide/tables.md lists them all.

`esker kv` reads and writes tables. All of this works with Esker and with Apache Pegasus.")]
pub struct Table {
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(subcommand)]
    action: Action,
}

/// What to do with tables.
#[derive(Debug, Subcommand)]
enum Action {
    /// Create one, and wait until it serves
    Create(Create),
    /// List them
    #[command(after_help = "Example: esker table list --dropped")]
    List {
        /// Those that were dropped and can be recalled
        #[arg(long)]
        dropped: bool,
    },
    /// Show what one is like, and where its partitions are
    #[command(after_help = "Example: esker table describe ships")]
    Describe {
        /// Its name
        name: String,
    },
    /// Compact every replica of one: what was overwritten or is over leaves the disks
    #[command(after_help = "Example: esker table compact ships --partition 3 --wait")]
    Compact {
        /// Its name
        name: String,
        /// Only the replicas of this partition, counted from 0; of Esker alone
        #[arg(long, value_name = "N")]
        partition: Option<u32>,
        /// Return when all of these replicas are compacted
        #[arg(long)]
        wait: bool,
    },
    /// Have partitions go on that lost most of their replicas for ever
    Recover(Recover),
    /// Drop one with all that it holds
    #[command(after_help = "Example: esker table drop boats --keep 2d --yes")]
    Drop {
        /// Its name
        name: String,
        /// Do not ask; needed where there is no terminal to ask at
        #[arg(long)]
        yes: bool,
        /// How long it can be recalled; as long as the cluster keeps tables if left out
        #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
        keep: Option<u32>,
    },
    /// Bring a dropped one back
    #[command(after_help = "Example: esker table recall boats --as ships")]
    Recall {
        /// Its name, or its number if several of that name were dropped
        table: String,
        /// Another name for it
        #[arg(long = "as", value_name = "NAME")]
        name: Option<String>,
    },
    /// Give one another name
    #[command(after_help = "Example: esker table rename ships boats")]
    Rename {
        /// Its name
        old: String,
        /// Its new name
        new: String,
    },
    /// Set a setting of one, or how many replicas it has
    #[command(after_help = "Example: esker table set ships default_ttl 86400")]
    Set {
        /// Its name
        name: String,
        /// The setting; `esker table --help` names some
        key: String,
        /// Its value
        #[arg(allow_negative_numbers = true)]
        value: String,
        /// Return when all replicas are there, or gone; for `replicas`
        #[arg(long)]
        wait: bool,
    },
    /// Remove settings of one
    #[command(after_help = "Example: esker table unset ships default_ttl")]
    Unset {
        /// Its name
        name: String,
        /// The settings
        #[arg(required = true)]
        key: Vec<String>,
    },
}

/// Does what was asked for.
pub fn table(shared: &GlobalFlags, args: &Table) -> Outcome {
    refuse_local(shared)?;
    let link = Link::open(&args.cluster)?;
    match &args.action {
        Action::Create(args) => create(shared, &link, args),
        Action::List { dropped } => list(shared, &link, *dropped),
        Action::Describe { name } => describe(shared, &link, name),
        Action::Compact {
            name,
            partition,
            wait,
        } => compact(shared, &link, (name, *partition), *wait),
        Action::Recover(args) => recover(shared, &link, args),
        Action::Drop { name, yes, keep } => drop_one(shared, &link, name, (*yes, *keep)),
        Action::Recall { table, name } => recall(shared, &link, table, name.as_deref()),
        Action::Rename { old, new } => {
            let done = link.attempt(link.admin().rename_table(old, new));
            settled_of_name(&link, "cannot rename the table", (old, new), done)?;
            shared.tell_done("renamed", json!({ "from": old, "to": new }))
        }
        Action::Set {
            name,
            key,
            value,
            wait,
        } if key == "replicas" => set_replicas(shared, &link, name, (value, *wait)),
        Action::Set {
            name, key, value, ..
        } => {
            let envs = BTreeMap::from([(key.clone(), value.clone())]);
            let done = link.attempt(link.admin().set_envs(name, &envs));
            settled(&link, "cannot change the setting", name, done)?;
            await_nodes(&link);
            shared.tell_done("set", json!({ "table": name, "envs": envs }))
        }
        Action::Unset { name, key } => {
            unset(&link, name, key)?;
            await_nodes(&link);
            shared.tell_done("unset", json!({ "table": name, "envs": key }))
        }
    }
}

/// The same, with a failure that names near tables if there is none of that name.
fn settled<T>(link: &Link, doing: &str, name: &str, done: Result<T, ClientError>) -> Outcome<T> {
    done.map_err(|error| match is_no_table(&error) {
        true => link.no_table(name),
        false => change_failure(doing, &error),
    })
}

/// The same, for what gives a table the name `new`, which another one may have.
fn settled_of_name<T>(
    link: &Link,
    doing: &str,
    (old, new): (&str, &str),
    done: Result<T, ClientError>,
) -> Outcome<T> {
    if done.as_ref().is_err_and(is_nonsense) && link.description(new).is_ok() {
        return Err(Failure::failed(format!(
            "{doing}: there is a table \"{}\" already; choose another name",
            shown(new)
        )));
    }
    settled(link, doing, old, done)
}

/// Sets how many replicas each partition is to have.
fn set_replicas(
    shared: &GlobalFlags,
    link: &Link,
    name: &str,
    (value, wait): (&str, bool),
) -> Outcome {
    let count: i32 = value.parse().map_err(|_| {
        Failure::usage(format!(
            "replicas are a number from 1 to 5, and not {}",
            shown(value)
        ))
    })?;
    let done = link.attempt(link.admin().set_replica_count(name, count));
    let before = settled(link, "cannot change how many replicas it has", name, done)?;
    if wait {
        let wanted = usize::try_from(count).unwrap_or_default();
        wait_for(link, "changing replicas", |link| {
            let partitions = link.attempt(link.admin().partitions(name))?;
            let is_left = |one: &&PartitionConfiguration| replica_count(one) != wanted;
            Ok(partitions.iter().filter(is_left).count() as u64)
        })?;
    }
    if !shared.json {
        let mut out = Out::lock();
        let when = if wait { "have" } else { "get" };
        out.line(format!(
            "the partitions of \"{}\" {when} {}; before: {before}",
            shown(name),
            counted(u64::from(count.unsigned_abs()), "replica")
        ))?;
        return Ok(out.finish()?);
    }
    let object = json!({ "table": name, "replicas": count, "before": before });
    shared.tell_done("set", object)
}

fn list(shared: &GlobalFlags, link: &Link, is_dropped: bool) -> Outcome {
    let status = match is_dropped {
        true => TableStatus::AS_DROPPED,
        false => TableStatus::AS_INVALID,
    };
    let mut tables = link.tables(status)?;
    // What is being made or dropped is shown as well, with its state.
    tables.retain(|one| is_dropped || one.status != TableStatus::AS_DROPPED);
    let mut out = Out::lock();
    if shared.json {
        out.json_page(&tables.iter().map(spell_table).collect())?;
        return Ok(out.finish()?);
    }
    let when = if is_dropped {
        "recall until"
    } else {
        "created"
    };
    let leaderless = match is_dropped {
        true => BTreeMap::new(),
        false => leaderless_counts(link, &tables),
    };
    let state = |one: &TableDescription| match leaderless.get(&one.app_id) {
        Some(count) => format!("{count} without leader"),
        None => state(one).to_owned(),
    };
    let heads = ["number", "name", "state", "partitions", "replicas", when];
    let mut lines = Lines::new(&heads).with_sides("><<>><");
    for one in &tables {
        let when = if is_dropped {
            one.expire_second
        } else {
            one.create_second
        };
        lines.add([
            one.app_id.to_string(),
            shown(&one.app_name),
            state(one),
            one.partition_count.to_string(),
            one.max_replica_count.to_string(),
            utc(u64::try_from(when).unwrap_or(0)),
        ]);
    }
    out.text(lines.text())?;
    Ok(out.finish()?)
}

/// How many partitions of each of these tables nobody leads, of those that have any: asked of each
/// table only where a node counts such partitions. One of Pegasus says nothing of that.
fn leaderless_counts(link: &Link, tables: &[TableDescription]) -> BTreeMap<i32, usize> {
    let nodes = facts_for_notes(link).unwrap_or_default();
    if !nodes.iter().any(|one| one.leaderless > 0) {
        return BTreeMap::new();
    }
    let open = tables.iter();
    let open = open.filter(|one| one.status == TableStatus::AS_AVAILABLE);
    let counts = open.filter_map(|one| {
        let leaderless = link.attempt(link.admin().leaderless(&one.app_name));
        let count = leaderless.map_or(0, |all| all.len());
        (count > 0).then_some((one.app_id, count))
    });
    counts.collect()
}

fn describe(shared: &GlobalFlags, link: &Link, name: &str) -> Outcome {
    let table = link.description(name)?;
    let partitions = link.attempt(link.admin().partitions(name));
    let mut partitions = settled(
        link,
        "cannot ask where its partitions are",
        name,
        partitions,
    )?;
    let nodes = facts_for_notes(link);
    let leaderless = match &nodes {
        Ok(nodes) if !nodes.is_empty() => clear_lost_leaders(link, name, &mut partitions),
        _ => None,
    };
    let statuses = statuses(nodes.as_deref().unwrap_or_default(), table.app_id);
    let mut notes = match &nodes {
        Ok(nodes) => notes(nodes, &partitions),
        Err(why) => vec![format!(
            "what keeps replicas from going on cannot be told: {why}"
        )],
    };
    notes.append(&mut stalls(&statuses));
    notes.extend(leaderless);
    let compaction = progress(&statuses, &table);
    let mut out = Out::lock();
    if shared.json {
        let mut object = spell_table(&table);
        object["placing"] = partitions.iter().map(spell).collect();
        object["notes"] = json!(notes);
        object["compaction"] = json!(compaction.map(|compaction| compaction.spell()));
        out.json_page(&object)?;
        return Ok(out.finish()?);
    }
    let healthy = partitions.iter().filter(|one| health(one) == "healthy");
    out.line(format!("name        {}", shown(&table.app_name)))?;
    out.line(format!("number      {}", table.app_id))?;
    out.line(format!("state       {}", state(&table)))?;
    out.line(format!("replicas    {}", table.max_replica_count))?;
    out.line(format!(
        "partitions  {}, {} of them healthy",
        table.partition_count,
        healthy.count()
    ))?;
    for (key, value) in &table.envs {
        out.line(format!("setting     {} = {}", shown(key), shown(value)))?;
    }
    if let Some(compaction) = compaction {
        out.line(format!("compaction  {}", compaction.sentence()))?;
    }
    let heads = ["partition", "ballot", "primary", "secondaries", "state"];
    let mut lines = Lines::new(&heads).with_sides(">><<<");
    for one in &partitions {
        lines.add([
            one.pid.partition_index.to_string(),
            one.ballot.to_string(),
            address(one.primary),
            secondaries(one),
            health(one).to_owned(),
        ]);
    }
    out.line("")?;
    out.text(lines.text())?;
    for note in notes {
        out.line(note)?;
    }
    Ok(out.finish()?)
}

/// What there is to say of the nodes that may have missing replicas.
fn notes(nodes: &[NodeFacts], partitions: &[PartitionConfiguration]) -> Vec<String> {
    let is_whole = partitions.iter().all(|one| health(one) == "healthy");
    let now_ms = unix_ms();
    let silent = nodes.iter().filter(|one| !is_whole && !one.is_alive);
    silent.filter_map(|one| note(one, now_ms)).collect()
}

/// Takes leaders away that do not lead: the last one is told of until another one leads. Says so.
/// Whoever does not know the call, as Pegasus, or cannot say it now, has nothing to say of that.
fn clear_lost_leaders(
    link: &Link,
    name: &str,
    partitions: &mut [PartitionConfiguration],
) -> Option<String> {
    let leaderless = link.attempt(link.admin().leaderless(name));
    let leaderless = leaderless.ok().filter(|all| !all.is_empty())?;
    for one in partitions {
        let index = one.pid.partition_index;
        if leaderless.iter().any(|lost| lost.partition_index == index) {
            one.primary = Address::NONE;
        }
    }
    Some(format!(
        "without a leader: {}; `esker table recover {}` says why, and what can be done",
        counted(leaderless.len() as u64, "partition"),
        shown(name)
    ))
}

fn drop_one(
    shared: &GlobalFlags,
    link: &Link,
    name: &str,
    (is_insisted, keep_s): (bool, Option<u32>),
) -> Outcome {
    let table = link.description(name)?;
    let question = format!(
        "drop table \"{}\" with all of its {}",
        shown(name),
        counted(u64::from(table.partition_count.unsigned_abs()), "partition")
    );
    agree(&question, is_insisted, "nothing was dropped")?;
    let done = link.attempt(link.admin().drop_table(name, keep_s.map(i64::from)));
    settled(link, "cannot drop the table", name, done)?;
    shared.tell_done("dropped", json!({ "name": name, "number": table.app_id }))
}

fn recall(shared: &GlobalFlags, link: &Link, table: &str, name: Option<&str>) -> Outcome {
    let number = match table.parse() {
        Ok(number) => number,
        Err(_) => dropped_number(link, table)?,
    };
    let call = link.admin();
    let call = call.recall_table(number, name.unwrap_or(""));
    let wanted = name.unwrap_or(table);
    let back = match link.attempt(call) {
        Err(error) if is_no_table(&error) => {
            return Err(Failure::not_found(format!(
                "there is no dropped table number {number} that can be recalled; \
                 `esker table list --dropped` lists them"
            )));
        }
        done => settled_of_name(link, "cannot recall the table", (table, wanted), done)?,
    };
    shared.tell_done(
        "recalled",
        json!({ "name": back.app_name, "number": back.app_id }),
    )
}

/// The number of the one dropped table of that name.
fn dropped_number(link: &Link, name: &str) -> Outcome<i32> {
    let dropped = link.tables(TableStatus::AS_DROPPED)?;
    let numbers: Vec<i32> = dropped
        .iter()
        .filter(|one| one.app_name == name)
        .map(|one| one.app_id)
        .collect();
    match numbers[..] {
        [number] => Ok(number),
        [] => Err(Failure::not_found(format!(
            "no table \"{}\" was dropped that can be recalled; `esker table list --dropped` lists \
             them",
            shown(name)
        ))),
        _ => Err(Failure::usage(format!(
            "{} tables \"{}\" were dropped; give the number of the one that is meant: {}",
            numbers.len(),
            shown(name),
            numbers
                .iter()
                .map(i32::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ))),
    }
}
