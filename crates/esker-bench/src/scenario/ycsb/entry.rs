//! The way in: the words of the command line, help, notes.

use crate::console::Console;
use crate::fail::Outcome;
use crate::scenario::ycsb::arguments::parse;
use crate::scenario::ycsb::builtin::BUILTINS;
use crate::scenario::ycsb::catalogue::{known, notes};
use crate::scenario::ycsb::phase::carry_out;
use crate::target::embedded::Esker;

/// Runs `esker bench ycsb` with the words behind it.
pub fn run(words: &[String], console: &mut Console<'_>) -> Outcome {
    let arguments = parse(words)?;
    if arguments.is_help || words.is_empty() {
        return Ok(console.out.write_all(help().as_bytes())?);
    }
    console
        .err
        .line(&format!("Command line: {}", words.join(" ")))?;
    for note in notes(&arguments.properties) {
        console.err.line(&note)?;
    }
    carry_out(&Esker, &arguments, words, console)
}

fn help() -> String {
    let mut text = String::from(
        "YCSB: load records, then run a mix of operations on them\n\n\
         Usage: esker bench ycsb [load|run] [options]\n\nOptions, as YCSB has them:\n\
         \x20 -P FILE           properties, or a built-in workload by the name of its file\n\
         \x20 -p NAME=VALUE     one property; wins over files\n\
         \x20 -load, -t         load, or run (default)\n\
         \x20 -threads N        threads\n\
         \x20 -target N         operations a second, all threads together\n\
         \x20 -s                a status line now and then\n\
         \x20 -l LABEL          what that line begins with\n\
         \x20 -db NAME          what is measured: esker; rocksdb is understood\n\nAnd ours:\n\
         \x20 --workload NAME   a workload by letter, or a file\n\
         \x20 --db DIR          directory of the database\n\
         \x20 --target WHAT     embedded, or a table of a cluster: pegasus://HOST:PORT/TABLE\n\
         \x20 --json FILE       a record of everything measured\n\
         \x20 --seed N          start of all random numbers\n\
         \x20 --verify          the same as -p dataintegrity=true\n\
         \x20 --use_existing_db=0|1  whether a load keeps what is there (1 unless said); --yes \
         destroys what no benchmark made\n\nWorkloads:\n",
    );
    for builtin in &BUILTINS {
        text += &format!("  {:<18}{}\n", builtin.letter, builtin.story);
    }
    text += "\nProperties (and esker.<setting> for the engine):\n";
    for known in known().filter(|known| !known.is_unused) {
        let default = match known.default {
            "" => String::new(),
            default => format!(" [{default}]"),
        };
        text += &format!("  {}{default}\n      {}\n", known.name, known.doc);
    }
    text += "\nExamples:\n  esker bench ycsb load --workload a -p recordcount=1000000\n  \
             esker bench ycsb run --workload a -p recordcount=1000000 -p operationcount=1000000 \
             -threads 4 -s\n  \
             esker bench ycsb load --workload a --target pegasus://127.0.0.1:34601/usertable \
             -threads 30 -p pegasus.clients=3\n";
    text
}
