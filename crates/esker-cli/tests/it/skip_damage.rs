//! `dump --skip-damage`: what is left of a damaged database, which stays as it is.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::tool::{Bench, Ran};

/// Two keyspaces of 500 and 700 entries in files, and some in the log.
fn filled() -> Bench {
    let bench = Bench::new();
    let lines = |prefix: &str, count: usize| -> String {
        let line = |n| format!("{prefix}{n:05}\tvalue {n}\n");
        (0..count).map(line).collect()
    };
    let load = ["load", "--format", "tsv", "-"];
    bench.feed(&load, lines("a", 500).as_bytes()).exits(0);
    let load = ["load", "--keyspace", "ships", "--format", "tsv", "-"];
    bench.feed(&load, lines("b", 700).as_bytes()).exits(0);
    bench
}

/// Every file below a directory, with what it holds.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.append(&mut contents(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

/// Runs a command whose folder for what it puts together must be empty again when it ends, and
/// which must not change the database.
fn run(bench: &Bench, words: &[&str]) -> Ran {
    let scratch = bench.path("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let before = contents(&bench.path("db"));
    let mut command = bench.command(words);
    let ran: Ran = command.env("TMPDIR", &scratch).output().unwrap().into();
    assert_eq!(
        contents(&bench.path("db")),
        before,
        "the database was changed"
    );
    assert_eq!(
        fs::read_dir(&scratch).unwrap().count(),
        0,
        "something was left"
    );
    ran
}

fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[100] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_is_left_is_dumped_and_what_is_lost_is_told() {
    // A byte of a sorted file costs the block that it is in. A dump ends there and names the way;
    // on that way everything else is written, also from where nothing can be changed.
    let bench = filled();
    let file = bench.file_of("db", "sst");
    damage(&file);
    let name = file.file_name().unwrap().to_str().unwrap();
    let failed = run(&bench, &["dump", "--all"]).exits(3);
    assert!(
        failed.err.contains("`esker dump --skip-damage`"),
        "{}",
        failed.err
    );
    assert!(!bench.run(&["get", "a00499"]).err.contains("--skip-damage"));

    fs::set_permissions(bench.path("db"), Permissions::from_mode(0o500)).unwrap();
    let ran = run(&bench, &["dump", "--all", "--skip-damage"]).exits(3);
    fs::set_permissions(bench.path("db"), Permissions::from_mode(0o700)).unwrap();
    for told in [name, "\"a00000\"", "keyspace \"default\"", "saved"] {
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
    }
    let left = bench.file("left.jsonl", &ran.out);
    bench.ok(&["load", "--db", "copy", &left]);
    assert_eq!(bench.ok(&["count", "--db", "copy"]).text(), "318\n");
    let count = ["count", "--db", "copy", "--keyspace", "ships"];
    assert_eq!(bench.ok(&count).text(), "700\n");

    let ran = run(&bench, &["dump", "--skip-damage", "--json"]).exits(3);
    let told: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(told["lost_files"][0]["file"], name);
    assert_eq!(told["lost_files"][0]["gaps"][0]["from"], "a00000");
    assert_eq!(ran.text().lines().count(), 318);

    // The same as a repair keeps.
    bench.ok(&["repair", "--yes"]);
    assert_eq!(bench.ok(&["dump"]).text(), ran.text());
}

#[test]
fn a_lost_manifest_leaves_everything_to_dump() {
    // Neither CURRENT nor a manifest: the sorted files say whose they are. Other commands that read
    // say what is wrong.
    let bench = filled();
    let whole = bench.ok(&["dump", "--all"]);
    for entry in fs::read_dir(bench.path("db")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "CURRENT" || name.starts_with("MANIFEST") {
            fs::remove_file(path).unwrap();
        }
    }
    let failed = run(&bench, &["dump"]).exits(3);
    assert!(failed.err.contains("CURRENT is missing"), "{}", failed.err);
    assert!(failed.err.contains("--skip-damage"), "{}", failed.err);
    let ran = run(&bench, &["dump", "--all", "--skip-damage"]).exits(3);
    assert!(ran.err.contains("without a manifest"), "{}", ran.err);
    let rows = |ran: &Ran| -> Vec<String> {
        let lines = ran.text().lines().filter(|line| line.contains("\"key\""));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(rows(&ran).len(), 1200);
    assert_eq!(rows(&ran), rows(&whole));
}

#[test]
fn a_whole_database_is_dumped_without_a_word() {
    // And what is no database at all is no damaged one.
    let bench = filled();
    let ran = run(&bench, &["dump", "--skip-damage"]).exits(0);
    assert_eq!(ran.err, "");
    assert_eq!(ran.text(), bench.ok(&["dump"]).text());
    let ran = run(&bench, &["dump", "--skip-damage", "--keyspace", "cars"]).exits(3);
    assert!(ran.err.contains("there is no keyspace"), "{}", ran.err);
    let ran = bench
        .run(&["dump", "--skip-damage", "--db", "nowhere"])
        .exits(1);
    assert!(ran.err.contains("there is no directory"), "{}", ran.err);
    assert!(!bench.path("nowhere").exists());
    fs::create_dir(bench.path("empty")).unwrap();
    let ran = bench
        .run(&["dump", "--skip-damage", "--db", "empty"])
        .exits(1);
    assert!(ran.err.contains("there is no database"), "{}", ran.err);
}
