//! Hands its words to the benchmarks, which have their own options and their own help.

use std::ffi::OsString;
use std::io;

use clap::Args;

use crate::fail::{Failure, Outcome};

/// Measure: db_bench's dialects and more
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  esker bench --help                                           the benchmarks
  esker bench db --benchmarks=fillseq,readrandom --num=100000  two of db_bench's"
)]
pub struct Bench {
    /// Which benchmark, and its options; alone it lists the benchmarks
    #[arg(
        value_name = "BENCHMARK AND OPTIONS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

/// Runs a benchmark.
pub fn bench(args: &Bench) -> Outcome {
    let words: Vec<String> = args
        .words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    match esker_bench::run(&words, &mut io::stdout().lock(), &mut io::stderr()) {
        0 => Ok(()),
        code => Err(Failure::Elsewhere(code)),
    }
}
