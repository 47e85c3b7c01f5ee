//! Tests of the command line.

use super::*;
use crate::fail::FailureKind;

fn parsed(line: &str) -> Outcome<Arguments> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words)
}

#[test]
fn a_line_made_for_ycsb_is_understood() {
    // Both ways to say the phase; pairs win over files wherever they stand.
    let line = "run rocksdb -p recordcount=5 -P workloads/workloada -threads 4 -target 100 -s \
                -l x -p rocksdb.dir=/tmp/y -p esker.memory_limit=1GiB";
    let arguments = parsed(line).unwrap();
    let get = |name| arguments.properties.get(name);
    assert_eq!(get("recordcount"), Some("5"));
    assert_eq!(get("operationcount"), Some("1000"));
    assert_eq!(get("requestdistribution"), Some("zipfian"));
    assert_eq!(get("threadcount"), Some("4"));
    assert_eq!(get("target"), Some("100"));
    assert_eq!(get("status"), Some("true"));
    assert_eq!(get("dotransactions"), Some("true"));
    assert_eq!(arguments.dir(), Path::new("/tmp/y"));
    assert_eq!(
        arguments.own_settings(),
        [("memory_limit".to_owned(), "1GiB".to_owned())]
    );
    let load = parsed("-load -db site.ycsb.db.rocksdb.RocksDBClient --workload=c").unwrap();
    assert_eq!(load.properties.get("dotransactions"), Some("false"));
    assert_eq!(load.properties.get("readproportion"), Some("1"));
}

#[test]
fn slips_are_answered() {
    // What was meant, where it can be told.
    for (line, told) in [
        ("-thread 4", "did you mean -threads?"),
        ("--load", "did you mean -load?"),
        ("-treads 4", "did you mean -threads?"),
        ("--jsn x", "did you mean --json?"),
        ("--nonsense", "there are -P"),
        ("-p recordcount", "-p name=value"),
        ("-threads", "-threads needs a value"),
        ("walk", "write load or run"),
        ("load redis", "`redis`"),
        ("--use_existing_db=maybe", "0 or 1"),
        ("-P /nowhere/workloadx", "/nowhere/workloadx"),
        ("--format=xml", "there is no option --format"),
    ] {
        let failed = parsed(line).unwrap_err();
        assert_eq!(failed.kind, FailureKind::Usage, "{line}");
        assert!(failed.message.contains(told), "{line}: {failed}");
    }
}
