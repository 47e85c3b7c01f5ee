//! The command line of `esker bench report` as plain values.

use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{CommandFactory, Parser};

use crate::fail::{Failure, Outcome};
use crate::report::file;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Parser)]
#[command(
    no_binary_name = true,
    disable_help_flag = true,
    args_override_self = true,
    help_template = "{options}",
    term_width = 100
)]
pub struct Request {
    /// The record of a run, or those of an earlier and a later one
    #[arg(value_name = "RUN.json")]
    pub records: Vec<PathBuf>,
    /// The page [default: RUN.html, if no other file is asked for]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The main chart as SVG
    #[arg(long = "chart", value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Of two runs: tell the outcome in JSON
    #[arg(long = "json")]
    pub is_json: bool,
    /// Show only these workloads
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub only: Vec<String>,
    /// This
    #[arg(short = 'h', long = "help")]
    pub is_help: bool,
}

/// What `--help` says.
pub fn help() -> String {
    format!(
        "\
Make a report of a run, or hold two runs against each other

Usage: esker bench report RUN.json [-o FILE] [--chart FILE]
       esker bench report BEFORE.json AFTER.json [--json]

A run is a file that a benchmark wrote with --json. Of one run it writes a page for the browser
that needs nothing else; of two it prints what changed and whether that is more than noise.

Options:
{}
Examples:
  esker bench db --num=1000000 --json=run.json && esker bench report run.json
  esker bench report before.json after.json
  esker bench report run.json --chart chart.svg
  esker bench report history.tsv --chart chart.svg    the newest run of those that were kept

Exit codes: 0 done, 1 something failed, 2 the command line makes no sense, or a file it names is no
record or cannot be written. Files are written whole or not at all, and never over a record.
",
        Request::command().render_help()
    )
}

impl Request {
    /// What a command line asks for; `None` for `--help`. Nothing is read or written yet.
    pub fn parse(words: &[String]) -> Outcome<Option<Request>> {
        if words.first().is_some_and(|word| word == "help") {
            return Ok(None);
        }
        let mut request = Request::try_parse_from(words)?;
        if request.is_help {
            return Ok(None);
        }
        match &request.records[..] {
            [] => {
                let told = "name the record of a run; `esker bench report --help` tells more";
                return Err(Failure::usage(told));
            }
            [_, _, third, ..] => {
                return Err(Failure::usage(format!(
                    "two runs at most can be compared; leave out {}",
                    third.display()
                )));
            }
            _ => request.settle()?,
        }
        Ok(Some(request))
    }

    /// What follows from what was asked for, and what does not go together.
    fn settle(&mut self) -> Outcome {
        if self.is_json && self.second().is_none() {
            let told = "--json is for two runs; the record of one is JSON already";
            return Err(Failure::usage(told));
        }
        if self.is_history() && (self.svg.is_none() || self.html.is_some()) {
            let told = "of a history there is a chart only; name its file with --chart";
            return Err(Failure::usage(told));
        }
        let is_any = self.html.is_some() || self.svg.is_some();
        if self.second().is_some() && is_any {
            let told = "of two runs there is text and --json; a page and a chart are of one";
            return Err(Failure::usage(told));
        }
        if self.second().is_none() && !is_any {
            self.html = Some(self.first().with_extension("html"));
        }
        let mut taken = self.records.clone();
        for path in self.outputs() {
            if taken.iter().any(|other| file::is_same(other, path)) {
                return Err(Failure::usage(format!(
                    "{} would be written over; name another file",
                    path.display()
                )));
            }
            taken.push(path.to_path_buf());
        }
        Ok(())
    }

    /// The record, or the earlier of two.
    pub fn first(&self) -> &Path {
        self.records.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The later of two.
    pub fn second(&self) -> Option<&Path> {
        self.records.get(1).map(PathBuf::as_path)
    }

    /// Whether the newest run of a history is asked for, rather than records.
    pub fn is_history(&self) -> bool {
        let is_table = self.first().extension().is_some_and(|it| it == "tsv");
        is_table && self.second().is_none()
    }

    /// The files to write.
    pub fn outputs(&self) -> impl Iterator<Item = &Path> {
        let all = [&self.html, &self.svg];
        all.into_iter().filter_map(|path| path.as_deref())
    }
}

#[cfg(test)]
mod tests;
