//! What happens when the other side of a pipe goes away, or says stop.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::tool::{Bench, Ran};

#[test]
fn closed_pipe_ends_quietly() {
    // As in `esker scan | head -1`: no panic, no message, code 0.
    let bench = Bench::new();
    let lines: String = (0..20_000)
        .map(|n| format!("key{n:06}\t{}\n", "x".repeat(50)))
        .collect();
    bench.file("in.tsv", &lines);
    bench.ok(&["load", "in.tsv"]);
    for words in [&["scan"][..], &["dump"], &["scan", "--json"]] {
        let mut command = bench.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        assert!(first.contains("key000000"));
        let ran = Ran::from(child.wait_with_output().unwrap()).exits(0);
        assert_eq!(ran.err, "");
    }
}

#[test]
fn nothing_is_drawn_when_piped() {
    // Progress is for terminals: a script's log holds the result and nothing else.
    let bench = Bench::new();
    let lines: String = (0..1000).map(|n| format!("{n}\tv\n")).collect();
    let ran = bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    assert_eq!(ran.err, "");
    assert_eq!(ran.text().lines().count(), 1);
}

#[test]
fn interrupted_load_says_how_far_it_came() {
    // Ctrl-C or kill in the middle: the database is whole, and holds exactly what was reported.
    stopped_load("INT", 130);
    stopped_load("TERM", 143);
}

fn stopped_load(signal: &str, code: i32) {
    let bench = Bench::new();
    let mut command = bench.command(&["load", "--format", "tsv", "--batch-bytes", "1", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut number = 0;
    let mut write = || {
        number += 1;
        writeln!(pipe, "{number:09}\tvalue").is_ok()
    };
    // Where the database exists, the tool listens to signals.
    while !bench.path("db").join("CURRENT").exists() {
        assert!(write());
    }
    let pid = child.id().to_string();
    // The shell's own: a bare machine has no program of that name.
    let interrupt = ["-c", "kill -s \"$2\" \"$1\"", "sh", &pid, signal];
    let sent = Command::new("sh").args(interrupt).status().unwrap();
    assert!(sent.success());
    while write() {}
    let ran = Ran::from(child.wait_with_output().unwrap()).exits(code);
    assert!(ran.err.contains("stopped as asked at line"), "{}", ran.err);
    let loaded = ran.text().strip_prefix("loaded ").unwrap();
    let (loaded, _) = loaded.split_once(" record").unwrap();
    let count = bench.ok(&["count"]);
    assert_eq!(count.text().trim(), loaded.replace(' ', ""));
}

#[test]
fn reading_and_writing_do_not_hinder_each_other() {
    // While one process loads, others read what is there and write nothing; a second writer is
    // told who holds the database.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    let before = listing(&bench);
    bench.ok(&["scan"]);
    bench.ok(&["stats"]);
    assert_eq!(listing(&bench), before);
    let mut command = bench.command(&["load", "--format", "tsv", "--batch-bytes", "1", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut number = 0;
    loop {
        number += 1;
        writeln!(pipe, "b{number}\t2").unwrap();
        assert_eq!(bench.ok(&["get", "a"]).text(), "1\n");
        if bench.run(&["get", "b1"]).code == 0 {
            break;
        }
    }
    let ran = bench.run(&["put", "c", "3"]).exits(1);
    assert!(
        ran.err.contains(&format!("process {}", child.id())),
        "{}",
        ran.err
    );
    assert_eq!(ran.err.lines().count(), 1);
    drop(pipe);
    assert!(child.wait_with_output().unwrap().status.success());
}

/// Names and sizes of the files of a database.
fn listing(bench: &Bench) -> Vec<(String, u64)> {
    let files = std::fs::read_dir(bench.path("db"))
        .unwrap()
        .map(|file| file.unwrap());
    let fact = |file: std::fs::DirEntry| {
        (
            file.file_name().into_string().unwrap(),
            file.metadata().unwrap().len(),
        )
    };
    let mut facts: Vec<_> = files.map(fact).collect();
    facts.sort();
    facts
}

#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
#[test]
fn help_that_cannot_be_written_is_a_failure() {
    // /dev/full refuses every write as a full disk does.
    let bench = Bench::new();
    for words in [&["--help"][..], &["--version"], &["get", "--help"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let ran = bench.command(words).stdout(full).output().unwrap();
        let ran = Ran::from(ran).exits(1);
        assert!(ran.err.contains("cannot write the output"), "{ran:?}");
    }
}
