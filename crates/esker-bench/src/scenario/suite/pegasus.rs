//! Pegasus's own benchmark on a cluster: loads, mixes and reads, its figures beside ours.
//!
//! Source: the project's benchmark page, versions 1.10.0 to 1.12.3, 2018 to 2019: YCSB with the
//! Java client, five data servers. What it wrote with batches of three sort keys is written so.

use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::make::keys::{Chooser, Distribution};
use crate::make::random::{Random, scramble};
use crate::make::slices::{Slices, neutral};
use crate::quantity;
use crate::report::record::Measurement;
use crate::run::course::{Course, Finished};
use crate::run::lane::Lane;
use crate::scenario::suite::pegasus_lines::{Figures, Line, Load, Shape, lines};
use crate::scenario::suite::request::{ALL, Request};
use crate::scenario::suite::stage::Stage;
use crate::table::Table;
use crate::target::pegasus::{Modes, PegasusTable, ReadMode, TableAddress, WriteMode};
use crate::target::pegasus_cluster::Cluster;
use crate::target::store::{Opened, Store, WriteHow};

/// Kinds of operation.
const KINDS: [&str; 2] = ["read", "write"];

/// The tallies of a lane.
const FAILED: usize = 0;

/// So many failures of one thread end the run: they are not a passing trouble.
const FAILURES_MAX: u64 = 1000;

/// The exponent of the document's tool, and the start of all random numbers.
const THETA: f64 = 0.99;
const SEED: u64 = 7;

/// How the load is run where the document does not say.
const LOADING: Load = Load {
    is_zipf: true,
    clients: 3,
    threads: 10,
    reads: 0,
    writes: 1,
};

/// On what the document was measured.
const MACHINES: &str = "Pegasus: 5 data servers, each 24 cores Xeon E5-2620 v3, 128 GB, 8 SSDs in \
    RAID 0; clients on other machines, 10 Gb/s; writes acknowledged from page caches. Their rates \
    say nothing beside those of another machine; what can be held together is how a line relates \
    to the lines around it.";

/// Bytes that it takes on the disks of the nodes, where they are this machine's: the largest table,
/// three times, and as much again while files are merged.
pub fn disk_bytes(request: &Request) -> u64 {
    let is_elsewhere = request
        .target
        .as_ref()
        .is_some_and(|target| !target.is_local());
    match is_elsewhere {
        true => 0,
        false => request.size.pick(100 << 20, 6 << 30, 3_600_000_000_000),
    }
}

/// Hash keys at each size: so many bytes of values in all, and as many as the document's load left
/// behind in its hour or two.
fn records(stage: &Stage<'_, '_>, shape: Shape) -> u64 {
    let bytes = shape.value_bytes as u64 * u64::from(shape.sort_keys);
    let full = match shape.value_bytes {
        0..=1024 => 300_000_000,
        1025..=4096 => 33_000_000,
        4097..=10_240 => 40_000_000,
        _ => 30_000_000,
    };
    let size = stage.request.size;
    stage
        .request
        .scaled(size.pick((16 << 20) / bytes, (1 << 30) / bytes, full))
}

/// Runs every line of the document that the cluster can run, and says which it cannot.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let Some(address) = stage.request.target.clone() else {
        if stage.request.name != ALL {
            return Err(Failure::usage(
                "this scenario measures a cluster; say which with --target=pegasus://HOST:PORT",
            ));
        }
        return stage.say("not run: no cluster was named with --target\n");
    };
    let cluster = Cluster::connect(&address)?;
    stage.say(&format!(
        "{} at {address}, {}\n",
        quantity::counted(cluster.node_count as u64, "node"),
        "tables are made for it and dropped behind"
    ))?;
    let lines = lines();
    let mut done: Vec<Shape> = Vec::new();
    for group in lines.chunk_by(|left, right| left.shape == right.shape) {
        let wanted = group[0].shape;
        let replicas = i32::try_from(cluster.node_count).unwrap_or(i32::MAX);
        let shape = Shape {
            replicas: wanted.replicas.min(replicas),
            ..wanted
        };
        stage.say(&format!("\n{}\n", heading(wanted)))?;
        if done.contains(&shape) {
            let count = quantity::counted(cluster.node_count as u64, "node");
            stage.say(&format!(
                "not run: with {count} it is the same as the table before\n"
            ))?;
            continue;
        }
        if shape != wanted {
            stage.say(&format!(
                "run with {} of {} replicas: the cluster has no more nodes, so this is not what \
                 Pegasus did\n",
                shape.replicas, wanted.replicas
            ))?;
        }
        done.push(shape);
        play(stage, &cluster, &address, shape, group)?;
    }
    stage.say(&format!("\n{MACHINES}\n"))?;
    Ok(())
}

fn heading(shape: Shape) -> String {
    let values = match shape.sort_keys {
        1 => "values".to_owned(),
        count => format!("values below {count} sort keys"),
    };
    format!(
        "{values} of {} bytes, {} partitions, {} replicas",
        quantity::grouped(shape.value_bytes as u64),
        shape.partitions,
        shape.replicas
    )
}

/// One table with all lines of its shape.
fn play(
    stage: &mut Stage<'_, '_>,
    cluster: &Cluster,
    address: &TableAddress,
    shape: Shape,
    group: &[Line],
) -> Outcome {
    let name = format!(
        "{}_{}_{}",
        shape.value_bytes, shape.partitions, shape.replicas
    );
    let table = match cluster.create_fresh(&name, shape.partitions, shape.replicas) {
        Ok(table) => table,
        Err(failure) => return stage.say(&format!("not run: {failure}\n")),
    };
    let address = TableAddress {
        table: table.clone(),
        ..address.clone()
    };
    let heads = [
        "", "reads/s", "mean µs", "99 % µs", "writes/s", "mean µs", "99 % µs",
    ];
    let heads = heads
        .iter()
        .chain(&["server µs/op", "client µs/op"])
        .copied();
    let mut told = Table::new(&heads.collect::<Vec<_>>());
    if !group[0].load.is_loading() {
        // By one call for all sort keys, as fast as it goes: it is not measured.
        measure(stage, &address, shape, (LOADING, WriteMode::Multi))?;
    }
    for same in group.chunk_by(|left, right| left.load == right.load) {
        let load = same[0].load;
        let write_mode = match shape.sort_keys {
            1 => WriteMode::Single,
            _ => WriteMode::Batch,
        };
        let finished = measure(stage, &address, shape, (load, write_mode))?;
        tell(stage, &mut told, same, &finished)?;
    }
    stage.say(&told.text())?;
    match stage.request.keeps_stores {
        true => Ok(()),
        false => cluster.drop_table(&table),
    }
}

/// Runs one load, and keeps what it came to.
fn measure(
    stage: &mut Stage<'_, '_>,
    address: &TableAddress,
    shape: Shape,
    (load, write): (Load, WriteMode),
) -> Outcome<Finished> {
    let modes = Modes {
        write: match shape.sort_keys {
            1 => WriteMode::Single,
            _ => write,
        },
        read: match shape.sort_keys {
            1 => ReadMode::Single,
            _ => ReadMode::Multi,
        },
        sort_key_count: shape.sort_keys,
        clients: load.clients,
    };
    let play = Opened {
        store: Box::new(PegasusTable::connect(address, modes)?),
        matched: Vec::new(),
    };
    let count = records(stage, shape);
    let threads = load.clients * load.threads;
    let seconds = stage.request.size.pick(2.0, 20.0, 3600.0) * stage.request.scale.min(1.0);
    let course = Course {
        threads,
        duration: (!load.is_loading()).then(|| Duration::from_secs_f64(seconds)),
        ..Course::plain()
    };
    let work = Work {
        store: play.store.as_ref(),
        load,
        count,
        threads: threads as u64,
        values: Slices::new(neutral(SEED, 0.5, shape.value_bytes)),
        value_bytes: shape.value_bytes,
    };
    let name = format!(
        "{} B, {} replicas, {}",
        shape.value_bytes,
        shape.replicas,
        load.text()
    );
    let finished = stage.measure(&name, &KINDS, &play, &course, &|lane| work.run(lane))?;
    if let Some(kept) = stage.last_kept() {
        kept.engine = "table of a cluster".into();
        kept.engine_version = "of unknown version".into();
        kept.workload.extend([
            ("target".to_owned(), address.to_string()),
            ("hash keys".to_owned(), count.to_string()),
            ("partitions".to_owned(), shape.partitions.to_string()),
        ]);
    }
    Ok(finished)
}

/// What every thread does.
struct Work<'a> {
    store: &'a dyn Store,
    load: Load,
    count: u64,
    threads: u64,
    values: Slices,
    value_bytes: usize,
}

impl Work<'_> {
    fn run(&self, lane: &mut Lane<'_>) -> Outcome {
        let index = lane.index() as u64;
        let mut random = Random::new(scramble(SEED ^ index));
        let distribution = match self.load.is_zipf {
            true => Distribution::Scrambled(THETA),
            false => Distribution::Uniform,
        };
        let mut chooser = Chooser::new(distribution, scramble(SEED + index));
        let all = self.load.reads + self.load.writes;
        let mut next = index;
        while lane.go() {
            if self.load.is_loading() && next >= self.count {
                break;
            }
            let number = match self.load.is_loading() {
                true => next,
                false => chooser.choose(self.count),
            };
            next += self.threads;
            let is_read = random.below(all) < self.load.reads;
            self.operate(lane, number, is_read)?;
        }
        Ok(())
    }

    fn operate(&self, lane: &mut Lane<'_>, number: u64, is_read: bool) -> Outcome {
        let key = format!("user{}", scramble(number));
        let mut bytes = key.len();
        let done = match is_read {
            true => {
                let found = self
                    .store
                    .get(key.as_bytes(), &mut |value| bytes += value.len());
                found.and_then(|found| match found {
                    true => Ok(()),
                    false => Err(Failure::failed(format!(
                        "{key} was loaded and is not there"
                    ))),
                })
            }
            false => {
                let value = self.values.slice_of(number, self.value_bytes);
                bytes += value.len();
                self.store.put(key.as_bytes(), value, WriteHow::default())
            }
        };
        match done {
            Ok(()) => {
                lane.add_bytes(bytes as u64);
                lane.finish(usize::from(!is_read), 1);
                Ok(())
            }
            Err(failure) => {
                lane.count(FAILED, 1);
                lane.say(&failure.message);
                lane.skip();
                match lane.counted(FAILED) < FAILURES_MAX {
                    true => Ok(()),
                    false => Err(failure),
                }
            }
        }
    }
}

/// Adds a line of ours and those of the document that had the same load.
fn tell(
    stage: &mut Stage<'_, '_>,
    told: &mut Table,
    same: &[Line],
    finished: &Finished,
) -> Outcome {
    let load = same[0].load;
    let wall_s = finished.wall().as_secs_f64().max(1e-9);
    let latencies = finished.latencies();
    let of = |kind: usize| {
        let latencies = latencies.get(kind).filter(|all| all.count() > 0)?;
        Some(Figures {
            rate: latencies.count() as f64 / wall_s,
            mean_us: latencies.mean_ns() / 1e3,
            p99_us: latencies.percentile_ns(99.0) as f64 / 1e3,
        })
    };
    let ours = [of(0), of(1)];
    let ops = finished.ops().max(1) as f64;
    let server = stage.last_kept().and_then(|kept| server_ms(kept));
    let server = server.map_or(String::new(), |ms| quantity::three_digits(ms * 1e3 / ops));
    let client = quantity::three_digits(finished.usage.cpu_s * 1e6 / ops);
    told.add(cells(
        &format!("{} ours", load.text()),
        ours,
        [server, client],
    ));
    for line in same.iter().filter(|line| !line.version.is_empty()) {
        let name = format!("Pegasus {}", line.version);
        told.add(cells(
            &name,
            [line.reads, line.writes],
            ["".into(), "".into()],
        ));
    }
    let failed = finished.tally(FAILED);
    if failed > 0 {
        let mut said = finished.lanes.iter().map(|lane| lane.message.as_str());
        let first = said.find(|message| !message.is_empty()).unwrap_or_default();
        let kept = stage.last_kept();
        if let Some(kept) = kept {
            kept.message = format!("{failed} failed: {first}");
        }
        stage.say(&format!(
            "{}: {failed} failed, such as: {first}\n",
            load.text()
        ))?;
    }
    Ok(())
}

/// Milliseconds of processor that servers on this machine used.
fn server_ms(kept: &Measurement) -> Option<f64> {
    let own = kept.engine_work.own.iter();
    let mut own = own.filter(|(name, _)| name == "ServerCpuTime(ms)");
    own.next().map(|(_, ms)| *ms as f64)
}

fn cells(name: &str, figures: [Option<Figures>; 2], costs: [String; 2]) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    for figures in figures {
        cells.extend(match figures {
            Some(one) => [whole(one.rate), whole(one.mean_us), whole(one.p99_us)],
            None => [const { String::new() }; 3],
        });
    }
    cells.extend(costs);
    cells
}

fn whole(number: f64) -> String {
    // Rates and microseconds are far below 2^53, and never negative.
    quantity::grouped(number.round() as u64)
}
