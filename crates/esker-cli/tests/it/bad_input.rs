//! Every command on every kind of bad database: what it exits with, and that it says what to do.

use std::fs;
use std::process::Stdio;

use esker::Db;

use crate::tool::{Bench, Ran};

/// What a command does to a database.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Reads an open database.
    Reads,
    /// Changes one that is there.
    Changes,
    /// Makes a copy, also of one that is open elsewhere: `checkpoint`.
    Copies,
    /// Makes one where there is none.
    Fills,
    /// Finds damage: `verify`.
    Checks,
    /// Works without opening: `repair` and `inspect`.
    Salvages,
}

/// Every command that takes a database, with words that do no harm to a whole one.
const COMMANDS: [(&[&str], Kind); 21] = [
    (&["get", "a"], Kind::Reads),
    (&["get", "a", "a"], Kind::Reads),
    (&["expiry", "a"], Kind::Reads),
    (&["scan"], Kind::Reads),
    (&["count"], Kind::Reads),
    (&["dump"], Kind::Reads),
    (&["dump", "--all"], Kind::Reads),
    (&["stats"], Kind::Reads),
    (&["levels"], Kind::Reads),
    (&["keyspaces"], Kind::Reads),
    (&["prepared"], Kind::Reads),
    (&["settings", "memory_limit"], Kind::Reads),
    (&["delete", "zz"], Kind::Changes),
    (&["compact"], Kind::Changes),
    (&["checkpoint", "copy"], Kind::Copies),
    (&["put", "a", "1"], Kind::Fills),
    (&["batch", "batch.txt"], Kind::Fills),
    (&["load", "in.tsv"], Kind::Fills),
    (&["keyspaces", "create", "new"], Kind::Fills),
    (&["verify"], Kind::Checks),
    (&["repair"], Kind::Salvages),
];

/// A directory with inputs and a database of one entry.
fn fixture() -> Bench {
    let bench = Bench::new();
    bench.file("in.tsv", "a\t1\n");
    bench.file("batch.txt", "put\ta\t1\n");
    bench.ok(&["put", "a", "1"]);
    bench
}

/// Runs every command in a fixture that `spoil` made bad, on the database that it names; holds what
/// comes against `expected`. Who fails says so in one line, with what to do.
#[track_caller]
fn table(spoil: impl Fn(&Bench) -> (&'static str, Option<Db>), expected: impl Fn(Kind) -> i32) {
    for (words, kind) in COMMANDS {
        let bench = fixture();
        let (name, held) = spoil(&bench);
        let ran = bench.run(&[words, &["--db", name]].concat());
        assert_eq!(ran.code, expected(kind), "{words:?}: {ran:?}");
        if ran.code == 1 || ran.code == 3 && kind != Kind::Checks {
            says_what_to_do(&ran, words);
        }
        drop(held);
    }
}

#[track_caller]
fn says_what_to_do(ran: &Ran, words: &[&str]) {
    assert!(ran.err.starts_with("esker: "), "{words:?}: {}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{words:?}: {}", ran.err);
    // What happened, and behind a semicolon or a comma what helps.
    assert!(ran.err.contains([';', ',']), "{words:?}: {}", ran.err);
    assert!(
        ran.text().is_empty() || words == ["repair"],
        "{words:?}: {}",
        ran.text()
    );
}

#[test]
fn no_database() {
    // Only what fills makes one.
    table(|_| ("missing", None), |kind| i32::from(kind != Kind::Fills));
}

#[test]
fn a_database_that_is_open_elsewhere() {
    // Readers see what is there; who would write is told who holds it.
    table(
        |bench| ("db", Some(Db::open(bench.path("db")).unwrap())),
        |kind| i32::from(!matches!(kind, Kind::Reads | Kind::Checks | Kind::Copies)),
    );
}

#[test]
fn a_damaged_database() {
    // Damage has a code of its own, whoever meets it; a repair may find that nothing is lost.
    table(
        |bench| {
            fs::write(bench.path("db/CURRENT"), "nonsense\n").unwrap();
            ("db", None)
        },
        |kind| match kind {
            Kind::Salvages => 0,
            _ => 3,
        },
    );
}

#[test]
fn a_directory_of_somebody_else() {
    // Nothing is made there, whoever asks.
    table(
        |bench| {
            fs::create_dir(bench.path("home")).unwrap();
            bench.file("home/letter.txt", "Dear Anna");
            ("home", None)
        },
        |_| 1,
    );
}

#[test]
fn a_file_and_a_path_through_a_file() {
    // As where a directory cannot be had: whoever runs the tests, root included.
    for name in ["in.tsv", "in.tsv/db"] {
        table(|_| (name, None), |_| 1);
    }
}

#[test]
fn a_closed_pipe_ends_every_reader_quietly() {
    // The other side is gone before the first byte: no panic, no message, no failure.
    let bench = fixture();
    for (words, kind) in COMMANDS {
        if !matches!(kind, Kind::Reads | Kind::Checks) {
            continue;
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = bench.command(words);
        let ran = command.stdout(writer).stderr(Stdio::piped()).output();
        let ran = Ran::from(ran.unwrap());
        assert_eq!((ran.code, &ran.err[..]), (0, ""), "{words:?}");
    }
}

#[test]
fn standard_error_that_is_gone_panics_nobody() {
    // The exit code is all that is left to say, and it is said.
    let bench = fixture();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = bench.command(&["get", "missing"]);
    let output = command.stderr(writer).stdout(Stdio::null()).output();
    assert_eq!(Ran::from(output.unwrap()).code, 3);
}
