//! Wrong command lines, and directories that are nobody's to empty.

use crate::tool::Tool;

#[test]
fn mistakes_are_told_with_advice_and_touch_nothing() {
    // Each exits with 2 before a directory is made.
    let tool = Tool::new();
    for (line, advice) in [
        ("--benchmarks=filseq", "did you mean fillseq?"),
        ("--benchmarks=fillseq --treads=2", "did you mean --threads?"),
        ("--benchmarks=fillseq --num=-3", "a whole number from 1"),
        ("--json=/no/such/dir/run.json", "a directory that is there"),
        ("--compression_type=zlib", "none, snappy, lz4 or zstd"),
        ("--benchmarks=mergerandom", "needs --merge_operator"),
        ("--set=no.such=1 --benchmarks=fillseq", "no.such"),
        ("--use_existing_db=1", "there is no database"),
    ] {
        let ran = tool.db_bench(line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.err.contains(advice), "{line}: {ran:?}");
        assert!(!tool.path("db/CURRENT").exists(), "{line}");
    }
}

#[test]
fn nobody_elses_database_is_destroyed() {
    // A database of the user's own: refused, then kept with --use_existing_db, and gone only
    // when told twice.
    let tool = Tool::new();
    let dir = tool.path("db");
    let db = esker::Db::open(&dir).unwrap();
    db.put("ship", "anna").unwrap();
    db.close().unwrap();
    drop(db);
    let is_there = || {
        let db = esker::Db::open_read_only(&dir).unwrap();
        db.get("ship").unwrap().is_some()
    };
    for line in ["", "--use_existing_db=0", "--yes"] {
        let ran = tool.db_bench(&format!("--benchmarks=fillseq --num=10 {line}"));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.err.contains("refusing to destroy") && is_there(),
            "{ran:?}"
        );
    }
    let kept = tool.ok("--benchmarks=fillseq,readseq --num=10 --use_existing_db=1");
    assert!(
        kept.line("fillseq")
            .ends_with("skipped (--use_existing_db is true)")
            && is_there()
    );
    tool.ok("--benchmarks=fillseq --num=10 --use_existing_db=0 --yes");
    assert!(!is_there());
}

#[test]
fn help_and_version_are_told() {
    // Both on standard output, with nothing done.
    let tool = Tool::new();
    assert!(tool.ok("--help").out.contains("--benchmarks"));
    assert!(tool.ok("--version").out.contains("db_bench of Esker"));
    assert!(!tool.path("db").exists());
}
