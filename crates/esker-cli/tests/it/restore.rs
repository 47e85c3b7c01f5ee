//! A dump of a whole database, loaded elsewhere, is that database.

use esker::{Db, Expiry, KeyspaceOptions};

use crate::tool::Bench;

/// A second far away.
const END: Expiry = Expiry::from_unix_ms(4_000_000_000_250);

/// Keyspaces with settings of their own, expiries, large values, merge operands, hostile names.
fn fill(bench: &Bench) {
    let builder = Db::builder(bench.path("db")).set("merge_operator", "uint64add");
    let db = builder.unwrap().open().unwrap();
    db.merge("count", 3_u64.to_le_bytes()).unwrap();
    db.merge("count", 4_u64.to_le_bytes()).unwrap();
    let options = KeyspaceOptions {
        ttl_ms: 1_000_000_500,
        ..KeyspaceOptions::default()
    };
    let visits = db.keyspace_with("visits \u{1b}[31m\t", options).unwrap();
    db.keyspace("empty").unwrap();
    let mut batch = db.batch();
    batch.put_until(&visits, "ends", "1", Some(END));
    batch.put_until(&visits, "stays", "2", None);
    batch.put_until(&visits, [0, 255, 92], vec![255; 9000], Some(END));
    batch.put(&db, "plain", "\\x41\t");
    batch.commit().unwrap();
    db.close().unwrap();
}

#[test]
fn a_whole_dump_restores_everything() {
    // Every spelling; then the restored database has the values, expiries, keyspaces, settings,
    // and folds on.
    for spelling in [&[][..], &["--hex"], &["--base64"]] {
        let bench = Bench::new();
        fill(&bench);
        let dump = bench.ok(&[&["dump", "--all"], spelling].concat());
        let copy = ["load", "--db", "copy", "-"];
        bench.feed(&[&copy, spelling].concat(), &dump.out).exits(0);
        let again = bench.ok(&[&["dump", "--all", "--db", "copy"], spelling].concat());
        assert_eq!(dump.text(), again.text());

        let db = Db::open(bench.path("copy")).unwrap();
        db.merge("count", 1_u64.to_le_bytes()).unwrap();
        assert_eq!(db.get("count").unwrap().unwrap()[..], 8_u64.to_le_bytes());
        assert_eq!(db.keyspaces().len(), 3);
        let visits = db.existing_keyspace("visits \u{1b}[31m\t").unwrap();
        let expiry = |key: &str| visits.get_valued(key).unwrap().unwrap().expiry;
        assert_eq!((expiry("ends"), expiry("stays")), (Some(END), None));
        assert_eq!(
            visits.own_settings(),
            [("ttl".into(), "1000000500ms".into())]
        );
    }
}

#[test]
fn expiries_are_kept_or_told() {
    // JSON lines of one keyspace have them; tab-separated lines have not, and that is said.
    let bench = Bench::new();
    fill(&bench);
    let name = "visits \u{1b}[31m\t";
    let ran = bench.ok(&["dump", "--keyspace", name]);
    assert!(ran.err.contains("2 entries that expire"), "{}", ran.err);
    let ran = bench.ok(&["dump", "--keyspace", name, "--format", "jsonl"]);
    assert_eq!(ran.err, "");
    bench
        .feed(
            &["load", "--db", "copy", "--format", "jsonl", "-"],
            &ran.out,
        )
        .exits(0);
    let db = Db::open(bench.path("copy")).unwrap();
    let ends = db.get_valued("ends").unwrap().unwrap();
    assert_eq!(ends.expiry, Some(END));
    bench.run(&["dump", "--all", "--format", "tsv"]).exits(2);
    bench.run(&["dump", "--all", "prefix"]).exits(2);
}

#[test]
fn a_dump_that_was_cut_short_is_told() {
    // Without its last line, and with a line missing in the middle.
    let bench = Bench::new();
    fill(&bench);
    let dump = bench.ok(&["dump", "--all"]);
    let lines: Vec<&str> = dump.text().lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    let ran = bench.feed(&["load", "--db", "cut", "-"], cut.as_bytes());
    let ran = ran.exits(1);
    assert!(ran.err.contains("not whole"), "{}", ran.err);
    let holed = [&lines[..2], &lines[3..]].concat().join("\n");
    let ran = bench.feed(&["load", "--db", "holed", "-"], holed.as_bytes());
    assert!(ran.exits(1).err.contains("not whole"));
    let newer = dump
        .text()
        .replacen("\"esker_dump\":1", "\"esker_dump\":2", 1);
    let ran = bench.feed(&["load", "--db", "newer", "-"], newer.as_bytes());
    assert!(ran.exits(1).err.contains("version 2"));
    assert!(!bench.path("newer").exists());
}
