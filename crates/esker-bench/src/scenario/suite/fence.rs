//! A memory limit around a process: a control group of the system, page cache included.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};

/// Where control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// Which of the system's two kinds of control group it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One tree for everything.
    Second,
    /// A tree for memory alone.
    First,
}

impl Kind {
    fn limit_file(self) -> &'static str {
        match self {
            Kind::Second => "memory.max",
            Kind::First => "memory.limit_in_bytes",
        }
    }
}

/// A control group that a process is in, below the one it came from. Dropping it moves the process
/// back, unless that has ended, and removes the group.
#[derive(Debug)]
pub struct Fence {
    outside: PathBuf,
    inside: PathBuf,
    process: u32,
}

impl Fence {
    /// Limits the memory of this process to `bytes`, its pages in the page cache included.
    ///
    /// Errors: `Failed` where the system has no such groups or does not let this user make one;
    /// nothing has changed then.
    pub fn raise(bytes: u64) -> Outcome<Fence> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Fence::raise_in(Path::new(ROOT), &own, std::process::id(), bytes)
    }

    /// Limits the memory of another process, which was just started from this one, and of those
    /// that it starts. What it held until now stays charged to the group that it came from.
    ///
    /// Errors: as of [`Fence::raise`].
    pub fn around(process: u32, bytes: u64) -> Outcome<Fence> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Fence::raise_in(Path::new(ROOT), &own, process, bytes)
    }

    fn raise_in(root: &Path, own: &str, process: u32, bytes: u64) -> Outcome<Fence> {
        let (kind, outside) = find(root, own).ok_or_else(|| {
            Failure::failed(
                "memory cannot be limited by a control group: there is none for memory here; \
                 leave --limit_by away",
            )
        })?;
        let inside = outside.join(format!("esker-bench-{process}"));
        let told = |error: std::io::Error| {
            Failure::failed(format!(
                "memory cannot be limited by a control group: {}: {error}; it takes root, or a \
                 group that is yours, such as `systemd-run --user --scope -p Delegate=yes`; \
                 or leave --limit_by away",
                inside.display()
            ))
        };
        if kind == Kind::Second {
            // Where it is not allowed, the limit's file will be missing below.
            let _ = fs::write(outside.join("cgroup.subtree_control"), "+memory");
        }
        fs::create_dir(&inside).map_err(told)?;
        let entered = fs::write(inside.join(kind.limit_file()), bytes.to_string())
            .and_then(|()| fs::write(inside.join("cgroup.procs"), process.to_string()));
        match entered {
            Ok(()) => Ok(Fence {
                outside,
                inside,
                process,
            }),
            Err(error) => {
                // What was begun is of no use; the failure is told.
                let _ = fs::remove_dir(&inside);
                Err(told(error))
            }
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // The end of the process would do the same; nothing is measured any more.
        let _ = fs::write(self.outside.join("cgroup.procs"), self.process.to_string());
        // Empty by now; where it is not, the system removes it no sooner than its processes end.
        let _ = fs::remove_dir(&self.inside);
    }
}

/// The group for memory that lines of `/proc/self/cgroup` name, if it is there.
fn find(root: &Path, own: &str) -> Option<(Kind, PathBuf)> {
    let named = |wanted: &dyn Fn(&str) -> bool| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            wanted(controllers).then(|| path.trim_start_matches('/').to_owned())
        })
    };
    let is_memory = |controllers: &str| controllers.split(',').any(|one| one == "memory");
    if let Some(path) = named(&is_memory) {
        let dir = root.join("memory").join(path);
        return dir.is_dir().then_some((Kind::First, dir));
    }
    let path = named(&str::is_empty)?;
    let dir = root.join(path);
    let has_memory = fs::read_to_string(dir.join("cgroup.controllers"));
    let has_memory =
        has_memory.is_ok_and(|text| text.split_whitespace().any(|one| one == "memory"));
    has_memory.then_some((Kind::Second, dir))
}

#[cfg(test)]
mod tests;
