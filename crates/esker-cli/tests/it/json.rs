//! The shape of what `--json` prints.

use serde_json::json;

use crate::tool::Bench;

#[test]
fn entries_are_objects() {
    // Text as strings, other bytes as base64, absence as null.
    let bench = Bench::new();
    bench.ok(&["put", "a", "text"]);
    bench.ok(&["put", "--value-format", "hex", "b", "ff00"]);
    let get = |key| bench.run(&["get", "--json", key]);
    assert_eq!(
        get("a").exits(0).json(),
        json!({ "key": "a", "value": "text" })
    );
    let binary = json!({ "key": "b", "value": { "base64": "/wA=" } });
    assert_eq!(get("b").exits(0).json(), binary);
    assert_eq!(
        get("c").exits(3).json(),
        json!({ "key": "c", "value": null })
    );
    let scan = bench.ok(&["scan", "--json", "--hex"]);
    assert_eq!(
        scan.text(),
        "{\"key\":\"61\",\"value\":\"74657874\"}\n{\"key\":\"62\",\"value\":\"ff00\"}\n"
    );
    let count = bench.ok(&["count", "--json"]).json();
    assert_eq!(count, json!({ "entries": 2, "key_bytes": 2 }));
}

#[test]
fn events_are_lines_on_standard_error() {
    // They keep out of the way of what is asked for, and of who did not ask.
    let bench = Bench::new();
    assert_eq!(bench.ok(&["put", "a", "text"]).err, "");
    let told = bench.ok(&["compact", "--events"]);
    let words: Vec<&str> = told
        .err
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(words.first(), Some(&"database_opened"), "{told:?}");
    assert_eq!(words.last(), Some(&"database_closed"), "{told:?}");
    let mut ends = told
        .err
        .lines()
        .filter(|line| line.starts_with("compaction_end"));
    let end = ends.next().expect("it was compacted");
    assert!(
        end.contains("keyspace=\"default\"") && end.contains("ok=true"),
        "{end}"
    );
    assert_eq!(bench.ok(&["get", "a", "--events"]).text(), "text\n");
}

#[test]
fn reports_are_objects() {
    // Programs find the numbers that people read.
    let bench = Bench::new();
    bench.file("in.tsv", "k\tv\nbroken\n");
    let load = bench.ok(&["load", "--json", "in.tsv"]).json();
    assert_eq!(load["records"], 1);
    assert_eq!(load["malformed"], 1);
    assert_eq!(load["malformed_shown"][0]["line"], 2);
    assert_eq!(load["is_complete"], true);
    let stats = bench.ok(&["stats", "--json"]).json();
    assert_eq!(stats["keyspaces"][0]["name"], "default");
    assert!(stats["memory_bytes"].is_object() && stats["counters"].is_object());
    assert_eq!(stats["settings"]["memory_limit"]["origin"], "default");
    let levels = bench.ok(&["levels", "--json"]).json();
    assert_eq!(levels[0]["keyspace"], "default");
    assert_eq!(levels[0]["runs"][0]["files"][0]["smallest"], "k");
    assert!(bench.ok(&["compact", "--json"]).json()["seconds"].is_number());
}

#[test]
fn settings_are_a_catalogue() {
    // Names, defaults and reasons without a database; a profile shows as an origin.
    let bench = Bench::new();
    let mut command = bench.command(&["settings", "--json", "--set", "profile=read_heavy"]);
    let output = command.env_remove("ESKER_DB").output().unwrap();
    let settings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = settings.as_array().unwrap();
    assert!(
        all.iter()
            .any(|one| one["name"] == "memory_limit" && one["unit"] == "bytes")
    );
    assert!(all.iter().any(|one| one["origin"] == "profile"));
    assert!(
        all.iter()
            .all(|one| one["doc"].as_str().is_some_and(|doc| !doc.is_empty()))
    );
}

#[test]
fn what_shows_no_value_reads_none() {
    // The file of the one large value is gone: whoever reads it fails, and nobody else.
    let bench = Bench::new();
    bench.file(
        "in.jsonl",
        r#"{"key":"a","value":"1","expires":4000000000}"#,
    );
    bench.ok(&["load", "in.jsonl"]);
    let value = vec![b'x'; 1 << 20];
    bench
        .feed(&["put", "large", "--ttl", "1000000"], &value)
        .exits(0);
    let files = std::fs::read_dir(bench.path("db")).unwrap();
    for file in files.map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|end| end == "vlog") {
            std::fs::remove_file(file).unwrap();
        }
    }
    bench.run(&["get", "large"]).exits(3);
    let count = bench.ok(&["count", "--json"]).json();
    assert_eq!(count, json!({ "entries": 2, "key_bytes": 6 }));
    assert_eq!(bench.ok(&["count"]).text(), "2\n");
    let keys = bench.ok(&["scan", "--keys-only", "--json"]);
    assert_eq!(keys.text(), "{\"key\":\"a\"}\n{\"key\":\"large\"}\n");
    bench.ok(&["scan", "--keys-only", "--reverse"]);
    assert_eq!(bench.ok(&["expiry", "a"]).text(), "4000000000\n");
    assert_ne!(
        bench.ok(&["expiry", "large", "--json"]).json()["expires"],
        json!(null)
    );
    for words in [&["stats"][..], &["levels", "--files"], &["keyspaces"]] {
        bench.ok(words);
    }
}

#[test]
fn about_how_many_keys_there_are_is_told_without_reading_them() {
    // Two entries in the log: of the memory of the tool that reads it. A range has one of them.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    bench.ok(&["put", "b", "2"]);
    let told = bench.ok(&["count", "--approximate"]);
    assert!(
        told.text().starts_with("keys       about 2\n"),
        "{}",
        told.text()
    );
    let told = bench.ok(&["count", "--approximate", "--from", "b", "--json"]);
    assert_eq!(told.json()["keys"], json!(1));
    assert_eq!(told.json()["value_log_bytes"], json!(0));
}
