//! The command line of scenarios as plain values.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum};

use crate::fail::{Failure, Outcome};
use crate::scenario::suite::service_line::{Line, Rival};
use crate::scenario::suite::size::Size;
use crate::target::pegasus::TableAddress;

/// More rounds than this are a slip of the finger.
const ROUNDS_MAX: u64 = 1000;

/// A larger scale is a slip of the finger: a thousand times the largest size fits no disk.
const SCALE_MAX: f64 = 1000.0;

/// The word for all scenarios.
pub const ALL: &str = "all";

/// What limits memory where a scenario asks for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LimitBy {
    /// The engine's setting; the system's page cache has no limit then
    Setting,
    /// A control group of the system around the whole process, page cache included
    #[value(name = "cgroup")]
    ControlGroup,
    /// A control group where one may be made, else the setting
    Either,
}

/// What is asked for.
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
    /// The scenario, or `all`; empty where only the list is wanted
    #[arg(default_value = "")]
    pub name: String,
    /// How much of it: small, medium or full
    #[arg(long, default_value = "small", value_parser = Size::of)]
    pub size: Size,
    /// Where stores are made, each scenario in a directory of its own
    #[arg(long, default_value_os_t = place(), hide_default_value = true)]
    pub dir: PathBuf,
    /// Write everything measured to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Turns of each workload [default: the scenario's own]
    #[arg(
        long,
        value_name = "N",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=ROUNDS_MAX)
    )]
    pub rounds: Option<usize>,
    /// Review records in SNAP's format, plain, gzip or zstd [default: $ESKER_DATA, else made text]
    #[arg(long = "data", value_name = "FILE")]
    pub reviews: Option<PathBuf>,
    /// A setting of the engine, as often as wanted
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = pair)]
    pub own: Vec<(String, String)>,
    /// What limits memory
    #[arg(long, value_enum, default_value = "setting", value_name = "WAY")]
    pub limit_by: LimitBy,
    /// So many times what the size says; above 1 reviews are recombined from the file's
    #[arg(long, default_value_t = 1.0, value_name = "N", value_parser = scale)]
    pub scale: f64,
    /// leveldb-suite: how time for each operation grows with the keys, instead of the list
    #[arg(long = "growth")]
    pub is_growth: bool,
    /// Before cold reads the system drops all it has cached, where it may be done
    #[arg(long = "drop_system_cache")]
    pub drops_system_cache: bool,
    /// pegasus: the cluster that is measured, as pegasus://HOST:PORT of a meta server
    #[arg(long, value_name = "ADDRESS", value_parser = TableAddress::parse)]
    pub target: Option<TableAddress>,
    /// service: only this line, as often as wanted
    #[arg(long, value_enum, value_name = "LINE")]
    pub only: Vec<Line>,
    /// service: measured in turns with ours
    #[arg(long, value_enum, value_name = "RIVAL")]
    pub beside: Option<Rival>,
    /// service: the program that starts nodes [default: this one]
    #[arg(long, value_name = "PATH")]
    pub tool: Option<PathBuf>,
    /// service: another esker, whose clusters are measured in turns with ours
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
    /// Leave the stores where they are
    #[arg(long = "keep")]
    pub keeps_stores: bool,
    /// This
    #[arg(short = 'h', long = "help")]
    pub is_help: bool,
}

impl Request {
    /// What nothing but the name asks for.
    pub fn plain(name: &str) -> Request {
        Request::parse(&[name.to_owned()]).expect("a name alone is a command line")
    }

    /// What a command line asks for.
    ///
    /// Errors: `Usage` for words that are not known or make no sense.
    pub fn parse(words: &[String]) -> Outcome<Request> {
        let mut request = Request::try_parse_from(words)?;
        let given = std::env::var_os("ESKER_DATA").filter(|path| !path.is_empty());
        request.reviews = request.reviews.or(given.map(PathBuf::from));
        Ok(request)
    }

    /// A count of the scenario's size, scaled; at least 1.
    pub fn scaled(&self, count: u64) -> u64 {
        // Counts are far below 2^53.
        ((count as f64 * self.scale) as u64).max(1)
    }
}

/// A place for each user among the temporary files.
fn place() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("esker-scenario-{user}"))
}

fn scale(text: &str) -> Outcome<f64> {
    let scale = text.parse().ok();
    scale
        .filter(|scale| *scale > 0.0 && *scale <= SCALE_MAX)
        .ok_or_else(|| Failure::usage(format!("it lies above 0 and up to {SCALE_MAX}")))
}

fn pair(text: &str) -> Outcome<(String, String)> {
    let pair = text.split_once('=');
    let (name, value) = pair.ok_or_else(|| Failure::usage("write --set=name=value"))?;
    Ok((name.into(), value.into()))
}

#[cfg(test)]
mod tests;
