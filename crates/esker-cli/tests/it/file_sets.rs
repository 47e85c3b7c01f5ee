//! Keyspaces move between databases by their files, and bulk loads are whole or nothing.

use crate::tool::Bench;

fn table(numbers: impl Iterator<Item = u32>) -> String {
    numbers
        .map(|number| format!("k{number:05}\tv{number}\n"))
        .collect()
}

#[test]
fn a_keyspace_moves_by_its_files() {
    let bench = Bench::new();
    bench.file("in.tsv", table(0..500));
    bench.ok(&["load", "in.tsv"]);
    bench.ok(&["put", "k00003", "changed"]);
    bench.ok(&["--keyspace", "ships", "put", "anna", "in port"]);
    let files = bench.path("files").display().to_string();
    let ran = bench.ok(&["export", "--all", &files]);
    assert!(ran.text().contains("default, ships"), "{}", ran.text());
    // A directory that has anything in it is somebody's.
    bench.run(&["export", &files]).exits(1);
    bench.ok(&["put", "k00004", "later"]);

    let there = bench.path("there").display().to_string();
    let taken = bench.ok(&["--db", &there, "ingest", "--all", "--json", &files]);
    assert_eq!(
        taken.json()["keyspaces"],
        serde_json::json!(["default", "ships"])
    );
    assert_eq!(bench.ok(&["--db", &there, "count"]).text(), "500\n");
    let get = |key: &str| bench.ok(&["--db", &there, "get", key]).text().to_owned();
    assert_eq!(get("k00003"), "changed\n");
    assert_eq!(get("k00004"), "v4\n");
    // Of several keyspaces one must be named.
    bench.run(&["--db", &there, "ingest", &files]).exits(1);
    bench.ok(&["--db", &there, "verify"]);

    // Below, only what is missing comes.
    let one = bench.path("one").display().to_string();
    bench.ok(&["export", &one]);
    let third = bench.path("third").display().to_string();
    bench.ok(&["--db", &third, "put", "k00003", "own"]);
    bench.ok(&["--db", &third, "ingest", "--below", "--move", &one]);
    assert_eq!(bench.ok(&["--db", &third, "get", "k00003"]).text(), "own\n");
    assert_eq!(
        bench.ok(&["--db", &third, "get", "k00004"]).text(),
        "later\n"
    );
    assert!(
        std::fs::read_dir(bench.path("one"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn a_bulk_load_comes_to_the_same_as_a_plain_one() {
    // In order, out of order in many runs, and with keys that come twice.
    let mixed = table((0..2_000).map(|number| number * 7_919 % 1_500));
    let twice = format!("{}k00001\tlast\n", table(0..3));
    for (text, memory) in [(table(0..900), "1KiB"), (mixed, "20KiB"), (twice, "1MiB")] {
        let (plain, bulk) = (Bench::new(), Bench::new());
        for bench in [&plain, &bulk] {
            bench.file("in.tsv", &text);
            bench.ok(&["put", "k00002", "before"]);
        }
        let told = plain.ok(&["load", "in.tsv"]).text().to_owned();
        let ran = bulk.ok(&["load", "--bulk", "--bulk-memory", memory, "in.tsv"]);
        assert_eq!(ran.text().split(" in ").next(), told.split(" in ").next());
        assert_eq!(bulk.ok(&["scan"]).text(), plain.ok(&["scan"]).text());
        bulk.ok(&["verify"]);
        let names = std::fs::read_dir(bulk.path("")).unwrap();
        let mut names = names.map(|name| name.unwrap().file_name().into_string().unwrap());
        assert!(names.all(|name| !name.ends_with(".bulk")));
    }
}

#[test]
fn a_bulk_load_that_is_stopped_leaves_nothing() {
    let bench = Bench::new();
    bench.ok(&["put", "own", "1"]);
    bench.file("in.tsv", format!("{}bad\n{}", table(0..50), table(50..60)));
    let words = [
        "load",
        "--bulk",
        "--on-error",
        "stop",
        "--format",
        "tsv",
        "in.tsv",
    ];
    let ran = bench.run(&words).exits(1);
    assert!(ran.text().starts_with("loaded 0 records"), "{}", ran.text());
    assert_eq!(bench.ok(&["count"]).text(), "1\n");
}

#[test]
fn what_lies_where_a_bulk_load_makes_its_files_is_not_touched() {
    let bench = Bench::new();
    bench.file("in.tsv", table(0..5));
    let db = bench.path("harbour").display().to_string();
    bench.ok(&["--db", &db, "put", "own", "1"]);
    let theirs = bench.path("harbour.bulk");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("letters"), "dear").unwrap();
    // A path that ends in a slash is the same directory.
    let with_slash = format!("{db}/");
    let ran = bench.run(&["--db", &with_slash, "load", "--bulk", "in.tsv"]);
    ran.exits(1);
    assert!(theirs.join("letters").exists());
    std::fs::remove_file(theirs.join("letters")).unwrap();
    // Empty, or left by a load that was stopped, it is used.
    std::fs::write(theirs.join("BULK-LOAD"), "").unwrap();
    std::fs::create_dir(theirs.join("0")).unwrap();
    bench.ok(&["--db", &with_slash, "load", "--bulk", "in.tsv"]);
    assert_eq!(bench.ok(&["--db", &db, "count"]).text(), "6\n");
    assert!(!theirs.exists());
}

#[test]
fn a_bulk_load_does_not_depend_on_the_order_of_its_input() {
    // The empty key comes twice, and what has ended hides what was there: in one run and in many.
    let lines = [
        r#"{"key":"","value":"first"}"#,
        r#"{"key":"","value":"second"}"#,
        r#"{"key":"a","value":"x","expires":1}"#,
        r#"{"key":"c","value":"y"}"#,
    ];
    let backwards: Vec<&str> = lines[2..]
        .iter()
        .rev()
        .chain(&lines[..2])
        .copied()
        .collect();
    for text in [lines.join("\n"), backwards.join("\n")] {
        for words in [&["load"][..], &["load", "--bulk", "--bulk-memory", "1"]] {
            let bench = Bench::new();
            bench.file("in.jsonl", &text);
            bench.ok(&["put", "a", "before"]);
            bench.ok(&[words, &["in.jsonl"]].concat());
            assert_eq!(bench.ok(&["get", ""]).text(), "second\n");
            assert_eq!(bench.ok(&["count"]).text(), "2\n", "{words:?}");
        }
    }
}
