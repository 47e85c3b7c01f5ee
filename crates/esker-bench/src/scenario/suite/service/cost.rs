//! What a get costs over the wire more than in the engine alone, and a multi-get of a hundred.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker::Db;
use esker_rpc::keys::raw_key;
use tokio::runtime::Runtime;

use crate::fail::{Failure, Outcome};
use crate::make::random::Random;
use crate::measure::process::Usage;
use crate::quantity;
use crate::run::calls::{Called, Span, call_all};
use crate::scenario::suite::service::ground::{
    CONNECTIONS, Ground, LEASES, PARTITIONS, VALUE_BYTES, at_most, costs_us, failures, keep,
    records, span,
};
use crate::scenario::suite::service::table_calls::{Load, MultiGets, connect, key, values};
use crate::scenario::suite::stage::Stage;
use crate::table::Table;
use crate::target::own_cluster::{OwnCluster, used, used_since};
use crate::target::pegasus_cluster::Cluster;

/// Values of one multi-get.
const TOGETHER: usize = 100;

/// Microseconds of processor that a get may cost more.
const GET_GOAL_US: f64 = 10.0;

/// Times what the engine's own multi-get costs.
const MULTI_GET_GOAL: f64 = 1.5;

/// Operations between two looks at the clock.
const LOOK_EVERY: u64 = 64;

/// Connections that get hundreds: each answer is as long as a hundred others.
const FEW: usize = 8;

/// What a get and a multi-get cost, in microseconds of processor.
type Costs = [f64; 2];

/// Measures the engine, then a server that asks its consensus for each read, and one with a lease.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground) -> Outcome {
    let engine = engine(stage, &ground.place("engine"))?;
    let mut told = Table::new(&["processor µs", "get", "more", "multi-get of 100", "×"]);
    let row = |name: &str, costs: Costs| {
        vec![
            name.to_owned(),
            quantity::three_digits(costs[0]),
            quantity::three_digits(costs[0] - engine[0]),
            quantity::three_digits(costs[1]),
            quantity::ratio(costs[1] / engine[1]),
        ]
    };
    let mut lines = vec![row("the engine alone", engine)];
    let mut best = [f64::INFINITY; 2];
    for (name, settings) in [("asking", &[][..]), ("with leases", &[LEASES][..])] {
        let cluster = ground.cluster("one", 1, settings)?;
        let [server, client] = server(stage, ground, &cluster, name)?;
        lines.push(row(&format!("a server, {name}"), server));
        lines.push(row("  its client beside", client));
        best = [
            best[0].min(server[0] - engine[0]),
            best[1].min(server[1] / engine[1]),
        ];
        cluster.end(stage.request.keeps_stores)?;
    }
    lines.into_iter().for_each(|line| told.add(line));
    let asked = format!("{GET_GOAL_US} µs of processor more than the engine's");
    at_most(
        stage,
        "a get over the wire",
        &asked,
        (best[0], "µs"),
        GET_GOAL_US,
    );
    let asked = format!("{MULTI_GET_GOAL} × the engine's processor time");
    at_most(
        stage,
        "a multi-get of 100 over the wire",
        &asked,
        (best[1], "×"),
        MULTI_GET_GOAL,
    );
    stage.say(&format!(
        "\nvalues of {VALUE_BYTES} bytes, all in memory, one node; a server's time is that of its \
         process, the system's for its sockets included\n{}\n",
        told.text()
    ))
}

fn sort_keys() -> Vec<Vec<u8>> {
    let keys = 0..TOGETHER;
    keys.map(|key| format!("{key:02}").into_bytes()).collect()
}

/// Hash keys with a hundred values each: as many values in all as there are records.
fn hundreds(stage: &Stage<'_, '_>) -> u64 {
    (records(stage) / TOGETHER as u64).max(1)
}

/// The same rows in a database of this process, read by one thread.
fn engine(stage: &Stage<'_, '_>, dir: &Path) -> Outcome<Costs> {
    // What an interrupted run left there.
    let _ = std::fs::remove_dir_all(dir);
    let db = Db::open(dir)?;
    let raw = |hash: &str, sort: &[u8]| {
        let raw = raw_key(hash.as_bytes(), sort);
        raw.ok_or_else(|| Failure::failed("a key is too long"))
    };
    let (values, sort_keys) = (values(), sort_keys());
    let mut ones = Vec::new();
    for number in 0..records(stage) {
        let raw = raw(&key(number), b"")?;
        db.put(&raw, values.slice_of(number, VALUE_BYTES))?;
        ones.push(raw);
    }
    let mut many = Vec::new();
    for number in 0..hundreds(stage) {
        let hash = format!("many{number}");
        let raws = sort_keys.iter().map(|sort| raw(&hash, sort));
        let raws: Vec<Vec<u8>> = raws.collect::<Outcome<_>>()?;
        for raw in &raws {
            db.put(raw, values.slice_of(number, VALUE_BYTES))?;
        }
        many.push(raws);
    }
    let time = span(stage);
    let get = cpu_us(time, &mut |random| {
        let key = &ones[place(random, ones.len())];
        Ok(usize::from(db.get(key)?.is_some()))
    })?;
    let multi_get = cpu_us(time, &mut |random| {
        let keys = &many[place(random, many.len())];
        Ok(db.multi_get(keys)?.iter().flatten().count() / TOGETHER)
    })?;
    drop(db);
    // It was made for this.
    let _ = std::fs::remove_dir_all(dir);
    Ok([get, multi_get])
}

fn place(random: &mut Random, count: usize) -> usize {
    // Below a count of this machine's.
    usize::try_from(random.below(count as u64)).unwrap_or(0)
}

/// Microseconds of processor of an operation that must find what it looks for.
fn cpu_us(time: Duration, operate: &mut dyn FnMut(&mut Random) -> Outcome<usize>) -> Outcome<f64> {
    let mut random = Random::new(7);
    let (begun, before) = (Instant::now(), Usage::now());
    let mut ops = 0;
    while begun.elapsed() < time {
        for _ in 0..LOOK_EVERY {
            if operate(&mut random)? != 1 {
                return Err(Failure::failed("what was put is not there"));
            }
        }
        ops += LOOK_EVERY;
    }
    Ok(Usage::now().since(&before).cpu_s * 1e6 / ops.max(1) as f64)
}

/// What the server's process used, and its client.
fn server(
    stage: &mut Stage<'_, '_>,
    ground: &Ground,
    cluster: &OwnCluster,
    name: &str,
) -> Outcome<[Costs; 2]> {
    let tables = Cluster::connect(&cluster.address())?;
    let table = tables.create_fresh("service", PARTITIONS, 1)?;
    let runtime = &ground.runtime;
    let ones = connect(runtime, cluster, &table, CONNECTIONS)?;
    let many = connect(runtime, cluster, &table, FEW)?;
    let sort_keys = Arc::new(sort_keys());
    let many: Vec<_> = many
        .into_iter()
        .map(|one| MultiGets::of(one, Arc::clone(&sort_keys)))
        .collect();
    let (records, hundreds, time) = (records(stage), hundreds(stage), span(stage));
    let one = Counts { records, time };
    let get = played(
        stage,
        (runtime, cluster),
        ones,
        (&format!("get, {name}"), one),
    )?;
    let one = Counts {
        records: hundreds,
        time,
    };
    let name = format!("multi-get of 100, {name}");
    let multi_get = played(stage, (runtime, cluster), many, (&name, one))?;
    Ok([[get[0], multi_get[0]], [get[1], multi_get[1]]])
}

#[derive(Clone, Copy)]
struct Counts {
    records: u64,
    time: Duration,
}

/// Loads, and reads what was loaded.
fn played<C: Load>(
    stage: &mut Stage<'_, '_>,
    (runtime, cluster): (&Runtime, &OwnCluster),
    mut connections: Vec<C>,
    (name, counts): (&str, Counts),
) -> Outcome<[f64; 2]> {
    let (loaded, back) = call_all(runtime, connections, Span::Each(counts.records))?;
    connections = back;
    connections.iter_mut().for_each(|one| one.set_write(false));
    let before = used(&cluster.processes());
    let span = Span::Random(counts.records, counts.time);
    let (called, _) = call_all(runtime, connections, span)?;
    let used = used_since(&cluster.processes(), &before);
    keep(
        stage,
        name,
        ("Esker", env!("CARGO_PKG_VERSION")),
        (&called, used),
    );
    for part in [&loaded, &called] {
        say(stage, name, part)?;
    }
    Ok(costs_us(&called, used))
}

fn say(stage: &mut Stage<'_, '_>, name: &str, called: &Called) -> Outcome {
    match failures(called) {
        none if none.is_empty() => Ok(()),
        told => stage.say(&format!("{name}: {told}\n")),
    }
}
