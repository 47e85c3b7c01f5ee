//! Nodes as processes: started, waited for, ended.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::serving::pause::pause;
use crate::serving::process::{Condition, has_opened, is_held, look, signal};
use crate::serving::roster::{Roster, Row};

/// How long a node may take until it serves.
const SERVING_MAX: Duration = Duration::from_secs(60);

/// How long one may take to stop before it is killed, or to stand still.
const STOPPING_MAX: Duration = Duration::from_secs(30);

/// How long the system may take to end one that was killed.
const ENDING_MAX: Duration = Duration::from_secs(10);

/// Starts the process of a node, which goes on when this one has ended. One that runs is left as
/// it is. The caller is about to write the roster.
pub fn spawn(shared: &GlobalFlags, roster: &mut Roster, number: u64) -> Outcome {
    let row = roster.row(number)?.clone();
    if look(roster, &row).condition != Condition::Dead {
        return Ok(());
    }
    let told =
        |error: &std::io::Error| Failure::system(format!("cannot start node {number}"), error);
    let program = std::env::current_exe().map_err(|error| told(&error))?;
    let log = File::options()
        .create(true)
        .append(true)
        .open(roster.log_of(number));
    let out = File::create(roster.told_of(number));
    let mut command = Command::new(program);
    command
        .args(["serve", "--json", "--dir"])
        .arg(roster.dir_of(number));
    for (flag, port) in ["--meta-port", "--data-port", "--peer-port"]
        .iter()
        .zip(row.ports)
    {
        command.args([flag, port.to_string().as_str()]);
    }
    for setting in &shared.settings {
        command.args(["--set", setting]);
    }
    // The first one joins nobody at its first start; later it may find the others by that. If its
    // directory was lost since, it is a new one of their cluster, and begins none of its own.
    let has_begun = roster.rows.iter().any(|row| roster.has_number(row.number));
    if number != 1 || has_begun {
        let others = roster.rows.iter().filter(|row| row.number != number);
        let others: Vec<String> = others
            .map(|row| format!("127.0.0.1:{}", row.ports[2]))
            .collect();
        if !others.is_empty() {
            command.args(["--join", &others.join(",")]);
        }
    }
    command
        .stdin(Stdio::null())
        .stdout(out.map_err(|error| told(&error))?)
        .stderr(log.map_err(|error| told(&error))?)
        // Ctrl-C in this terminal is not meant for it.
        .process_group(0);
    let child = command.spawn().map_err(|error| told(&error))?;
    for row in &mut roster.rows {
        if row.number == number {
            row.pid = child.id();
        }
    }
    Ok(())
}

/// Waits until nodes that were started serve. Where too few run for anything to be served it is
/// only waited until they have opened their directories, and said what is missing. Returns those
/// that ended because the cluster has let go of them.
pub fn wait_until_serving(roster: &Roster, numbers: &[u64]) -> Outcome<Vec<u64>> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    // One that has no number yet is missed by nobody, and neither is one that has left.
    let is_member = |row: &Row| roster.has_number(row.number) && !roster.has_left(row.number);
    let counts = |row: &&Row| is_member(row) || numbers.contains(&row.number);
    let all = roster.rows.iter().filter(counts);
    let runs = |row: &&Row| look(roster, row).condition == Condition::Running;
    let (running, all) = (all.clone().filter(runs).count(), all.count());
    let is_enough = running * 2 > all;
    let mut left = Vec::new();
    for &number in numbers {
        if !comes_up(roster, number, is_enough)? {
            left.push(number);
        }
    }
    if !is_enough {
        remark!(
            "esker: {running} of {all} nodes run: what has most of its replicas on the others is \
             not served before these do; `esker cluster start` starts all"
        );
    }
    Ok(left)
}

// False of one that the cluster has let go of.
fn comes_up(roster: &Roster, number: u64, serves: bool) -> Outcome<bool> {
    let interrupt = Interrupt::watch()?;
    let row = roster.row(number)?;
    let deadline = Instant::now() + SERVING_MAX;
    loop {
        let told = std::fs::read_to_string(roster.told_of(number)).unwrap_or_default();
        if told.ends_with('\n') || !serves && has_opened(roster, row) {
            return Ok(true);
        }
        if interrupt.is_raised() {
            return Err(Failure::stopped(
                interrupt.code(),
                "stopped; nodes may run on",
            ));
        }
        if look(roster, row).condition == Condition::Dead {
            return match roster.has_left(number) {
                true => Ok(false),
                false => Err(ended(roster, number)),
            };
        }
        if Instant::now() >= deadline {
            let log = roster.log_of(number);
            let told = format!("node {number} does not serve; see {}", log.display());
            return Err(Failure::failed(told));
        }
        pause();
    }
}

/// That a node has ended, and what it said last.
pub fn ended(roster: &Roster, number: u64) -> Failure {
    let (said, log) = (roster.last_words_of(number), roster.log_of(number));
    let log = log.display();
    Failure::failed(format!("node {number} has ended: {said} (more in {log})"))
}

/// Stops nodes, all at once. When this returns without an error none of them lives.
pub fn stop(roster: &Roster, numbers: &[u64]) -> Outcome {
    let rows = numbers.iter().map(|number| roster.row(*number));
    let rows: Vec<&Row> = rows.collect::<Outcome<_>>()?;
    // One that takes no signal does not keep the others from theirs.
    let signalled: Vec<Outcome> = rows.iter().map(|row| ask_to_stop(roster, row)).collect();
    let deadline = Instant::now() + STOPPING_MAX;
    for row in rows {
        if !is_gone_by(roster, row, deadline) {
            remark!("esker: node {} does not stop, and is killed", row.number);
            kill(roster, row)?;
        }
        if is_held(&roster.dir_of(row.number)) {
            let (number, dir) = (row.number, roster.dir_of(row.number));
            return Err(Failure::failed(format!(
                "some process has the directory of node {number} open: {}",
                dir.display()
            )));
        }
    }
    signalled.into_iter().collect()
}

fn ask_to_stop(roster: &Roster, row: &Row) -> Outcome {
    let process = look(roster, row);
    match process.condition {
        Condition::Dead => return Ok(()),
        Condition::Paused => signal(row.number, process, "-CONT")?,
        Condition::Running => {}
    }
    signal(row.number, process, "-TERM")
}

/// Ends a node at once. Of one that is dead the number may be another process's by now.
pub fn kill(roster: &Roster, row: &Row) -> Outcome {
    let process = look(roster, row);
    if process.condition == Condition::Dead {
        return Ok(());
    }
    signal(row.number, process, "-KILL")?;
    match is_gone_by(roster, row, Instant::now() + ENDING_MAX) {
        true => Ok(()),
        false => Err(Failure::failed(format!("node {} does not end", row.number))),
    }
}

/// Freezes a node, and returns when it stands still: it does so once it gets to run, which takes a
/// while on a machine that has much to do.
pub fn freeze(roster: &Roster, row: &Row) -> Outcome {
    signal(row.number, look(roster, row), "-STOP")?;
    let deadline = Instant::now() + STOPPING_MAX;
    while look(roster, row).condition == Condition::Running {
        if Instant::now() >= deadline {
            let told = format!("node {} does not stand still", row.number);
            return Err(Failure::failed(told));
        }
        pause();
    }
    Ok(())
}

fn is_gone_by(roster: &Roster, row: &Row, deadline: Instant) -> bool {
    while look(roster, row).condition != Condition::Dead {
        if Instant::now() >= deadline {
            return false;
        }
        pause();
    }
    true
}

#[cfg(test)]
mod tests;
