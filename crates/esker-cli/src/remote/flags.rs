//! The flags that name a cluster.

use std::time::Duration;

use clap::Args;

use crate::commands::write::ttl;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;

/// Where the first meta server of a machine listens.
const USUAL: &str = "127.0.0.1:34601";

/// Which cluster, and how long it may take.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of the cluster")]
pub struct ClusterFlags {
    /// Addresses of its meta servers
    #[arg(
        long,
        value_name = "HOST:PORT,…",
        env = "ESKER_META",
        default_value = USUAL,
        value_delimiter = ',',
        global = true
    )]
    pub meta: Vec<String>,
    /// Longest time that one call may take: seconds, or with a unit
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5s",
        value_parser = timeout,
        global = true
    )]
    pub timeout: Duration,
}

impl ClusterFlags {
    /// Its meta servers; where none is named, as by an empty variable, the usual one.
    pub fn metas(&self) -> Vec<&str> {
        let named = self.meta.iter().map(|word| word.trim());
        let named: Vec<&str> = named.filter(|word| !word.is_empty()).collect();
        match named.is_empty() {
            true => vec![USUAL],
            false => named,
        }
    }
}

/// A time within which something can be done.
fn timeout(text: &str) -> Result<Duration, String> {
    match ttl(text)? {
        Duration::ZERO => Err("nothing can be done in no time: give more than 0".into()),
        time => Ok(time),
    }
}

/// Refuses what only a database in a directory has. A directory itself is passed over: it may be
/// named once for all by the environment.
pub fn refuse_local(shared: &GlobalFlags) -> Outcome {
    let told = match shared {
        GlobalFlags { events: true, .. } => "--events",
        GlobalFlags { settings, .. } if !settings.is_empty() => "--set",
        GlobalFlags { keyspace, .. } if keyspace != "default" => "--keyspace",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{told} is for a database in a directory; a cluster has tables, see `esker table --help`"
    )))
}
