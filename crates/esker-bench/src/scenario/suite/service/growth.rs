//! Writes, reads and memory against the number of partitions.

use crate::fail::Outcome;
use crate::measure::neighbour::memory_of;
use crate::quantity;
use crate::run::calls::{Span, call_all};
use crate::scenario::suite::service::ground::{
    CONNECTIONS, Ground, costs_us, failures, keep, records, span,
};
use crate::scenario::suite::service::table_calls::{Load, connect};
use crate::scenario::suite::stage::Stage;
use crate::table::Table;
use crate::target::own_cluster::{used, used_since};
use crate::target::pegasus_cluster::Cluster;

/// Partitions of each table.
const STEPS: [i32; 4] = [16, 64, 256, 1024];

/// One table after the other on one cluster: each is dropped before the next one is made.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground) -> Outcome {
    let cluster = ground.cluster("growth", 3, &[])?;
    let tables = Cluster::connect(&cluster.address())?;
    let heads = [
        "partitions",
        "writes/s",
        "server µs/op",
        "reads/s",
        "server µs/op",
        "memory of a node",
    ];
    let mut told = Table::new(&heads);
    for partitions in STEPS {
        let name = format!("growth_{partitions}");
        let table = tables.create_fresh(&name, partitions, 3)?;
        let mut connections = connect(&ground.runtime, &cluster, &table, CONNECTIONS)?;
        let records = records(stage);
        let (_, back) = call_all(&ground.runtime, connections, Span::Each(records))?;
        connections = back;
        let mut cells = vec![partitions.to_string()];
        for (word, is_write) in [("writes", true), ("reads", false)] {
            let all = connections.iter_mut();
            all.for_each(|one| one.set_write(is_write));
            let before = used(&cluster.processes());
            let span = Span::Random(records, span(stage));
            let (called, back) = call_all(&ground.runtime, connections, span)?;
            connections = back;
            let used = used_since(&cluster.processes(), &before);
            let name = format!("{word}, {partitions} partitions");
            keep(
                stage,
                &name,
                ("Esker", env!("CARGO_PKG_VERSION")),
                (&called, used),
            );
            if called.failed > 0 {
                stage.say(&format!("{name}: {}\n", failures(&called)))?;
            }
            cells.push(quantity::rate(called.rate()));
            cells.push(quantity::three_digits(costs_us(&called, used)[0]));
        }
        let memory = cluster.processes().into_iter().map(memory_of).max();
        cells.push(quantity::bytes(memory.unwrap_or(0) as f64));
        told.add(cells);
        tables.drop_table(&table)?;
    }
    stage.say(&format!("\n{}\n", told.text()))?;
    cluster.end(stage.request.keeps_stores)
}
