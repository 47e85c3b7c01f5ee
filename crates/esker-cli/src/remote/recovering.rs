//! Partitions that go on with what is left of them, once somebody accepts what is lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;
use esker_rpc::client::ClientError;
use esker_rpc::message::own::{PartitionFacts, PartitionStanding};
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::quantity::counted;
use crate::remote::agreeing::agree;
use crate::remote::link::{Link, shown};
use crate::remote::nodes::{is_unknown_call, not_ours};
use crate::remote::placing::replica_count;
use crate::remote::refusal::{change_failure, is_no_table};
use crate::remote::waiting::wait_for;

/// How long after its end a node is missed: reports come each second, and one may be late.
const MISSED_MAX: Duration = Duration::from_secs(4);

/// How long is waited until they go on: an election takes a second or two, and what keeps one from
/// it is said then.
const ELECTED_MAX: Duration = Duration::from_secs(20);

/// How often is looked whether one is.
const LOOK: Duration = Duration::from_millis(500);

/// What is to go on, and whether the loss is accepted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker table recover ships                           which partitions have no majority, and what
                                                      would be lost; nothing is done
  esker table recover ships --accept-loss             they go on with what is left of them
  esker table recover ships --accept-loss --partition 3 --yes --wait

A partition of which most replicas are gone answers nobody, for what was acknowledged last may be in
none of those that are left. Bring the directory of one of the lost nodes back as it was when its
process ended, if that can be done: nothing is lost then, and this command is not needed.

With --accept-loss the replica that is left and has most goes on alone, with all that it has, and
the others are made anew. What only the lost ones had is lost, for ever. It is refused while most
replicas may be there still, and as long as a node was heard within the last ten seconds.

THE LOST NODES MUST NOT RUN. Nobody can stop what nobody reaches: two old replicas that run and hear
one another, and not the rest of the cluster, would go on answering by themselves. A node that is
started afterwards is safe: it takes no part before the cluster has answered it, and what is left
there of these partitions is deleted. Copy its directory first if you want to look into it.")]
pub struct Recover {
    /// The table's name
    name: String,
    /// What only the lost replicas had is lost, and the lost nodes do not run
    #[arg(long)]
    accept_loss: bool,
    /// This partition alone
    #[arg(long, value_name = "N")]
    partition: Option<i32>,
    /// Do not ask; needed where there is no terminal to ask at
    #[arg(long, requires = "accept_loss")]
    yes: bool,
    /// Return when all replicas are there again
    #[arg(long, requires = "accept_loss")]
    wait: bool,
}

/// Shows what has no majority, or has it go on.
pub fn recover(shared: &GlobalFlags, link: &Link, args: &Recover) -> Outcome {
    let mut found = asked(link, args)?;
    if !args.accept_loss {
        return show(shared, args, &found);
    }
    // Nobody misses a node yet that has ended a moment ago: that nothing is lost is said later.
    let until = Instant::now() + MISSED_MAX;
    while found.is_empty() && Instant::now() < until {
        link.rest(LOOK);
        found = asked(link, args)?;
    }
    let lost = of(&found, PartitionStanding::PS_LOST);
    if !lost.is_empty() {
        say_what_is_lost(&lost);
        let question = format!(
            "have {} of \"{}\" go on without what is lost; the lost nodes do not run",
            counted(lost.len() as u64, "partition"),
            shown(&args.name)
        );
        agree(&question, args.yes, "nothing was given up")?;
    }
    let mut refused = BTreeMap::new();
    for one in &lost {
        let index = one.partition_index;
        match link.attempt(link.admin().recover(&args.name, index)) {
            Ok(()) => {}
            // Others may be given up all the same.
            Err(error @ ClientError::Explained(..)) => {
                refused.insert(index, error.to_string());
            }
            Err(error) => return Err(change_failure("cannot have it go on", &error)),
        }
    }
    let until = Instant::now() + ELECTED_MAX;
    wait_for(link, "electing", |link| {
        let left = link.attempt(link.admin().leaderless(&args.name))?;
        let is_meant =
            |one: &&PartitionFacts| args.partition.is_none_or(|it| it == one.partition_index);
        let goes_on = |one: &&PartitionFacts| one.standing == PartitionStanding::PS_GOES_ON;
        let count = left.iter().filter(is_meant).filter(goes_on).count();
        Ok(if Instant::now() < until {
            count as u64
        } else {
            0
        })
    })?;
    // Those that wait as before or do not come to lead, and any that went on and have lost that
    // replica as well.
    for one in asked(link, args)? {
        let index = one.partition_index;
        refused.entry(index).or_insert(one.sentence);
    }
    if args.wait {
        wait_for_replicas(link, args, &lost, &refused)?;
    }
    told(shared, args, &lost, &refused)
}

/// The partitions that are meant and that nobody leads.
fn asked(link: &Link, args: &Recover) -> Outcome<Vec<PartitionFacts>> {
    let told = link.attempt(link.admin().leaderless(&args.name));
    let mut found = told.map_err(|error| match &error {
        error if is_unknown_call(error) => not_ours(),
        error if is_no_table(error) => link.no_table(&args.name),
        error => change_failure("cannot ask which partitions have no majority", error),
    })?;
    let table = link.description(&args.name)?;
    if let Some(index) = args.partition {
        if !(0..table.partition_count).contains(&index) {
            return Err(Failure::usage(format!(
                "--partition {index}: table \"{}\" has the partitions 0 to {}",
                shown(&args.name),
                table.partition_count - 1
            )));
        }
        found.retain(|one| one.partition_index == index);
    }
    Ok(found)
}

fn of(found: &[PartitionFacts], standing: PartitionStanding) -> Vec<PartitionFacts> {
    let found = found.iter().filter(|one| one.standing == standing);
    found.cloned().collect()
}

fn say_what_is_lost(lost: &[PartitionFacts]) {
    for one in lost {
        remark!(
            "esker: partition {}: {}",
            one.partition_index,
            shown(&one.sentence)
        );
    }
}

/// Waits until the partitions that went on have as many replicas as they are to have.
fn wait_for_replicas(
    link: &Link,
    args: &Recover,
    lost: &[PartitionFacts],
    refused: &BTreeMap<i32, String>,
) -> Outcome {
    let went_on = lost.iter().map(|one| one.partition_index);
    let went_on: Vec<i32> = went_on.filter(|one| !refused.contains_key(one)).collect();
    wait_for(link, "making replicas", |link| {
        let partitions = link.attempt(link.admin().partitions(&args.name))?;
        let meant = partitions
            .iter()
            .filter(|one| went_on.contains(&one.pid.partition_index));
        let left = meant.filter(|one| {
            let wanted = usize::try_from(one.max_replica_count).unwrap_or_default();
            replica_count(one) < wanted
        });
        Ok(left.count() as u64)
    })
}

fn word(standing: PartitionStanding) -> &'static str {
    match standing {
        PartitionStanding::PS_GOES_ON => "goes on",
        PartitionStanding::PS_LOST => "lost",
        PartitionStanding::PS_WAITS => "waits",
        _ => "led",
    }
}

fn spell(one: &PartitionFacts) -> Value {
    json!({
        "partition": one.partition_index,
        "state": word(one.standing),
        "node": (one.node > 0).then_some(one.node),
        "why": one.sentence,
    })
}

fn show(shared: &GlobalFlags, args: &Recover, found: &[PartitionFacts]) -> Outcome {
    let mut out = Out::lock();
    if shared.json {
        let partitions: Value = found.iter().map(spell).collect();
        out.json_page(&json!({ "table": args.name, "leaderless": partitions }))?;
        return Ok(out.finish()?);
    }
    for one in found {
        let (index, state) = (one.partition_index, word(one.standing));
        out.line(format!(
            "partition {index} {state}: {}",
            shown(&one.sentence)
        ))?;
    }
    let lost = of(found, PartitionStanding::PS_LOST).len();
    let name = shown(&args.name);
    out.line(match (found.len(), lost) {
        (0, _) => all_led(args),
        (_, 0) => "none of these can go on without the others as it is".to_owned(),
        (_, lost) => format!(
            "{} can go on without what is lost: bring the lost directories back if you can; if \
             not, and if the lost nodes do not run, `esker table recover {name} --accept-loss`",
            counted(lost as u64, "partition")
        ),
    })?;
    Ok(out.finish()?)
}

fn all_led(args: &Recover) -> String {
    let name = shown(&args.name);
    match args.partition {
        Some(index) => format!("partition {index} of \"{name}\" has a leader"),
        None => format!("every partition of \"{name}\" has a leader"),
    }
}

/// What came of it. A partition that could not go on makes the command fail.
fn told(
    shared: &GlobalFlags,
    args: &Recover,
    lost: &[PartitionFacts],
    refused: &BTreeMap<i32, String>,
) -> Outcome {
    let gone_on = lost.iter().map(|one| one.partition_index);
    let gone_on: Vec<i32> = gone_on.filter(|one| !refused.contains_key(one)).collect();
    let mut out = Out::lock();
    if shared.json {
        let refused: BTreeMap<String, &String> = refused
            .iter()
            .map(|(index, why)| (index.to_string(), why))
            .collect();
        out.json(&json!({
            "recovered": { "table": args.name, "partitions": gone_on, "refused": refused },
        }))?;
    } else if lost.is_empty() && refused.is_empty() {
        out.line(format!("nothing was lost: {}", all_led(args)))?;
    } else if !gone_on.is_empty() {
        let count = counted(gone_on.len() as u64, "partition");
        let name = shown(&args.name);
        out.line(format!(
            "{count} of \"{name}\" went on without what was lost"
        ))?;
    }
    out.finish()?;
    match refused.iter().next() {
        None => Ok(()),
        Some((index, why)) => Err(Failure::failed(format!(
            "{} of \"{}\" did not go on; partition {index}: {}",
            counted(refused.len() as u64, "partition"),
            shown(&args.name),
            shown(why)
        ))),
    }
}
