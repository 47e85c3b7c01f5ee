//! The command `node`: the machines of a cluster.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use esker_bench::table::Table;
use esker_rpc::message::meta::{NodeDescription, NodeStatus, TableStatus};
use serde_json::json;

use crate::fail::Outcome;
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::remote::flags::{ClusterFlags, refuse_local};
use crate::remote::link::Link;
use crate::remote::placing::{Share, add_shares, address};

/// Look after the nodes of a cluster
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker node list             address, whether it lives, partitions that it leads and follows
  esker node list --json      the same as a list of objects")]
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
    List,
}

/// Lists nodes.
pub fn node(shared: &GlobalFlags, args: &Node) -> Outcome {
    refuse_local(shared)?;
    let Action::List = args.action;
    let link = Link::open(&args.cluster)?;
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
