//! A cluster in memory, in the process of the test, for the tool to talk to.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::in_thread::serve;
use crate::memory::cluster::Cluster;
use crate::tool::{Bench, Ran};

/// A cluster with three data servers and a table `temp`, and a directory to run the tool in.
pub struct Double {
    pub bench: Bench,
    pub cluster: Cluster,
    pub meta: String,
}

impl Double {
    /// It serves until the test's process ends.
    pub fn new() -> Double {
        let cluster = Cluster::new(0, unix_s);
        let meta = serve(&cluster, 3, "temp");
        Double {
            bench: Bench::new(),
            cluster,
            meta,
        }
    }

    /// Runs a command on the cluster, and on its table `temp` where it needs one.
    pub fn run(&self, words: &[&str]) -> Ran {
        self.feed(words, b"")
    }

    /// The same, which must succeed.
    #[track_caller]
    pub fn ok(&self, words: &[&str]) -> Ran {
        self.run(words).exits(0)
    }

    /// The same, which must fail with `code` and say `reason` on standard error.
    #[track_caller]
    pub fn fails(&self, words: &[&str], code: i32, reason: &str) {
        let ran = self.run(words).exits(code);
        assert!(ran.err.contains(reason), "{}", ran.err);
    }

    /// Runs a command with `input` on its standard input.
    pub fn feed(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut command = self.bench.command(words);
        command
            .env("ESKER_META", &self.meta)
            .env("ESKER_TABLE", "temp");
        self.bench.feed_command(command, input)
    }
}

fn unix_s() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}
