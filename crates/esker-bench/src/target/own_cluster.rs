//! A cluster of ours as processes of this machine, by the tool's own command `cluster`.

use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fail::{Failure, Outcome};
use crate::measure::neighbour::{Used, used_by};
use crate::target::pegasus::TableAddress;

/// What the tool is called.
const PROGRAM: &str = "esker";

/// A cluster, whose nodes end with this.
pub struct OwnCluster {
    tool: PathBuf,
    dir: PathBuf,
    settings: Vec<String>,
    nodes: Vec<Node>,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its number, from 1.
    pub number: u64,
    /// Its process.
    pub process: u32,
    /// Where it tells where partitions are.
    pub meta: SocketAddrV4,
    /// Where keys are read and written.
    pub door: SocketAddrV4,
    /// Its directory.
    pub dir: PathBuf,
}

/// The tool that starts nodes: this program, if it is the tool.
///
/// Errors: `Usage` if it is not, with what to say.
pub fn this_tool() -> Outcome<PathBuf> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::system("cannot tell which program this is", &error))?;
    match own.file_stem().is_some_and(|stem| stem == PROGRAM) {
        true => Ok(own),
        false => Err(Failure::usage(format!(
            "{} starts no nodes; say with --tool where the program {PROGRAM} is",
            own.display()
        ))),
    }
}

impl OwnCluster {
    /// Starts so many nodes in `dir`, which is emptied of a cluster that was left there, with
    /// settings such as `read_promise=600ms`.
    pub fn start(
        tool: &Path,
        dir: &Path,
        count: usize,
        settings: &[String],
    ) -> Outcome<OwnCluster> {
        let mut cluster = OwnCluster {
            tool: tool.to_owned(),
            dir: dir.to_owned(),
            settings: settings.to_vec(),
            nodes: Vec::new(),
        };
        cluster.clear()?;
        let count = count.to_string();
        cluster.command(&["start", "--nodes", &count, "--free-ports"])?;
        Ok(cluster)
    }

    /// Ends a node at once, as a crash does.
    pub fn kill(&mut self, number: u64) -> Outcome {
        self.run(&["kill", &number.to_string()]).map(drop)
    }

    /// Starts a node again, and waits until it serves.
    pub fn restart(&mut self, number: u64) -> Outcome {
        self.run(&["restart", &number.to_string()])?;
        let told = self.run(&["status"])?;
        self.nodes = nodes(&told)?;
        Ok(())
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where its tables are found.
    pub fn address(&self) -> TableAddress {
        TableAddress {
            metas: self
                .nodes
                .iter()
                .map(|node| node.meta.to_string())
                .collect(),
            table: String::new(),
        }
    }

    /// Its processes.
    pub fn processes(&self) -> Vec<u32> {
        self.nodes.iter().map(|node| node.process).collect()
    }

    /// Stops its nodes, and removes what they wrote unless it is to be kept.
    pub fn end(mut self, is_kept: bool) -> Outcome {
        self.nodes.clear();
        self.run(&["stop"])?;
        match is_kept {
            true => Ok(()),
            false => self.remove(),
        }
    }

    fn clear(&self) -> Outcome {
        if self.dir.join("cluster.json").exists() {
            self.run(&["stop"])?;
        }
        self.remove()
    }

    fn remove(&self) -> Outcome {
        match std::fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let doing = format!("cannot remove {}", self.dir.display());
                Err(Failure::system(doing, &error))
            }
            _ => Ok(()),
        }
    }

    fn command(&mut self, words: &[&str]) -> Outcome {
        let told = self.run(words)?;
        self.nodes = nodes(&told)?;
        Ok(())
    }

    fn run(&self, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new(&self.tool);
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        let ran = command
            .args(["--json", "cluster", "--dir"])
            .arg(&self.dir)
            .args(words)
            .output()
            .map_err(|error| {
                Failure::system(format!("cannot run {}", self.tool.display()), &error)
            })?;
        match ran.status.success() {
            true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
            false => Err(Failure::failed(format!(
                "{} cluster {}: {}",
                self.tool.display(),
                words.join(" "),
                String::from_utf8_lossy(&ran.stderr).trim()
            ))),
        }
    }
}

impl Drop for OwnCluster {
    fn drop(&mut self) {
        if !self.nodes.is_empty() {
            // Something has failed already, and that is what is told.
            let _ = self.run(&["stop"]);
        }
    }
}

/// What processes used so far, each.
pub fn used(processes: &[u32]) -> Vec<Used> {
    processes.iter().map(|process| used_by(*process)).collect()
}

/// What they used since then, all together.
pub fn used_since(processes: &[u32], before: &[Used]) -> Used {
    let mut all = Used::default();
    for (now, before) in used(processes).iter().zip(before) {
        all.cpu_ms += now.cpu_ms.saturating_sub(before.cpu_ms);
        all.device_read_bytes += now
            .device_read_bytes
            .saturating_sub(before.device_read_bytes);
        all.device_write_bytes += now
            .device_write_bytes
            .saturating_sub(before.device_write_bytes);
    }
    all
}

fn nodes(told: &str) -> Outcome<Vec<Node>> {
    let value: Option<Value> = serde_json::from_str(told).ok();
    let rows = value.as_ref().and_then(Value::as_array);
    let nodes = rows.and_then(|rows| rows.iter().map(node).collect::<Option<Vec<_>>>());
    nodes.ok_or_else(|| Failure::failed(format!("the tool does not say which nodes run: {told}")))
}

fn node(row: &Value) -> Option<Node> {
    let address = |name: &str| row[name].as_str()?.parse().ok();
    Some(Node {
        number: row["node"].as_u64()?,
        process: u32::try_from(row["pid"].as_u64()?).ok()?,
        meta: address("meta")?,
        door: address("data")?,
        dir: row["dir"].as_str()?.into(),
    })
}

#[cfg(test)]
mod tests;
