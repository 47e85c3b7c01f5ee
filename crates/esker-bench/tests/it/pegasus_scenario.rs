//! Pegasus's own benchmark on a cluster in memory, as small as it gets.

use esker_bench::report::json;
use esker_bench::report::record::Record;
use esker_rpc::error::ErrorCode;

use crate::double::Double;
use crate::tool::{Ran, Tool};

/// Runs the scenario on the cluster; it must succeed.
#[track_caller]
fn scenario(double: &Double, words: &str) -> (Ran, Record) {
    let tool = Tool::new();
    let ran = tool.bench(&format!(
        "scenario pegasus --target pegasus://{} --dir={{}}/stores --json={{}}/run.json {words}",
        double.meta
    ));
    assert_eq!(ran.code, 0, "{ran:?}");
    let record = json::read(&tool.path("run.json")).expect("a record");
    (ran, record)
}

fn tables(double: &Double) -> usize {
    let state = double.cluster.state();
    let tables = state.tables.values();
    tables.filter(|table| table.is_available()).count()
}

#[test]
fn every_line_stands_beside_the_document_s() {
    // Three nodes: all tables are made as the document had them, every load does what its line says
    // and finds what was loaded, and the tables are dropped behind.
    let double = Double::new();
    let (ran, record) = scenario(&double, "--scale=0.01");
    // Seven loads of 320 bytes, two and a loading of 3 KB, four each of 10 and 20 KB twice.
    assert_eq!(record.measurements.len(), 7 + 3 + 4 * 4);
    for measured in &record.measurements {
        let kinds: Vec<&str> = measured.latencies.iter().map(|one| &one.kind[..]).collect();
        let wanted: &[&str] = match &measured.name[..] {
            name if name.contains(" 0:1") => &["write"],
            name if name.contains(" 1:0") => &["read"],
            _ => &["read", "write"],
        };
        assert_eq!(kinds, wanted, "{}", measured.name);
        assert_eq!(measured.message, "", "{}", measured.name);
        assert_eq!(measured.field("scenario"), Some("pegasus"));
        assert!(
            measured
                .field("target")
                .is_some_and(|target| target.contains("esker_bench_"))
        );
    }
    for told in [
        "3×15 1:3 ours",
        "Pegasus 1.12.3",
        "41 068",
        "3×30 30:1 uniform",
        "24 cores",
    ] {
        ran.tells(told);
    }
    assert!(!ran.out.contains("not run"), "{ran:?}");
    assert!(!ran.out.contains("failed"), "{ran:?}");
    assert_eq!(tables(&double), 1);
    // A load of three sort keys is one call for each hash key; later writes are one for each key.
    assert_eq!(
        double.seen("RPC_RRDB_RRDB_MULTI_PUT"),
        ops_of(&record, "3072 B, 3 replicas, 3×10 0:1")
    );
    assert!(double.seen("RPC_RRDB_RRDB_MULTI_GET") > 0);
}

fn ops_of(record: &Record, name: &str) -> u64 {
    let found = record.measurements.iter().find(|one| one.name == name);
    found.expect("a line of that name").ops
}

#[test]
fn what_a_small_cluster_cannot_do_is_said_by_name() {
    // One node: with one replica, which is said, and the tables of two and three replicas are one.
    let double = Double::with(1);
    let (ran, record) = scenario(&double, "--scale=0.01 --keep");
    ran.tells("run with 1 of 3 replicas");
    assert_eq!(
        ran.out
            .matches("not run: with 1 node it is the same")
            .count(),
        2
    );
    assert_eq!(record.measurements.len(), 7 + 3 + 4 * 2);
    assert_eq!(tables(&double), 1 + 4);
    // Tables that a benchmark left behind are made anew.
    scenario(&double, "--scale=0.01");
    assert_eq!(tables(&double), 1);
}

#[test]
fn a_server_that_refuses_is_told_and_ends_it() {
    // No line of figures is made of refusals: they are counted, named, and too many end the run.
    let double = Double::new();
    for node in &mut double.cluster.state().nodes {
        node.refuses = Some(ErrorCode::Busy);
    }
    let tool = Tool::new();
    let line = format!(
        "scenario pegasus --target pegasus://{} --dir={{}}/stores",
        double.meta
    );
    let ran = tool.bench(&line);
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.notes("ERR_BUSY");
}

#[test]
fn it_is_not_run_without_a_cluster() {
    // By its name that makes no sense, nor does an address that is none.
    let tool = Tool::new();
    let ran = tool.bench("scenario pegasus --dir={}/stores");
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.notes("--target=pegasus://HOST:PORT");
    let ran = tool.bench("scenario pegasus --target nowhere --dir={}/stores");
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.notes("pegasus://HOST:PORT/TABLE");
}
