//! Whole phases of YCSB on a table of a cluster.

use esker_bench::report::json;
use esker_rpc::error::ErrorCode;

use crate::double::Double;
use crate::tool::{Ran, Tool};

const PUT: &str = "RPC_RRDB_RRDB_PUT";
const GET: &str = "RPC_RRDB_RRDB_GET";

/// Runs YCSB on the table `usertable` with the words of `line`, which must end with that code.
#[track_caller]
fn ycsb(double: &Double, tool: &Tool, line: &str, code: u8) -> Ran {
    let line = format!("ycsb {line} --target pegasus://{}/usertable", double.meta);
    let ran = tool.bench(&line);
    assert_eq!(ran.code, code, "{line}: {ran:?}");
    ran
}

fn value(ran: &Ran, metric: &str, measurement: &str) -> Option<f64> {
    let start = format!("[{metric}], {measurement}, ");
    let line = ran.out.lines().find_map(|line| line.strip_prefix(&start))?;
    Some(line.parse().expect("a number"))
}

#[test]
fn workloads_without_scans_run_on_what_was_loaded() {
    // Threads share two clients; all operations are accounted for, every value is checked, and the
    // servers saw one call for each operation: an update is a blind write, as in the binding.
    let (double, tool) = (Double::new(), Tool::new());
    let shape = "-p recordcount=300 -p operationcount=400 -threads 4 -p pegasus.clients=2 --verify";
    let ran = ycsb(&double, &tool, &format!("load --workload a {shape}"), 0);
    assert_eq!(value(&ran, "INSERT", "Return=OK"), Some(300.0));
    assert_eq!((double.seen(PUT), double.seen(GET)), (300, 0));
    ran.notes("table of a cluster");
    for letter in ["a", "b", "c", "f", "d"] {
        let before = double.seen(PUT) + double.seen(GET);
        let ran = ycsb(
            &double,
            &tool,
            &format!("run --workload {letter} {shape}"),
            0,
        );
        let count = |metric| value(&ran, metric, "Operations").unwrap_or(0.0);
        let calls = count("UPDATE") + count("INSERT") + count("READ");
        assert_eq!(
            calls - count("READ-MODIFY-WRITE"),
            400.0,
            "{letter}: {ran:?}"
        );
        let seen = double.seen(PUT) + double.seen(GET) - before;
        assert_eq!(seen as f64, calls, "{letter}");
        let checked = value(&ran, "VERIFY", "Return=OK").unwrap_or(0.0);
        assert_eq!(checked, count("READ"), "{letter}: {ran:?}");
        // The servers are in this process here: their time is not told as if it were apart.
        assert_eq!(value(&ran, "ENGINE", "ServerCpuTime(ms)"), None);
    }
}

#[test]
fn records_lie_as_the_binding_lays_them() {
    // Hash key is the key, no sort key, an object in JSON: read here by the client itself.
    let (double, tool) = (Double::new(), Tool::new());
    let shape = "-p recordcount=1 -p fieldcount=2 -p fieldlength=3 --verify";
    ycsb(&double, &tool, &format!("load --workload a {shape}"), 0);
    let rows = rows_of(&double, "user6284781860667377211");
    let value = r#"{"field0":"use","field1":"use"}"#;
    assert_eq!(rows, [("".to_owned(), value.to_owned())]);
}

#[test]
fn modes_write_and_read_several_sort_keys() {
    // The calls are those of each mode, and what was written is found by all that fit.
    let (double, tool) = (Double::new(), Tool::new());
    let multi_put = "RPC_RRDB_RRDB_MULTI_PUT";
    let shape = "--workload c -p recordcount=20 -p operationcount=30 --verify -p sort_keys_count=4";
    let with = |words: &str| format!("{words} {shape}");
    let load = "load -p write_mode=multi -p read_mode=multi";
    ycsb(&double, &tool, &with(load), 0);
    assert_eq!((double.seen(multi_put), double.seen(PUT)), (20, 0));
    let keys: Vec<String> = rows_of(&double, "user6284781860667377211")
        .into_iter()
        .map(|(sort, _)| sort)
        .collect();
    assert_eq!(keys, ["0", "1", "2", "3"]);
    for (mode, call, fewest) in [
        ("multi", "RPC_RRDB_RRDB_MULTI_GET", 30),
        ("batch", "RPC_RRDB_RRDB_BATCH_GET", 30),
        ("range", "RPC_RRDB_RRDB_MULTI_GET", 60),
    ] {
        let words = format!("run -p write_mode=multi -p read_mode={mode}");
        let ran = ycsb(&double, &tool, &with(&words), 0);
        assert_eq!(value(&ran, "READ", "Return=OK"), Some(30.0), "{mode}");
        assert_eq!(value(&ran, "VERIFY", "Return=OK"), Some(30.0), "{mode}");
        assert_eq!(double.seen(call), fewest, "{mode}");
    }
    let load = "load -p write_mode=batch -p read_mode=multi";
    ycsb(&double, &tool, &with(load), 0);
    assert_eq!(double.seen(PUT), 80);
}

#[test]
fn what_fails_is_counted_and_told() {
    // A server that refuses: no operation counts as done, the first refusal is named, the exit
    // code says it, and the record has it.
    let (double, tool) = (Double::new(), Tool::new());
    let shape = "--workload a -p recordcount=10 -p operationcount=10";
    ycsb(&double, &tool, &format!("load {shape}"), 0);
    for node in &mut double.cluster.state().nodes {
        node.refuses = Some(ErrorCode::Busy);
    }
    let ran = ycsb(
        &double,
        &tool,
        &format!("run {shape} --json {{}}/run.json"),
        1,
    );
    ran.notes("10 operations failed; the first one: the server refuses: ERR_BUSY");
    assert_eq!(value(&ran, "READ", "Return=OK"), None);
    let record = json::read(&tool.path("run.json")).expect("a record");
    assert!(record.measurements[0].message.contains("ERROR="));
}

#[test]
fn what_a_cluster_does_not_do_is_refused_before_anything_is_sent() {
    // Scans, destroying, the engine's settings; a table that is not there, nobody at the address,
    // and the rate that looks like the target.
    let (double, tool) = (Double::new(), Tool::new());
    for (words, told) in [
        ("run --workload e", "no scans over records"),
        ("load --workload a --use_existing_db=0", "esker table drop"),
        ("load --workload a --db {}/db", "--db names a directory"),
        ("load --workload a -p esker.memory_limit=1GiB", "servers'"),
        ("load --workload a -p write_mode=multi", "both single"),
        (
            "load --workload a -p read_mode=all",
            "single, batch, multi or range",
        ),
        (
            "load --workload a -p pegasus.clients=0",
            "pegasus.clients=0",
        ),
        ("load --workload a -db rocksdb", "in this process"),
    ] {
        ycsb(&double, &tool, words, 2).notes(told);
    }
    assert_eq!(double.cluster.state().seen.len(), 0);
    let other = format!(
        "ycsb load --workload a --target pegasus://{}/other",
        double.meta
    );
    let ran = tool.bench(&other);
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.notes("esker table create other --partitions 64");
    let ran = tool.bench("ycsb load --workload a --target pegasus://127.0.0.1:1/usertable");
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.notes("no cluster answers at 127.0.0.1:1");
    let ran = tool.bench("ycsb load --workload a --target 1000");
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.notes("-target 1000, with one dash, is operations a second");
    let ran = tool.bench("ycsb load --workload a -db pegasus");
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.notes("db=pegasus is a cluster");
}

/// Sort keys and values below a hash key.
fn rows_of(double: &Double, hash_key: &str) -> Vec<(String, String)> {
    use esker_rpc::client::{Client, ClientSettings, ScanSettings};
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let metas = vec![double.meta.parse().expect("an address")];
        let client = Client::new(metas, ClientSettings::default());
        let table = client.table("usertable").await.expect("the table");
        let settings = ScanSettings::default();
        let scanner = table.scan(hash_key.as_bytes(), (b"", b""), &settings);
        let mut scanner = scanner.expect("a hash key");
        let mut rows = Vec::new();
        while let Some(row) = scanner.next().await.expect("rows") {
            rows.push((text(row.sort_key), text(row.value)));
        }
        rows
    })
}
