//! The command line of `reviews-sql`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{CommandFactory, Parser};

use crate::fail::{Failure, Outcome};
use crate::scenario::suite::size::Size;
use crate::scenario::suite::sql::contender::Contender;
use crate::scenario::suite::sql::plan::Line;

/// Rounds, unless told.
const ROUNDS: usize = 1;

/// More rounds than this are a slip of the finger.
const ROUNDS_MAX: u64 = 1000;

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
pub struct SqlRequest {
    /// How much of it: small, medium or full
    #[arg(long, default_value = "small", value_parser = Size::of)]
    pub size: Size,
    /// A part of what the size says, above 0 and up to 1
    #[arg(long, default_value_t = 1.0, value_name = "N", value_parser = part)]
    pub scale: f64,
    /// Review records in SNAP's format, plain, gzip or zstd [default: $ESKER_DATA, else made text]
    #[arg(long = "data", value_name = "FILE")]
    pub reviews: Option<PathBuf>,
    /// Turns of each line behind the load
    #[arg(
        long,
        value_name = "N",
        default_value_t = ROUNDS,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=ROUNDS_MAX)
    )]
    pub rounds: usize,
    /// Only this engine, as often as wanted
    #[arg(long = "engine", value_enum, value_name = "ENGINE")]
    pub engines: Vec<Contender>,
    /// Only this line behind the load, as often as wanted
    #[arg(long = "only", value_enum, value_name = "LINE")]
    pub only: Vec<Line>,
    /// Where servers keep their files, each in a directory of its own
    #[arg(long, default_value = "target/reviews-sql/servers")]
    pub dir: PathBuf,
    /// Where the plugin of ours lies, as `make mariadb` leaves it
    #[arg(long, default_value = "target/mariadb/plugins")]
    pub plugins: PathBuf,
    /// Where MyRocks lies, as `scripts/mariadb.sh myrocks` leaves it
    #[arg(long, default_value = "target/mariadb/myrocks")]
    pub myrocks: PathBuf,
    /// A further option for servers of ours, such as --set=esker_lock_wait_timeout=1
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub own: Vec<String>,
    /// Memory is limited by the engines' settings alone, not by a control group as well
    #[arg(long)]
    pub no_group: bool,
    /// Write everything measured to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page for the browser to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Leave the servers' files where they are
    #[arg(long = "keep")]
    pub keeps_files: bool,
    /// This
    #[arg(short = 'h', long = "help")]
    pub is_help: bool,
}

impl SqlRequest {
    /// What a command line asks for.
    ///
    /// Errors: `Usage` for words that are not known or make no sense.
    pub fn parse(words: &[String]) -> Outcome<SqlRequest> {
        let mut request = SqlRequest::try_parse_from(words)?;
        let given = std::env::var_os("ESKER_DATA").filter(|path| !path.is_empty());
        request.reviews = request.reviews.or(given.map(PathBuf::from));
        Ok(request)
    }

    /// The engines that take part, ours first.
    pub fn contenders(&self) -> Vec<Contender> {
        let all = Contender::ALL.into_iter();
        all.filter(|one| self.engines.is_empty() || self.engines.contains(one))
            .collect()
    }

    /// Whether a line is to be measured.
    pub fn wants(&self, line: Line) -> bool {
        self.only.is_empty() || self.only.contains(&line)
    }
}

/// The flags, for people.
pub fn flags() -> String {
    SqlRequest::command().render_help().to_string()
}

fn part(text: &str) -> Outcome<f64> {
    let part = text.parse().ok();
    part.filter(|part| *part > 0.0 && *part <= 1.0)
        .ok_or_else(|| Failure::usage("it lies above 0 and up to 1"))
}

#[cfg(test)]
mod tests;
