//! Looking after a database: checkpoints, damage, pictures.

use crate::tool::Bench;

#[test]
fn checkpoint_is_a_database_of_its_own() {
    // What is written later goes to one of them only.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    bench.ok(&["checkpoint", "copy"]);
    bench.ok(&["put", "b", "2"]);
    assert_eq!(bench.ok(&["scan", "--db", "copy"]).text(), "a\t1\n");
    bench.run(&["checkpoint", "copy"]).exits(1);
}

#[test]
fn a_database_that_is_open_is_checkpointed_beside_its_process() {
    // It is said which way the copy took; what is not in files yet is in it, and it is whole. A
    // dump of it works too.
    let bench = Bench::new();
    let db = esker::Db::open(bench.path("db")).unwrap();
    db.put("a", "1").unwrap();
    db.put("large", "x".repeat(100_000)).unwrap();
    let ran = bench.ok(&["checkpoint", "copy"]);
    let id = std::process::id();
    assert!(
        ran.err.contains(&format!("open in process {id};")),
        "{}",
        ran.err
    );
    assert!(ran.text().contains("all whole"), "{}", ran.text());
    let report = bench.ok(&["checkpoint", "again", "--json"]).json();
    assert_eq!(report["is_beside_writer"], true);
    assert_eq!(report["verified"]["is_whole"], true);
    db.put("b", "2").unwrap();
    let dump = bench.ok(&["dump", "--all"]).out;
    bench.feed(&["load", "--db", "loaded", "-"], &dump).exits(0);
    db.close().unwrap();
    let count = |db: &str| bench.ok(&["count", "--db", db]).text().to_owned();
    assert_eq!(
        ["copy", "again", "loaded"].map(count),
        ["2\n", "2\n", "3\n"]
    );
    bench.ok(&["put", "--db", "copy", "c", "3"]);
    assert!(
        bench
            .ok(&["verify", "--db", "copy"])
            .text()
            .contains("all whole")
    );
}

#[test]
fn a_checkpoint_of_damage_is_no_all_clear() {
    // The copy is made, its damage is listed and exits with 3, for a database that is open
    // elsewhere as for one that is not; --no-verify looks at nothing, and says nothing of being
    // whole.
    let bench = Bench::new();
    let lines: String = (0..2000)
        .map(|n| format!("key{n:05}\tvalue {n}\n"))
        .collect();
    bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    bench.ok(&["put", "large", &"x".repeat(100_000)]);
    for kind in ["sst", "vlog"] {
        let path = bench.file_of("db", kind);
        let whole = std::fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[100] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let told = format!("damaged: {name}: ");
        let copy = |way: &str| format!("{kind} {way}");
        let ran = bench.run(&["checkpoint", &copy("closed")]).exits(3);
        assert!(ran.text().contains(&told), "{}", ran.text());
        assert!(ran.err.contains("has the damage"), "{}", ran.err);
        let ran = bench.run(&["checkpoint", "--json", &copy("json")]).exits(3);
        assert_eq!(ran.json()["verified"]["damages"][0]["file"], name);
        let ran = bench.ok(&["checkpoint", "--no-verify", &copy("unread")]);
        assert!(!ran.text().contains("whole"), "{}", ran.text());
        let db = esker::Db::open(bench.path("db")).unwrap();
        let ran = bench.run(&["checkpoint", &copy("open")]).exits(3);
        assert!(ran.text().contains(&told), "{}", ran.text());
        db.close().unwrap();
        // The damage is in every copy, by the same file.
        for way in ["closed", "unread", "open"] {
            bench.run(&["verify", "--db", &copy(way)]).exits(3);
        }
        std::fs::write(&path, whole).unwrap();
    }
    assert!(
        bench
            .ok(&["checkpoint", "whole"])
            .text()
            .contains("all whole")
    );
}

#[test]
fn damage_is_found_and_is_three() {
    // A whole database first; then one byte of a sorted file is changed.
    let bench = Bench::new();
    let lines: String = (0..2000)
        .map(|n| format!("key{n:05}\tvalue {n}\n"))
        .collect();
    bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    assert!(bench.ok(&["verify"]).text().contains("all whole"));
    let files = std::fs::read_dir(bench.path("db"))
        .unwrap()
        .map(|file| file.unwrap().path());
    let sst = files
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "sst"));
    let sst = sst.unwrap();
    let mut bytes = std::fs::read(&sst).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&sst, bytes).unwrap();
    let name = sst.file_name().unwrap().to_str().unwrap();
    let ran = bench.run(&["verify"]).exits(3);
    assert!(
        ran.text().contains(&format!("damaged: {name}: ")),
        "{}",
        ran.text()
    );
    let report = bench.run(&["verify", "--json"]).exits(3).json();
    assert_eq!(
        (&report["is_whole"], &report["damages"][0]["file"]),
        (&false.into(), &name.into())
    );
    bench.run(&["scan"]).exits(3);
    // A manifest that cannot be read is damage too, not a failure to verify.
    std::fs::write(bench.path("db/CURRENT"), "nonsense\n").unwrap();
    assert!(
        bench
            .run(&["verify"])
            .exits(3)
            .text()
            .starts_with("damaged: ")
    );
}

#[test]
fn pictures_are_written() {
    // Text on the terminal, a page and a drawing as files.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    let ran = bench.ok(&[
        "levels",
        "--files",
        "--html",
        "tree.html",
        "--svg",
        "tree.svg",
    ]);
    assert!(
        ran.text().starts_with("keyspace default: 1 file"),
        "{}",
        ran.text()
    );
    assert!(
        std::fs::read_to_string(bench.path("tree.html"))
            .unwrap()
            .contains("<svg")
    );
    assert!(
        std::fs::read_to_string(bench.path("tree.svg"))
            .unwrap()
            .starts_with("<svg")
    );
}

#[test]
fn what_is_small_has_its_size_told() {
    // Rounded to mebibytes, a first try would seem to have stored nothing.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    bench.ok(&["compact"]);
    let stats = bench.ok(&["stats"]);
    let disk = stats.text().lines().find(|line| line.starts_with("disk"));
    let bytes: u64 = disk.unwrap()["disk".len()..]
        .trim()
        .strip_suffix(" B")
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..1024).contains(&bytes), "{disk:?}");
}

#[test]
fn a_monitor_is_told_in_its_own_format() {
    // Every line is a comment or a sample, and nothing else is on the page.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    let ran = bench.ok(&["stats", "--prometheus"]);
    let samples = |line: &&str| !line.starts_with('#');
    assert!(ran.text().lines().filter(samples).count() > 40);
    let mut told = ran.text().lines().filter(samples);
    assert!(told.all(|line| line.starts_with("esker_") && line.split(' ').count() == 2));
    assert!(ran.text().contains("esker_state{state=\"read-only\"} 1\n"));
}
