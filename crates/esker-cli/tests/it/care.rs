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
fn a_database_that_is_open_is_copied_by_dump() {
    // A checkpoint of it is refused, and says what to do instead; that works.
    let bench = Bench::new();
    let db = esker::Db::open(bench.path("db")).unwrap();
    db.put("a", "1").unwrap();
    let ran = bench.run(&["checkpoint", "copy"]).exits(1);
    let remedy = "`esker dump --all | esker load --db DIR -`";
    assert!(ran.err.contains(remedy), "{}", ran.err);
    assert!(!bench.path("copy").exists());
    let dump = bench.ok(&["dump", "--all"]).out;
    bench.feed(&["load", "--db", "copy", "-"], &dump).exits(0);
    assert_eq!(bench.ok(&["scan", "--db", "copy"]).text(), "a\t1\n");
    db.close().unwrap();
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
    bench.run(&["scan"]).exits(1);
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
