//! Records made by hand, for tests.

use crate::report::machine::Machine;
use crate::report::record::{FORMAT, LatencyRecord, Measurement, Record, VERSION};

/// A record of these measurements.
pub fn record(measurements: Vec<Measurement>) -> Record {
    Record {
        format: FORMAT.into(),
        version: VERSION,
        tool: "compare".into(),
        command: vec!["--num=1000".into(), "--rounds=2".into()],
        commit: "abc123".into(),
        is_optimised: true,
        started_unix_s: 1_736_088_005,
        machine: Machine {
            cpu: "Anvil 3000".into(),
            cpu_count: 2,
            memory_bytes: 8 << 30,
            ..Machine::default()
        },
        measurements,
        verdicts: Vec::new(),
        history: Vec::new(),
    }
}

/// One round of a workload on an engine, at so many operations a second, with latencies.
pub fn round(name: &str, engine: &str, round: usize, ops_per_s: f64) -> Measurement {
    let nanos = 1e9 / ops_per_s;
    let times = |factor: f64| (nanos * factor) as u64;
    Measurement {
        name: name.into(),
        engine: engine.into(),
        engine_version: "1.0".into(),
        workload: vec![("keys".into(), "1000".into())],
        round,
        threads: 1,
        ops: 1000,
        bytes: 116_000,
        wall_s: 1000.0 / ops_per_s,
        ops_per_s,
        latencies: vec![LatencyRecord {
            kind: "write".into(),
            count: 1000,
            mean_ns: nanos,
            min_ns: times(0.5),
            max_ns: times(20.0),
            percentiles: vec![
                (50.0, times(1.0)),
                (99.0, times(4.0)),
                (99.9, times(9.0)),
                (99.99, times(19.0)),
                (100.0, times(20.0)),
            ],
        }],
        ..Measurement::default()
    }
}

/// Two engines, two workloads, two rounds each, ours twice and half as fast.
pub fn duel() -> Record {
    let mut all = Vec::new();
    for turn in 0..2 {
        for (engine, fill, read) in [("Anvil", 1000.0, 4000.0), ("Esker", 2000.0, 2000.0)] {
            let faster = 1.0 + turn as f64;
            all.push(round("fill", engine, turn, fill * faster));
            all.push(round("read", engine, turn, read * faster));
        }
    }
    record(all)
}
