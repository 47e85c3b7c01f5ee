//! A cluster in memory, in the process of the test, for the tool to talk to.

use std::sync::mpsc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use esker_rpc::message::meta::TableDescription;

use crate::memory::cluster::Cluster;
use crate::memory::listener::{add_meta, add_node};
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
        let (told, heard) = mpsc::channel();
        let serving = cluster.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let (meta, _meta_stop) = add_meta(&serving, 0).await.unwrap();
                let mut stops = Vec::new();
                for _ in 0..3 {
                    stops.push(add_node(&serving, 0).await.unwrap());
                }
                told.send(meta.to_string()).unwrap();
                std::future::pending::<()>().await;
            });
        });
        let meta = heard.recv().unwrap();
        let temp = TableDescription {
            app_type: "pegasus".to_owned(),
            app_name: "temp".to_owned(),
            partition_count: 8,
            is_stateful: true,
            max_replica_count: 3,
            ..TableDescription::default()
        };
        cluster.state().add_table(temp, 1 << 20);
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
