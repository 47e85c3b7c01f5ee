//! From the words of the command line to a benchmark, and from its outcome to an exit code.

use std::io::{IsTerminal, Write};

use crate::console::Console;
use crate::fail::{Failure, FailureKind, Outcome};
use crate::report::entry;
use crate::scenario::{db_bench, suite, ycsb};

/// A benchmark that has a name on the command line.
pub struct Command {
    /// The name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Runs it with the words behind the name.
    pub run: fn(&[String], &mut Console<'_>) -> Outcome,
}

/// Every benchmark by name.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "db",
        doc: "db_bench: LevelDB's, RocksDB's of 2013 and RocksDB's of today",
        run: db_bench::command::run,
    },
    Command {
        name: "ycsb",
        doc: "YCSB: its workloads A to F, its property files, values from a file",
        run: ycsb::entry::run,
    },
    Command {
        name: "scenario",
        doc: "whole benchmarks that others published, their figures beside ours",
        run: suite::entry::run,
    },
    Command {
        name: "report",
        doc: "a page of a run, its chart, and what changed between two runs",
        run: entry::run,
    },
];

/// Runs the benchmark named by the first of `words` with the others. Results go to `out`,
/// everything else to `err`. Returns the exit code: 0 done, 1 something failed, 2 the command
/// line makes no sense.
pub fn run(words: &[String], out: &mut dyn Write, err: &mut (dyn Write + Send)) -> u8 {
    let is_live = std::io::stderr().is_terminal();
    let mut console = Console::new(out, err, is_live);
    let outcome = carry_out(words, &mut console).and_then(|()| Ok(console.out.flush()?));
    let Err(failure) = outcome else {
        return 0;
    };
    let told = match failure.kind {
        FailureKind::ReaderGone => String::new(),
        FailureKind::Own(_) => failure.message.clone(),
        _ => format!("esker bench: {failure}"),
    };
    if !told.is_empty() {
        // With the stream gone nobody can be told; the exit code remains.
        let _ = console.err.line(&told);
    }
    failure.exit_code()
}

fn carry_out(words: &[String], console: &mut Console<'_>) -> Outcome {
    let (name, rest) = match words.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("--help", words),
    };
    if matches!(name, "--help" | "-h" | "help") {
        return Ok(console.out.write_all(help().as_bytes())?);
    }
    let found = COMMANDS.iter().find(|command| command.name == name);
    let command = found.ok_or_else(|| {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        Failure::usage(format!(
            "there is no benchmark `{name}`; there is {}",
            names.join(", ")
        ))
    })?;
    (command.run)(rest, console)
}

fn help() -> String {
    let mut text = String::from(
        "Measure key-value engines\n\nUsage: esker bench <benchmark> [options]\n\nBenchmarks:\n",
    );
    for command in COMMANDS {
        text += &format!("  {:<10} {}\n", command.name, command.doc);
    }
    text += "\nExamples:\n  esker bench db --benchmarks=fillseq,readrandom --num=100000\n";
    text += "  esker bench ycsb load --workload a -p recordcount=100000\n";
    text += "  esker bench scenario merge-counters --size small\n";
    text += "  esker bench report run.json\n";
    text += "\nEach tells its own options with --help.\n\
             Exit codes: 0 done, 1 something failed, 2 the command line makes no sense.\n";
    text
}
