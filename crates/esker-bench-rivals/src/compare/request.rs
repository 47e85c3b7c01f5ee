//! The command line of the comparison as plain values.

use std::path::PathBuf;
use std::time::Duration;

use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::settings::{Packing, StoreSettings};

use crate::compare::workloads;
use crate::compare::workloads::{WORKLOADS, Workload};
use crate::engines::roster::{self, ALL};
use esker_bench::disk::raw::LIMITS;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The workloads to measure.
    pub workloads: Vec<Workload>,
    /// The words for the engines; all if empty.
    pub engines: Vec<String>,
    /// Keys, and operations of each workload that writes.
    pub num: u64,
    /// Operations of each workload that reads points.
    pub reads: u64,
    /// The same where everything must come from the disk.
    pub cold_reads: u64,
    /// Synced writes.
    pub sync_ops: u64,
    /// Values of 100 KB.
    pub large_ops: u64,
    /// How long a workload may take, where its end can be chosen; then it is cut short.
    pub patience: Option<Duration>,
    /// How often each engine runs each workload.
    pub rounds: usize,
    /// What every engine is given alike.
    pub settings: StoreSettings,
    /// Further settings of ours by name.
    pub own: Vec<(String, String)>,
    /// Where stores are made.
    pub dir: PathBuf,
    /// Where the record goes.
    pub json: Option<PathBuf>,
    /// Where the page of the record goes.
    pub html: Option<PathBuf>,
    /// Where the table goes besides standard output.
    pub markdown: Option<PathBuf>,
    /// Where the ratios of earlier runs are kept.
    pub history: Option<PathBuf>,
    /// Whether those of this run go there too.
    pub keeps_history: bool,
    /// Whether the raw limits are measured too.
    pub has_limits: bool,
}

/// What a flag is for.
const FLAGS: [(&str, &str); 22] = [
    (
        "--workloads",
        "A,B,…: only these; those they build upon run untold",
    ),
    ("--engines", "A,B,…: only these engines"),
    ("--num", "keys, and writes of each workload (200000)"),
    ("--reads", "point reads of each workload (as --num)"),
    ("--cold_reads", "point reads from the disk (10000)"),
    ("--sync_ops", "synced writes (1000)"),
    ("--large_ops", "values of 100 KB (1000)"),
    (
        "--patience_s",
        "seconds that a workload may take; then it is cut short, and the engine sits out what is \
         left of that store (no bound)",
    ),
    ("--rounds", "turns of each engine (5)"),
    ("--cache_mib", "block cache (8, as LevelDB)"),
    ("--buffer_mib", "write buffer (4, as LevelDB)"),
    (
        "--filter_bits",
        "filter bits for each key (10; 0 is no filter)",
    ),
    ("--packing", "none, snappy, lz4 or zstd (snappy)"),
    (
        "--background_threads",
        "for flushes and compactions (engine's own)",
    ),
    (
        "--esker",
        "NAME=VALUE: a setting of Esker by its own name, as often as wanted",
    ),
    (
        "--limits",
        "yes or no: the raw limits of disk and memory (yes)",
    ),
    (
        "--dir",
        "where stores are made (a folder for temporary files)",
    ),
    ("--json", "file for the record, written after each turn"),
    ("--html", "file for the report of the record, a page"),
    ("--markdown", "file for the tables, written after each turn"),
    (
        "--history",
        "file with the ratios of earlier runs, for the report",
    ),
    (
        "--keep_history",
        "yes or no: add those of this run to it (no)",
    ),
];

/// What `--help` says.
pub fn help() -> String {
    let mut text = String::from(
        "Measure Esker and its rivals in turns, and the limits of the disk\n\n\
         Usage: compare [--flag=value …]\n       compare reviews [flags of `esker bench \
         scenario`] [--html=FILE]\n       compare check \
         [any of these]    say what makes no sense in it, and run nothing\n\nFlags:\n",
    );
    for (name, doc) in FLAGS {
        text += &format!("  {name:<22} {doc}\n");
    }
    text += &format!("\nEngines: {}\n", ALL.join(", "));
    let built: Vec<&str> = roster::every().iter().map(|entry| entry.word).collect();
    let names: Vec<&str> = WORKLOADS.iter().map(|line| line.name).collect();
    let limits: Vec<&str> = LIMITS.iter().map(|limit| limit.name).collect();
    text += &format!("Built in: {}\n", built.join(", "));
    text += &format!(
        "Workloads: {}\nLimits: {}\n",
        names.join(", "),
        limits.join(", ")
    );
    text += "\nExit codes: 0 done, 1 something failed or the engines disagree, 2 the command line \
             makes no sense.\n";
    text
}

impl Request {
    /// What a command line asks for; `None` for `--help`.
    pub fn parse(words: &[String]) -> Outcome<Option<Request>> {
        let mut request = Request {
            workloads: workloads::choose(&[])?,
            engines: Vec::new(),
            // All engines and five rounds then take a quarter of an hour; ten times as many keys
            // take ten times as long.
            num: 200_000,
            reads: 0,
            cold_reads: 10_000,
            sync_ops: 1000,
            large_ops: 1000,
            patience: None,
            rounds: 5,
            settings: StoreSettings {
                cache_bytes: Some(8 << 20),
                write_buffer_bytes: Some(4 << 20),
                filter_bits: Some(10.0),
                packing: Some(Packing::Snappy),
                block_bytes: Some(4096),
                ..StoreSettings::default()
            },
            own: Vec::new(),
            dir: std::env::temp_dir().join(format!("esker-compare-{}", std::process::id())),
            json: None,
            html: None,
            markdown: None,
            history: None,
            keeps_history: false,
            has_limits: true,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "--help" | "-h" | "help") {
                return Ok(None);
            }
            let (name, text) = match word.split_once('=') {
                Some((name, text)) => (name, Some(text.to_owned())),
                None => (word.as_str(), words.next().cloned()),
            };
            // The name that it had until it was given the field's word.
            let name = if name == "--lines" {
                "--workloads"
            } else {
                name
            };
            let is_known = FLAGS.iter().any(|(flag, _)| *flag == name);
            match (is_known, text) {
                (true, Some(text)) => request.set(name, &text)?,
                (true, None) => return Err(Failure::usage(format!("{name} wants a value"))),
                (false, _) => return Err(unknown(name)),
            }
        }
        if request.keeps_history && request.history.is_none() {
            return Err(Failure::usage(
                "--keep_history=yes wants --history=FILE to keep it in",
            ));
        }
        if request.reads == 0 {
            request.reads = request.num;
        }
        Ok(Some(request))
    }

    fn set(&mut self, name: &str, text: &str) -> Outcome {
        let list = || text.split(',').map(str::to_owned).collect::<Vec<String>>();
        match name {
            "--workloads" => self.workloads = workloads::choose(&list())?,
            "--engines" => self.engines = list(),
            "--num" => self.num = count(name, text)?,
            "--reads" => self.reads = count(name, text)?,
            "--cold_reads" => self.cold_reads = count(name, text)?,
            "--sync_ops" => self.sync_ops = count(name, text)?,
            "--large_ops" => self.large_ops = count(name, text)?,
            "--patience_s" => self.patience = Some(Duration::from_secs(count(name, text)?)),
            "--rounds" => {
                self.rounds = usize::try_from(count(name, text)?)
                    .map_err(|_| Failure::usage("so many rounds have no end"))?;
            }
            "--cache_mib" => self.settings.cache_bytes = Some(count(name, text)? << 20),
            "--buffer_mib" => self.settings.write_buffer_bytes = Some(count(name, text)? << 20),
            "--background_threads" => {
                self.settings.background_threads = Some(count(name, text)?);
            }
            "--filter_bits" => {
                let bits = text
                    .parse()
                    .ok()
                    .filter(|bits| (0.0..=100.0).contains(bits));
                let wrong = || Failure::usage(format!("{name} is a number from 0 to 100"));
                self.settings.filter_bits = Some(bits.ok_or_else(wrong)?);
            }
            "--packing" => self.settings.packing = Some(packing(text)?),
            "--esker" => {
                let pair = text.split_once('=');
                let (name, value) =
                    pair.ok_or_else(|| Failure::usage("--esker wants NAME=VALUE"))?;
                self.own.push((name.to_owned(), value.to_owned()));
            }
            "--limits" => self.has_limits = choice(name, text)?,
            "--history" => self.history = Some(PathBuf::from(text)),
            "--keep_history" => self.keeps_history = choice(name, text)?,
            "--dir" => self.dir = PathBuf::from(text),
            "--json" => self.json = Some(PathBuf::from(text)),
            "--html" => self.html = Some(PathBuf::from(text)),
            "--markdown" => self.markdown = Some(PathBuf::from(text)),
            _ => return Err(unknown(name)),
        }
        Ok(())
    }
}

fn unknown(name: &str) -> Failure {
    let all: Vec<&str> = FLAGS.iter().map(|(flag, _)| *flag).collect();
    Failure::usage(format!(
        "there is no flag `{name}`; there is {}",
        all.join(", ")
    ))
}

fn count(name: &str, text: &str) -> Outcome<u64> {
    // Far above what any disk holds, and far below where sizes overflow.
    const MOST: u64 = 1 << 40;
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| Failure::usage(format!("{name} is a whole number from 1 on, not `{text}`")))
}

fn choice(name: &str, text: &str) -> Outcome<bool> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Failure::usage(format!("{name} is yes or no"))),
    }
}

fn packing(text: &str) -> Outcome<Packing> {
    Ok(match text {
        "none" => Packing::None,
        "snappy" => Packing::Snappy,
        "lz4" => Packing::Lz4,
        // The level at which RocksDB and Esker pack unless told.
        "zstd" => Packing::Zstd(3),
        _ => {
            let wrong = "--packing is none, snappy, lz4 or zstd";
            return Err(Failure::usage(wrong));
        }
    })
}

#[cfg(test)]
mod tests;
