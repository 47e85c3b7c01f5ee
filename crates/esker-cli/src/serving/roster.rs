//! Which nodes a cluster of this machine has: the file `cluster.json` of its directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};

/// The file.
const NAME: &str = "cluster.json";

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number here, counted from 1. The cluster may call it otherwise.
    pub number: u64,
    /// Its process, when it was started last.
    pub pid: u32,
    /// Its ports: meta, data, other nodes.
    pub ports: [u16; 3],
}

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

    /// Writes it, so that a crash leaves the old one or the new one.
    pub fn write(&self) -> Outcome {
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
            let count = self.rows.len();
            Failure::usage(format!("there is no node {number}: they are 1 to {count}"))
        })
    }

    /// Directory of a node.
    pub fn dir_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("node{number}"))
    }

    /// Where its log lines go.
    pub fn log_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("node{number}.log"))
    }

    /// Where it says that it serves.
    pub fn told_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("node{number}.told"))
    }

    /// What the process of a node does. One that has its number and is another program counts as
    /// none.
    pub fn condition(&self, row: &Row) -> Condition {
        let asked = Command::new("ps")
            .args(["-o", "stat=,args=", "-p", &row.pid.to_string()])
            .output();
        let line = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        let dir = self.dir_of(row.number).display().to_string();
        match line {
            Ok(line) if !line.contains(&dir) || line.starts_with('Z') => Condition::Dead,
            Ok(line) if line.starts_with('T') => Condition::Paused,
            Ok(_) => Condition::Running,
            Err(_) => Condition::Dead,
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
