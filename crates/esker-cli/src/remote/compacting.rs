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

/// The setting that asks for those of some partitions, each with its moment.
const ASKED_OF_SOME: &str = "manual_compact.once.partitions";

/// Longest value of a setting: some twenty partitions.
const SETTING_BYTES_MAX: usize = 256;

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
    fn add(&mut self, status: &Value, asked: &Asked) {
        for one in status["replicas"].as_array().into_iter().flatten() {
            let Some(asked_s) = asked.of(&one["partition"]) else {
                continue;
            };
            let is_since = status["started_s"].as_u64() > Some(asked_s);
            let compaction = &one["compaction"];
            let is_meant = compaction["asked_s"].as_u64() >= Some(asked_s);
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

/// When replicas were asked to be compacted, in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    /// Those of all partitions.
    all_s: Option<u64>,
    /// Those of some, in the order in which they were asked.
    some_s: Vec<(u64, u64)>,
}

impl Asked {
    /// As the settings of a table say.
    fn read(envs: &BTreeMap<String, String>) -> Asked {
        let some = envs.get(ASKED_OF_SOME).into_iter();
        let some = some.flat_map(|text| text.split(',')).filter_map(|one| {
            let (partition, asked_s) = one.split_once(':')?;
            Some((partition.parse().ok()?, asked_s.parse().ok()?))
        });
        Asked {
            all_s: envs.get(ASKED).and_then(|text| text.parse().ok()),
            some_s: some.collect(),
        }
    }

    /// Of a partition.
    fn of(&self, partition: &Value) -> Option<u64> {
        let own = self.some_s.iter();
        let own = own.filter(|(of, _)| partition.as_u64() == Some(*of));
        own.map(|(_, asked_s)| *asked_s).chain(self.all_s).max()
    }

    /// The last moment of all.
    fn last_s(&self) -> Option<u64> {
        let some = self.some_s.iter().map(|(_, asked_s)| *asked_s);
        some.chain(self.all_s).max()
    }

    /// One more partition is asked. The latest are kept that a setting has room for.
    fn ask(&mut self, partition: u64, asked_s: u64) {
        self.some_s.retain(|(of, _)| *of != partition);
        self.some_s.push((partition, asked_s));
        while self.spell().len() > SETTING_BYTES_MAX {
            self.some_s.remove(0);
        }
    }

    /// The setting that says it of some.
    fn spell(&self) -> String {
        let some = self.some_s.iter();
        let some: Vec<String> = some
            .map(|(of, asked_s)| format!("{of}:{asked_s}"))
            .collect();
        some.join(",")
    }
}

// The same second again would be the same compaction, and an earlier one none, where the clock of
// who asked before is ahead.
fn next_request_s(before_s: Option<u64>, now_s: u64) -> u64 {
    before_s.map_or(now_s, |before_s| now_s.max(before_s.saturating_add(1)))
}

/// Asks for a compaction of every replica of a table or of a partition, and waits for it if that is
/// wanted.
pub fn compact(
    shared: &GlobalFlags,
    link: &Link,
    (name, partition): (&str, Option<u32>),
    wait: bool,
) -> Outcome {
    let table = link.description(name)?;
    refuse(&table, partition)?;
    let unix_s = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = unix_s.map_or(0, |since| since.as_secs());
    let mut asked = Asked::read(&table.envs);
    let asked_s = next_request_s(asked.last_s(), now_s);
    let (setting, value, asked) = match partition.map(u64::from) {
        None => {
            let all_s = Some(asked_s);
            let asked = Asked {
                all_s,
                ..Asked::default()
            };
            (ASKED, asked_s.to_string(), asked)
        }
        Some(partition) => {
            asked.ask(partition, asked_s);
            let some_s = vec![(partition, asked_s)];
            let own = Asked {
                all_s: None,
                some_s,
            };
            (ASKED_OF_SOME, asked.spell(), own)
        }
    };
    let envs = BTreeMap::from([(setting.to_owned(), value)]);
    let done = link.attempt(link.admin().set_envs(name, &envs));
    done.map_err(|error| change_failure("cannot ask for it", &error))?;
    if wait {
        facts_of_ours(link)?;
        wait_for(link, "compacting", |link| {
            let nodes = link.attempt(link.admin().node_facts())?;
            let statuses = statuses(&nodes, table.app_id);
            let progress = told(&statuses, &asked).map_err(|_| ClientError::Unreachable)?;
            Ok(progress.running + progress.waiting)
        })?;
    }
    let mut progress = Progress {
        asked_s,
        ..Progress::default()
    };
    if wait {
        let statuses = statuses(&facts_of_ours(link)?, table.app_id);
        progress = told(&statuses, &asked).map_err(Failure::failed)?;
    }
    let mut out = Out::lock();
    if shared.json {
        let compaction = progress.spell();
        out.json(&json!({ "compaction": compaction, "table": name, "partition": partition }))?;
    } else if wait {
        out.line(progress.sentence())?;
    } else {
        let name = shown(name);
        let what = match partition {
            None => format!("every node compacts its replicas of \"{name}\", one after another"),
            Some(partition) => format!("every node compacts its replica of {name}.{partition}"),
        };
        out.line(format!(
            "{what}; `esker table describe {name}` says how far they are"
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

/// That it cannot be asked for, and why.
fn refuse(table: &TableDescription, partition: Option<u32>) -> Outcome {
    let name = shown(&table.app_name);
    if let Some(partition) = partition.filter(|one| i64::from(*one) >= table.partition_count.into())
    {
        return Err(Failure::usage(format!(
            "there is no partition {partition}: \"{name}\" has 0 to {}",
            table.partition_count - 1
        )));
    }
    let is_off = |value: &String| value == "true";
    match table.envs.get(DISABLED).is_some_and(is_off) {
        true => Err(Failure::failed(format!(
            "compactions of \"{name}\" are switched off; `esker table unset {name} {DISABLED}` \
             allows them"
        ))),
        false => Ok(()),
    }
}

/// How far those are that somebody asked for last; nothing where nobody did, or nobody knows.
pub fn progress(statuses: &Statuses, table: &TableDescription) -> Option<Progress> {
    let asked = Asked::read(&table.envs);
    asked.last_s()?;
    told(statuses, &asked).ok()
}

fn told(statuses: &Statuses, asked: &Asked) -> Result<Progress, String> {
    let mut progress = Progress {
        asked_s: asked.last_s().unwrap_or_default(),
        ..Progress::default()
    };
    for (_, status) in statuses {
        progress.add(status.as_ref().map_err(Clone::clone)?, asked);
    }
    Ok(progress)
}

#[cfg(test)]
mod tests;
