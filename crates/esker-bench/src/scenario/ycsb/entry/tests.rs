//! Whole phases on our engine, from the words of the command line to what is printed.

use std::fs;
use std::path::Path;

use crate::command::run as run_command;
use crate::report::json;

/// Exit code, output, remarks.
fn bench(line: &str, dir: &Path) -> (u8, String, String) {
    let dir = dir.display().to_string();
    let words = std::iter::once("ycsb").chain(line.split_whitespace());
    let words: Vec<String> = words.map(|word| word.replace("DIR", &dir)).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run_command(&words, &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (code, text(out), text(err))
}

fn value(out: &str, metric: &str, measurement: &str) -> Option<f64> {
    let start = format!("[{metric}], {measurement}, ");
    let line = out.lines().find_map(|line| line.strip_prefix(&start))?;
    Some(line.parse().unwrap())
}

#[test]
fn every_workload_runs_on_what_was_loaded() {
    // Load, then A, B, C, F and D on it, then a fresh load for E: all operations are accounted
    // for, nothing is missing, every value is checked.
    let dir = tempfile::tempdir().unwrap();
    let shape = "-p recordcount=500 -p operationcount=600 -threads 3 --verify --db DIR/db";
    for letter in ["a", "b", "c", "f", "d", "e"] {
        if letter == "a" || letter == "e" {
            let line = format!("load --workload {letter} {shape} --use_existing_db=0");
            let (code, out, err) = bench(&line, dir.path());
            assert_eq!(code, 0, "{err}");
            assert_eq!(value(&out, "INSERT", "Operations"), Some(500.0));
            assert_eq!(value(&out, "INSERT", "Return=OK"), Some(500.0));
            assert_eq!(value(&out, "CLEANUP", "Operations"), Some(1.0));
        }
        let (code, out, err) = bench(&format!("run --workload {letter} {shape}"), dir.path());
        assert_eq!(code, 0, "{err}");
        let count = |metric| value(&out, metric, "Operations").unwrap_or(0.0);
        let parts = count("UPDATE") + count("INSERT") + count("SCAN") + count("READ");
        assert_eq!(parts - count("READ-MODIFY-WRITE"), 600.0, "{letter}: {out}");
        assert_eq!(count("VERIFY"), count("READ"), "{letter}");
        assert_eq!(count("Intended-READ"), count("READ"), "{letter}");
        let checked = value(&out, "VERIFY", "Return=OK").unwrap_or(0.0);
        assert_eq!(checked, count("READ"), "{letter}");
        assert!(
            value(&out, "READ", "Return=NOT_FOUND").is_none(),
            "{letter}: {out}"
        );
        assert!(value(&out, "OVERALL", "Throughput(ops/sec)").unwrap() > 0.0);
    }
}

#[test]
fn a_run_tells_of_itself() {
    // A status line, results in a file, a record; at a rate, so that the time is known. What YCSB
    // could tell besides is noted.
    let dir = tempfile::tempdir().unwrap();
    let load = "-load -P workloads/workloada -p esker.dir=DIR/db -p exportfile=DIR/load.txt \
                -p exporter=site.ycsb.measurements.exporter.TextMeasurementsExporter";
    let (code, out, err) = bench(load, dir.path());
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let text = fs::read_to_string(dir.path().join("load.txt")).unwrap();
    assert_eq!(value(&text, "INSERT", "Operations"), Some(1000.0));
    assert!(!err.contains("has no effect"), "{err}");

    let run = "-t -P workloads/workloada -p esker.dir=DIR/db -p operationcount=200 -target 2000 \
               -s -p measurementtype=timeseries --json DIR/run.json -p recordcont=5";
    let (code, out, err) = bench(run, dir.path());
    assert_eq!(code, 0, "{err}");
    assert!(value(&out, "READ", "99.9PercentileLatency(us)").is_some());
    assert!(err.contains("did you mean recordcount?"), "{err}");
    assert!(
        err.contains("note: measurementtype has no effect: "),
        "{err}"
    );
    assert!(err.contains(" sec: 200 operations; "), "{err}");
    let record = json::read(&dir.path().join("run.json")).unwrap();
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
    let dir = tempfile::tempdir().unwrap();
    let shape = "--workload c --db DIR/db -p operationcount=50 -p requestdistribution=uniform";
    let (code, _, err) = bench(&format!("load {shape} -p recordcount=20"), dir.path());
    assert_eq!(code, 0, "{err}");
    let checked = format!("run {shape} -p recordcount=20 --verify");
    let (code, out, err) = bench(&checked, dir.path());
    assert_eq!(code, 1);
    assert_eq!(value(&out, "VERIFY", "Return=UNEXPECTED_STATE"), Some(50.0));
    assert!(err.contains("not what belongs to their keys"), "{err}");
    let (code, out, _) = bench(&format!("run {shape} -p recordcount=4000"), dir.path());
    assert_eq!(code, 0);
    assert!(
        value(&out, "READ", "Return=NOT_FOUND").unwrap() > 40.0,
        "{out}"
    );
    assert!(
        value(&out, "READ-FAILED", "Operations").unwrap() > 40.0,
        "{out}"
    );
}

#[test]
fn what_makes_no_sense_ends_with_2_and_touches_nothing() {
    // A word about each, and no directory was made.
    let dir = tempfile::tempdir().unwrap();
    for (line, told) in [
        ("load --db DIR/db", "Missing property: workload"),
        (
            "load --workload a -p recordcount=0 --db DIR/db",
            "recordcount",
        ),
        ("run --workload a --db DIR/db", "load one first"),
        (
            "run --workload a -p operationcount=0 --db DIR/db",
            "never end",
        ),
        ("load --workload a -db redis --db DIR/db", "db=redis"),
        ("load --workload a -threads 0 --db DIR/db", "threadcount=0"),
        (
            "load --workload a -p workload=x.TimeSeriesWorkload --db DIR/db",
            "TimeSeriesWorkload",
        ),
        (
            "load --workload a --json DIR/no/x.json --db DIR/db",
            "x.json",
        ),
        (
            "load -p workload=com.yahoo.ycsb.workloads.FileWorkload --db DIR/db",
            "scenario reviews",
        ),
        ("load --workload a -frobnicate", "-frobnicate"),
    ] {
        let (code, out, err) = bench(line, dir.path());
        assert_eq!((code, out.as_str()), (2, ""), "{line}: {err}");
        let told = told.replace("DIR", &dir.path().display().to_string());
        assert!(err.contains(&told), "{line}: {err}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_database_of_somebody_else_is_left_alone() {
    // Without a clear word nothing is written to it.
    let dir = tempfile::tempdir().unwrap();
    let db = esker::Db::open(dir.path().join("db")).unwrap();
    db.put(b"mine", b"1").unwrap();
    db.close().unwrap();
    let load = "load --workload a --db DIR/db";
    let (code, _, err) = bench(load, dir.path());
    assert_eq!(code, 2);
    assert!(err.contains("--use_existing_db=1"), "{err}");
    let (code, _, err) = bench(&format!("{load} --use_existing_db=0"), dir.path());
    assert_eq!(code, 2, "{err}");
    let (code, _, err) = bench(&format!("{load} --use_existing_db=1"), dir.path());
    assert_eq!(code, 0, "{err}");
    let db = esker::Db::open(dir.path().join("db")).unwrap();
    assert!(db.get(b"mine").unwrap().is_some());
}

#[test]
fn help_names_every_workload_and_property() {
    // A person without YCSB's pages can begin here.
    let dir = tempfile::tempdir().unwrap();
    let (code, out, _) = bench("--help", dir.path());
    assert_eq!(code, 0);
    for word in [
        "-P FILE",
        "session store",
        "requestdistribution",
        "zipf[:theta]",
    ] {
        assert!(out.contains(word), "{word}");
    }
}
