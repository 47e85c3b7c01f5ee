//! What many partitions cost while nobody asks.

use std::time::{Duration, Instant};

use crate::fail::Outcome;
use crate::measure::neighbour::memory_of;
use crate::quantity;
use crate::scenario::suite::service::ground::{Ground, at_most};
use crate::scenario::suite::stage::Stage;
use crate::target::own_cluster::used;
use crate::target::pegasus_cluster::Cluster;

/// Partitions at the full scale.
const PARTITIONS: u64 = 1024;

/// Percent of a core that a node may take.
const GOAL: f64 = 5.0;

/// How long the new table is left to itself before: its leads are spread over the nodes.
const SETTLING: Duration = Duration::from_secs(8);

/// Makes the table, waits, and looks.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground) -> Outcome {
    let partitions = stage.request.scaled(PARTITIONS).next_power_of_two().max(2);
    let seconds = stage.request.size.pick(10.0, 30.0, 120.0);
    let time = Duration::from_secs_f64(seconds * stage.request.scale.clamp(0.05, 1.0));
    let cluster = ground.cluster("idle", 3, &[])?;
    let tables = Cluster::connect(&cluster.address())?;
    let begun = Instant::now();
    let count = i32::try_from(partitions).unwrap_or(i32::MAX);
    tables.create_fresh("idle", count, 3)?;
    let making = begun.elapsed();
    ground.rest(SETTLING.mul_f64(stage.request.scale.clamp(0.05, 1.0)));
    let (before, begun) = (used(&cluster.processes()), Instant::now());
    ground.rest(time);
    let (after, wall) = (used(&cluster.processes()), begun.elapsed());
    let shares = after.iter().zip(&before).map(|(after, before)| {
        100.0 * after.cpu_ms.saturating_sub(before.cpu_ms) as f64 / 1e3 / wall.as_secs_f64()
    });
    let shares: Vec<f64> = shares.collect();
    let memory = cluster
        .processes()
        .into_iter()
        .map(|process| quantity::bytes(memory_of(process) as f64));
    stage.say(&format!(
        "{} partitions, 3 replicas each, made in {}; then nobody asked for {}: {} % of a core for \
         each node, memory {}\n",
        quantity::grouped(partitions),
        quantity::seconds(making.as_secs_f64()),
        quantity::seconds(wall.as_secs_f64()),
        shares
            .iter()
            .map(|share| quantity::three_digits(*share))
            .collect::<Vec<_>>()
            .join(", "),
        memory.collect::<Vec<_>>().join(", "),
    ))?;
    let most = shares.iter().copied().fold(0.0, f64::max);
    let asked = format!("{GOAL} % of a core for each node");
    at_most(stage, "idle", &asked, (most, "%"), GOAL);
    cluster.end(stage.request.keeps_stores)
}
