//! The demo on a small file, with one kill.

use crate::tool::{Bench, Ran};

fn demo(bench: &Bench, words: &[&str]) -> Ran {
    let mut command = bench.command(&[&["demo", "--dir", "play", "--rounds", "1"], words].concat());
    command
        .env("ESKER_DATA", bench.path("in.tsv"))
        .output()
        .unwrap()
        .into()
}

#[test]
fn demo_loads_measures_and_survives_its_kill() {
    // The summary has a line for each act, the picture is written, and what it says to try next
    // works.
    let bench = Bench::new();
    let line = |n: usize| {
        format!(
            "item/{n:05}\tsome words to count and {}\n",
            "x".repeat(n % 40)
        )
    };
    bench.file("in.tsv", (0..5000).map(line).collect::<String>());
    let ran = demo(&bench, &["--seed", "1"]).exits(0);
    for act in [
        "load",
        "read, uniform",
        "read, zipfian",
        "scan, in order",
        "count words, merge",
    ] {
        assert!(
            ran.text().lines().any(|line| line.starts_with(act)),
            "{act}"
        );
    }
    assert!(ran.text().contains("batches acknowledged, all there"));
    assert!(ran.text().contains("acknowledged batches lost in 1 kill\n"));
    // What it came to fits a terminal, and tells where the page of the run is.
    let told = ran.text();
    let numbers = told.lines().skip_while(|line| !line.contains("p99"));
    let numbers: Vec<&str> = numbers.take_while(|line| *line != "try next").collect();
    let is_narrow = |line: &&str| line.chars().count() <= 100;
    assert!(numbers.len() > 8 && numbers.iter().all(is_narrow), "{told}");
    assert!(told.lines().any(|line| line.ends_with("play/report.html")));
    let page = std::fs::read_to_string(bench.path("play/report.html")).unwrap();
    for part in [
        "<p class=\"headline\"><b>0</b>",
        "<svg",
        "count words, merge",
        "Killed while writing",
        "Keyspace words",
    ] {
        assert!(page.contains(part), "{part}");
    }
    bench.ok(&["bench", "report", "play/run.json", "-o", "again.html"]);
    let db = bench.path("play/db").display().to_string();
    let get = ran
        .text()
        .lines()
        .find(|line| line.contains(" get item/"))
        .unwrap();
    let key = get.split_whitespace().last().unwrap();
    assert!(
        bench
            .ok(&["get", "--db", &db, key])
            .text()
            .contains("some words")
    );
    bench.ok(&["verify", "--db", &db]);
    // A directory of somebody else's is left alone.
    bench.file("play/own.txt", "");
    std::fs::remove_file(bench.path("play/made-by-esker-demo")).unwrap();
    demo(&bench, &[]).exits(2);
}
