//! The command line of YCSB, and the few options of ours beside it.

use crate::flags::nearest::nearest;
use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::builtin::{self, SHARED};
use crate::scenario::ycsb::catalogue::OWN;
use crate::scenario::ycsb::properties::Properties;
use crate::target::pegasus::TableAddress;

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Whether only help is wanted.
    pub is_help: bool,
    /// All properties: built-in workloads and files in their order, then pairs and options.
    pub properties: Properties,
    /// Where a record of the whole goes.
    pub json_path: Option<PathBuf>,
    /// Where the database is.
    pub dir: Option<PathBuf>,
    /// The table of a cluster that is measured; else it is our engine in this process.
    pub target: Option<TableAddress>,
    /// Whether a database that is there is kept; `None` where nothing was said.
    pub keeps_existing: Option<bool>,
    /// Whether somebody else's database may be destroyed.
    pub is_insisted: bool,
    /// What there is to say before the start.
    pub notes: Vec<String>,
}

/// Parses the words behind `ycsb`.
///
/// Errors: `Usage` for a word that is not known, a value that is missing or impossible, and a
/// property file that cannot be read.
pub fn parse(words: &[String]) -> Outcome<Arguments> {
    let mut arguments = Arguments::default();
    let mut winners: Vec<(String, String)> = Vec::new();
    let mut words = words.iter().map(String::as_str);
    let mut bare_words = 0;
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            winners.push(bare(word, bare_words)?);
            bare_words += 1;
            continue;
        }
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        let mut value = || {
            attached.or_else(|| words.next()).ok_or_else(|| {
                Failure::usage(format!("{name} needs a value; see esker bench ycsb --help"))
            })
        };
        let mut win = |name: &str, value: &str| winners.push((name.into(), value.into()));
        match name {
            "-P" | "--workload" => arguments.add_workload(value()?)?,
            "-p" => {
                let pair = value()?;
                let (name, value) = pair.split_once('=').ok_or_else(|| {
                    Failure::usage(format!("-p {pair} is no pair; write -p name=value"))
                })?;
                win(name, value);
            }
            "-threads" => win("threadcount", value()?),
            "-target" => win("target", value()?),
            "-l" => win("label", value()?),
            "-db" => win("db", value()?),
            "--seed" => win("seed", value()?),
            "-s" => win("status", "true"),
            "-load" => win("dotransactions", "false"),
            "-t" => win("dotransactions", "true"),
            "--verify" => win("dataintegrity", "true"),
            "--json" => arguments.json_path = Some(value()?.into()),
            "--db" | "--dir" => arguments.dir = Some(value()?.into()),
            "--target" => arguments.target = target(value()?)?,
            "--use_existing_db" => arguments.keeps_existing = Some(is_kept(value()?)?),
            "--yes" => arguments.is_insisted = true,
            "--help" | "-h" | "-help" => arguments.is_help = true,
            _ => return Err(unknown(name)),
        }
    }
    for (name, value) in winners {
        arguments.properties.set(&name, &value);
    }
    Ok(arguments)
}

impl Arguments {
    /// The built-in workload of that name, else a file. A file whose name is that of a workload is
    /// meant where a path says so, as `./f` does: a stray one must not change what is measured.
    fn add_workload(&mut self, name: &str) -> Outcome {
        let path = Path::new(name);
        let is_path = name.contains('/') && path.is_file();
        let Some(found) = builtin::find(name).filter(|_| !is_path) else {
            // Says why the file cannot be read.
            return self.properties.load(path);
        };
        self.properties.add_text(SHARED)?;
        self.properties.add_text(found.text)?;
        let letter = found.letter.to_ascii_uppercase();
        let note = format!("workload {letter}, built in: {}", found.story);
        self.notes.push(note);
        if path.is_file() {
            self.notes.push(format!(
                "the file {name} here is passed over; ./{name} would be that file"
            ));
        }
        Ok(())
    }

    /// The directory of the database: by option, by property, or one for each user among the
    /// temporary files.
    pub fn dir(&self) -> PathBuf {
        let by_property = ["esker.dir", "rocksdb.dir"]
            .iter()
            .find_map(|name| self.properties.get(name));
        match (&self.dir, by_property) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) => PathBuf::from(dir),
            (None, None) => {
                let user = rustix::process::getuid().as_raw();
                std::env::temp_dir().join(format!("esker-ycsb-{user}"))
            }
        }
    }

    /// Settings of our engine among the properties, by the engine's own names.
    pub fn own_settings(&self) -> Vec<(String, String)> {
        let own = self.properties.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(OWN).filter(|name| *name != "dir")?;
            Some((name.to_owned(), value.to_owned()))
        });
        own.collect()
    }
}

/// Every option, for whoever slips.
const OPTIONS: [&str; 18] = [
    "-P",
    "-p",
    "-threads",
    "-target",
    "-s",
    "-load",
    "-t",
    "-l",
    "-db",
    "--workload",
    "--target",
    "--db",
    "--dir",
    "--json",
    "--seed",
    "--verify",
    "--use_existing_db",
    "--yes",
];

fn unknown(name: &str) -> Failure {
    Failure::usage(
        match nearest(name, OPTIONS.into_iter().filter(|one| one.len() > 2)) {
            Some(near) => format!("there is no option {name}; did you mean {near}?"),
            None => format!("there is no option {name}; there are {}", OPTIONS.join(" ")),
        },
    )
}

/// `load` or `run`, then the name of a binding, as YCSB's own script has them.
fn bare(word: &str, place: usize) -> Outcome<(String, String)> {
    let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
    match (place, word) {
        (0, "load") => pair("dotransactions", "false"),
        (0, "run") => pair("dotransactions", "true"),
        (0 | 1, binding) if is_known_binding(binding) => pair("db", binding),
        _ => Err(Failure::usage(format!(
            "`{word}` makes no sense there; write load or run, then options: \
             esker bench ycsb load --workload a"
        ))),
    }
}

/// What `--target` names; with one dash it is YCSB's own, and a rate.
fn target(text: &str) -> Outcome<Option<TableAddress>> {
    match text {
        "embedded" => Ok(None),
        number if number.parse::<f64>().is_ok() => Err(Failure::usage(format!(
            "--target={number} makes no sense: it is embedded or the address of a table; \
             -target {number}, with one dash, is operations a second"
        ))),
        address => TableAddress::parse(address).map(Some),
    }
}

fn is_kept(text: &str) -> Outcome<bool> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(Failure::usage(format!(
            "--use_existing_db={text} makes no sense; it is 0 or 1"
        ))),
    }
}

/// Whether the name of a binding, or its class, means something that is measured here. That of
/// RocksDB does: its layout of records is the one used, so that its scripts run.
pub fn is_known_binding(name: &str) -> bool {
    let class = name.rsplit('.').next().unwrap_or(name);
    matches!(
        class,
        "esker" | "EskerClient" | "rocksdb" | "RocksDBClient" | "pegasus" | "PegasusClient"
    )
}

#[cfg(test)]
mod tests;
