//! Repairing: a dry run tells and changes nothing, `--yes` saves what is whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::tool::Bench;

/// Loads as many keys, all beginning with `prefix`, and puts them into sorted files.
fn load(bench: &Bench, prefix: &str, count: usize) {
    let lines: String = (0..count)
        .map(|n| format!("{prefix}{n:05}\tvalue {n}\n"))
        .collect();
    bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
}

/// The sorted files of the database.
fn sorted_files(bench: &Bench) -> Vec<PathBuf> {
    let files = fs::read_dir(bench.path("db")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut ssts: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "sst"))
        .collect();
    ssts.sort();
    ssts
}

/// Every file of the database but the lock, with what it holds.
fn contents(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(bench.path("db")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .filter(|path| path.is_file() && !path.ends_with("LOCK"))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

#[test]
fn repair_of_a_whole_database_does_nothing() {
    // With and without `--yes`; where there is no database there is nothing to repair.
    let bench = Bench::new();
    bench.run(&["repair"]).exits(1);
    load(&bench, "a", 10);
    let before = contents(&bench);
    let ran = bench.ok(&["repair"]);
    assert!(ran.text().contains("manifest: whole"), "{}", ran.text());
    assert_eq!(ran.err, "");
    let report = bench.ok(&["repair", "--yes", "--json"]).json();
    assert_eq!(report["is_whole"], true);
    assert_eq!(contents(&bench), before);
    bench.run(&["repair", "--yes", "--dry-run"]).exits(2);
}

#[test]
fn damaged_file_is_told_then_taken_out() {
    // Two loads make two files. A byte of the first changes: it costs the block that it is in, and
    // the rest of the file and the second one survive.
    let bench = Bench::new();
    load(&bench, "a", 500);
    let first = sorted_files(&bench);
    load(&bench, "b", 700);
    assert!(sorted_files(&bench).len() > first.len());
    let mut bytes = fs::read(&first[0]).unwrap();
    bytes[100] ^= 1;
    fs::write(&first[0], bytes).unwrap();
    let name = first[0].file_name().unwrap().to_str().unwrap();

    let before = contents(&bench);
    let told = bench.run(&["repair"]).exits(3);
    assert!(told.text().contains(name), "{}", told.text());
    assert!(told.err.contains("`esker repair --yes`"), "{}", told.err);
    let report = bench
        .run(&["repair", "--dry-run", "--json"])
        .exits(3)
        .json();
    assert_eq!(report["lost_files"][0]["file"], name);
    assert_eq!(report["lost_files"][0]["smallest"], "a00000");
    assert_eq!(report["lost_files"][0]["entries"], 500);
    assert_eq!(contents(&bench), before);
    bench.run(&["count"]).exits(3);

    let done = bench.ok(&["repair", "--yes"]);
    assert!(done.text().contains("moved into lost"), "{}", done.text());
    assert!(bench.path("db/lost").join(name).is_file());
    assert!(bench.ok(&["verify"]).text().contains("all whole"));
    assert_eq!(bench.ok(&["count"]).text(), "1018\n");
    assert_eq!(bench.ok(&["get", "a00499"]).text(), "value 499\n");
    assert_eq!(bench.ok(&["get", "b00699"]).text(), "value 699\n");
    bench.run(&["get", "a00000"]).exits(3);
    bench.ok(&["repair"]);
}

/// The manifest that counts.
fn manifest(bench: &Bench) -> PathBuf {
    let current = fs::read_to_string(bench.path("db/CURRENT")).unwrap();
    let name = current.split([' ', '\n']).next().unwrap();
    bench.path("db").join(name)
}

#[test]
fn a_keyspace_gets_its_operator_back_after_a_repair_without_a_manifest() {
    // Nothing is left of the manifest, which alone knew the operator. The error of a read names the
    // way, which leaves a keyspace as it was before; no other operator is taken from then on.
    let bench = Bench::new();
    let setting = ["--set", "merge_operator=uint64add"];
    bench.ok(&[&["keyspaces", "create", "m"][..], &setting].concat());
    let merge = ["merge", "--keyspace", "m", "--number", "c1", "5"];
    bench.ok(&merge);
    bench.ok(&merge);
    bench.ok(&["put", "plain", "1"]);
    fs::write(manifest(&bench), "").unwrap();
    let told = bench.ok(&["repair", "--yes"]);
    assert!(
        told.text().contains("`esker keyspaces operator`"),
        "{told:?}"
    );

    let get = ["get", "--keyspace", "m", "--number", "c1"];
    let refused = bench.run(&get).exits(1);
    assert!(
        refused.err.contains("`esker keyspaces operator`"),
        "{refused:?}"
    );
    bench.run(&merge).exits(1);
    bench.run(&["keyspaces", "operator", "m", "none"]).exits(2);
    bench
        .run(&["keyspaces", "operator", "m", "adding"])
        .exits(2);
    bench
        .run(&["keyspaces", "operator", "n", "append"])
        .exits(3);
    let given = ["keyspaces", "operator", "m", "uint64add"];
    bench.ok(&given);
    assert_eq!(bench.ok(&get).text(), "10\n");
    bench.ok(&merge);
    assert_eq!(bench.ok(&get).text(), "15\n");
    bench.ok(&given);
    let other = bench
        .run(&["keyspaces", "operator", "m", "append"])
        .exits(1);
    assert!(other.err.contains("uint64add"), "{other:?}");
    bench.ok(&["compact", "--keyspace", "m"]);
    assert_eq!(bench.ok(&get).text(), "15\n");
    assert_eq!(bench.ok(&["get", "plain"]).text(), "1\n");
}

#[test]
fn current_that_is_cut_to_its_name_is_repaired() {
    // So those of LevelDB look; but the manifest is one of ours. Theirs are refused, with a way
    // out if they are none.
    let bench = Bench::new();
    load(&bench, "a", 10);
    let name = manifest(&bench);
    let name = name.file_name().unwrap().to_str().unwrap();
    for contents in [name.to_owned(), format!("{name}\n")] {
        fs::write(bench.path("db/CURRENT"), contents).unwrap();
        let refused = bench.run(&["count"]).exits(3);
        assert!(refused.err.contains("esker repair"), "{refused:?}");
        bench.ok(&["repair"]);
        bench.run(&["count"]).exits(3);
        bench.ok(&["repair", "--yes"]);
        assert_eq!(bench.ok(&["count"]).text(), "10\n");
    }
    let foreign = Bench::new();
    fs::create_dir(foreign.path("db")).unwrap();
    foreign.file("db/CURRENT", "MANIFEST-000004\n");
    foreign.file("db/MANIFEST-000004", [7; 300]);
    let refused = foreign.run(&["repair", "--yes"]).exits(1);
    assert!(
        refused.err.contains("LevelDB") && refused.err.contains("move CURRENT away"),
        "{refused:?}"
    );
}

#[test]
fn a_folder_or_a_link_in_place_of_a_file_is_told_with_what_to_do() {
    // Nobody removes what somebody else has put there; so whoever is asked to repair says it.
    let bench = Bench::new();
    load(&bench, "a", 10);
    let log = bench.file_of("db", "wal");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    let name = log.file_name().unwrap().to_str().unwrap();
    let refused = bench.run(&["repair"]).exits(1);
    assert!(
        refused.err.contains(name) && refused.err.contains("; move it away"),
        "{refused:?}"
    );
    fs::remove_dir(&log).unwrap();
    std::os::unix::fs::symlink("elsewhere", &log).unwrap();
    let refused = bench.run(&["repair"]).exits(1);
    assert!(
        refused.err.contains(name) && refused.err.contains("; move it away"),
        "{refused:?}"
    );
}
