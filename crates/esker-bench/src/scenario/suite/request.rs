//! The command line of scenarios as plain values.

use std::path::PathBuf;

use crate::fail::{Failure, Outcome};
use crate::flags::nearest::nearest;
use crate::scenario::suite::size::Size;

/// What limits memory where a scenario asks for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitBy {
    /// The engine's setting; the system's page cache has no limit then.
    Setting,
    /// A control group of the system around the whole process, page cache included.
    ControlGroup,
    /// A control group where one may be made, else the setting.
    Either,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The scenario, or `all`; empty where only the list is wanted.
    pub name: String,
    /// How much of it.
    pub size: Size,
    /// Where stores are made; each scenario has a directory of its own there.
    pub dir: PathBuf,
    /// Where the record goes.
    pub json: Option<PathBuf>,
    /// How often each line is run; `None` is the scenario's own choice.
    pub rounds: Option<usize>,
    /// A file of review records.
    pub reviews: Option<PathBuf>,
    /// Settings of the engine by name.
    pub own: Vec<(String, String)>,
    /// What limits memory.
    pub limit_by: LimitBy,
    /// Whether the growth of the LevelDB list is measured instead of the list.
    pub is_growth: bool,
    /// Whether the system is asked to drop its whole cache before cold reads.
    pub drops_system_cache: bool,
    /// Whether the stores stay when all is done.
    pub keeps_stores: bool,
    /// Whether everything that lines print is shown.
    pub is_verbose: bool,
    /// Multiplies what the size says: counts of keys, bytes of reviews.
    pub scale: f64,
    /// Whether only help is wanted.
    pub is_help: bool,
}

/// What the flags are for.
pub const FLAGS: [(&str, &str); 12] = [
    ("--size=SIZE", "small, medium or full [small]"),
    ("--dir=DIR", "where stores are made [a temporary directory]"),
    ("--json=FILE", "write everything measured to this file"),
    ("--rounds=N", "turns of each line [the scenario's own]"),
    (
        "--data=FILE",
        "review records in SNAP's format, plain, gzip or zstd [$ESKER_DATA, else made text]",
    ),
    (
        "--set=NAME=VALUE",
        "a setting of the engine, as often as wanted",
    ),
    (
        "--limit_by=WAY",
        "memory limits by the engine's `setting`, by a `cgroup` around all, or `either` [setting]",
    ),
    (
        "--scale=N",
        "so many times what the size says; above 1 reviews are recombined from the file's [1]",
    ),
    (
        "--growth",
        "leveldb-suite: how time for each operation grows with the keys",
    ),
    (
        "--drop_system_cache",
        "before cold reads the system drops all it has cached, where it may be done",
    ),
    ("--keep", "leave the stores where they are"),
    ("--verbose", "show everything that each line prints"),
];

/// More rounds than this are a slip of the finger.
const ROUNDS_MAX: usize = 1000;

/// A larger scale is a slip of the finger: a thousand times the largest size fits no disk.
const SCALE_MAX: f64 = 1000.0;

impl Request {
    /// What nothing but the name asks for.
    pub fn plain(name: &str) -> Request {
        Request {
            name: name.into(),
            size: Size::Small,
            dir: std::env::temp_dir().join(format!(
                "esker-scenario-{}",
                rustix::process::geteuid().as_raw()
            )),
            json: None,
            rounds: None,
            reviews: std::env::var_os("ESKER_DATA")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            own: Vec::new(),
            limit_by: LimitBy::Setting,
            is_growth: false,
            drops_system_cache: false,
            keeps_stores: false,
            is_verbose: false,
            scale: 1.0,
            is_help: false,
        }
    }

    /// What a command line asks for.
    ///
    /// Errors: `Usage` for words that are not known or make no sense.
    pub fn parse(words: &[String]) -> Outcome<Request> {
        let mut request = Request::plain("");
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                request.take_name(word)?;
                continue;
            }
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let mut value = || {
                let value = attached.or_else(|| words.next());
                value.ok_or_else(|| Failure::usage(format!("{name} needs a value")))
            };
            match name {
                "--size" => request.size = Size::of(value()?)?,
                "--dir" => request.dir = value()?.into(),
                "--json" => request.json = Some(value()?.into()),
                "--rounds" => request.rounds = Some(rounds(value()?)?),
                "--data" => request.reviews = Some(value()?.into()),
                "--set" => request.own.push(pair(value()?)?),
                "--limit_by" => request.limit_by = limit_by(value()?)?,
                "--scale" => request.scale = scale(value()?)?,
                "--growth" => request.is_growth = true,
                "--drop_system_cache" => request.drops_system_cache = true,
                "--keep" => request.keeps_stores = true,
                "--verbose" => request.is_verbose = true,
                "--help" | "-h" => request.is_help = true,
                _ => return Err(unknown(name)),
            }
        }
        Ok(request)
    }

    fn take_name(&mut self, word: &str) -> Outcome {
        if !self.name.is_empty() {
            return Err(Failure::usage(format!(
                "{} and {word}: one scenario at a time, or all",
                self.name
            )));
        }
        self.name = word.into();
        Ok(())
    }

    /// A count of the scenario's size, scaled; at least 1.
    pub fn scaled(&self, count: u64) -> u64 {
        // Counts are far below 2^53.
        ((count as f64 * self.scale) as u64).max(1)
    }
}

fn rounds(text: &str) -> Outcome<usize> {
    let rounds = text.parse().ok();
    rounds
        .filter(|rounds| (1..=ROUNDS_MAX).contains(rounds))
        .ok_or_else(|| {
            Failure::usage(format!(
                "--rounds={text} makes no sense; it is a whole number from 1 to {ROUNDS_MAX}"
            ))
        })
}

fn scale(text: &str) -> Outcome<f64> {
    let scale = text.parse().ok();
    scale
        .filter(|scale| *scale > 0.0 && *scale <= SCALE_MAX)
        .ok_or_else(|| {
            Failure::usage(format!(
                "--scale={text} makes no sense; it lies above 0 and up to {SCALE_MAX}"
            ))
        })
}

fn pair(text: &str) -> Outcome<(String, String)> {
    let pair = text.split_once('=');
    let (name, value) = pair.ok_or_else(|| {
        Failure::usage(format!("--set={text} is no pair; write --set=name=value"))
    })?;
    Ok((name.into(), value.into()))
}

fn limit_by(text: &str) -> Outcome<LimitBy> {
    match text {
        "setting" => Ok(LimitBy::Setting),
        "cgroup" => Ok(LimitBy::ControlGroup),
        "either" => Ok(LimitBy::Either),
        _ => Err(Failure::usage(format!(
            "--limit_by={text} makes no sense; it is setting, cgroup or either"
        ))),
    }
}

fn unknown(name: &str) -> Failure {
    let known = FLAGS.iter().map(|(flag, _)| {
        let flag: &'static str = flag;
        flag.split('=').next().unwrap_or(flag)
    });
    let advice = match nearest(name, known) {
        Some(near) => format!("did you mean {near}?"),
        None => "see esker bench scenario --help".into(),
    };
    Failure::usage(format!("there is no option {name}; {advice}"))
}

#[cfg(test)]
mod tests;
