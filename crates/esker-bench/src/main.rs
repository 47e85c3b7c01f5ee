//! The program `db_bench`: as `esker bench db`, under the name that scripts know.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words = std::iter::once("db".to_owned()).chain(std::env::args().skip(1));
    let words: Vec<String> = words.collect();
    ExitCode::from(esker_bench::run(
        &words,
        &mut io::stdout().lock(),
        &mut io::stderr(),
    ))
}
