//! A table that is made, or is there already.

use std::collections::BTreeSet;

use clap::Args;
use esker_rpc::client::{ClientError, NewTable};
use esker_rpc::message::meta::{NodeStatus, TableDescription};
use esker_server::meta::limits::{NAME_BYTES_MAX, PARTITIONS_MAX, REPLICAS_MAX};
use serde_json::json;

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::quantity;
use crate::remote::described::spell_table;
use crate::remote::link::{Link, shown};
use crate::remote::nodes::facts;
use crate::remote::placing::{self, address};
use crate::remote::refusal::{change_failure, is_nonsense};

/// Replicas of a table where the cluster has as many nodes: one of three may go away.
const REPLICAS: i32 = 3;

/// What a new table is like.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker table create ships --partitions 64 --replicas 3")]
pub struct Create {
    /// Its name
    name: String,
    /// Partitions, a power of two from 2 on; a table keeps its number
    #[arg(long, value_name = "N", default_value = "8")]
    partitions: i32,
    /// Replicas of each; if left out 3, or 1 where the cluster has fewer nodes
    #[arg(long, value_name = "N")]
    replicas: Option<i32>,
    /// A setting, as `set` takes it
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<String>,
    /// Take one that is there already, if it is just like this one
    #[arg(long)]
    if_not_exists: bool,
}

/// Creates a table and waits until it serves.
pub fn create(shared: &GlobalFlags, link: &Link, args: &Create) -> Outcome {
    if args.partitions < 2 || args.partitions.count_ones() != 1 {
        return Err(Failure::usage(
            "the number of partitions is a power of two from 2 on: some clients find no others",
        ));
    }
    if args.name.is_empty() {
        return Err(Failure::usage("a table has a name"));
    }
    if args.if_not_exists
        && let Ok(there) = link.description(&args.name)
    {
        return already_there(shared, args, &there);
    }
    let replica_count = replica_count(link, args.replicas)?;
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(Failure::usage("a setting is KEY=VALUE")),
    };
    let new = NewTable {
        name: args.name.clone(),
        partition_count: args.partitions,
        replica_count,
        envs: args.env.iter().map(pair).collect::<Outcome<_>>()?,
        success_if_exist: args.if_not_exists,
    };
    let done = link.attempt(link.admin().create_table(&new));
    let number = done.map_err(|error| not_created(&args.name, &error))?;
    let (now, why) = missing(link, &new)?;
    let mut out = Out::lock();
    if shared.json {
        let table = json!({
            "name": new.name, "number": number, "partitions": new.partition_count,
            "replicas": new.replica_count, "replicas_now": now,
        });
        out.json(&json!({ "created": table }))?;
    } else {
        out.line(format!(
            "created table \"{}\": {}, {} of each",
            shown(&new.name),
            quantity::counted(u64::from(new.partition_count.unsigned_abs()), "partition"),
            quantity::counted(u64::from(replica_count.unsigned_abs()), "replica")
        ))?;
        if let Some(why) = why {
            out.line(format!("{now} of {replica_count} replicas now: {why}"))?;
        }
    }
    Ok(out.finish()?)
}

/// How many replicas each partition has already at the least, and why not all.
fn missing(link: &Link, new: &NewTable) -> Outcome<(usize, Option<String>)> {
    let call = link.admin();
    let partitions = link.wait("cannot ask where it is", call.partitions(&new.name))?;
    let fewest = partitions
        .iter()
        .map(placing::replica_count)
        .min()
        .unwrap_or(0);
    if i32::try_from(fewest).is_ok_and(|fewest| fewest >= new.replica_count) {
        return Ok((fewest, None));
    }
    let nodes = facts(link)?.unwrap_or_default();
    let silent = nodes
        .iter()
        .filter(|one| !one.is_alive)
        .map(|one| one.node.to_string());
    let silent: Vec<String> = silent.collect();
    let why = match &silent[..] {
        [] => "the others are on their way".to_owned(),
        [node] => format!("node {node} does not answer; the others come when it is back"),
        nodes => format!(
            "nodes {} do not answer; the others come when they are back",
            nodes.join(", ")
        ),
    };
    Ok((fewest, Some(why)))
}

fn not_created(name: &str, error: &ClientError) -> Failure {
    let doing = format!("cannot create table \"{}\"", shown(name));
    match error {
        // The wire has no room for more than that.
        error if is_nonsense(error) => Failure::failed(format!(
            "{doing}: {error}; the cluster takes the name, a number or a setting for nonsense: one \
             of Esker takes up to {PARTITIONS_MAX} partitions, {REPLICAS_MAX} replicas of each, \
             and {NAME_BYTES_MAX} bytes of a name"
        )),
        ClientError::Unreachable => Failure::failed(format!(
            "{doing}: not all of its partitions have a leader yet; `esker table describe` shows \
             how far it is, --timeout waits longer"
        )),
        ClientError::OutcomeUnknown => Failure::unknown(format!(
            "{doing}: the connection to the meta service ended, or the time was over, before it \
             answered: the table may be there or not; the same command with --if-not-exists takes \
             it, or makes it"
        )),
        error => change_failure(&doing, error),
    }
}

/// As many replicas as are asked for, or else as fit.
fn replica_count(link: &Link, asked: Option<i32>) -> Outcome<i32> {
    let call = link.admin();
    // Also those that do not answer: they get theirs when they are back. Of two at one address one
    // is gone.
    let nodes = link.wait("cannot list the nodes", call.nodes(NodeStatus::NS_INVALID))?;
    let nodes: BTreeSet<String> = nodes.iter().map(|one| address(one.node)).collect();
    match asked {
        None if i32::try_from(nodes.len()).is_ok_and(|count| count < REPLICAS) => Ok(1),
        None => Ok(REPLICAS),
        Some(count)
            if usize::try_from(count).is_ok_and(|count| (1..=nodes.len()).contains(&count)) =>
        {
            Ok(count)
        }
        Some(count) => Err(Failure::usage(format!(
            "--replicas {count}: a table has 1 at least, and as many as there are nodes at most; \
             the cluster has {}",
            quantity::counted(nodes.len() as u64, "node")
        ))),
    }
}

/// Takes a table that is there, if it is as it was to be.
fn already_there(shared: &GlobalFlags, args: &Create, there: &TableDescription) -> Outcome {
    let is_other = there.partition_count != args.partitions
        || args
            .replicas
            .is_some_and(|count| count != there.max_replica_count);
    if is_other {
        return Err(Failure::failed(format!(
            "there is a table \"{}\" of another kind: {}, {} of each",
            shown(&args.name),
            quantity::counted(u64::from(there.partition_count.unsigned_abs()), "partition"),
            quantity::counted(u64::from(there.max_replica_count.unsigned_abs()), "replica")
        )));
    }
    let mut out = Out::lock();
    match shared.json {
        true => out.json(&json!({ "exists": spell_table(there) }))?,
        false => out.line(format!("table \"{}\" is there already", shown(&args.name)))?,
    }
    Ok(out.finish()?)
}

#[cfg(test)]
mod tests;
