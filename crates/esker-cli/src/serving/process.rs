//! Which process runs a node, and what it does: its directory's own lock says it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use esker::ErrorKind;
use esker::internals::env::bundle::Env;
use esker_server::node::opening::LOCK;

use crate::fail::{Failure, Outcome};
use crate::serving::pause::pause;
use crate::serving::roster::{Roster, Row};

/// How long a process may take from its start until its words are to be seen.
const BEGINNING_MAX: Duration = Duration::from_secs(5);

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It runs.
    Running,
    /// It is frozen.
    Paused,
    /// There is none.
    Dead,
}

impl Condition {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Condition::Running => "running",
            Condition::Paused => "paused",
            Condition::Dead => "dead",
        }
    }
}

/// The process of a node, as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number; that of the last one that is known if there is none.
    pub pid: u32,
    /// What it does.
    pub condition: Condition,
}

/// Looks for the process of a node: whoever holds the lock of its directory, by whatever command
/// it was started, or the one that was started last and has not come so far.
pub fn look(roster: &Roster, row: &Row) -> Process {
    let dir = roster.dir_of(row.number);
    if let Some(pid) = holder(&dir) {
        let (condition, _) = asked(pid);
        if condition != Condition::Dead && is_held(&dir) {
            return Process { pid, condition };
        }
    }
    let (condition, words) = asked(row.pid);
    // A process that has the number and does something else is none.
    let is_own = words.contains(&format!(" --dir {} ", dir.display()));
    Process {
        pid: row.pid,
        condition: match is_own {
            true => condition,
            false => Condition::Dead,
        },
    }
}

/// True once the node's process has its directory.
pub fn has_opened(roster: &Roster, row: &Row) -> bool {
    let dir = roster.dir_of(row.number);
    holder(&dir) == Some(look(roster, row).pid) && is_held(&dir)
}

/// True while some process has the directory of a node open.
pub fn is_held(dir: &Path) -> bool {
    // Beside whoever else only looks. A node that begins just now tries it again.
    let looked = Env::real(1).fs.lock_unwritten(&dir.join(LOCK));
    looked.is_err_and(|error| error.kind() == ErrorKind::Locked)
}

/// Sends a signal to a process that was seen to live.
pub fn signal(number: u64, process: Process, signal: &str) -> Outcome {
    // 0 would be the group of this process.
    if process.pid == 0 || process.condition == Condition::Dead {
        let told = format!("node {number} has no process that takes a signal");
        return Err(Failure::failed(told));
    }
    let sent = Command::new("kill")
        .args([signal, &process.pid.to_string()])
        .output();
    match sent {
        Ok(ran) if ran.status.success() => Ok(()),
        // It has ended by itself meanwhile, which is what whoever ends it wants.
        Ok(_) if asked(process.pid).0 == Condition::Dead => Ok(()),
        Ok(_) => Err(Failure::failed(format!("node {number} takes no signal"))),
        Err(error) => Err(Failure::system("cannot send a signal", &error)),
    }
}

fn holder(dir: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(dir.join(LOCK)).ok()?;
    text.trim().parse().ok()
}

// What the process of that number does, and the words that it was started with.
fn asked(pid: u32) -> (Condition, String) {
    let deadline = Instant::now() + BEGINNING_MAX;
    loop {
        let asked = Command::new("ps")
            .args(["-ww", "-o", "stat=,args=", "-p", &pid.to_string()])
            .output();
        let line = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        let line = line.unwrap_or_default();
        let condition = condition_of(&line);
        if condition == Condition::Dead || !has_no_words(&line) || Instant::now() >= deadline {
            return (condition, line);
        }
        pause();
    }
}

// What a line of `ps` says: the state, then the words.
fn condition_of(line: &str) -> Condition {
    match line.chars().next() {
        None | Some('Z' | 'X') => Condition::Dead,
        Some('T') => Condition::Paused,
        Some(_) => Condition::Running,
    }
}

// The system starts a program, tells who did it, and only then gives it its words: until then `ps`
// shows a name in brackets, as it does for good of the system's own.
fn has_no_words(line: &str) -> bool {
    let words = line.split_whitespace().nth(1);
    words.is_some_and(|word| word.starts_with('['))
}

#[cfg(test)]
mod tests;
