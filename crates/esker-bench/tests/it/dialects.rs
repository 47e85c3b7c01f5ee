//! Every benchmark of every dialect, small.

use crate::tool::Tool;

#[test]
fn leveldb_runs_what_is_not_in_its_list() {
    // Unknown names are told and passed over.
    let tool = Tool::new();
    let ran = tool.ok(
        "--compat=leveldb --num=2000 --threads=2 --histogram=1 --benchmarks=fillseq,nonsense,\
         readmissing,seekrandom,readwhilewriting,deleteseq,deleterandom,stats,",
    );
    ran.notes("unknown benchmark 'nonsense'\n");
    assert!(ran.line("seekrandom").contains("(2000 of 2000 found)"));
    assert!(ran.line("readmissing").ends_with("micros/op;"));
    ran.tells("Microseconds per op:\nCount: 4000  Average: ");
    ran.tells("Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n");
}

#[test]
fn rocksdb_runs_its_list() {
    // Lines of today's form, a histogram for each kind, statistics at the end.
    let tool = Tool::new();
    let ran = tool.ok(
        "--compat=rocksdb --num=2000 --seed=7 --histogram --statistics --merge_operator=uint64add \
         --value_size=8 --batch_size=10 --seek_nexts=5 --disable_wal \
         --benchmarks=fillseq,fillrandom,overwrite,readrandom,readseq,readreverse,readmissing,\
         seekrandom,multireadrandom,readwhilewriting,updaterandom,mergerandom,deleterandom,flush,\
         compact,waitforcompaction,stats",
    );
    let fill = ran.line("fillseq");
    assert!(
        fill.contains(" ops/sec ") && fill.contains(" seconds 2000 operations;"),
        "{fill}"
    );
    ran.tells("Microseconds per update:\nCount: 2000 Average: ");
    ran.tells("\nPercentiles: P50: ");
    ran.tells("STATISTICS:\n");
    ran.tells("esker_write_entries_total COUNT : ");
    ran.tells(&format!("DB path: [{}]\n", tool.path("db").display()));
    let unknown = tool.db_bench("--compat=rocksdb --benchmarks=fillseq,nonsense,readseq --num=10");
    assert_eq!(unknown.code, 1);
    assert!(
        unknown.err.ends_with("unknown benchmark 'nonsense'\n"),
        "{}",
        unknown.err
    );
    assert!(!unknown.out.contains("readseq"));
}

#[test]
fn time_bounds_random_work() {
    // One second of reads, whatever the count; the count of threads is that of measured ones.
    let tool = Tool::new();
    let ran = tool.ok("--benchmarks=fillseq,readwhilewriting --num=1000 --duration=1");
    let line = ran.line("readwhilewriting");
    let seconds: f64 = line.split_whitespace().nth(6).unwrap().parse().unwrap();
    assert!((0.9..100.0).contains(&seconds), "{line}");
}

#[test]
fn leveldb_runs_its_default_list_in_one_go() {
    // Everything that a bare command line runs, checksums and packing included: a line for each.
    // How many keys the reads find is held against LevelDB by the scenario of this list.
    let tool = Tool::new();
    let ran = tool.ok("--num=1000");
    let names: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| line.contains(" micros/op;"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        names.join(","),
        "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,readseq,readreverse,\
         compact,readrandom,readseq,readreverse,fill100K,crc32c,snappycomp,snappyuncomp,\
         zstdcomp,zstduncomp"
    );
    assert!(ran.line("snappycomp").contains("(output: "), "{}", ran.out);
    assert!(ran.line("fillsync").ends_with("(1 ops)"));
    ran.tells("Entries:    1000\n");
    ran.notes("Compat:     leveldb (the default");
}
