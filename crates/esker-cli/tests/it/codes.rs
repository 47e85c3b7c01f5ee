//! Exit codes, and the one line that goes with them.

use crate::tool::Bench;

#[test]
fn done_is_zero() {
    // What was put is there, until it is deleted.
    let bench = Bench::new();
    bench.ok(&["put", "ship:anna", "in port"]);
    assert_eq!(bench.ok(&["get", "ship:anna"]).text(), "in port\n");
    assert_eq!(bench.ok(&["get", "--raw", "ship:anna"]).text(), "in port");
    let told = bench.ok(&["delete", "ship:anna", "--json"]).json();
    assert_eq!(told["deleted"]["key"], "ship:anna");
    bench.run(&["get", "ship:anna"]).exits(3);
}

#[test]
fn failure_is_one() {
    // A directory without a database is not created by reading it, and is named.
    let bench = Bench::new();
    let ran = bench.run(&["get", "a"]).exits(1);
    assert!(ran.err.starts_with("esker: "), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1);
    assert!(!bench.path("db").exists());
    bench.run(&["load", "no-such-file.tsv"]).exits(1);
}

#[test]
fn nonsense_is_two() {
    // Words that mean nothing, each told with what to do instead.
    let bench = Bench::new();
    bench.run(&["frobnicate"]).exits(2);
    bench.run(&["get"]).exits(2);
    bench.run(&["put", "--hex", "0g", "00"]).exits(2);
    bench
        .run(&["put", "--set", "memory_limit", "a", "b"])
        .exits(2);
    let ran = bench
        .run(&["put", "--set", "memory_limti=1GiB", "a", "b"])
        .exits(2);
    assert!(ran.err.contains("memory_limit"), "{}", ran.err);
    bench.run(&["scan", "--from", "b", "--to", "a"]).exits(2);
    // A number that is none, and is no option either.
    for (words, told) in [
        (&["put", "a", "b", "--ttl", "-5"][..], "give seconds"),
        (&["scan", "--limit", "-1"], "give a whole number, 0 or more"),
        (
            &["kv", "--table", "t", "incr", "a", "b", "x"],
            "give a whole number",
        ),
    ] {
        let ran = bench.run(words).exits(2);
        assert!(ran.err.contains(told), "{words:?}: {}", ran.err);
    }
    let mut nowhere = bench.command(&["get", "a"]);
    let ran = crate::tool::Ran::from(nowhere.env_remove("ESKER_DB").output().unwrap()).exits(2);
    assert!(ran.err.contains("--db"), "{}", ran.err);
    assert!(!bench.path("db").exists());
}

#[test]
fn absence_is_three() {
    // A key, a keyspace: named on standard error, nothing on standard output.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    let ran = bench.run(&["get", "b"]).exits(3);
    assert!(ran.out.is_empty() && ran.err.contains("\"b\""));
    let ran = bench.run(&["get", "--keyspace", "other", "a"]).exits(3);
    assert!(ran.err.contains("default"), "{}", ran.err);
}

#[test]
fn ranges_are_deleted_whole() {
    // A prefix, a range, everything from a key on; an empty prefix is refused.
    let bench = Bench::new();
    let lines: String = ["a1", "a2", "b1", "b2", "c1"]
        .map(|key| format!("{key}\tv\n"))
        .concat();
    bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    bench.run(&["delete", "--prefix", ""]).exits(2);
    bench.ok(&["delete", "--prefix", "a"]);
    bench.ok(&["delete", "--from", "b1", "--to", "b2"]);
    assert_eq!(bench.ok(&["scan", "--keys-only"]).text(), "b2\nc1\n");
    bench.ok(&["delete", "--from", ""]);
    assert_eq!(bench.ok(&["count"]).text(), "0\n");
}

#[test]
fn a_database_is_not_made_among_other_files() {
    // A directory of somebody's: nothing is written there, and the remedy works. What a file system
    // begins with, and a creation that a crash cut short, are no hindrance.
    let bench = Bench::new();
    bench.file("letter.txt", "Dear Anna");
    let here = bench.path("").display().to_string();
    for words in [
        &["put", "a", "1"][..],
        &["load", "letter.txt", "--format", "tsv"],
    ] {
        let ran = bench.run(&[words, &["--db", &here]].concat()).exits(1);
        assert!(
            ran.err.contains("letter.txt; name a directory"),
            "{}",
            ran.err
        );
    }
    let names = std::fs::read_dir(bench.path("")).unwrap();
    assert_eq!(names.count(), 1);
    std::fs::create_dir_all(bench.path("db/lost+found")).unwrap();
    std::fs::write(bench.path("db/LOCK"), "").unwrap();
    bench.ok(&["put", "a", "1"]);
    bench.file("db/notes.txt", "later files are the user's business");
    bench.ok(&["put", "a", "2"]);
}

#[test]
fn a_stray_file_changes_no_workload() {
    // A file named as a workload is lies here by chance: the workload runs, and it is said how the
    // file would be meant.
    let bench = Bench::new();
    bench.file("f", "recordcount=nonsense\n");
    let words = ["bench", "ycsb", "load", "--db", "y", "-p", "recordcount=10"];
    let ran = bench.ok(&[&words[..], &["--workload", "f"]].concat());
    assert!(ran.err.contains("workload F, built in"), "{}", ran.err);
    assert!(ran.err.contains("./f would be that file"), "{}", ran.err);
    let ran = bench.run(&[&words[..], &["--workload", "./f"]].concat());
    assert!(!ran.err.contains("built in"), "{}", ran.err);
}

#[test]
fn a_directory_that_cannot_be_looked_into_is_not_called_empty() {
    // A link that leads to itself, as it cannot be followed by root either.
    let bench = Bench::new();
    std::os::unix::fs::symlink("db", bench.path("db")).unwrap();
    for words in [&["get", "a"][..], &["put", "a", "1"], &["stats"]] {
        let ran = bench.run(words).exits(1);
        assert!(ran.err.contains("cannot look into"), "{ran:?}");
        assert!(!ran.err.contains("no database"), "{ran:?}");
    }
}
