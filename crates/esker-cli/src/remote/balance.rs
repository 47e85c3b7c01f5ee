//! The command `balance`: every node has its share, and how it comes to that.

use clap::{Args, ValueEnum};
use esker_rpc::message::meta::MetaLevel;
use esker_rpc::message::own::{BalanceResponse, BalanceStep};
use serde_json::{Value, json};

use crate::fail::Outcome;
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::quantity::{counted, counted_as};
use crate::remote::flags::{ClusterFlags, refuse_local};
use crate::remote::link::Link;
use crate::remote::nodes::{is_unknown_call, not_ours};
use crate::remote::refusal::change_failure;
use crate::remote::waiting::{Left, wait_for};

/// Even out what the nodes of a cluster have
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker balance --plan              what would move, one step a line; nothing is done
  esker balance --plan --json       the same as an object
  esker balance --wait              carry it out, and return when every node has its share
  esker balance --level             what the cluster does by itself
  esker balance --level steady      it repairs, and evens out when it is asked to
  esker balance --level lively      it evens out by itself, as a new cluster does
  esker balance --level frozen      nothing moves, nothing is repaired, no table is created

First leads are handed over, which stops the writes of a partition for a moment; then replicas
move, a few at a time. A replica is copied before the old one goes, so there are never fewer. By
itself a cluster waits until all nodes have been there for a while, and moves no replica while one
is silent that may come back.")]
pub struct Balance {
    #[command(flatten)]
    cluster: ClusterFlags,
    /// Show what would move, and do nothing
    #[arg(long)]
    plan: bool,
    /// Return when it is done
    #[arg(long, conflicts_with = "plan")]
    wait: bool,
    /// Set what the cluster does by itself, or show it
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        conflicts_with_all = ["plan", "wait"]
    )]
    level: Option<Option<Level>>,
}

/// What a cluster does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Nothing
    Frozen,
    /// It repairs
    Steady,
    /// It repairs and evens out
    Lively,
}

/// Shows a plan, or has it carried out.
pub fn balance(shared: &GlobalFlags, args: &Balance) -> Outcome {
    refuse_local(shared)?;
    let link = Link::open(&args.cluster)?;
    if let Some(level) = args.level {
        return set_level(shared, &link, level);
    }
    let told = link.attempt(link.admin().balance(!args.plan));
    let told = told.map_err(|error| match is_unknown_call(&error) {
        true => not_ours(),
        false => change_failure("cannot balance the cluster", &error),
    })?;
    if args.wait && is_anything_left(&told) > 0 {
        wait_for(&link, "evening out", |link| {
            // Each time it is asked for anew: who leads the meta service may be another one.
            let told = link.attempt(link.admin().balance(true))?;
            Ok(Left {
                count: is_anything_left(&told),
                waits_for: told.hint_message,
            })
        })?;
    }
    show(shared, args, &told)
}

/// Steps that are left, those that are under way among them; more than nothing where not all is
/// known or was looked at.
fn is_anything_left(told: &BalanceResponse) -> u64 {
    let steps = told.steps.len() as u64 + u64::from(told.under_way.unsigned_abs());
    steps.max(u64::from(!told.is_whole))
}

fn set_level(shared: &GlobalFlags, link: &Link, level: Option<Level>) -> Outcome {
    let wanted = match level {
        None => MetaLevel::FL_INVALID,
        Some(Level::Frozen) => MetaLevel::FL_FREEZED,
        Some(Level::Steady) => MetaLevel::FL_STEADY,
        Some(Level::Lively) => MetaLevel::FL_LIVELY,
    };
    let done = link.attempt(link.admin().control_meta(wanted));
    let before = done.map_err(|error| change_failure("cannot change the level", &error))?;
    let now = if level.is_some() { wanted } else { before };
    let mut out = Out::lock();
    match shared.json {
        true => out.json(&json!({ "level": word(now), "before": word(before) }))?,
        false if level.is_none() => out.line(word(now))?,
        false => out.line(format!("level {}; before: {}", word(now), word(before)))?,
    }
    Ok(out.finish()?)
}

fn word(level: MetaLevel) -> &'static str {
    match level {
        MetaLevel::FL_STOPPED => "stopped",
        MetaLevel::FL_BLIND => "blind",
        MetaLevel::FL_FREEZED => "frozen",
        MetaLevel::FL_STEADY => "steady",
        MetaLevel::FL_LIVELY => "lively",
        _ => "unknown",
    }
}

fn show(shared: &GlobalFlags, args: &Balance, told: &BalanceResponse) -> Outcome {
    let mut out = Out::lock();
    if shared.json {
        out.json_page(&json!({
            "level": word(told.level),
            "steps": told.steps.iter().map(spell).collect::<Value>(),
            "is_whole": told.is_whole,
            "under_way": told.under_way,
            "is_done": args.wait || is_anything_left(told) == 0,
        }))?;
        return Ok(out.finish()?);
    }
    for step in &told.steps {
        out.line(&step.sentence)?;
    }
    out.line(summary(args, told))?;
    Ok(out.finish()?)
}

/// The last line.
fn summary(args: &Balance, told: &BalanceResponse) -> String {
    let count = told.steps.len() as u64;
    let under_way = u64::from(told.under_way.unsigned_abs());
    let more = if told.is_whole { "" } else { " and more" };
    let steps = format!("{}{more}", counted(count, "step"));
    match (count, under_way) {
        (0, 0) if told.is_whole || args.wait => "every node has its share".to_owned(),
        _ if args.wait => format!("{steps}: done, every node has its share"),
        (0, 0) if told.hint_message.is_empty() => {
            "nothing to begin was found, and not all was looked at".to_owned()
        }
        (0, 0) => told.hint_message.clone(),
        (0, _) => format!(
            "nothing more to begin; {} being changed",
            counted_as(under_way, "partition is", "partitions are")
        ),
        _ if args.plan && told.level == MetaLevel::FL_LIVELY => {
            format!("{steps}: the cluster takes them by itself, `esker balance` at once")
        }
        _ if args.plan => format!("{steps}: `esker balance` takes them"),
        _ => format!("{steps}: begun, `esker balance --wait` waits for the end"),
    }
}

fn spell(step: &BalanceStep) -> Value {
    json!({
        "table": step.app_name,
        "partition": step.gpid.partition_index,
        "what": if step.is_lead { "lead" } else { "replica" },
        "from": step.source,
        "to": step.target,
        "from_count": step.source_count,
        "to_count": step.target_count,
        "count_of": if step.is_of_table { "table" } else { "all" },
        "sentence": step.sentence,
    })
}

#[cfg(test)]
mod tests;
