//! On what a run was made: machine, system, and the commit of the program.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine and its system. Texts are empty, numbers 0, where the system does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Processors that the process may use.
    pub cpu_count: usize,
    /// Cache of the processor, as it says.
    pub cpu_cache: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Kernel and its version.
    pub kernel: String,
    /// Kind of file system, device and mount point of the directory measured.
    pub disk: String,
    /// Host name.
    pub host: String,
}

impl Machine {
    /// This machine, and the disk under `dir`.
    pub fn look(dir: &Path) -> Machine {
        let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let first = |path: &str| {
            fs::read_to_string(path)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        Machine {
            cpu: colon_field(&cpus, "model name"),
            cpu_count: std::thread::available_parallelism().map_or(1, usize::from),
            cpu_cache: colon_field(&cpus, "cache size"),
            memory_bytes: colon_field(&memory, "MemTotal")
                .split_whitespace()
                .next()
                .and_then(|kibibytes| kibibytes.parse::<u64>().ok())
                .map_or(0, |kibibytes| kibibytes << 10),
            kernel: format!(
                "{} {}",
                first("/proc/sys/kernel/ostype"),
                first("/proc/sys/kernel/osrelease")
            ),
            disk: disk_under(dir),
            host: first("/proc/sys/kernel/hostname"),
        }
    }

    /// How many processors of which model; nothing where that is not known.
    pub fn processors(&self) -> String {
        match (self.cpu_count, self.cpu.as_str()) {
            (_, "") => String::new(),
            (0, cpu) => cpu.to_owned(),
            (count, cpu) => format!("{count} × {cpu}"),
        }
    }
}

/// What follows `name` and a colon in the first line that begins so.
pub fn colon_field(text: &str, name: &str) -> String {
    let found = text.lines().find_map(|line| {
        let (left, right) = line.split_once(':')?;
        (left.trim() == name).then(|| right.trim().to_owned())
    });
    found.unwrap_or_default()
}

/// The mount with the longest path above `dir`.
fn disk_under(dir: &Path) -> String {
    let Ok(dir) = fs::canonicalize(dir) else {
        return String::new();
    };
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut best = (0, String::new());
    for line in mounts.lines() {
        let mut words = line.split(' ');
        let (Some(device), Some(point), Some(kind)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        // Of two mounts on one point the later one is seen.
        if dir.starts_with(point) && point.len() >= best.0 {
            best = (point.len(), format!("{kind} on {device} at {point}"));
        }
    }
    best.1
}

/// The commit that the program was built from: given at build time in `ESKER_COMMIT`, or asked of
/// git in the tree that the program was built in; empty if neither knows.
pub fn commit() -> String {
    if let Some(commit) = option_env!("ESKER_COMMIT") {
        return commit.to_owned();
    }
    let asked = Command::new("git")
        .args([
            "-C",
            env!("CARGO_MANIFEST_DIR"),
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
        ])
        .output();
    match asked {
        Ok(answer) if answer.status.success() => {
            String::from_utf8_lossy(&answer.stdout).trim().to_owned()
        }
        _ => String::new(),
    }
}
