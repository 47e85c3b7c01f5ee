//! What db_bench has not: records, open loops, checked values, cold reads.

use esker_bench::report::json;

use crate::tool::Tool;

#[test]
fn record_holds_what_was_measured() {
    // Two benchmarks with everything that a report wants to know.
    let tool = Tool::new();
    tool.ok("--benchmarks=fillseq,waitforcompaction,readrandom --num=2000 --json={}/run.json");
    let record = json::read(&tool.path("run.json")).unwrap();
    let [fill, read] = &record.measurements[..] else {
        panic!("{record:?}");
    };
    assert_eq!(
        (fill.name.as_str(), fill.ops, fill.bytes),
        ("fillseq", 2000, 232_000)
    );
    assert!(fill.engine_work.write_amplification.unwrap() >= 1.0);
    // What memtables hold, and what of it lies in sorted files already.
    let space = fill.engine_work.space_amplification.unwrap();
    assert!((0.3..3.0).contains(&space), "{space}");
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
    // Written with --verify all is right; without it, it is told.
    let tool = Tool::new();
    tool.ok("--benchmarks=fillrandom,readrandom --num=1000 --verify");
    tool.ok("--benchmarks=fillseq --num=1000");
    let told = tool.db_bench("--benchmarks=readrandom --num=1000 --verify --use_existing_db=1");
    assert_eq!(told.code, 1);
    told.notes("is not what --verify writes");
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
