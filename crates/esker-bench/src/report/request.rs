//! The command line of `esker bench report` as plain values.

use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};
use crate::flags::nearest::nearest;
use crate::report::chart::png;
use crate::report::file;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The record, or the earlier of two.
    pub first: PathBuf,
    /// The later of two.
    pub second: Option<PathBuf>,
    /// Where the page goes.
    pub html: Option<PathBuf>,
    /// Where the chart goes as SVG.
    pub svg: Option<PathBuf>,
    /// Where the chart goes as PNG.
    pub png: Option<PathBuf>,
    /// Whether a comparison is told in JSON.
    pub is_json: bool,
    /// The workloads to show; all if empty.
    pub only: Vec<String>,
}

/// The options, for the parser and for messages.
const OPTIONS: [&str; 6] = ["-o", "--output", "--chart", "--png", "--json", "--only"];

/// What `--help` says.
pub fn help() -> String {
    "\
Make a report of a run, or hold two runs against each other

Usage: esker bench report RUN.json [-o FILE] [--chart FILE] [--png FILE]
       esker bench report BEFORE.json AFTER.json [--json] [-o FILE] [--chart FILE] [--png FILE]

A run is a file that a benchmark wrote with --json. Of one run it writes a page for the browser
that needs nothing else; of two it prints what changed and whether that is more than noise.

Options:
  -o, --output FILE  the page (of one run: RUN.html, if no other file is asked for)
  --chart FILE       the main chart as SVG
  --png FILE         the main chart as PNG, in programs built with `--features png`
  --json             of two runs: tell the outcome in JSON
  --only A,B,…       show only these workloads
  -h, --help         this

Examples:
  esker bench db --num=1000000 --json=run.json && esker bench report run.json
  esker bench report before.json after.json
  esker bench report run.json --chart chart.svg

Exit codes: 0 done, 1 something failed, 2 the command line makes no sense, or a file it names is no
record or cannot be written. Files are written whole or not at all, and never over a record.
"
    .to_owned()
}

impl Request {
    /// What a command line asks for; `None` for `--help`. Nothing is read or written yet.
    pub fn parse(words: &[String]) -> Outcome<Option<Request>> {
        let mut request = Request::default();
        let mut records: Vec<PathBuf> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "--help" | "-h" | "help") {
                return Ok(None);
            }
            if !word.starts_with('-') {
                records.push(word.into());
                continue;
            }
            let (name, text) = match word.split_once('=') {
                Some((name, text)) => (name, Some(text.to_owned())),
                None => (word.as_str(), None),
            };
            if name == "--json" && text.is_none() {
                request.is_json = true;
                continue;
            }
            let mut value = || {
                let text = text.clone().or_else(|| words.next().cloned());
                text.filter(|text| !text.is_empty())
            };
            if name == "--only" {
                let names = value().ok_or_else(|| Failure::usage("--only wants workloads"))?;
                request.only = names.split(',').map(str::to_owned).collect();
                continue;
            }
            let place = request.place(name)?;
            let text = value().ok_or_else(|| Failure::usage(format!("{name} wants a file")))?;
            *place = Some(text.into());
        }
        let mut records = records.into_iter();
        request.first = records.next().ok_or_else(|| {
            Failure::usage("name the record of a run; `esker bench report --help` tells more")
        })?;
        request.second = records.next();
        if let Some(third) = records.next() {
            let told = format!(
                "two runs at most can be compared; leave out {}",
                third.display()
            );
            return Err(Failure::usage(told));
        }
        request.settle()?;
        Ok(Some(request))
    }

    fn place(&mut self, name: &str) -> Outcome<&mut Option<PathBuf>> {
        Ok(match name {
            "-o" | "--output" => &mut self.html,
            "--chart" => &mut self.svg,
            "--png" => &mut self.png,
            _ => {
                let advice = match nearest(name, OPTIONS.into_iter()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("there is {}", OPTIONS.join(", ")),
                };
                return Err(Failure::usage(format!(
                    "there is no option `{name}`; {advice}"
                )));
            }
        })
    }

    /// What follows from what was asked for, and what does not go together.
    fn settle(&mut self) -> Outcome {
        if self.is_json && self.second.is_none() {
            let told = "--json is for two runs; the record of one is JSON already";
            return Err(Failure::usage(told));
        }
        let is_any = self.html.is_some() || self.svg.is_some() || self.png.is_some();
        if self.second.is_none() && !is_any {
            self.html = Some(self.first.with_extension("html"));
        }
        let records = self.records().map(Path::to_path_buf);
        let mut taken: Vec<PathBuf> = records.collect();
        for path in self.outputs() {
            if taken.iter().any(|other| file::is_same(other, path)) {
                return Err(Failure::usage(format!(
                    "{} would be written over; name another file",
                    path.display()
                )));
            }
            taken.push(path.to_path_buf());
        }
        if self.png.is_some() {
            png::check()?;
        }
        Ok(())
    }

    /// The records to read.
    pub fn records(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.first.as_path()).chain(self.second.as_deref())
    }

    /// The files to write.
    pub fn outputs(&self) -> impl Iterator<Item = &Path> {
        let all = [&self.html, &self.svg, &self.png];
        all.into_iter().filter_map(|path| path.as_deref())
    }
}

#[cfg(test)]
mod tests;
