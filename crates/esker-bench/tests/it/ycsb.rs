//! Whole phases on our engine, from the words of the command line to what is printed.

use std::fs;

use esker_bench::report::json;

use crate::tool::{Ran, Tool};

/// Runs YCSB with the words of `line`, which must end with that code.
#[track_caller]
fn ycsb(tool: &Tool, line: &str, code: u8) -> Ran {
    let ran = tool.bench(&format!("ycsb {line}"));
    assert_eq!(ran.code, code, "{line}: {ran:?}");
    ran
}

fn value(out: &str, metric: &str, measurement: &str) -> Option<f64> {
    let start = format!("[{metric}], {measurement}, ");
    let line = out.lines().find_map(|line| line.strip_prefix(&start))?;
    Some(line.parse().expect("a number"))
}

#[test]
fn every_workload_runs_on_what_was_loaded() {
    // Load, then A, B, C, F and D on it, then a fresh load for E: all operations are accounted
    // for, nothing is missing, every value is checked.
    let tool = Tool::new();
    let shape = "-p recordcount=500 -p operationcount=600 -threads 3 --verify --db {}/db";
    for letter in ["a", "b", "c", "f", "d", "e"] {
        if letter == "a" || letter == "e" {
            let line = format!("load --workload {letter} {shape} --use_existing_db=0");
            let ran = ycsb(&tool, &line, 0);
            assert_eq!(value(&ran.out, "INSERT", "Operations"), Some(500.0));
            assert_eq!(value(&ran.out, "INSERT", "Return=OK"), Some(500.0));
            assert_eq!(value(&ran.out, "CLEANUP", "Operations"), Some(1.0));
        }
        let ran = ycsb(&tool, &format!("run --workload {letter} {shape}"), 0);
        let count = |metric| value(&ran.out, metric, "Operations").unwrap_or(0.0);
        let parts = count("UPDATE") + count("INSERT") + count("SCAN") + count("READ");
        assert_eq!(
            parts - count("READ-MODIFY-WRITE"),
            600.0,
            "{letter}: {ran:?}"
        );
        assert_eq!(count("VERIFY"), count("READ"), "{letter}");
        assert_eq!(count("Intended-READ"), count("READ"), "{letter}");
        let checked = value(&ran.out, "VERIFY", "Return=OK").unwrap_or(0.0);
        assert_eq!(checked, count("READ"), "{letter}");
        assert!(
            value(&ran.out, "READ", "Return=NOT_FOUND").is_none(),
            "{letter}: {ran:?}"
        );
        assert!(value(&ran.out, "OVERALL", "Throughput(ops/sec)").unwrap() > 0.0);
    }
}

#[test]
fn a_run_tells_of_itself() {
    // A status line, results, a record; at a rate, so that the time is known. What YCSB could tell
    // besides is noted.
    let tool = Tool::new();
    let load = "-load -P workloads/workloada -p esker.dir={}/db \
                -p exporter=site.ycsb.measurements.exporter.TextMeasurementsExporter";
    let ran = ycsb(&tool, load, 0);
    assert_eq!(value(&ran.out, "INSERT", "Operations"), Some(1000.0));
    assert!(!ran.err.contains("has no effect"), "{ran:?}");

    let run = "-t -P workloads/workloada -p esker.dir={}/db -p operationcount=200 -target 2000 \
               -s -p measurementtype=timeseries --json {}/run.json -p recordcont=5";
    let ran = ycsb(&tool, run, 0);
    assert!(value(&ran.out, "READ", "99.9PercentileLatency(us)").is_some());
    ran.notes("did you mean recordcount?");
    ran.notes("note: measurementtype has no effect: ");
    ran.notes(" sec: 200 operations; ");
    let record = json::read(&tool.path("run.json")).unwrap();
    let measured = &record.measurements[0];
    assert_eq!((measured.ops, measured.target_rate), (200, Some(2000.0)));
    assert!(measured.wall_s >= 0.09, "{}", measured.wall_s);
    assert!(
        measured
            .latencies
            .iter()
            .any(|line| line.kind == "Intended-READ")
    );
}

#[test]
fn wrong_values_and_missing_records_are_found() {
    // Records that were loaded unchecked fail the check; those never loaded are not found.
    let tool = Tool::new();
    let shape = "--workload c --db {}/db -p operationcount=50 -p requestdistribution=uniform";
    ycsb(&tool, &format!("load {shape} -p recordcount=20"), 0);
    let checked = format!("run {shape} -p recordcount=20 --verify");
    let ran = ycsb(&tool, &checked, 1);
    assert_eq!(
        value(&ran.out, "VERIFY", "Return=UNEXPECTED_STATE"),
        Some(50.0)
    );
    ran.notes("not what belongs to their keys");
    let ran = ycsb(&tool, &format!("run {shape} -p recordcount=4000"), 0);
    assert!(
        value(&ran.out, "READ", "Return=NOT_FOUND").unwrap() > 40.0,
        "{ran:?}"
    );
    assert!(
        value(&ran.out, "READ-FAILED", "Operations").unwrap() > 40.0,
        "{ran:?}"
    );
}

#[test]
fn what_makes_no_sense_ends_with_2_and_touches_nothing() {
    // A word about each, and no directory was made.
    let tool = Tool::new();
    for (line, told) in [
        ("load --db {}/db", "Missing property: workload"),
        (
            "load --workload a -p recordcount=0 --db {}/db",
            "recordcount",
        ),
        ("run --workload a --db {}/db", "load one first"),
        (
            "run --workload a -p operationcount=0 --db {}/db",
            "never end",
        ),
        ("load --workload a -db redis --db {}/db", "db=redis"),
        ("load --workload a -threads 0 --db {}/db", "threadcount=0"),
        (
            "load --workload a -p workload=x.TimeSeriesWorkload --db {}/db",
            "TimeSeriesWorkload",
        ),
        ("load --workload a --json {}/no/x.json --db {}/db", "x.json"),
        (
            "load -p workload=com.yahoo.ycsb.workloads.FileWorkload --db {}/db",
            "scenario reviews",
        ),
        ("load --workload a -frobnicate", "-frobnicate"),
    ] {
        let ran = ycsb(&tool, line, 2);
        assert_eq!(ran.out, "", "{line}");
        ran.notes(&told.replace("{}", &tool.path("").display().to_string()));
    }
    assert_eq!(fs::read_dir(tool.path("")).unwrap().count(), 0);
}

#[test]
fn a_database_of_somebody_else_is_left_alone() {
    // Without a clear word nothing is written to it.
    let tool = Tool::new();
    let db = esker::Db::open(tool.path("db")).unwrap();
    db.put(b"mine", b"1").unwrap();
    db.close().unwrap();
    let load = "load --workload a --db {}/db";
    let ran = ycsb(&tool, load, 2);
    ran.notes("--use_existing_db=1");
    ycsb(&tool, &format!("{load} --use_existing_db=0"), 2);
    ycsb(&tool, &format!("{load} --use_existing_db=1"), 0);
    let db = esker::Db::open(tool.path("db")).unwrap();
    assert!(db.get(b"mine").unwrap().is_some());
}

#[test]
fn help_names_every_workload_and_property() {
    // A person without YCSB's pages can begin here.
    let tool = Tool::new();
    let ran = ycsb(&tool, "--help", 0);
    for word in ["-P FILE", "session store", "requestdistribution"] {
        ran.tells(word);
    }
}
