//! The two long command lines with which the merge operator was once measured.

use crate::tool::Tool;

const WIKI: &str = "--disable_seek_compaction=1 --mmap_read=0 --statistics=1 --histogram=1 \
    --num=3000 --threads=3 --value_size=8 --block_size=65536 --db={}/sdb --disable_wal=1 \
    --stats_interval=1000 --max_background_compactions=20 \
    --level0_file_num_compaction_trigger=4 --level0_slowdown_writes_trigger=8 \
    --level0_stop_writes_trigger=12 --num_levels=6 \
    --delete_obsolete_files_period_micros=300000000 --min_level_to_compress=2 \
    --max_grandparent_overlap_factor=10 --stats_per_interval=1 \
    --max_bytes_for_level_base=10485760 --use_existing_db=0";

/// Flags of the line that have no effect.
const NOTED: [&str; 6] = [
    "disable_seek_compaction",
    "level0_slowdown_writes_trigger",
    "level0_stop_writes_trigger",
    "num_levels",
    "delete_obsolete_files_period_micros",
    "max_grandparent_overlap_factor",
];

#[test]
fn update_line_runs_as_it_stands() {
    // Three threads of 3000 updates each; what is found is what other threads have put.
    let tool = Tool::new();
    let ran = tool.ok(&format!("--benchmarks=updaterandom {WIKI}"));
    let line = ran.line("updaterandom");
    assert!(line.contains("micros/op ") && line.contains(" ops/sec; ( updates:3000 found:"));
    ran.notes("Compat:     rocksdb2013 (because of --max_grandparent_overlap_factor)");
    for name in NOTED {
        let note = format!("note: --{name} has no effect: ");
        assert_eq!(ran.err.matches(&note).count(), 1, "{name}: {}", ran.err);
    }
    assert_eq!(
        ran.err.matches("note: --").count(),
        NOTED.len(),
        "{}",
        ran.err
    );
    assert_eq!(ran.err.matches(" ... thread ").count(), 9);
    ran.tells("Microseconds per op:\nCount: 9000  Average: ");
}

#[test]
fn merge_line_runs_as_it_stands() {
    // The same with merges, which are as many as updates; without the operator nothing is done.
    let tool = Tool::new();
    let ran = tool.ok(&format!(
        "--benchmarks=mergerandom --merge_operator=uint64add {WIKI}"
    ));
    assert!(
        ran.line("mergerandom")
            .ends_with(" ops/sec; ( updates:3000)")
    );
    let without = tool.db_bench(&format!(
        "--compat=rocksdb2013 --benchmarks=mergerandom {WIKI}"
    ));
    assert_eq!(without.code, 1);
    let line = "mergerandom  : skipped (--merge_operator is unknown)\n";
    assert!(without.out.ends_with(line), "{}", without.out);
}
