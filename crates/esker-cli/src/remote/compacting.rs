//! The command `table compact`: replicas are asked for it by a setting, and say how far they are.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use esker_bench::report::date::utc;
use esker_rpc::client::ClientError;
use esker_rpc::message::meta::TableDescription;
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::quantity::counted;
use crate::remote::link::{Link, shown};
use crate::remote::nodes::facts_of_ours;
use crate::remote::page::{Statuses, statuses};
use crate::remote::refusal::change_failure;
use crate::remote::waiting::wait_for;

/// The setting that asks for one: when, in seconds since 1970.
const ASKED: &str = "manual_compact.once.trigger_time";

/// The setting that switches them off.
const DISABLED: &str = "manual_compact.disabled";

/// How far the replicas of a table are.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// When it was asked for.
    pub asked_s: u64,
    /// Those that are done.
    pub done: u64,
    /// Those under way: one on each node at most.
    pub running: u64,
    /// Those whose turn is to come.
    pub waiting: u64,
    /// Those that failed; their node's log says why.
    pub failed: u64,
    /// Those of nodes that were started since, and forgot it.
    pub skipped: u64,
}

impl Progress {
    /// In words.
    pub fn sentence(&self) -> String {
        let all = self.done + self.running + self.waiting + self.failed + self.skipped;
        let mut words = format!("{} of {} done", self.done, counted(all, "replica"));
        for (count, what) in [
            (self.running, "under way"),
            (self.waiting, "to come"),
            (self.failed, "failed, the log of their node says why"),
            (self.skipped, "left out, for their node was started since"),
        ] {
            if count > 0 {
                words.push_str(&format!(", {count} {what}"));
            }
        }
        format!("{words}; asked for at {}", utc(self.asked_s))
    }

    /// As an object.
    pub fn spell(&self) -> Value {
        json!({
            "asked_s": self.asked_s, "done": self.done, "running": self.running,
            "waiting": self.waiting, "failed": self.failed, "skipped": self.skipped,
        })
    }

    // Counts what a node says of its replicas of a table.
    fn add(&mut self, status: &Value) {
        let is_since = status["started_s"].as_u64() > Some(self.asked_s);
        for one in status["replicas"].as_array().into_iter().flatten() {
            let compaction = &one["compaction"];
            let is_meant = compaction["asked_s"].as_u64() >= Some(self.asked_s);
            let count = match compaction["state"].as_str().filter(|_| is_meant) {
                Some("done") => &mut self.done,
                Some("running") => &mut self.running,
                Some("failed") => &mut self.failed,
                _ if is_since => &mut self.skipped,
                _ => &mut self.waiting,
            };
            *count += 1;
        }
    }
}

// The same second again would be the same compaction, and an earlier one none, where the clock of
// who asked before is ahead.
fn next_request_s(before_s: Option<u64>, now_s: u64) -> u64 {
    before_s.map_or(now_s, |before_s| now_s.max(before_s.saturating_add(1)))
}

/// Asks for a compaction of every replica, and waits for it if that is wanted.
pub fn compact(shared: &GlobalFlags, link: &Link, name: &str, wait: bool) -> Outcome {
    let table = link.description(name)?;
    if table
        .envs
        .get(DISABLED)
        .is_some_and(|value| value == "true")
    {
        return Err(Failure::failed(format!(
            "compactions of \"{0}\" are switched off; `esker table unset {0} {DISABLED}` allows \
             them",
            shown(name)
        )));
    }
    let unix_s = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = unix_s.map_or(0, |since| since.as_secs());
    let asked_s = next_request_s(asked(&table), now_s);
    let envs = BTreeMap::from([(ASKED.to_owned(), asked_s.to_string())]);
    let done = link.attempt(link.admin().set_envs(name, &envs));
    done.map_err(|error| change_failure("cannot ask for it", &error))?;
    if wait {
        facts_of_ours(link)?;
        wait_for(link, "compacting", |link| {
            let nodes = link.attempt(link.admin().node_facts())?;
            let statuses = statuses(&nodes, table.app_id);
            let progress = told(&statuses, asked_s).map_err(|_| ClientError::Unreachable)?;
            Ok(progress.running + progress.waiting)
        })?;
    }
    let mut progress = Progress {
        asked_s,
        ..Progress::default()
    };
    if wait {
        let statuses = statuses(&facts_of_ours(link)?, table.app_id);
        progress = told(&statuses, asked_s).map_err(Failure::failed)?;
    }
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({ "compaction": progress.spell(), "table": name }))?;
    } else if wait {
        out.line(progress.sentence())?;
    } else {
        let name = shown(name);
        out.line(format!(
            "every node compacts its replicas of \"{name}\", one after another; `esker table \
             describe {name}` says how far they are"
        ))?;
    }
    out.finish()?;
    match progress.failed {
        0 => Ok(()),
        count => Err(Failure::failed(format!(
            "{} failed; the log of their node says why",
            counted(count, "replica")
        ))),
    }
}

/// How far the last compaction is that somebody asked for; nothing where nobody did, or nobody
/// knows.
pub fn progress(statuses: &Statuses, table: &TableDescription) -> Option<Progress> {
    told(statuses, asked(table)?).ok()
}

fn asked(table: &TableDescription) -> Option<u64> {
    table.envs.get(ASKED)?.parse().ok()
}

fn told(statuses: &Statuses, asked_s: u64) -> Result<Progress, String> {
    let mut progress = Progress {
        asked_s,
        ..Progress::default()
    };
    for (_, status) in statuses {
        progress.add(status.as_ref().map_err(Clone::clone)?);
    }
    Ok(progress)
}

#[cfg(test)]
mod tests;
