//! Keyspaces, merges, batches, expiries, several keys.

use serde_json::json;

use crate::tool::Bench;

#[test]
fn keyspaces_are_listed_created_and_dropped() {
    // Settings stay with the one they were named for; what holds entries is not dropped by a slip.
    let bench = Bench::new();
    bench.run(&["keyspaces"]).exits(1);
    let make = [
        "keyspaces",
        "create",
        "visits",
        "--set",
        "merge_operator=uint64add",
    ];
    bench.ok(&make);
    assert!(bench.run(&make).exits(1).err.contains("already"));
    bench.ok(&["keyspaces", "create", "a\\\\b \\x1b"]);
    assert_eq!(
        bench.ok(&["keyspaces"]).text(),
        "a\\\\b \\x1b\ndefault\nvisits\n"
    );
    let listed = bench.ok(&["keyspaces", "list", "--json"]).json();
    assert_eq!(listed[1], json!({ "name": "default", "settings": {} }));
    assert_eq!(
        listed[2]["settings"],
        json!({ "merge_operator": "uint64add" })
    );
    let unlogged = ["keyspaces", "create", "u", "--set", "unlogged=true"];
    bench.ok(&unlogged);
    let listed = bench.ok(&["keyspaces", "--json"]).json();
    let settings = json!({ "unlogged": "true" });
    let expected = json!({ "name": "u", "settings": settings, "mark": null });
    assert_eq!(listed[2], expected);
    bench.ok(&["put", "--keyspace", "u", "k", "v"]);
    let stats = bench.ok(&["stats"]).text().to_string();
    assert!(stats.contains("unlogged; no mark is flushed"), "{stats}");
    bench.ok(&["keyspaces", "drop", "u", "--yes"]);
    bench.ok(&["put", "--keyspace", "a\\\\b \\x1b", "k", "v"]);
    let ran = bench.run(&["keyspaces", "drop", "a\\\\b \\x1b"]).exits(2);
    assert!(ran.err.contains("--yes"), "{}", ran.err);
    bench.ok(&["keyspaces", "drop", "a\\\\b \\x1b", "--yes"]);
    bench.ok(&["keyspaces", "drop", "visits"]);
    bench.run(&["keyspaces", "drop", "visits"]).exits(3);
    bench.ok(&["put", "k", "v"]);
    for words in [&["--json"][..], &["--yes"]] {
        let ran = bench.run(&[&["keyspaces", "drop", "default"], words].concat());
        assert!(ran.exits(1).err.contains("`esker delete --from ''`"));
    }
    bench
        .run(&["keyspaces", "create", "c", "--set", "ttl=soon"])
        .exits(2);
    assert_eq!(bench.ok(&["keyspaces"]).text(), "default\n");
}

#[test]
fn operands_are_merged() {
    // A counter, a list, and a keyspace that has no operator.
    let bench = Bench::new();
    bench.ok(&[
        "keyspaces",
        "create",
        "visits",
        "--set",
        "merge_operator=uint64add",
    ]);
    for _ in 0..3 {
        bench.ok(&["merge", "--keyspace", "visits", "--number", "anna", "2"]);
    }
    let get = ["get", "--keyspace", "visits", "--number", "anna"];
    let forgotten = ["merge", "--keyspace", "visits", "anna", "2"];
    let ran = bench.run(&forgotten).exits(2);
    assert!(ran.err.contains("--number"), "{}", ran.err);
    assert_eq!(bench.ok(&get).text(), "6\n");
    let ran = bench.run(&["merge", "log", "a"]).exits(1);
    assert!(ran.err.contains("merge_operator"), "{}", ran.err);
    bench.ok(&["merge", "--set", "merge_operator=append", "log", "a"]);
    bench.ok(&["merge", "log", "b"]);
    assert_eq!(bench.ok(&["get", "log"]).text(), "a,b\n");
    bench.run(&["get", "--number", "log"]).exits(1);
    bench.run(&["merge", "--number", "log", "many"]).exits(2);
}

#[test]
fn a_batch_happens_as_a_whole_or_not_at_all() {
    // Every kind of line; then one wrong line among good ones leaves everything as it was.
    let bench = Bench::new();
    bench.ok(&["put", "old", "1"]);
    bench.ok(&["put", "p:1", "1"]);
    let lines = "put\tk\\\\\tv\\t\nput\tshort\t1\t1000\ndelete\told\ndelete-prefix\tp:\n\
                 keyspace\tother\nput\tx\ty\nput\tz\ty\ndelete-range\tz\tzz\n";
    assert_eq!(
        bench
            .feed(&["batch", "--json"], lines.as_bytes())
            .exits(0)
            .json()["writes"],
        7
    );
    assert_eq!(bench.ok(&["scan"]).text(), "k\\\\\tv\\t\nshort\t1\n");
    assert_eq!(bench.ok(&["scan", "--keyspace", "other"]).text(), "x\ty\n");
    for wrong in [
        "put\tonly",
        "put\ta\tb\tsoon",
        "frob\ta",
        "merge\ta\tb",
        "put\t\\q\tb",
    ] {
        let lines = format!("put\tnew\tv\n{wrong}\n");
        let ran = bench.feed(&["batch"], lines.as_bytes()).exits(2);
        assert!(ran.err.contains("standard input:2:") && ran.err.contains("nothing was written"));
    }
    bench.run(&["get", "new"]).exits(3);
}

#[test]
fn several_keys_and_their_expiries_are_told() {
    // A line for each that is there, on standard error who is not; one key alone stays plain.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    bench.ok(&["put", "b", "2", "--ttl", "1000"]);
    assert_eq!(bench.ok(&["get", "b", "a"]).text(), "b\t2\na\t1\n");
    let ran = bench.run(&["get", "a", "c", "d"]).exits(3);
    assert_eq!(ran.text(), "a\t1\n");
    assert!(
        ran.err.contains("\"c\"") && ran.err.contains("\"d\""),
        "{}",
        ran.err
    );
    assert_eq!(bench.ok(&["expiry", "a"]).text(), "never\n");
    let both = bench.ok(&["expiry", "a", "b"]);
    let second = both
        .text()
        .strip_prefix("a\tnever\nb\t")
        .unwrap()
        .trim_end();
    assert!(second.parse::<u64>().unwrap() > 1_700_000_000);
    let json = bench.ok(&["expiry", "--json", "a"]).json();
    assert_eq!(json, json!({ "key": "a", "expires": null }));
    bench.run(&["expiry", "c"]).exits(3);
}

#[test]
fn a_put_lives_as_long_as_a_unit_says() {
    // The spellings of the setting `ttl`, and a refusal that names them.
    let bench = Bench::new();
    for (time, seconds) in [("90", 90), ("2min", 120), ("1w", 7 * 86_400)] {
        let before = unix_seconds();
        bench.ok(&["put", "a", "1", "--ttl", time]);
        let ends: u64 = bench.ok(&["expiry", "a"]).text().trim().parse().unwrap();
        assert!(
            (before..=unix_seconds() + 1).contains(&(ends - seconds)),
            "{time}"
        );
    }
    for (time, least) in [("2500ms", 2.5), ("1.5", 1.5), ("0.250s", 0.25)] {
        let before = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        bench.ok(&["put", "b", "1", "--ttl", time]);
        let ends = bench.run(&["expiry", "b"]);
        // A slow machine may come too late for the shortest one.
        if let Ok(ends) = ends.text().trim().parse::<f64>() {
            assert!(
                ends >= before.as_secs_f64() + least - 0.001,
                "{time}: {ends}"
            );
        }
    }
    for wrong in ["soon", "none", "-1", "1.0005s", "1.5d1"] {
        let refused = bench
            .run(&["put", "a", "1", &format!("--ttl={wrong}")])
            .exits(2);
        assert!(refused.err.contains("10min"), "{refused:?}");
    }
}

fn unix_seconds() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.unwrap().as_secs()
}
