//! Leaders are killed, or frozen, one after another, under clients that go on.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::ops::Range;
use std::time::{Duration, Instant};

use esker_rpc::client::{Admin, Client, NewTable};
use esker_rpc::codec::scalars::Address;

use crate::beats::{Beats, GAP_BEATS_MAX};
use crate::nemesis::chance::Chance;
use crate::nemesis::probes::Probes;
use crate::nemesis::processes::{Place, Processes, SOON};
use crate::nemesis::registers::{Judged, Registers};
use crate::nemesis::timeline::Gaps;

/// Partitions of the table, each with three replicas.
const PARTITIONS: u32 = 8;

/// Nodes that vote in the meta service, where there are so many.
const METAS: usize = 3;

/// Rows and calls for each fault at the least: else nothing is proven.
const ROWS_MIN: u64 = 100;
const CALLS_MIN: u64 = 40;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(25);

/// What is done to a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Kill,
    Freeze,
}

/// One fault: whose, when, and until when each partition had taken a write again.
struct Hurt {
    began: Duration,
    healed: Duration,
    led: Vec<u32>,
}

/// A table under load, and who asks where it is led.
pub struct Loaded {
    pub admin: Admin,
    pub client: Client,
    pub probes: Probes,
    pub registers: Registers,
    pub began: Instant,
    beats: Beats,
}

impl Loaded {
    pub async fn begin(nodes: &Processes) -> Loaded {
        let client = nodes.client(SOON);
        let admin = client.admin(SOON);
        let replica_count = i32::try_from(nodes.count().min(3)).unwrap();
        let new = NewTable {
            name: "ships".to_owned(),
            partition_count: i32::try_from(PARTITIONS).unwrap(),
            replica_count,
            envs: BTreeMap::new(),
            success_if_exist: false,
        };
        admin.create_table(&new).await.unwrap();
        let table = client.table("ships").await.unwrap();
        let began = Instant::now();
        let loaded = Loaded {
            probes: Probes::start(&table, PARTITIONS, began),
            registers: Registers::start(&table, began),
            admin,
            client,
            began,
            beats: Beats::start(began),
        };
        loaded.until_written(Duration::ZERO).await;
        loaded.until_metas_vote(nodes.count().min(METAS)).await;
        loaded
    }

    /// Waits until so many nodes vote in the meta service: a new cluster begins with one, and of
    /// two none can be missed.
    async fn until_metas_vote(&self, count: usize) {
        let until = Instant::now() + SOON;
        loop {
            let told = self.admin.node_facts().await.unwrap_or_default();
            if told.iter().filter(|node| node.votes_in_meta).count() == count {
                return;
            }
            assert!(Instant::now() < until, "{count} never vote: {told:?}");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until so many rows and calls say that nothing is lost or wrong.
    async fn until_proven(&self, rows: u64, calls: u64) {
        let until = Instant::now() + SOON;
        while self.probes.rows() <= rows || self.registers.calls() <= calls {
            assert!(Instant::now() < until, "too little is acknowledged");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until every partition has taken a write that was asked for after that moment.
    pub async fn until_written(&self, moment: Duration) {
        let until = Instant::now() + SOON;
        while !self.probes.are_behind(moment) {
            assert!(Instant::now() < until, "writes stand still");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The door for data of the leader of each partition, as meta says.
    pub async fn leaders(&self) -> Vec<Option<SocketAddrV4>> {
        let partitions = self.admin.partitions("ships").await.unwrap();
        partitions.iter().map(|one| one.primary.0).collect()
    }

    /// Waits until meta says of every partition that three nodes have it.
    pub async fn until_whole(&self) {
        let until = Instant::now() + SOON;
        loop {
            let told = self.admin.partitions("ships").await.unwrap_or_default();
            let is_whole = told.iter().all(|one| {
                let count = i32::try_from(one.secondaries.len()).unwrap();
                one.primary.0.is_some() && count + 1 >= one.max_replica_count
            });
            if is_whole && !told.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "partitions lack replicas: {told:?}");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends all clients; gives how many rows are there, and what was judged.
    pub async fn finish(self) -> (u64, Judged) {
        let judged = self.registers.finish().await;
        let table = self.client.table("ships").await.unwrap();
        (self.probes.finish(&table).await, judged)
    }
}

pub fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// The node that leads a partition that is drawn, and all that it leads.
async fn victim(nodes: &Processes, loaded: &Loaded, chance: &mut Chance) -> (usize, Vec<u32>) {
    let leaders = loaded.leaders().await;
    let drawn = leaders[usize::try_from(chance.below(u64::from(PARTITIONS))).unwrap()];
    let leader = drawn.and_then(|door| nodes.node_at(door)).unwrap_or(1);
    let door = Address::from(nodes.data(leader));
    let led = (0..PARTITIONS)
        .zip(&leaders)
        .filter(|row| row.1.map(Address::from) == Some(door));
    (leader, led.map(|row| row.0).collect())
}

/// What came of a storm.
struct Outcome {
    gaps: Gaps,
    /// Beats of the gap that had most.
    beats: usize,
    rows: u64,
    judged: Judged,
}

/// So many faults one after the other.
fn storm(fault: Fault, count: u64, settings: &[&str]) -> Outcome {
    let mut nodes = Processes::start(3, settings, Place::here());
    let mut chance = Chance::new(count);
    block(async {
        let mut loaded = Loaded::begin(&nodes).await;
        let mut hurt = Vec::new();
        for number in 0..count {
            loaded.until_whole().await;
            loaded.registers.turn();
            let (node, led) = victim(&nodes, &loaded, &mut chance).await;
            let began = loaded.began.elapsed();
            match fault {
                Fault::Kill => nodes.kill(node),
                Fault::Freeze => nodes.freeze(node),
            }
            loaded.until_written(began).await;
            let healed = loaded.began.elapsed();
            tokio::time::sleep(Duration::from_millis(chance.below(400))).await;
            match fault {
                Fault::Kill => {
                    let begun = tokio::task::spawn_blocking(move || {
                        nodes.begin(node);
                        nodes
                    });
                    nodes = begun.await.unwrap();
                }
                Fault::Freeze => nodes.thaw(node),
            }
            let back = loaded.began.elapsed();
            hurt.push(Hurt { began, healed, led });
            // It hears what it has missed before the next one is hurt.
            tokio::time::sleep(Duration::from_millis(700 + chance.below(600))).await;
            loaded.until_written(back).await;
            if number % 25 == 24 {
                println!(
                    "{} faults: {}",
                    number + 1,
                    Gaps::of(&silences(&hurt, &loaded)).line()
                );
            }
        }
        loaded
            .until_proven(ROWS_MIN * count, CALLS_MIN * count)
            .await;
        let silences = silences(&hurt, &loaded);
        let beats = silences.iter().map(|gap| loaded.beats.count(gap));
        let beats = beats.max().unwrap_or(0);
        let gaps = Gaps::of(&silences);
        let (rows, judged) = loaded.finish().await;
        Outcome {
            gaps,
            beats,
            rows,
            judged,
        }
    })
}

fn silences(hurt: &[Hurt], loaded: &Loaded) -> Vec<Range<Duration>> {
    let gaps = hurt.iter().flat_map(|one| {
        one.led.iter().map(|partition| {
            let cell = &loaded.probes.cells[usize::try_from(*partition).unwrap()];
            cell.lock().unwrap().timeline.gap(one.began, one.healed)
        })
    });
    gaps.collect()
}

fn hold(fault: Fault, count: u64, settings: &[&str]) {
    let Outcome {
        gaps,
        beats,
        rows,
        judged,
    } = storm(fault, count, settings);
    println!("{count} times {fault:?}, {settings:?}: {}", gaps.line());
    println!("the worst is of {beats} beats");
    println!("{rows} rows acknowledged, none lost; {judged:?}");
    assert!(
        rows > ROWS_MIN * count && judged.calls > CALLS_MIN * count,
        "{rows} {judged:?}"
    );
    assert_eq!(judged.too_hard, 0, "{judged:?}");
    // A gap without a beat is of a machine that gave nobody time; one with many is a leader's.
    assert!(beats < GAP_BEATS_MAX, "{beats} beats: {}", gaps.line());
}

fn asked_for(count: u64) -> u64 {
    let asked = std::env::var("ESKER_KILLS").ok();
    asked.map_or(count, |text| text.parse().expect("ESKER_KILLS is a number"))
}

#[test]
fn leaders_are_killed_and_nothing_that_was_acknowledged_is_lost() {
    hold(
        Fault::Kill,
        2,
        &["election_timeout=500ms", "heartbeat=100ms"],
    );
}

#[test]
fn leaders_are_frozen_with_leases_and_nobody_reads_what_is_old() {
    let settings = [
        "election_timeout=500ms",
        "heartbeat=100ms",
        "read_promise=500ms",
    ];
    hold(Fault::Freeze, 2, &settings);
}

#[test]
#[ignore = "half an hour: part of make soak"]
fn soak_three_hundred_leaders_are_killed() {
    hold(Fault::Kill, asked_for(300), &[]);
}

#[test]
#[ignore = "half an hour: part of make soak"]
fn soak_three_hundred_leaders_are_frozen() {
    hold(Fault::Freeze, asked_for(300), &[]);
}
