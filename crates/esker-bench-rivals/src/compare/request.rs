//! The command line of the comparison as plain values.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{CommandFactory, Parser};
use esker_bench::disk::raw::LIMITS;
use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::settings::{Packing, StoreSettings};

use crate::compare::workloads;
use crate::compare::workloads::{WORKLOADS, Workload};
use crate::engines::roster::{self, ALL};

/// Far above what any disk holds, and far below where sizes overflow.
const MOST: u64 = 1 << 40;

/// What is asked for. All engines and five rounds take a quarter of an hour; ten times as many keys
/// take ten times as long.
#[derive(Clone, Debug, Parser)]
#[command(
    no_binary_name = true,
    disable_help_flag = true,
    args_override_self = true,
    rename_all = "snake_case",
    help_template = "{options}",
    term_width = 100
)]
pub struct Request {
    /// The workloads to measure.
    #[arg(skip)]
    pub workloads: Vec<Workload>,
    /// Only these workloads; those they build upon run untold
    // The name that it had until it was given the field's word still works.
    #[arg(
        long = "workloads",
        alias = "lines",
        value_name = "A,B,…",
        value_delimiter = ','
    )]
    names: Vec<String>,
    /// Only these engines
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub engines: Vec<String>,
    /// Keys, and writes of each workload
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = count())]
    pub num: u64,
    /// Point reads of each workload.
    #[arg(skip)]
    pub reads: u64,
    /// Point reads of each workload [default: as --num]
    #[arg(long = "reads", value_name = "N", value_parser = count())]
    reads_asked: Option<u64>,
    /// Point reads from the disk
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = count())]
    pub cold_reads: u64,
    /// Synced writes
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count())]
    pub sync_ops: u64,
    /// Values of 100 KB
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count())]
    pub large_ops: u64,
    /// How long a workload may take, where its end can be chosen.
    #[arg(skip)]
    pub patience: Option<Duration>,
    // The engine sits out what is left of that store.
    /// Seconds after which a workload is cut short [default: no bound]
    #[arg(long, value_name = "S", value_parser = count())]
    patience_s: Option<u64>,
    /// Turns of each engine
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST)
    )]
    pub rounds: usize,
    /// What every engine is given alike.
    #[arg(skip)]
    pub settings: StoreSettings,
    /// Block cache in MiB; 8 is LevelDB's
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = count())]
    cache_mib: u64,
    /// Write buffer in MiB; 4 is LevelDB's
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count())]
    buffer_mib: u64,
    /// Filter bits for each key; 0 is no filter
    #[arg(long, value_name = "N", default_value = "10", value_parser = filter_bits)]
    filter_bits: f64,
    /// How blocks are packed: none, snappy, lz4 or zstd
    #[arg(long, default_value = "snappy", value_parser = packing)]
    packing: Packing,
    /// Threads for flushes and compactions [default: the engine's own]
    #[arg(long, value_name = "N", value_parser = count())]
    background_threads: Option<u64>,
    /// A setting of Esker by its own name, as often as wanted
    #[arg(long = "esker", value_name = "NAME=VALUE", value_parser = pair)]
    pub own: Vec<(String, String)>,
    /// Whether the raw limits of disk and memory are measured
    #[arg(
        long = "limits",
        value_name = "yes|no",
        default_value = "yes",
        value_parser = choice,
        action = clap::ArgAction::Set
    )]
    pub has_limits: bool,
    /// Where stores are made [default: a folder for temporary files]
    #[arg(long, default_value_os_t = place(), hide_default_value = true)]
    pub dir: PathBuf,
    /// The record, written after each turn
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The report of the record, a page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The tables, written after each turn
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// The ratios of earlier runs, for the report
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Whether those of this run are added to it
    #[arg(
        long = "keep_history",
        value_name = "yes|no",
        default_value = "no",
        value_parser = choice,
        action = clap::ArgAction::Set
    )]
    pub keeps_history: bool,
    /// This
    #[arg(short = 'h', long = "help")]
    is_help: bool,
}

/// What `--help` says.
pub fn help() -> String {
    let names = |all: &mut dyn Iterator<Item = &'static str>| all.collect::<Vec<_>>().join(", ");
    let (built, workloads) = (roster::every(), WORKLOADS.iter());
    format!(
        "\
Measure Esker and its rivals in turns, and the limits of the disk

Usage: compare [--flag=value …]
       compare reviews [flags of `esker bench scenario`] [--html=FILE]
       compare check [any of these]    say what makes no sense in it, and run nothing

Options:
{}
Engines: {}
Built in: {}
Workloads: {}
Limits: {}

Exit codes: 0 done, 1 something failed or the engines disagree, 2 the command line makes no sense.
",
        Request::command().render_help(),
        ALL.join(", "),
        names(&mut built.iter().map(|entry| entry.word)),
        names(&mut workloads.map(|workload| workload.name)),
        names(&mut LIMITS.iter().map(|limit| limit.name)),
    )
}

impl Request {
    /// What a command line asks for; `None` for `--help`.
    pub fn parse(words: &[String]) -> Outcome<Option<Request>> {
        if words.iter().any(|word| word == "help") {
            return Ok(None);
        }
        let mut request = Request::try_parse_from(words)?;
        if request.is_help {
            return Ok(None);
        }
        if request.keeps_history && request.history.is_none() {
            return Err(Failure::usage(
                "--keep_history=yes wants --history=FILE to keep it in",
            ));
        }
        request.workloads = workloads::choose(&request.names)?;
        request.reads = request.reads_asked.unwrap_or(request.num);
        request.patience = request.patience_s.map(Duration::from_secs);
        request.settings = StoreSettings {
            cache_bytes: Some(request.cache_mib << 20),
            write_buffer_bytes: Some(request.buffer_mib << 20),
            filter_bits: Some(request.filter_bits),
            packing: Some(request.packing),
            block_bytes: Some(4096),
            background_threads: request.background_threads,
            ..StoreSettings::default()
        };
        Ok(Some(request))
    }
}

fn place() -> PathBuf {
    std::env::temp_dir().join(format!("esker-compare-{}", std::process::id()))
}

fn count() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=MOST)
}

fn filter_bits(text: &str) -> Result<f64, &'static str> {
    let bits = text.parse().ok();
    bits.filter(|bits| (0.0..=100.0).contains(bits))
        .ok_or("it is a number from 0 to 100")
}

fn choice(text: &str) -> Result<bool, &'static str> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("it is yes or no"),
    }
}

fn pair(text: &str) -> Result<(String, String), &'static str> {
    let pair = text.split_once('=').ok_or("it is NAME=VALUE")?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}

fn packing(text: &str) -> Result<Packing, &'static str> {
    Ok(match text {
        "none" => Packing::None,
        "snappy" => Packing::Snappy,
        "lz4" => Packing::Lz4,
        // The level at which RocksDB and Esker pack unless told.
        "zstd" => Packing::Zstd(3),
        _ => return Err("it is none, snappy, lz4 or zstd"),
    })
}

#[cfg(test)]
mod tests;
