//! How long a lost disk is felt: until every partition is whole again, and by clients meanwhile.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use esker_rpc::client::{Client, ClientSettings};
use esker_rpc::message::meta::PartitionConfiguration;
use tokio::time::sleep;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::Latencies;
use crate::quantity;
use crate::run::calls::{Span, call_all};
use crate::scenario::suite::service::ground::{
    CONNECTIONS, Ground, PARTITIONS, VALUE_BYTES, at_most, runtime, span,
};
use crate::scenario::suite::service::table_calls::{Load, TableCalls, connect};
use crate::scenario::suite::stage::Stage;
use crate::target::pegasus_cluster::Cluster;

/// Seconds that it may take with a gigabyte in the table.
const GOAL_S: f64 = 60.0;

/// How many times as long calls may take meanwhile: of ninety-nine in a hundred.
const SLOWER_GOAL: f64 = 2.0;

/// Connections meanwhile: clients that have an answer now and then, and leave the rest of the
/// machine to the nodes.
const USERS: usize = 8;

/// After so long it is given up, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(600);
const LOOK: Duration = Duration::from_millis(100);

/// Copies of each partition.
const REPLICAS: usize = 3;

/// The part of the calls after which it is looked whether the table is whole.
const SLICE: Duration = Duration::from_millis(500);

/// What the one who watches has seen.
struct Seen {
    whole: Result<Duration, String>,
    lacked_most: usize,
}

/// Loads three nodes, kills one, takes its directory away, and starts it.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground) -> Outcome {
    let bytes: u64 = stage
        .request
        .size
        .pick(100_000_000, 300_000_000, 1_000_000_000);
    let records = stage.request.scaled(bytes / VALUE_BYTES as u64);
    let mut cluster = ground.cluster("rebuild", 3, &[])?;
    let tables = Cluster::connect(&cluster.address())?;
    let table = tables.create_fresh("rebuild", PARTITIONS, 3)?;
    let connections = connect(&ground.runtime, &cluster, &table, CONNECTIONS)?;
    let (loaded, mut users) = call_all(&ground.runtime, connections, Span::Each(records))?;
    users.truncate(USERS);
    let time = Span::Random(records, span(stage));
    let mut calm = [Latencies::new(), Latencies::new()];
    users = use_both(ground, users, time, &mut calm)?.0;
    let victim = cluster.nodes().last().cloned();
    let victim = victim.ok_or_else(|| Failure::failed("no node runs"))?;
    ground.wait_for_metas(&cluster)?;
    cluster.kill(victim.number)?;
    std::fs::remove_dir_all(&victim.dir)
        .map_err(|error| Failure::system("cannot take the directory of a node away", &error))?;
    let begun = Instant::now();
    cluster.restart(victim.number)?;
    let is_seen = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (metas, table) = (cluster.address().resolve()?, table.clone());
        let is_seen = Arc::clone(&is_seen);
        thread::spawn(move || {
            let seen = watch(metas, &table, begun);
            is_seen.store(true, Ordering::SeqCst);
            seen
        })
    };
    let mut rough = [Latencies::new(), Latencies::new()];
    let mut failed = 0;
    while !is_seen.load(Ordering::SeqCst) {
        let (back, failures) = use_both(ground, users, Span::Random(records, SLICE), &mut rough)?;
        (users, failed) = (back, failed + failures);
    }
    let seen = watcher.join();
    let seen = seen.map_err(|_| Failure::failed("who watched panicked"))??;
    let whole = seen.whole.map_err(Failure::failed)?;
    stage.say(&format!(
        "{} in {PARTITIONS} partitions, {REPLICAS} copies of each ({} failed to load); {} of {} \
         lacked a copy without the disk of node {}, and none did after {}\n",
        quantity::bytes(loaded.bytes as f64),
        loaded.failed,
        seen.lacked_most,
        PARTITIONS,
        victim.number,
        quantity::seconds(whole.as_secs_f64()),
    ))?;
    let slower = slower(stage, &calm, &rough)?;
    stage.say(&format!("{failed} calls failed meanwhile\n"))?;
    let asked = format!(
        "{GOAL_S} s with 1 GB in the table; here {}",
        quantity::bytes(loaded.bytes as f64)
    );
    let found = (whole.as_secs_f64(), "s");
    at_most(stage, "whole after a lost disk", &asked, found, GOAL_S);
    let (line, asked) = ("calls meanwhile, 99 %", format!("{SLOWER_GOAL} x"));
    at_most(stage, line, &asked, (slower, "x"), SLOWER_GOAL);
    cluster.end(stage.request.keeps_stores)
}

/// Tells what writes and reads took before and meanwhile; how much longer the slower of them takes.
fn slower(
    stage: &mut Stage<'_, '_>,
    calm: &[Latencies; 2],
    rough: &[Latencies; 2],
) -> Outcome<f64> {
    let mut slower: f64 = 0.0;
    for (word, (calm, rough)) in ["writes", "reads"].into_iter().zip(calm.iter().zip(rough)) {
        let most = |all: &Latencies| all.percentile_ns(99.0).max(1) as f64;
        slower = slower.max(most(rough) / most(calm));
        stage.say(&format!(
            "{word} of {USERS} connections, 99 % below {} before and {} meanwhile\n",
            quantity::seconds(most(calm) / 1e9),
            quantity::seconds(most(rough) / 1e9),
        ))?;
    }
    Ok(slower)
}

/// Writes for the first half of the time, and reads for the other.
fn use_both(
    ground: &Ground,
    mut users: Vec<TableCalls>,
    time: Span,
    latencies: &mut [Latencies; 2],
) -> Outcome<(Vec<TableCalls>, u64)> {
    let mut failed = 0;
    for (is_write, latencies) in [true, false].into_iter().zip(latencies) {
        users.iter_mut().for_each(|one| one.set_write(is_write));
        let (called, back) = call_all(&ground.runtime, users, time)?;
        latencies.merge(&called.latencies);
        (users, failed) = (back, failed + called.failed);
    }
    Ok((users, failed))
}

/// Waits until a partition lacks a copy, which meta notices after some seconds, and then until none
/// does.
fn watch(metas: Vec<SocketAddrV4>, table: &str, begun: Instant) -> Outcome<Seen> {
    let runtime = runtime()?;
    let client = Client::new(metas, ClientSettings::default());
    let mut lacked_most = 0;
    let whole = runtime.block_on(async {
        while begun.elapsed() < PATIENCE {
            let told = client.admin(PATIENCE).partitions(table).await;
            // Who cannot be asked now is asked again.
            let lacking = told.map(|all| all.iter().filter(|one| !is_whole(one)).count());
            match lacking {
                Ok(0) if lacked_most > 0 => return Ok(begun.elapsed()),
                Ok(lacking) => lacked_most = lacked_most.max(lacking),
                Err(_) => {}
            }
            sleep(LOOK).await;
        }
        let waited = quantity::seconds(PATIENCE.as_secs_f64());
        Err(match lacked_most {
            0 => format!("nobody noticed in {waited} that a disk is lost"),
            _ => format!("partitions lack copies after {waited}"),
        })
    });
    Ok(Seen { whole, lacked_most })
}

/// Whether every copy of a partition is there, each at an address of its own.
fn is_whole(one: &PartitionConfiguration) -> bool {
    let copies = one.secondaries.iter().chain([&one.primary]);
    let places: BTreeSet<_> = copies.filter_map(|address| address.0).collect();
    places.len() == REPLICAS
}
