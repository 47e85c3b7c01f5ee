//! `esker cluster`: several nodes as processes of this machine, to try, to test, to measure.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::remote::page::ailments;
use crate::serving::nodes::{ended, freeze, kill, spawn, stop, wait_until_serving};
use crate::serving::ports;
use crate::serving::process::{Condition, Process, look, signal};
use crate::serving::removed::removed;
use crate::serving::roster::{Roster, Row};

/// Ports of the node before the first: meta, data, other nodes.
const PORTS: [u16; 3] = [34600, 34800, 34700];

/// Nodes of a cluster of which nobody says how many.
const NODES: u64 = 3;

/// Most nodes: the ports of one kind must not meet those of another.
const NODES_MAX: u64 = 50;

/// Run a cluster of several nodes on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker cluster start                        three nodes in ./esker-cluster; returns when they serve
  esker table create temp --partitions 8     three replicas of each partition
  esker cluster status                       which nodes run
  esker cluster kill 2                       as a crash: the others go on
  esker cluster restart 2                    it catches up; several: restart 1 2 3
  esker cluster pause 1                      frozen, as by a long pause; `resume 1` goes on
  esker cluster add                          one more node
  esker cluster stop                         all of them; start goes on with the same data

Each node is a process of its own, `esker serve`, with a directory and a log file below --dir.")]
pub struct Cluster {
    /// Directory of the cluster
    #[arg(
        long,
        value_name = "DIR",
        default_value = "./esker-cluster",
        global = true
    )]
    dir: PathBuf,
    #[command(subcommand)]
    action: Action,
}

/// What to do with the cluster.
#[derive(Debug, Subcommand)]
enum Action {
    /// Start the nodes, and make them first if there are none
    #[command(after_help = "Example: esker cluster start --nodes 5 --free-ports --dir ./ships")]
    Start {
        /// How many nodes a new cluster has [default: 3]
        #[arg(long, value_name = "N")]
        nodes: Option<u64>,
        /// Take ports that are free instead of 34601, 34602, …; with =FROM those from FROM on
        #[arg(
            long,
            value_name = "FROM",
            num_args = 0..=1,
            require_equals = true,
            value_parser = clap::value_parser!(u16).range(1..)
        )]
        free_ports: Option<Option<u16>>,
    },
    /// Show which nodes run, and where
    #[command(after_help = "Example: esker cluster status --json")]
    Status,
    /// End nodes at once, as a crash does (SIGKILL)
    #[command(after_help = "Example: esker cluster kill 2 3")]
    Kill {
        /// Their numbers
        #[arg(required = true, value_name = "NODE")]
        nodes: Vec<u64>,
    },
    /// Freeze nodes (SIGSTOP)
    #[command(after_help = "Example: esker cluster pause 1")]
    Pause {
        /// Their numbers
        #[arg(required = true, value_name = "NODE")]
        nodes: Vec<u64>,
    },
    /// Let frozen nodes go on (SIGCONT)
    #[command(after_help = "Example: esker cluster resume 1")]
    Resume {
        /// Their numbers
        #[arg(required = true, value_name = "NODE")]
        nodes: Vec<u64>,
    },
    /// Stop nodes, if they run, and start them again, all at once
    #[command(after_help = "Example: esker cluster restart 1 2 3")]
    Restart {
        /// Their numbers
        #[arg(required = true, value_name = "NODE")]
        nodes: Vec<u64>,
    },
    /// Start one more node
    #[command(after_help = "Example: esker cluster add --dir ./ships")]
    Add,
    /// Stop all nodes
    #[command(after_help = "Example: esker cluster stop")]
    Stop,
}

/// Does it.
pub fn cluster(shared: &GlobalFlags, args: &Cluster) -> Outcome {
    let dir = std::path::absolute(&args.dir)
        .map_err(|error| Failure::system("cannot tell where that is", &error))?;
    match &args.action {
        Action::Start { nodes, free_ports } => start_all(shared, &dir, (*nodes, *free_ports)),
        Action::Status => show(shared, &Roster::existing(&dir)?),
        Action::Kill { nodes } => {
            let roster = Roster::existing(&dir)?;
            tell_apart(&roster, nodes);
            each_living(&roster, nodes, |row, _| kill(&roster, row))?;
            shared.tell_done("killed", json!(nodes))
        }
        Action::Pause { nodes } => {
            let roster = Roster::existing(&dir)?;
            tell_apart(&roster, nodes);
            each_living(&roster, nodes, |row, _| freeze(&roster, row))?;
            shared.tell_done("paused", json!(nodes))
        }
        Action::Resume { nodes } => {
            let roster = Roster::existing(&dir)?;
            tell_apart(&roster, nodes);
            each_living(&roster, nodes, |row, process| {
                signal(row.number, process, "-CONT")
            })?;
            shared.tell_done("resumed", json!(nodes))
        }
        Action::Restart { nodes } => restart(shared, &dir, nodes),
        Action::Add => add(shared, &dir),
        Action::Stop => stop_all(&dir),
    }
}

/// Which ports new nodes have.
#[derive(Clone, Copy)]
enum Ports {
    /// Those of their numbers.
    Numbered,
    /// Free ones, from one on where it is said.
    Free(Option<u16>),
}

impl Ports {
    fn of(self, numbers: std::ops::RangeInclusive<u64>) -> Outcome<Vec<Row>> {
        let free = match self {
            Ports::Numbered => Vec::new(),
            Ports::Free(from) => ports::free(PORTS.len() * numbers.clone().count(), from)?,
        };
        // All of a roster are found at once: ports of nodes that are not started yet are as free
        // as ever.
        let mut free = free.into_iter();
        let row = |number| {
            let step = u16::try_from(number).unwrap_or(u16::MAX);
            let ports = PORTS.map(|port| free.next().unwrap_or(port.saturating_add(step)));
            Row {
                number,
                pid: 0,
                ports,
            }
        };
        Ok(numbers.map(row).collect())
    }
}

fn new_roster(dir: PathBuf, (nodes, ports): (u64, Ports)) -> Outcome<Roster> {
    if !(1..=NODES_MAX).contains(&nodes) {
        return Err(Failure::usage(format!(
            "a cluster here has 1 to {NODES_MAX} nodes"
        )));
    }
    let rows = ports.of(1..=nodes)?;
    Ok(Roster { dir, rows })
}

fn start_all(
    shared: &GlobalFlags,
    dir: &Path,
    (wanted, free_ports): (Option<u64>, Option<Option<u16>>),
) -> Outcome {
    let made = std::fs::create_dir_all(dir);
    made.map_err(|error| Failure::system(format!("cannot make {}", dir.display()), &error))?;
    let was_made = Roster::read(dir)?.is_some();
    // A new node asks one that runs for its number; those of before need one another.
    let nodes = wanted.unwrap_or(NODES);
    let ports = free_ports.map_or(Ports::Numbered, Ports::Free);
    let make = || new_roster(dir.to_owned(), (nodes, ports)).map(Some);
    let (roster, old, new) = Roster::change(dir, make, |roster| {
        let idle = roster
            .rows
            .iter()
            .filter(|row| !roster.has_left(row.number));
        let idle = idle.filter(|row| look(roster, row).condition == Condition::Dead);
        let idle: Vec<u64> = idle.map(|row| row.number).collect();
        let (old, new): (Vec<u64>, Vec<u64>) = idle
            .into_iter()
            .partition(|number| roster.has_number(*number));
        old.iter()
            .try_for_each(|number| spawn(shared, roster, *number))?;
        Ok((roster.clone(), old, new))
    })?;
    for number in wait_until_serving(&roster, &old)? {
        remark!("esker: node {number} was removed while it did not run, and has ended");
    }
    for number in new {
        start(shared, dir, &[number])?;
    }
    let count = u64::try_from(roster.rows.len()).unwrap_or(u64::MAX);
    if wanted.is_some_and(|wanted| wanted != count) {
        remark!(
            "esker: the cluster in {} was made before, with {count} nodes, and --nodes does not \
             change it: `esker cluster add` brings one more, `esker node remove` lets go of one",
            dir.display()
        );
    }
    if free_ports.is_some() && was_made {
        remark!(
            "esker: the cluster in {} was made before, and its nodes keep their ports: \
             --free-ports changes none",
            dir.display()
        );
    }
    show(shared, &Roster::existing(dir)?)
}

/// Starts nodes at once, and waits until they serve.
fn start(shared: &GlobalFlags, dir: &Path, numbers: &[u64]) -> Outcome {
    let started = Roster::change(
        dir,
        || Ok(None),
        |roster| {
            numbers
                .iter()
                .try_for_each(|number| spawn(shared, roster, *number))?;
            Ok(roster.clone())
        },
    );
    let roster = started?;
    match wait_until_serving(&roster, numbers)?[..] {
        [] => Ok(()),
        [left, ..] => Err(ended(&roster, left)),
    }
}

fn restart(shared: &GlobalFlags, dir: &Path, numbers: &[u64]) -> Outcome {
    let roster = Roster::existing(dir)?;
    if let Some(left) = numbers.iter().find(|number| roster.has_left(**number)) {
        // It would run until somebody tells it so once more.
        let told = format!("node {left} was removed from the cluster, for ever");
        return Err(Failure::failed(told));
    }
    tell_apart(&roster, numbers);
    stop(&roster, numbers)?;
    let is_lost = |number: &&u64| !roster.has_number(**number) && roster.log_of(**number).exists();
    let lost: Vec<u64> = numbers.iter().filter(is_lost).copied().collect();
    start(shared, dir, numbers)?;
    for number in lost {
        if let Some(new) = roster.identity_of(number) {
            remark!(
                "esker: the directory of node {number} held no node any more: it is a new, empty \
                 one, node {new} of the cluster"
            );
        }
    }
    shared.tell_done("restarted", json!(numbers))
}

fn add(shared: &GlobalFlags, dir: &Path) -> Outcome {
    Roster::existing(dir)?;
    let nobody = || Ok(None);
    let (roster, number) = Roster::change(dir, nobody, |roster| {
        let number = roster.next_number();
        let all = roster.rows.iter().flat_map(|row| row.ports);
        let is_numbered = roster.row(1)?.ports == PORTS.map(|port| port + 1);
        // Beyond, ports of one kind would meet those of another.
        let ports = match is_numbered && number <= NODES_MAX {
            true => Ports::Numbered,
            // Behind the others', of which those that do not run have theirs still.
            false => Ports::Free(all.max().map(|last| last.saturating_add(1))),
        };
        roster.rows.extend(ports.of(number..=number)?);
        spawn(shared, roster, number)?;
        Ok((roster.clone(), number))
    })?;
    let added = wait_until_serving(&roster, &[number]);
    if added.is_err() {
        // One that no cluster has given a number to is none, and not to be started again.
        Roster::change(dir, nobody, |roster| {
            let is_none = |row: &Row| {
                let is_dead = look(roster, row).condition == Condition::Dead;
                row.number == number && is_dead && !roster.has_number(number)
            };
            let kept = roster.rows.iter().filter(|row| !is_none(row));
            roster.rows = kept.cloned().collect();
            Ok(())
        })?;
    }
    added?;
    show(shared, &Roster::existing(dir)?)
}

/// Stops every node, also those that another command starts meanwhile.
fn stop_all(dir: &Path) -> Outcome {
    loop {
        let roster = Roster::existing(dir)?;
        let all: Vec<u64> = roster.rows.iter().map(|row| row.number).collect();
        stop(&roster, &all)?;
        let now = Roster::existing(dir)?;
        let lives = |row: &Row| look(&now, row).condition != Condition::Dead;
        if !now.rows.iter().any(lives) {
            return Ok(());
        }
    }
}

/// Says which nodes are meant, where the cluster calls another one so.
fn tell_apart(roster: &Roster, numbers: &[u64]) {
    let is_here = |number: &&u64| roster.row(**number).is_ok();
    for told in numbers
        .iter()
        .filter(is_here)
        .filter_map(|number| roster.apart(*number))
    {
        remark!("esker: {told}: the one here is meant");
    }
}

/// Does something to all of these nodes that run; then names those that do not, if any.
fn each_living(
    roster: &Roster,
    numbers: &[u64],
    act: impl Fn(&Row, Process) -> Outcome,
) -> Outcome {
    let rows = numbers.iter().map(|number| roster.row(*number));
    let rows: Vec<&Row> = rows.collect::<Outcome<_>>()?;
    let mut dead = Vec::new();
    let mut done = Vec::new();
    for row in rows {
        let process = look(roster, row);
        match process.condition {
            Condition::Dead => dead.push(row.number),
            // One that fails does not keep the others from theirs.
            Condition::Running | Condition::Paused => done.push(act(row, process)),
        }
    }
    done.into_iter().collect::<Outcome<()>>()?;
    let why = |number: &u64| match roster.has_left(*number) {
        true => format!("node {number} was removed from the cluster, for ever"),
        false => format!("node {number} does not run: `esker cluster restart {number}`"),
    };
    match dead.is_empty() {
        true => Ok(()),
        false => {
            let told: Vec<String> = dead.iter().map(why).collect();
            Err(Failure::failed(told.join("; ")))
        }
    }
}

fn show(shared: &GlobalFlags, roster: &Roster) -> Outcome {
    let mut out = Out::lock();
    let address = |port: u16| format!("127.0.0.1:{port}");
    let rows = roster.rows.iter();
    let seen: Vec<(Row, Process)> = rows.map(|row| (row.clone(), look(roster, row))).collect();
    let removed = removed(roster, &seen);
    // What a disk that is full does to a node is told nowhere else where all processes run.
    let ailments = |row: &Row, process: &Process| match process.condition {
        Condition::Running => ailments(SocketAddrV4::new([127, 0, 0, 1].into(), row.ports[1])),
        Condition::Paused | Condition::Dead => None,
    };
    if shared.json {
        let rows = seen.iter().map(|(row, process)| {
            json!({
                "ailments": ailments(row, process),
                "node": row.number,
                "number_in_cluster": roster.identity_of(row.number),
                "state": state(row, process, &removed),
                "pid": process.pid,
                "meta": address(row.ports[0]),
                "data": address(row.ports[1]),
                "peer": address(row.ports[2]),
                "dir": roster.dir_of(row.number).display().to_string(),
            })
        });
        out.json_page(&Value::Array(rows.collect()))?;
        return Ok(out.finish()?);
    }
    for line in listed(roster, &seen, &removed) {
        out.line(line)?;
    }
    for (row, process) in &seen {
        for why in ailments(row, process).unwrap_or_default() {
            out.line(format!("node {}: {why}", row.number))?;
        }
    }
    let members = roster.rows.iter();
    let members = members.filter(|row| !removed.contains(&row.number));
    let metas: Vec<String> = members.map(|row| address(row.ports[0])).collect();
    out.line(format!("\nexport ESKER_META={}", metas.join(",")))?;
    Ok(out.finish()?)
}

fn state(row: &Row, process: &Process, removed: &BTreeSet<u64>) -> &'static str {
    match removed.contains(&row.number) {
        true => "removed",
        false => process.condition.word(),
    }
}

/// A line for each node, with its number in the cluster where any has another one there: a
/// directory that was lost has.
fn listed(roster: &Roster, seen: &[(Row, Process)], removed: &BTreeSet<u64>) -> Vec<String> {
    let identities: BTreeMap<u64, u64> = roster.identities().into_iter().collect();
    let is_apart = identities.iter().any(|(here, there)| here != there);
    let of_cluster = |number: u64| match (is_apart, identities.get(&number)) {
        (false, _) => String::new(),
        (true, None) => format!("{:<11}", "-"),
        (true, Some(there)) => format!("{there:<11}"),
    };
    let head = if is_apart { "in cluster " } else { "" };
    let mut lines = vec![format!(
        "node  {head}state    process  meta             data             log"
    )];
    for (row, process) in seen {
        let (number, there) = (row.number, of_cluster(row.number));
        let (word, pid) = (state(row, process, removed), process.pid);
        let [meta, data_door, _] = row.ports.map(|port| format!("127.0.0.1:{port}"));
        let log = roster.log_of(number);
        let log = log.display();
        lines.push(format!(
            "{number:<5} {there}{word:<8} {pid:<8} {meta:<16} {data_door:<16} {log}"
        ));
    }
    for (here, there) in identities.iter().filter(|(here, there)| here != there) {
        lines.push(format!(
            "node {here} here is node {there} of the cluster, as `esker node list` has it"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_one_cluster_have_no_port_twice() {
        let rows = Ports::Free(None).of(1..=NODES_MAX).unwrap();
        let mut ports: Vec<u16> = rows.iter().flat_map(|row| row.ports).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), rows.len() * PORTS.len());
        let rows = Ports::Numbered.of(1..=NODES_MAX).unwrap();
        assert_eq!(rows[2].ports, [34_603, 34_803, 34_703]);
        let further = Ports::Numbered.of(7..=7).unwrap();
        assert_eq!(further[0].ports, rows[6].ports);
    }
}
