//! A whole comparison, very small, with every engine that was built in.

use super::*;

fn compare(line: &str) -> (u8, String, String) {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(&words, &mut out, &mut err);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (code, text(out), text(err))
}

#[test]
fn all_lines_run_and_all_engines_agree() {
    // Two rounds of everything on 2000 keys: tables, a record, and nothing left behind.
    let room = tempfile::tempdir().expect("a directory");
    let (dir, json) = (room.path().join("stores"), room.path().join("record.json"));
    let html = room.path().join("report.html");
    let (code, out, err) = compare(&format!(
        "--num=2000 --rounds=2 --cold_reads=50 --sync_ops=3 --large_ops=3 --limits=no \
         --background_threads=1 --dir {} --json {} --html {}",
        dir.display(),
        json.display(),
        html.display()
    ));
    assert_eq!(code, 0, "{err}");
    // The page is there, and the last line says where.
    let last = out.lines().last().expect("a line");
    assert!(last.ends_with(&html.display().to_string()), "{last}");
    assert!(
        fs::read_to_string(&html)
            .expect("a page")
            .contains("mergerandom")
    );
    for line in &crate::compare::workloads::WORKLOADS {
        assert!(
            out.contains(&format!("| {} ", line.name)),
            "{}: {out}",
            line.name
        );
    }
    let record = esker_bench::report::json::read(&json).expect("a record");
    assert!(
        record
            .measurements
            .iter()
            .any(|one| one.name == "mergerandom")
    );
    assert!(record.measurements.iter().all(|one| one.round < 2));
    assert!(record.verdicts.iter().any(|it| it.line == "fillseq"));
    assert!(!dir.exists());
}

#[test]
fn what_was_measured_before_a_failure_is_kept() {
    // The second store outgrows its limit: the first one's line is in record and tables, and the
    // message says where.
    let room = tempfile::tempdir().expect("a directory");
    let (json, markdown) = (room.path().join("r.json"), room.path().join("r.md"));
    let (code, _, err) = compare(&format!(
        "--engines=esker --workloads=fillseq,fill100K --num=5000 --large_ops=3000 --limits=no \
         --esker disk_limit=64MiB --esker wal.total_size=32MiB \
         --dir {} --json {} --markdown {}",
        room.path().join("stores").display(),
        json.display(),
        markdown.display()
    ));
    assert_eq!(code, 1, "{err}");
    let told = format!(
        "; what was measured before is in {}, {}",
        json.display(),
        markdown.display()
    );
    assert!(err.contains(&told), "{err}");
    let record = esker_bench::report::json::read(&json).expect("a record");
    let names: Vec<&str> = record
        .measurements
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["fillseq"]);
    let tables = fs::read_to_string(&markdown).expect("tables");
    assert!(tables.contains("| fillseq "), "{tables}");
}

#[test]
fn a_line_that_takes_too_long_is_cut_short() {
    // More keys than a second has room for: what was done until then counts, what would have
    // followed in that store is left out in every round, and another store is played as ever.
    let room = tempfile::tempdir().expect("a directory");
    let json = room.path().join("r.json");
    let (code, out, err) = compare(&format!(
        "--engines=esker --lines=fillrandom,readrandom,merge-one --num=1000000000 --rounds=2 \
         --patience_s=1 --limits=no --dir {} --json {}",
        room.path().join("stores").display(),
        json.display()
    ));
    assert_eq!(code, 0, "{err}");
    let record = esker_bench::report::json::read(&json).expect("a record");
    let runs: Vec<_> = record
        .measurements
        .iter()
        .map(|it| (it.name.as_str(), it.round))
        .collect();
    assert_eq!(
        runs,
        [("fillrandom", 0), ("merge-one", 0), ("merge-one", 1)]
    );
    let ops = record.measurements[0].ops;
    assert!((1..1_000_000_000).contains(&ops), "{ops}");
    let told = format!("Esker fillrandom at {ops} of 1000000000");
    assert!(out.contains(&told), "{out}");
}

#[test]
fn a_foreign_directory_is_left_alone() {
    // Somebody's file lies where a store should be made: the run refuses, and the file stays.
    let room = tempfile::tempdir().expect("a directory");
    let theirs = room.path().join("esker");
    fs::create_dir_all(&theirs).expect("a folder");
    fs::write(theirs.join("thesis.txt"), "years of work").expect("a file");
    let line = format!(
        "--engines=esker --lines=fillseq --num=10 --limits=no --dir {}",
        room.path().display()
    );
    let (code, _, err) = compare(&line);
    assert_eq!(code, 2, "{err}");
    assert!(theirs.join("thesis.txt").is_file());
}

#[test]
fn nonsense_touches_nothing() {
    // A wrong word ends with 2 before any directory is made.
    let room = tempfile::tempdir().expect("a directory");
    let dir = room.path().join("stores");
    for wrong in [
        "--engines=bolt",
        "--lines=fillsqe",
        "--json=/nowhere/at/all.json",
    ] {
        let (code, _, err) = compare(&format!("{wrong} --dir {}", dir.display()));
        assert_eq!(code, 2, "{wrong}: {err}");
        assert!(!dir.exists());
    }
}
