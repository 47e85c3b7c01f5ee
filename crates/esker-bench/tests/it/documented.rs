//! Every kind of command line that a document shows, small: it runs, and says what it is read for.
//!
//! The two lines of the wiki are in `wiki_lines`, LevelDB's list is in `dialects`. The sizes here
//! are those of a test; everything else stands as the documents have it.

use std::fs;

use crate::tool::Tool;

/// Runs the words behind `esker bench`; gives the output, which must hold each of `parts`.
fn runs(tool: &Tool, line: &str, parts: &[&str]) -> String {
    let ran = tool.bench(line);
    assert_eq!(ran.code, 0, "{line}: {ran:?}");
    for part in parts {
        assert!(ran.out.contains(part), "{line}: no {part}: {ran:?}");
    }
    ran.out
}

#[test]
fn default_lists_of_rocksdb_run() {
    // What a bare command line runs in RocksDB's two dialects: a line for each benchmark that is
    // done here.
    let tool = Tool::new();
    for (dialect, last) in [("rocksdb2013", "acquireload"), ("rocksdb", "acquireload")] {
        let line = format!("db --compat={dialect} --num=1000 --db={{}}/db");
        let out = runs(&tool, &line, &["updaterandom :", "crc32c       :"]);
        let count = out
            .lines()
            .filter(|line| line.contains(" micros/op"))
            .count();
        assert!(count >= 17, "{dialect}: {count} lines");
        let line = out.lines().rfind(|line| line.contains(" micros/op"));
        assert!(line.is_some_and(|line| line.starts_with(last)), "{out}");
    }
}

#[test]
fn the_readme_s_lines_run() {
    // A benchmark with a histogram and a record, its page, and two runs held against each other.
    let tool = Tool::new();
    for name in ["before", "after"] {
        let line = format!(
            "db --num=1000 --histogram=1 --benchmarks=fillseq,readrandom \
                            --db={{}}/db --json={{}}/{name}.json"
        );
        runs(
            &tool,
            &line,
            &["fillseq      :", "Microseconds per op:\nCount: 1000 "],
        );
    }
    runs(&tool, "report {}/before.json", &["before.html"]);
    let chart = "report {}/before.json --chart {}/chart.svg --only fillseq";
    runs(&tool, chart, &["chart.svg"]);
    runs(
        &tool,
        "report {}/before.json {}/after.json",
        &["ratio", "fillseq"],
    );
    runs(
        &tool,
        "report {}/before.json {}/after.json --json",
        &["esker-bench-comparison"],
    );
    runs(
        &tool,
        "scenario",
        &[
            "merge-counters",
            "leveldb-suite",
            "large-values",
            "reviews",
            "reviews-sql",
            "pegasus",
            "service",
        ],
    );
}

#[test]
fn ycsb_s_workloads_run_as_pegasus_was_measured() {
    // Loads, then the ratios of writes and reads of the document, zipfian, with its percentiles.
    let tool = Tool::new();
    let shape = "--db {}/y -p fieldcount=1 -p fieldlength=320 -p recordcount=500 \
                 -p requestdistribution=zipfian -p hdrhistogram.percentiles=50,95,99,99.9";
    runs(
        &tool,
        &format!("ycsb load --workload a {shape} -threads 10"),
        &["[INSERT], Return=OK, 500"],
    );
    for (reads, writes) in [("0.25", "0.75"), ("0.967", "0.033"), ("1", "0")] {
        let line = format!(
            "ycsb run --workload a {shape} -threads 15 -p operationcount=300 \
             -p readproportion={reads} -p updateproportion={writes}"
        );
        runs(
            &tool,
            &line,
            &[
                "[OVERALL], Throughput(ops/sec), ",
                "[READ], 99.9PercentileLatency(us), ",
            ],
        );
    }
    // A file of properties, as YCSB's own script is called.
    fs::write(
        tool.path("workloadx"),
        "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=500\n\
              operationcount=100\nreadproportion=0.95\nupdateproportion=0.05\n",
    )
    .expect("a file");
    runs(
        &tool,
        "ycsb -t -P {}/workloadx -s -target 5000 --db {}/y",
        &["[UPDATE], "],
    );
    for letter in ["a", "b", "c", "d", "f"] {
        let line = format!("ycsb run --workload {letter} {shape} -p operationcount=100");
        runs(&tool, &line, &["[OVERALL], RunTime(ms), "]);
    }
}

#[test]
fn scenarios_of_the_documents_run() {
    // Counters, LevelDB's list, values of 100 KB, reviews: a summary and a record of all four. That
    // of a cluster says that there is none.
    let tool = Tool::new();
    let line =
        "scenario all --size small --scale=0.001 --rounds=1 --dir={}/stores --json={}/all.json";
    let out = runs(
        &tool,
        line,
        &[
            "merge-counters",
            "leveldb-suite",
            "large-values",
            "reviews",
            "reviews-sql",
            "not run: no cluster was named",
            "not run: it starts processes",
        ],
    );
    assert!(out.contains(" goal "), "{out}");
    runs(&tool, "report {}/all.json -o {}/all.html", &["all.html"]);
    let page = fs::read_to_string(tool.path("all.html")).expect("a page");
    for part in [
        "Published figures",
        "Goals",
        "Latency",
        "How it was measured",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
