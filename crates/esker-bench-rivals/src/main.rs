//! The program `compare`: Esker and its rivals in turns.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    ExitCode::from(esker_bench_rivals::compare::run(
        &words,
        &mut io::stdout().lock(),
        &mut io::stderr(),
    ))
}
