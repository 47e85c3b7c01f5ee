//! How long a killed node takes until it serves again, with much that is only in its log.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::fail::{Failure, Outcome};
use crate::quantity;
use crate::run::calls::{Calls, Span, call_all};
use crate::scenario::suite::service::ground::{
    CONNECTIONS, Ground, PARTITIONS, VALUE_BYTES, at_most,
};
use crate::scenario::suite::service::table_calls::{Load, connect};
use crate::scenario::suite::stage::Stage;
use crate::target::pegasus_cluster::Cluster;

/// Seconds that it may take with a gibibyte.
const GOAL_S: f64 = 15.0;

/// After so long it is given up, and how often it is asked, which does not say when it serves.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(20);

/// What the engine may hold in memory, so that nothing has to be flushed.
const MEMORY: &str = "memory_limit=4GiB";

/// Loads one node, kills it, starts it, and reads a record of every partition.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground) -> Outcome {
    let bytes: u64 = stage.request.size.pick(128 << 20, 512 << 20, 1 << 30);
    let records = stage.request.scaled(bytes / VALUE_BYTES as u64);
    let mut cluster = ground.cluster("recovery", 1, &[MEMORY])?;
    let tables = Cluster::connect(&cluster.address())?;
    let table = tables.create_fresh("recovery", PARTITIONS, 1)?;
    let connections = connect(&ground.runtime, &cluster, &table, CONNECTIONS)?;
    let (loaded, _) = call_all(&ground.runtime, connections, Span::Each(records))?;
    let node = cluster.nodes().first().cloned();
    let node = node.ok_or_else(|| Failure::failed("no node runs"))?;
    cluster.kill(node.number)?;
    let flushed = bytes_of(&node.dir, "sst") + bytes_of(&node.dir, "vlog");
    let begun = Instant::now();
    cluster.restart(node.number)?;
    let started = begun.elapsed();
    // So many that every partition is among them, or nearly.
    let wanted = records.min(8 * u64::from(PARTITIONS.unsigned_abs()));
    let deadline = begun + PATIENCE;
    let mut connection = loop {
        match connect(&ground.runtime, &cluster, &table, 1) {
            Ok(mut connections) => break connections.remove(0),
            Err(failure) if Instant::now() > deadline => return Err(failure),
            Err(_) => ground.rest(LOOK),
        }
    };
    connection.set_write(false);
    let mut refusals = 0;
    for number in 0..wanted {
        while let Err(failure) = ground.runtime.block_on(connection.call(number)) {
            if Instant::now() > deadline {
                return Err(failure);
            }
            refusals += 1;
            ground.rest(LOOK);
        }
    }
    let serving = begun.elapsed();
    stage.say(&format!(
        "{} written to one node, {} of it in files when it was killed; the process listened after \
         {}, and {} of all partitions were read after {} ({} refused before; {} failed to load)\n",
        quantity::bytes(loaded.bytes as f64),
        quantity::bytes(flushed as f64),
        seconds(started),
        quantity::counted(wanted, "record"),
        seconds(serving),
        refusals,
        loaded.failed,
    ))?;
    let asked = format!(
        "{GOAL_S} s with 1 GiB in the log; here {}",
        quantity::bytes(loaded.bytes as f64)
    );
    at_most(
        stage,
        "recovery",
        &asked,
        (serving.as_secs_f64(), "s"),
        GOAL_S,
    );
    cluster.end(stage.request.keeps_stores)
}

fn seconds(time: Duration) -> String {
    quantity::seconds(time.as_secs_f64())
}

/// Bytes of files below a directory whose names end so.
fn bytes_of(dir: &Path, ending: &str) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => bytes_of(&path, ending),
            false if path.extension().is_some_and(|found| found == ending) => {
                entry.metadata().map_or(0, |facts| facts.len())
            }
            false => 0,
        }
    });
    bytes.sum()
}
