//! The command `node slow`: calls that took long, as each node has kept them.

use esker_bench::report::date::millis;
use esker_bench::table::Table;
use esker_rpc::message::own::NodeFacts;
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::remote::link::{Link, shown};
use crate::remote::nodes::{facts_of_ours, find};
use crate::remote::page::page;

/// Shows what one node has kept, or all that live.
pub fn slow(shared: &GlobalFlags, link: &Link, node: Option<&str>) -> Outcome {
    let nodes = facts_of_ours(link)?;
    let meant: Vec<&NodeFacts> = match node {
        Some(word) => vec![find(&nodes, word)?],
        None => nodes.iter().filter(|one| one.is_alive).collect(),
    };
    let (mut calls, mut failed) = (Vec::new(), Vec::new());
    for one in &meant {
        match kept(one) {
            Ok(kept) => calls.extend(kept.into_iter().map(|call| (one.node, call))),
            Err(why) => failed.push(format!("node {} does not tell: {why}", one.node)),
        }
    }
    if let (Some(why), true) = (failed.first(), failed.len() == meant.len()) {
        return Err(Failure::failed(why.clone()));
    }
    for why in &failed {
        remark!("esker: {why}");
    }
    // Latest first, whoever had it.
    calls.sort_by_key(|(_, call)| std::cmp::Reverse(number(call, "unix_us")));
    print(shared, &calls)
}

fn print(shared: &GlobalFlags, calls: &[(i64, Value)]) -> Outcome {
    let mut out = Out::lock();
    if shared.json {
        let spelled = calls.iter().map(|(node, call)| {
            let mut call = call.clone();
            call["node"] = json!(node);
            call
        });
        out.json_page(&spelled.collect())?;
        return Ok(out.finish()?);
    }
    if calls.is_empty() {
        out.line("no call took long")?;
        return Ok(out.finish()?);
    }
    let heads = [
        "time",
        "node",
        "call",
        "partition",
        "hash key",
        "bytes",
        "took",
        "of it",
        "from",
    ];
    let mut table = Table::new(&heads).with_sides("<><<<>><<");
    for (node, call) in calls {
        table.add([
            millis(number(call, "unix_us") / 1000),
            node.to_string(),
            text(call, "call"),
            format!("{}.{}", text(call, "table"), number(call, "partition")),
            text(call, "hash_key"),
            number(call, "argument_bytes").to_string(),
            duration(number(call, "total_us")),
            phases(call),
            text(call, "from"),
        ]);
    }
    out.text(table.text())?;
    Ok(out.finish()?)
}

fn number(call: &Value, name: &str) -> u64 {
    call[name].as_u64().unwrap_or_default()
}

fn text(call: &Value, name: &str) -> String {
    shown(call[name].as_str().unwrap_or_default())
}

fn duration(micros: u64) -> String {
    format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
}

/// What took a tenth of a call or more, the longest first.
fn phases(call: &Value) -> String {
    let least = number(call, "total_us") / 10;
    let phases = call["phases"].as_object().into_iter().flatten();
    let long = phases.filter_map(|(name, time)| {
        let time = time.as_u64().filter(|time| *time >= least.max(1))?;
        Some((time, name.trim_end_matches("_us")))
    });
    let mut long: Vec<(u64, &str)> = long.collect();
    long.sort_unstable_by(|one, other| other.cmp(one));
    let words: Vec<String> = long
        .into_iter()
        .map(|(time, name)| format!("{name} {}", duration(time)))
        .collect();
    words.join(", ")
}

/// The calls that a node has kept.
fn kept(one: &NodeFacts) -> Result<Vec<Value>, String> {
    let page = page(one, "/slow")?;
    match &page["kept"] {
        Value::Array(calls) => Ok(calls.clone()),
        _ => Err("its page has no calls".to_owned()),
    }
}

#[cfg(test)]
mod tests;
