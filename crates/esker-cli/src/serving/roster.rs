//! Which nodes a cluster of this machine has: the file `cluster.json` of its directory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use esker::ErrorKind;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::DirLock;
use esker_server::meta::live::REMOVED;
use esker_server::node::identity;
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::serving::pause::pause;

/// The file.
const NAME: &str = "cluster.json";

/// Held by the command that changes the file.
const LOCK: &str = "cluster.lock";

/// How long another command may take to change the file: it starts processes, and waits for none.
const CHANGING_MAX: Duration = Duration::from_secs(30);

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number here, counted from 1. The cluster may call it otherwise.
    pub number: u64,
    /// Its process, when a command here started it last.
    pub pid: u32,
    /// Its ports: meta, data, other nodes.
    pub ports: [u16; 3],
}

/// All nodes of one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The directory.
    pub dir: PathBuf,
    /// The nodes, in the order of their numbers.
    pub rows: Vec<Row>,
}

impl Roster {
    /// The one of `dir`; `None` if there is no cluster.
    pub fn read(dir: &Path) -> Outcome<Option<Roster>> {
        let path = dir.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let what = format!("cannot read {}", path.display());
                return Err(Failure::system(what, &error));
            }
        };
        let rows = serde_json::from_str(&text)
            .ok()
            .and_then(|value| rows(&value));
        let rows =
            rows.ok_or_else(|| Failure::failed(format!("{} is no list of nodes", path.display())))?;
        let dir = dir.to_owned();
        Ok(Some(Roster { dir, rows }))
    }

    /// The one of `dir`, which must be there.
    pub fn existing(dir: &Path) -> Outcome<Roster> {
        Roster::read(dir)?.ok_or_else(|| {
            Failure::failed(format!(
                "there is no cluster in {}: `esker cluster start --dir {0}` begins one",
                dir.display()
            ))
        })
    }

    /// Changes the one of `dir`, which is made if `make` gives one: commands that run beside one
    /// another change it one by one. Whatever `change` did is written, also if it failed.
    pub fn change<T>(
        dir: &Path,
        make: impl FnOnce() -> Outcome<Option<Roster>>,
        change: impl FnOnce(&mut Roster) -> Outcome<T>,
    ) -> Outcome<T> {
        let _lock = lock(dir)?;
        let mut roster = match Roster::read(dir)? {
            Some(roster) => roster,
            None => match make()? {
                Some(roster) => roster,
                None => Roster::existing(dir)?,
            },
        };
        let changed = change(&mut roster);
        roster.write()?;
        changed
    }

    /// Writes it, so that a crash leaves the old one or the new one.
    fn write(&self) -> Outcome {
        let rows = self
            .rows
            .iter()
            .map(|row| json!({ "number": row.number, "pid": row.pid, "ports": row.ports }));
        let text = format!("{:#}\n", Value::Array(rows.collect()));
        let (aside, path) = (self.dir.join("cluster.json.new"), self.dir.join(NAME));
        let written = std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, &path));
        written.map_err(|error| Failure::system(format!("cannot write {}", path.display()), &error))
    }

    /// The node of that number.
    pub fn row(&self, number: u64) -> Outcome<&Row> {
        let found = self.rows.iter().find(|row| row.number == number);
        found.ok_or_else(|| {
            let all: Vec<String> = self.rows.iter().map(|row| row.number.to_string()).collect();
            let of_cluster = self
                .apart(number)
                .map_or(String::new(), |told| format!("; {told}"));
            let all = all.join(", ");
            Failure::usage(format!(
                "there is no node {number} here: they are {all}{of_cluster}"
            ))
        })
    }

    /// A number for one more node: none that a node has here, or in the cluster.
    pub fn next_number(&self) -> u64 {
        let last = self.rows.iter().map(|row| row.number).max();
        next_number(last.unwrap_or(0), &self.identities())
    }

    /// What a person is to know of a number that is one node's here, and another's in the cluster.
    pub fn apart(&self, number: u64) -> Option<String> {
        apart(number, &self.identities())
    }

    /// The numbers of the nodes, here and in the cluster, of those that have one there.
    pub fn identities(&self) -> Vec<(u64, u64)> {
        let numbers = self.rows.iter().map(|row| row.number);
        let both = numbers.filter_map(|number| Some((number, self.identity_of(number)?)));
        both.collect()
    }

    /// Directory of a node.
    pub fn dir_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("node{number}"))
    }

    /// Whether the node has been given its number in the cluster.
    pub fn has_number(&self, number: u64) -> bool {
        self.dir_of(number).join(identity::FILE).exists()
    }

    /// What the cluster calls it; `None` also where the file that says it cannot be read.
    pub fn identity_of(&self, number: u64) -> Option<u64> {
        let found = identity::read(&Env::real(1), &self.dir_of(number));
        found.ok().flatten().map(|found| found.node.0)
    }

    /// Where its log lines go.
    pub fn log_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("node{number}.log"))
    }

    /// What it said last, without the name of the tool.
    pub fn last_words_of(&self, number: u64) -> String {
        let text = std::fs::read(self.log_of(number)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        let line = line.unwrap_or("it said nothing").trim();
        line.strip_prefix("esker: ").unwrap_or(line).to_owned()
    }

    /// Whether the node was told, when it ran last, that the cluster has let go of it for ever. One
    /// whose directory was taken away since is a new one.
    pub fn has_left(&self, number: u64) -> bool {
        self.has_number(number) && self.last_words_of(number).contains(REMOVED)
    }

    /// Where it says that it serves.
    pub fn told_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("node{number}.told"))
    }
}

// Behind all: one that was lost twice had a number in between, which the cluster gives to nobody.
fn next_number(last: u64, identities: &[(u64, u64)]) -> u64 {
    let numbers = identities.iter().map(|one| one.1);
    numbers.fold(last, u64::max) + 1
}

fn apart(number: u64, identities: &[(u64, u64)]) -> Option<String> {
    let mut all = identities.iter().filter(|one| one.0 != one.1);
    let own = all.clone().find(|one| one.0 == number);
    let own = own.map(|(_, node)| format!("node {number} here is node {node} of the cluster"));
    let other = all.find(|one| one.1 == number);
    let other = other.map(|(here, _)| format!("node {number} of the cluster is node {here} here"));
    let told: Vec<String> = own.into_iter().chain(other).collect();
    (!told.is_empty()).then(|| told.join(", and "))
}

fn lock(dir: &Path) -> Outcome<Box<dyn DirLock>> {
    let path = dir.join(LOCK);
    let deadline = Instant::now() + CHANGING_MAX;
    loop {
        match Env::real(1).fs.lock(&path) {
            Ok(lock) => return Ok(lock),
            Err(error) if error.kind() != ErrorKind::Locked => return Err(error.into()),
            Err(_) if Instant::now() >= deadline => {
                let advice = "another `esker cluster` changes this cluster and does not end";
                return Err(Failure::failed(format!("{}: {advice}", path.display())));
            }
            Err(_) => pause(),
        }
    }
}

fn rows(value: &Value) -> Option<Vec<Row>> {
    value.as_array()?.iter().map(row).collect()
}

fn row(value: &Value) -> Option<Row> {
    let ports = value["ports"].as_array()?;
    let port = |at: usize| u16::try_from(ports.get(at)?.as_u64()?).ok();
    Some(Row {
        number: value["number"].as_u64()?,
        pid: u32::try_from(value["pid"].as_u64()?).ok()?,
        ports: [port(0)?, port(1)?, port(2)?],
    })
}

#[cfg(test)]
mod tests;
