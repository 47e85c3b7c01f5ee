//! What db_bench has not: records, open loops, checked values, real data.

use std::fs;

use esker_bench::report::json;

use crate::tool::Tool;

#[test]
fn record_holds_what_was_measured() {
    // Two benchmarks with everything that a report wants to know.
    let tool = Tool::new();
    tool.ok("--benchmarks=fillseq,readrandom --num=2000 --json={}/run.json --drain");
    let record = json::read(&tool.path("run.json")).unwrap();
    let [fill, read] = &record.measurements[..] else {
        panic!("{record:?}");
    };
    assert_eq!(
        (fill.name.as_str(), fill.ops, fill.bytes),
        ("fillseq", 2000, 232_000)
    );
    assert!(fill.is_drained && !read.is_drained);
    assert!(fill.engine_work.write_amplification.unwrap() >= 1.0);
    // Sorted files of values that can be packed to half; the log laid out ahead is not in it.
    let space = fill.engine_work.space_amplification.unwrap();
    assert!((0.3..1.3).contains(&space), "{space}");
    assert_eq!(read.latencies[0].kind, "read");
    assert_eq!(read.latencies[0].count, 2000);
    assert_eq!(read.message, "(2000 of 2000 found)");
    assert!(read.settings.iter().any(|row| row.wish == "cache_bytes"));
    assert!(record.machine.cpu_count > 0 && record.started_unix_s > 0);
    assert!(read.usage.peak_rss_bytes > 0 && !read.series.samples.is_empty());
}

#[test]
fn open_loop_keeps_its_rate() {
    // 200 operations at 1000 a second take a fifth of a second, however fast the engine is.
    let tool = Tool::new();
    tool.ok("--benchmarks=fillseq --num=200 --target_rate=1000 --json={}/run.json");
    let record = json::read(&tool.path("run.json")).unwrap();
    let fill = &record.measurements[0];
    assert_eq!(fill.target_rate, Some(1000.0));
    assert!(fill.wall_s >= 0.198, "{}", fill.wall_s);
}

#[test]
fn values_are_checked_against_their_keys() {
    // Written with --verify all is right, also with lines of a file; without it, it is told.
    let tool = Tool::new();
    fs::write(tool.path("lines.txt"), "first\nsecond value\nthird").unwrap();
    for source in ["random", "file:{}/lines.txt"] {
        tool.ok(&format!(
            "--benchmarks=fillrandom,readrandom --num=1000 --verify --value_source={source}"
        ));
    }
    tool.ok("--benchmarks=fillseq --num=1000");
    let told = tool.db_bench("--benchmarks=readrandom --num=1000 --verify --use_existing_db=1");
    assert_eq!(told.code, 1);
    told.notes("is not what --verify writes");
}

#[test]
fn keys_follow_a_distribution() {
    // Zipfian keys leave most of the key space empty: a walk over it meets few.
    let tool = Tool::new();
    let ran = tool.ok(
        "--benchmarks=fillrandom,readseq --num=5000 --key_distribution=zipfian:1.2 \
         --json={}/run.json --warm_up=0",
    );
    assert!(ran.line("readseq").contains("MB/s"));
    let record = json::read(&tool.path("run.json")).unwrap();
    assert!(record.measurements[1].ops < 2500, "{record:?}");
}

#[test]
fn warm_up_leaves_nothing_in_what_is_told() {
    // A second of reads in front of a thousand: the line tells of a thousand, and a walk that came
    // to the end while it warmed up begins anew.
    let tool = Tool::new();
    tool.ok("--benchmarks=fillseq --num=1000 --compat=rocksdb --seed=1");
    let ran = tool.ok(
        "--benchmarks=readrandom,readseq --num=1000 --compat=rocksdb --seed=1 --warm_up=1 \
         --use_existing_db=1",
    );
    assert!(
        ran.line("readrandom").ends_with("(1000 of 1000 found)"),
        "{}",
        ran.out
    );
    assert!(
        ran.line("readseq").contains(" 1000 operations;"),
        "{}",
        ran.out
    );
}

#[test]
fn drained_writes_owe_nothing() {
    // What was written is all in files and nothing is left to merge; without the flag the
    // memtable still holds it.
    let tool = Tool::new();
    for (flag, is_drained) in [("--drain", true), ("", false)] {
        tool.ok(&format!(
            "--benchmarks=fillrandom --num=20000 --json={{}}/run.json {flag}"
        ));
        let record = json::read(&tool.path("run.json")).unwrap();
        let fill = &record.measurements[0];
        assert_eq!(fill.is_drained, is_drained);
        if is_drained {
            assert_eq!(fill.engine_work.debt_bytes, Some(0));
            let flushed = fill.engine_work.own.iter();
            let mut flushed = flushed.filter(|(name, _)| name == "esker_flush_bytes_total");
            assert!(flushed.next().is_some_and(|(_, bytes)| *bytes > 0));
        }
    }
}

#[test]
fn cold_reads_say_what_was_dropped() {
    // Only in front of benchmarks that read and leave the store as it is.
    let tool = Tool::new();
    let ran = tool.ok("--benchmarks=fillseq,readrandom,overwrite,readseq --num=1000 --drop_cache");
    let notes: Vec<&str> = ran
        .err
        .lines()
        .filter(|line| line.contains("dropped"))
        .collect();
    assert_eq!(notes.len(), 2, "{}", ran.err);
    assert!(
        notes[0].starts_with("note: before readrandom: ")
            && notes[0].ends_with("dropped from the page cache by advice"),
        "{}",
        notes[0]
    );
    assert!(ran.line("readseq").contains("MB/s"));
}
