//! What lines stand on: the tool that starts nodes, a directory, clients, the record.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use esker_rpc::client::{Client, ClientSettings};
use tokio::runtime::{Builder, Runtime};

use crate::fail::{Failure, Outcome};
use crate::measure::neighbour::Used;
use crate::measure::summary::Summary;
use crate::report::record::{EngineWork, LatencyRecord, Measurement, Verdict};
use crate::run::calls::Called;
use crate::scenario::suite::stage::Stage;
use crate::target::marker;
use crate::target::own_cluster::{OwnCluster, this_tool};

/// Connections of a load.
pub const CONNECTIONS: usize = 50;

/// Bytes of a value.
pub const VALUE_BYTES: usize = 1000;

/// Partitions of a table, unless a line says otherwise.
pub const PARTITIONS: i32 = 64;

/// Records of a table: enough that neighbours share nothing, few enough to be loaded in seconds.
const RECORDS: u64 = 40_000;

/// What a cluster with leases is told.
pub const LEASES: &str = "read_promise=600ms";

/// Nodes that vote in the meta service of a cluster that has so many.
const METAS: usize = 3;

/// How long a new cluster may take until they do: some seconds, and it may be busy.
const GROWING_MAX: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(100);

/// What lines stand on.
pub struct Ground {
    /// Clients live in it.
    pub runtime: Runtime,
    tool: PathBuf,
    dir: PathBuf,
}

impl Ground {
    /// That of a run.
    pub fn of(stage: &Stage<'_, '_>) -> Outcome<Ground> {
        let tool = match &stage.request.tool {
            Some(tool) => tool.clone(),
            None => this_tool()?,
        };
        marker::make_ready(stage.dir())?;
        let dir = std::path::absolute(stage.dir());
        Ok(Ground {
            runtime: runtime()?,
            tool,
            dir: dir.map_err(|error| Failure::system("cannot tell where that is", &error))?,
        })
    }

    /// What starts our nodes.
    pub fn tool(&self) -> &Path {
        &self.tool
    }

    /// A place of its own for something below the directory, empty.
    pub fn place(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Starts a cluster of so many nodes.
    pub fn cluster(&self, name: &str, nodes: usize, settings: &[&str]) -> Outcome<OwnCluster> {
        self.cluster_of(&self.tool, name, (nodes, settings))
    }

    /// The same of nodes that another tool starts.
    pub fn cluster_of(
        &self,
        tool: &Path,
        name: &str,
        (nodes, settings): (usize, &[&str]),
    ) -> Outcome<OwnCluster> {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        OwnCluster::start(tool, &self.place(name), nodes, &settings)
    }

    /// Waits until a cluster bears the loss of a node: its meta service begins with one voter, and
    /// of two none can be missed.
    pub fn wait_for_metas(&self, cluster: &OwnCluster) -> Outcome {
        let client = Client::new(cluster.address().resolve()?, ClientSettings::default());
        let deadline = Instant::now() + GROWING_MAX;
        loop {
            let told = self
                .runtime
                .block_on(client.admin(GROWING_MAX).node_facts());
            let nodes = told.unwrap_or_default();
            let voters = nodes.iter().filter(|node| node.votes_in_meta).count();
            if voters >= METAS {
                return Ok(());
            }
            if Instant::now() > deadline {
                let told = format!("{voters} of {METAS} nodes vote in the meta service");
                return Err(Failure::failed(told));
            }
            self.rest(LOOK);
        }
    }

    /// Lets time pass.
    pub fn rest(&self, time: Duration) {
        self.runtime
            .block_on(async { tokio::time::sleep(time).await });
    }
}

/// A runtime for clients, of one thread.
pub fn runtime() -> Outcome<Runtime> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Failure::system("cannot start a client", &error))
}

/// Records of a table at this scale.
pub fn records(stage: &Stage<'_, '_>) -> u64 {
    stage.request.scaled(RECORDS)
}

/// For how long one thing is measured.
pub fn span(stage: &Stage<'_, '_>) -> Duration {
    let seconds = stage.request.size.pick(3.0, 8.0, 20.0);
    Duration::from_secs_f64(seconds * stage.request.scale.clamp(0.05, 1.0))
}

/// Microseconds of processor of each operation: of the servers, of the client.
pub fn costs_us(called: &Called, used: Used) -> [f64; 2] {
    let ops = called.ops.max(1) as f64;
    [
        used.cpu_ms as f64 * 1e3 / ops,
        called.usage.cpu_s * 1e6 / ops,
    ]
}

/// Keeps what calls came to.
pub fn keep(
    stage: &mut Stage<'_, '_>,
    name: &str,
    (engine, version): (&str, &str),
    (called, used): (&Called, Used),
) {
    let mut own = vec![("ServerCpuTime(ms)".to_owned(), used.cpu_ms)];
    own.push((
        "ServerDeviceWrittenBytes".to_owned(),
        used.device_write_bytes,
    ));
    let measurement = Measurement {
        engine: engine.to_owned(),
        engine_version: version.to_owned(),
        threads: called.connections,
        ops: called.ops,
        bytes: called.bytes,
        wall_s: called.wall.as_secs_f64(),
        lane_s: called.wall.as_secs_f64() * called.connections as f64,
        ops_per_s: called.rate(),
        latencies: vec![LatencyRecord::of("call", &called.latencies)],
        usage: called.usage,
        engine_work: EngineWork {
            own,
            ..EngineWork::default()
        },
        message: failures(called),
        workload: vec![("value bytes".to_owned(), VALUE_BYTES.to_string())],
        ..Measurement::default()
    };
    stage.keep_measurement(name, measurement);
}

/// What failed, in words; empty if nothing did.
pub fn failures(called: &Called) -> String {
    match called.failed {
        0 => String::new(),
        failed => format!("{failed} failed, such as: {}", called.failure),
    }
}

/// Keeps what came of a goal that is a bound from above, in a unit.
pub fn at_most(stage: &mut Stage<'_, '_>, line: &str, asked: &str, found: (f64, &str), most: f64) {
    let (measured, unit) = found;
    let measured = Some(Summary::one(measured));
    let verdict = Verdict::of(line, asked, unit, measured, |found| found <= most);
    stage.record.verdicts.push(verdict);
}
