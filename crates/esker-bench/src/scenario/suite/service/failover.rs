//! For how long a partition takes no writes when a node is killed, and whether anything is lost.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use esker_rpc::client::{Client, ClientSettings, Table};
use esker_rpc::keys::{key_hash, partition_of};
use tokio::task::LocalSet;
use tokio::time::sleep;

use crate::fail::{Failure, Outcome};
use crate::measure::latency::Latencies;
use crate::quantity;
use crate::scenario::suite::service::ground::{Ground, at_most, runtime};
use crate::scenario::suite::service::table_calls::table_of;
use crate::scenario::suite::stage::Stage;
use crate::target::own_cluster::OwnCluster;
use crate::target::pegasus_cluster::Cluster;

/// Partitions, each with a writer.
const PARTITIONS: u32 = 32;

/// Seconds without a write that are allowed: of ninety-nine in a hundred, and of all.
const P99_GOAL_S: f64 = 3.0;
const WORST_GOAL_S: f64 = 6.0;

/// A partition that is not written to again by then counts with this.
const GAP_MAX: Duration = Duration::from_secs(30);

/// How often it is looked whether all are, and what a writer waits after a refusal.
const LOOK: Duration = Duration::from_millis(20);

/// Between the start of a node and the next kill: it catches up, and leads again.
const BETWEEN: Duration = Duration::from_secs(3);

/// Bytes of a number as it is written: with its digits alone in front, all are alike.
const NUMBER_BYTES: usize = 20;

/// One partition and its writer.
#[derive(Clone, Debug)]
struct Written {
    key: String,
    attempted: u64,
    acknowledged: u64,
    last: Instant,
    longest: Duration,
}

/// What writers and the one who kills share.
struct Shared {
    partitions: Mutex<Vec<Written>>,
    is_over: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Written>> {
        self.partitions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Kills whoever leads most, again and again.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground) -> Outcome {
    let kills = stage.request.scaled(stage.request.size.pick(6, 40, 300));
    let mut cluster = ground.cluster("failover", 3, &[])?;
    let tables = Cluster::connect(&cluster.address())?;
    let count = i32::try_from(PARTITIONS).unwrap_or(i32::MAX);
    let table = tables.create_fresh("failover", count, 3)?;
    let metas = cluster.address().resolve()?;
    let shared = Arc::new(Shared {
        partitions: Mutex::new(keys()),
        is_over: AtomicBool::new(false),
    });
    let writers = {
        let (shared, metas, table) = (Arc::clone(&shared), metas.clone(), table.clone());
        thread::spawn(move || write_all(&shared, metas, &table))
    };
    let mut gaps = Gaps::default();
    let killed = kill_all(
        (stage, ground),
        &mut cluster,
        (&shared, &table),
        (&mut gaps, kills),
    );
    shared.is_over.store(true, Ordering::SeqCst);
    let written = writers.join();
    killed?;
    written.map_err(|_| Failure::failed("a writer panicked"))??;
    let lost = lost(ground, metas, &table, &shared)?;
    tell(stage, (kills, &gaps), (&shared, &lost))?;
    cluster.end(stage.request.keeps_stores)
}

/// How long partitions took no writes.
#[derive(Default)]
struct Gaps {
    led: Latencies,
    others: Latencies,
    endless: u64,
}

fn kill_all(
    (stage, ground): (&Stage<'_, '_>, &Ground),
    cluster: &mut OwnCluster,
    (shared, table): (&Shared, &str),
    (gaps, kills): (&mut Gaps, u64),
) -> Outcome {
    wait_for_all(ground, shared, Instant::now());
    ground.wait_for_metas(cluster)?;
    for kill in 0..kills {
        ground.rest(BETWEEN);
        let leaders = leaders(ground, cluster, table)?;
        let led = |door: SocketAddrV4| leaders.values().filter(|one| **one == door).count();
        let victim = cluster.nodes().iter().max_by_key(|node| led(node.door));
        let victim = victim
            .ok_or_else(|| Failure::failed("no node runs"))?
            .clone();
        shared
            .lock()
            .iter_mut()
            .for_each(|one| one.longest = Duration::ZERO);
        cluster.kill(victim.number)?;
        // The process has ended: what is acknowledged from here on is by others.
        let killed = Instant::now();
        gaps.endless += wait_for_all(ground, shared, killed);
        for (partition, one) in shared.lock().iter().enumerate() {
            let was_led = leaders.get(&partition) == Some(&victim.door);
            let gap = one.longest.max(match one.last < killed {
                true => GAP_MAX,
                false => Duration::ZERO,
            });
            match was_led {
                true => gaps.led.add(gap),
                false => gaps.others.add(gap),
            }
        }
        cluster.restart(victim.number)?;
        if stage.console.err.is_live() {
            stage.note(&format!("{} of {kills} kills", kill + 1))?;
        }
    }
    Ok(())
}

/// Waits until every partition has been written to since then; how many were not.
fn wait_for_all(ground: &Ground, shared: &Shared, since: Instant) -> u64 {
    let deadline = Instant::now() + GAP_MAX;
    loop {
        let all = shared.lock();
        let late = all.iter().filter(|one| one.last < since).count() as u64;
        drop(all);
        if late == 0 || Instant::now() >= deadline {
            return late;
        }
        ground.rest(LOOK);
    }
}

/// Who leads which partition.
fn leaders(
    ground: &Ground,
    cluster: &OwnCluster,
    table: &str,
) -> Outcome<BTreeMap<usize, SocketAddrV4>> {
    let client = Client::new(cluster.address().resolve()?, ClientSettings::default());
    let asked = client.admin(GAP_MAX);
    let partitions = ground.runtime.block_on(asked.partitions(table));
    let partitions =
        partitions.map_err(|error| Failure::failed(format!("who leads is not told: {error}")))?;
    let led = partitions.iter().filter_map(|one| {
        let index = usize::try_from(one.pid.partition_index).ok()?;
        Some((index, one.primary.0?))
    });
    Ok(led.collect())
}

/// A key of each partition.
fn keys() -> Vec<Written> {
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    let names = (0..).map(|number: u64| format!("counter{number}"));
    for name in names {
        let partition = partition_of(key_hash(name.as_bytes(), b""), PARTITIONS);
        found.entry(partition).or_insert(name);
        if found.len() == PARTITIONS as usize {
            break;
        }
    }
    let now = Instant::now();
    let written = |key| Written {
        key,
        attempted: 0,
        acknowledged: 0,
        last: now,
        longest: Duration::ZERO,
    };
    found.into_values().map(written).collect()
}

/// A writer for each partition, on one thread.
fn write_all(shared: &Arc<Shared>, metas: Vec<SocketAddrV4>, table: &str) -> Outcome {
    let runtime = runtime()?;
    let table = runtime.block_on(table_of(metas, table))?;
    LocalSet::new().block_on(&runtime, async {
        let writers = (0..PARTITIONS as usize).map(|partition| {
            tokio::task::spawn_local(write(Arc::clone(shared), table.clone(), partition))
        });
        for writer in writers.collect::<Vec<_>>() {
            let ended = writer.await;
            ended.map_err(|_| Failure::failed("a writer panicked"))?;
        }
        Ok(())
    })
}

/// Writes one number after the other.
async fn write(shared: Arc<Shared>, table: Table, partition: usize) {
    let key = shared.lock()[partition].key.clone();
    while !shared.is_over.load(Ordering::SeqCst) {
        let number = {
            let one = &mut shared.lock()[partition];
            one.attempted += 1;
            one.attempted
        };
        let value = format!("{number:0NUMBER_BYTES$}");
        match table.set(key.as_bytes(), b"", value.as_bytes(), 0).await {
            Ok(()) => {
                let now = Instant::now();
                let one = &mut shared.lock()[partition];
                one.longest = one.longest.max(now - one.last);
                one.last = now;
                one.acknowledged = number;
            }
            // What became of it nobody knows; the next one overwrites it.
            Err(_) => sleep(LOOK).await,
        }
    }
}

/// Partitions whose number is not between the last acknowledged one and the last attempted one.
fn lost(
    ground: &Ground,
    metas: Vec<SocketAddrV4>,
    table: &str,
    shared: &Shared,
) -> Outcome<Vec<String>> {
    let all = shared.lock().clone();
    ground.runtime.block_on(async {
        let table = table_of(metas, table).await?;
        let mut lost = Vec::new();
        for one in all {
            let value = table.get(one.key.as_bytes(), b"").await;
            let value = value.map_err(|error| Failure::failed(error.to_string()))?;
            let found = value.and_then(|value| String::from_utf8(value).ok()?.parse().ok());
            let found: u64 = found.unwrap_or(0);
            if !(one.acknowledged..=one.attempted).contains(&found) {
                let (key, last) = (&one.key, one.acknowledged);
                lost.push(format!("{key}: {found} is there, {last} was acknowledged"));
            }
        }
        Ok(lost)
    })
}

fn tell(
    stage: &mut Stage<'_, '_>,
    (kills, gaps): (u64, &Gaps),
    (shared, lost): (&Shared, &[String]),
) -> Outcome {
    let seconds = |all: &Latencies, percent| all.percentile_ns(percent) as f64 / 1e9;
    let acknowledged: u64 = shared.lock().iter().map(|one| one.acknowledged).sum();
    let line = |name: &str, all: &Latencies| {
        let [half, most, worst] =
            [50.0, 99.0, 100.0].map(|percent| quantity::seconds(seconds(all, percent)));
        let count = quantity::grouped(all.count());
        format!("{name}: {count} gaps, half below {half}, 99 % below {most}, longest {worst}\n")
    };
    stage.say(&format!(
        "{}, {PARTITIONS} partitions with a writer each\n{}{}{} never written to again within {}; \
         the last of {} numbers written is there in all but {} partitions\n",
        quantity::counted(kills, "kill"),
        line("led by the killed node", &gaps.led),
        line("led by others", &gaps.others),
        gaps.endless,
        quantity::seconds(GAP_MAX.as_secs_f64()),
        quantity::grouped(acknowledged),
        lost.len(),
    ))?;
    for one in lost {
        stage.say(&format!("LOST {one}\n"))?;
    }
    let worst = (seconds(&gaps.led, 100.0), "s");
    let most = (seconds(&gaps.led, 99.0), "s");
    let (line, asked) = ("gap after a kill, 99 %", format!("{P99_GOAL_S} s"));
    at_most(stage, line, &asked, most, P99_GOAL_S);
    let (line, asked) = ("gap after a kill, longest", format!("{WORST_GOAL_S} s"));
    at_most(stage, line, &asked, worst, WORST_GOAL_S);
    let lost = lost.len() as f64;
    at_most(
        stage,
        "acknowledged writes lost",
        "none",
        (lost, "partitions"),
        0.0,
    );
    Ok(())
}
