//! The command `node`: the machines of a cluster.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use esker_bench::table::Table;
use esker_rpc::client::ClientError;
use esker_rpc::message::meta::{NodeDescription, NodeStatus, TableStatus};
use esker_rpc::message::own::{
    MoveReplicaRequest, NodeDeed, NodeFacts, NodeStay, ShowNodesResponse,
};
use serde_json::{Value, json};

use crate::fail::Outcome;
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::quantity::{bytes, counted};
use crate::remote::agreeing::agree;
use crate::remote::flags::{ClusterFlags, refuse_local};
use crate::remote::link::{Link, shown};
use crate::remote::nodes::{
    facts_of_ours, find, is_unknown_call, left_on, not_ours, note, state, told, unix_ms,
};
use crate::remote::placing::{Share, add_shares, address};
use crate::remote::refusal::change_failure;
use crate::remote::slow::slow;
use crate::remote::waiting::{Left, wait_for};

/// Look after the nodes of a cluster
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker node list                      number, address, whether it lives, what it has
  esker node list --json               the same as a list of objects
  esker node drain 2 --wait            its replicas move elsewhere; returns when it is empty
  esker node drain 2 --undo            it stays after all
  esker node move temp 5 1 3           the replica of partition 5 goes from node 1 to node 3
  esker node move temp 5 1 3 --lead    node 3 leads it instead of node 1, and no replica moves
  esker node slow                      calls that took long, on all nodes; `slow 2` on one
  esker node meta-replicas 3           how many nodes have the meta service: 1, 3 or 5
  esker node remove 3 --yes            it is none of the cluster any more, for ever

NODE is a number, or an address of it. A node that lives is drained before it is removed. One that
is dead and does not come back is removed at once: its replicas are made anew on other nodes, which
else happens ten minutes after it fell silent. What may be the only copy of something is kept.

Replicas and leads are evened out over the nodes by themselves; `esker balance --help` tells when.
A call is slow from the node's slow_query_threshold on (100 ms), or the table's setting
replica.slow_query_threshold. A node keeps the latest 256 until it ends. What a call waited for: the
door (its connection had too much under way), a limit of its table, a turn (queue), a majority's
medium (commit), its turn to be applied (apply); of a read that the leader still leads (confirm) and
a thread (queue), and the reading itself (read).

Other calls than `list` are of Esker's own, and no cluster of Apache Pegasus knows them.")]
pub struct Node {
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(subcommand)]
    action: Action,
}

/// What to do with nodes.
#[derive(Debug, Subcommand)]
enum Action {
    /// List them, with what they have
    #[command(after_help = "Example: esker node list --json")]
    List,
    /// Move everything off one, which stays a node
    #[command(after_help = "Example: esker node drain 2 --wait")]
    Drain {
        /// The node
        node: String,
        /// Let it have replicas again
        #[arg(long, conflicts_with = "wait")]
        undo: bool,
        /// Return when it is empty
        #[arg(long)]
        wait: bool,
    },
    /// Let go of one for ever: one that is empty, or dead for good
    #[command(after_help = "Example: esker node remove 3 --yes --wait")]
    Remove {
        /// The node
        node: String,
        /// Do not ask; needed where there is no terminal to ask at
        #[arg(long)]
        yes: bool,
        /// Return when nothing counts on it any more
        #[arg(long)]
        wait: bool,
    },
    /// Move the replica of a partition from one to another
    #[command(after_help = "Example: esker node move ships 5 1 3 --lead")]
    Move {
        /// The table
        table: String,
        /// The partition, counted from 0
        partition: i32,
        /// The node that has the replica
        from: String,
        /// The node that gets it
        to: String,
        /// Hand over the lead instead
        #[arg(long)]
        lead: bool,
    },
    /// Show calls that took long, with what they waited for
    #[command(after_help = "Example: esker node slow 2")]
    Slow {
        /// The node; without it all that live
        node: Option<String>,
    },
    /// Set how many nodes have the meta service
    #[command(after_help = "Example: esker node meta-replicas 5")]
    MetaReplicas {
        /// 1, 3 or 5
        count: i32,
    },
}

/// Does what was asked for.
pub fn node(shared: &GlobalFlags, args: &Node) -> Outcome {
    refuse_local(shared)?;
    let link = Link::open(&args.cluster)?;
    match &args.action {
        Action::List => match told(&link)? {
            Some(told) => list(shared, &told),
            None => list_by_address(shared, &link),
        },
        Action::Drain { node, undo, wait } => drain(shared, &link, node, (*undo, *wait)),
        Action::Remove { node, yes, wait } => remove(shared, &link, node, (*yes, *wait)),
        Action::Move {
            table,
            partition,
            from,
            to,
            lead,
        } => {
            let nodes = facts_of_ours(&link)?;
            let request = MoveReplicaRequest {
                app_name: table.clone(),
                partition_index: *partition,
                source: find(&nodes, from)?.node,
                target: find(&nodes, to)?.node,
                is_lead: *lead,
            };
            move_one(shared, &link, &request)
        }
        Action::Slow { node } => slow(shared, &link, node.as_deref()),
        Action::MetaReplicas { count } => {
            let done = link.attempt(link.admin().set_meta_replicas(*count));
            let before = settled("cannot set that", done)?;
            let told = format!("the meta service is to have {count} replicas; before: {before}");
            tell(
                shared,
                &told,
                &json!({ "meta_replicas": count, "before": before }),
            )
        }
    }
}

/// The same, with a failure that says what it means.
fn settled<T>(doing: &str, done: Result<T, ClientError>) -> Outcome<T> {
    done.map_err(|error| match is_unknown_call(&error) {
        true => not_ours(),
        false => change_failure(doing, &error),
    })
}

fn tell(shared: &GlobalFlags, line: &str, object: &Value) -> Outcome {
    let mut out = Out::lock();
    match shared.json {
        true => out.json(object)?,
        false => out.line(line)?,
    }
    Ok(out.finish()?)
}

fn drain(shared: &GlobalFlags, link: &Link, node: &str, (undo, wait): (bool, bool)) -> Outcome {
    let nodes = facts_of_ours(link)?;
    let one = find(&nodes, node)?;
    let deed = match undo {
        true => NodeDeed::ND_UNDRAIN,
        false => NodeDeed::ND_DRAIN,
    };
    let number = one.node;
    let done = link.attempt(link.admin().change_node(number, deed));
    let left = settled(&format!("cannot drain node {number}"), done)?;
    if wait {
        if !left.is_empty() {
            remark!("esker: {left}");
        }
        let doing = format!("emptying node {number}");
        wait_for(link, &doing, |link| left_of(link, number, left_on))?;
    }
    let line = match (undo, wait) {
        (true, _) => format!("node {number} stays"),
        (false, true) => format!("node {number} is empty"),
        (false, false) => advised(link, number, left),
    };
    let object = json!({ "node": number, "is_draining": !undo, "is_empty": wait });
    tell(shared, &line, &json!({ "drained": object }))
}

/// What is left on a node, which may be gone by now.
fn left_of(link: &Link, node: i64, of: fn(&NodeFacts) -> i32) -> Result<Left, ClientError> {
    let mut nodes = link.attempt(link.admin().node_facts())?.into_iter();
    let one = nodes.find(|one| one.node == node);
    Ok(one.map_or_else(Left::default, |one| Left {
        count: u64::from(of(&one).unsigned_abs()),
        waits_for: one.waits_for,
    }))
}

/// What is still to come of a node, with what that waits for, if anybody knows.
fn advised(link: &Link, node: i64, left: String) -> String {
    if left.is_empty() {
        return left;
    }
    // Nobody may know yet; the deed is done, and `esker node list` says it later.
    let told = left_of(link, node, left_on).unwrap_or_default();
    match told.waits_for.as_str() {
        "" => left,
        why => format!("{left}; {why}"),
    }
}

fn remove(shared: &GlobalFlags, link: &Link, node: &str, (yes, wait): (bool, bool)) -> Outcome {
    let nodes = facts_of_ours(link)?;
    let one = find(&nodes, node)?;
    let number = one.node;
    let with = match one.replicas {
        0 => "which has nothing".to_owned(),
        count => format!(
            "whose {} are made anew elsewhere",
            counted(u64::from(count.unsigned_abs()), "replica")
        ),
    };
    let question = format!(
        "let go of node {number} ({}) for ever, {with}",
        address(one.address)
    );
    agree(&question, yes, "the node stays")?;
    let done = link.attempt(link.admin().change_node(number, NodeDeed::ND_REMOVE));
    let mut left = settled(&format!("cannot remove node {number}"), done)?;
    if wait {
        if !left.is_empty() {
            remark!("esker: {left}");
        }
        // Its number goes last, so a node that is there has something left to do.
        let doing = format!("letting go of node {number}");
        wait_for(link, &doing, |link| {
            left_of(link, number, |one| one.replicas.max(1))
        })?;
        left = String::new();
    }
    let is_gone = left.is_empty();
    let line = match is_gone {
        true => format!("node {number} is removed"),
        false => advised(link, number, left),
    };
    let object = json!({ "node": number, "is_gone": is_gone });
    tell(shared, &line, &json!({ "removed": object }))
}

fn move_one(shared: &GlobalFlags, link: &Link, request: &MoveReplicaRequest) -> Outcome {
    let what = if request.is_lead { "lead" } else { "replica" };
    let partition = format!("{}.{}", shown(&request.app_name), request.partition_index);
    let done = link.attempt(link.admin().move_replica(request));
    settled(&format!("cannot move the {what} of {partition}"), done)?;
    let (from, to) = (request.source, request.target);
    let line = format!("the {what} of {partition} moves from node {from} to node {to}");
    let object = json!({
        "table": request.app_name, "partition": request.partition_index, "what": what,
        "from": from, "to": to,
    });
    tell(shared, &line, &json!({ "moves": object }))
}

fn list(shared: &GlobalFlags, told: &ShowNodesResponse) -> Outcome {
    let (nodes, others) = (&told.nodes, &told.hint_message);
    let now_ms = unix_ms();
    let mut out = Out::lock();
    if shared.json {
        let spelled = nodes.iter().map(|one| spell(one, now_ms));
        out.json_page(&spelled.collect())?;
        out.finish()?;
        if !others.is_empty() {
            remark!("esker: {}", shown(others));
        }
        return Ok(());
    }
    let heads = [
        "number", "node", "state", "leads", "replicas", "meta", "free", "label",
    ];
    let mut table = Table::new(&heads).with_sides("><<>><><");
    for one in nodes {
        table.add([
            one.node.to_string(),
            address(one.address),
            state(one).to_owned(),
            one.leads.to_string(),
            one.replicas.to_string(),
            part_in_meta(one).to_owned(),
            free(one),
            shown(&one.label),
        ]);
    }
    out.text(table.text())?;
    for note in nodes.iter().filter_map(|one| note(one, now_ms)) {
        out.line(note)?;
    }
    if !others.is_empty() {
        out.line(shown(others))?;
    }
    Ok(out.finish()?)
}

/// What it is to the meta service.
fn part_in_meta(one: &NodeFacts) -> &'static str {
    match (one.leads_meta, one.votes_in_meta) {
        (true, _) => "leads",
        (false, true) => "votes",
        (false, false) => "-",
    }
}

/// How much of its disk is free, and of how much, if anybody says that.
fn free(one: &NodeFacts) -> String {
    let [free, total] = [one.space_free, one.space_total].map(|it| u64::try_from(it).unwrap_or(0));
    match (one.is_alive, total) {
        (true, 1..) => format!("{} of {}", bytes(free), bytes(total)),
        (true, 0) if free > 0 => bytes(free),
        _ => "-".to_owned(),
    }
}

fn spell(one: &NodeFacts, now_ms: u64) -> Value {
    json!({
        "node": one.node,
        "address": address(one.address),
        "meta": one.meta.0.map(|address| address.to_string()),
        "peer": one.peer,
        "label": one.label,
        "state": state(one),
        "is_alive": one.is_alive,
        "is_draining": one.stay != NodeStay::NS_STAYS,
        "silent_ms": one.silent_ms,
        "replaced_in_ms": u64::try_from(one.replaced_in_ms).ok(),
        "primaries": one.leads,
        "secondaries": one.replicas.saturating_sub(one.leads),
        "replicas": one.replicas,
        "without_leader": one.leaderless,
        "space_total_bytes": one.space_total,
        "space_free_bytes": one.space_free,
        "clock_ahead_ms": one.clock_ahead_ms,
        "votes_in_meta": one.votes_in_meta,
        "leads_meta": one.leads_meta,
        "note": note(one, now_ms),
    })
}

/// Lists nodes of a cluster that knows them by their addresses only.
fn list_by_address(shared: &GlobalFlags, link: &Link) -> Outcome {
    let nodes = link.wait(
        "cannot list the nodes",
        link.admin().nodes(NodeStatus::NS_INVALID),
    )?;
    let mut shares = BTreeMap::new();
    for table in link.tables(TableStatus::AS_AVAILABLE)? {
        let call = link.admin();
        let call = call.partitions(&table.app_name);
        add_shares(
            &mut shares,
            &link.wait("cannot ask where partitions are", call)?,
        );
    }
    let share = |node: &NodeDescription| -> Share {
        shares.get(&address(node.node)).copied().unwrap_or_default()
    };
    let mut out = Out::lock();
    if shared.json {
        let spelled = nodes.iter().map(|node| {
            json!({
                "address": address(node.node),
                "is_alive": node.status == NodeStatus::NS_ALIVE,
                "primaries": share(node).primary_count,
                "secondaries": share(node).secondary_count,
            })
        });
        out.json_page(&spelled.collect())?;
        return Ok(out.finish()?);
    }
    let mut table = Table::new(&["node", "state", "primaries", "secondaries"]).with_sides("<<>>");
    for node in &nodes {
        let state = match node.status {
            NodeStatus::NS_ALIVE => "alive",
            NodeStatus::NS_UNALIVE => "dead",
            _ => "unknown",
        };
        let share = share(node);
        table.add([
            address(node.node),
            state.to_owned(),
            share.primary_count.to_string(),
            share.secondary_count.to_string(),
        ]);
    }
    out.text(table.text())?;
    Ok(out.finish()?)
}
