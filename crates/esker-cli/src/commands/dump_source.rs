//! What a dump is made of: a database as it is, or what is left of a damaged one.

use std::fs::DirBuilder;
use std::io::ErrorKind as Os;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use esker::{Db, Keyspace, RepairReport};

use crate::commands::repair::report_to_json;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::open;
use crate::progress::Spinner;
use crate::text::tame_json;

/// As other new directories of a database: their owner's alone.
const DIR_MODE: u32 = 0o700;

/// Each name is tried that an earlier process of our number may have left.
const SCRATCH_TRIES_MAX: u32 = 1000;

/// What is dumped.
pub struct Source {
    /// The database.
    pub db: Db,
    /// Keyspaces of it.
    pub keyspaces: Vec<Keyspace>,
    /// Whether something of the database is lost.
    pub is_lossy: bool,
    /// Asked now and then, where something is to be put in order at the end.
    pub interrupt: Option<Interrupt>,
    /// Behind the database, which is closed first.
    _scratch: Option<Scratch>,
}

impl Source {
    /// A database as it is: every keyspace, or the one that the command line names.
    pub fn whole(shared: &GlobalFlags, is_all: bool) -> Outcome<Source> {
        Source::of(shared, open::database_for_reading(shared)?, is_all)
    }

    /// The same of a damaged one, without what is lost of it, which is told.
    pub fn past_damage(shared: &GlobalFlags, is_all: bool) -> Outcome<Source> {
        let builder = open::builder(shared)?;
        refuse_nothing(open::directory(shared)?)?;
        let interrupt = Interrupt::watch()?;
        let scratch = Scratch::make()?;
        let (db, report) = {
            let _spinner = Spinner::start("reading every byte");
            builder.open_past_damage(&scratch.0)?
        };
        tell(shared, &report);
        Ok(Source {
            is_lossy: report.is_lossy(),
            interrupt: Some(interrupt),
            _scratch: Some(scratch),
            ..Source::of(shared, db, is_all)?
        })
    }

    fn of(shared: &GlobalFlags, db: Db, is_all: bool) -> Outcome<Source> {
        let keyspaces = match is_all {
            true => {
                let names = db.keyspaces().into_iter();
                names
                    .filter_map(|name| db.existing_keyspace(&name))
                    .collect()
            }
            false => vec![open::existing_keyspace(shared, &db)?],
        };
        Ok(Source {
            db,
            keyspaces,
            is_lossy: false,
            interrupt: None,
            _scratch: None,
        })
    }
}

fn tell(shared: &GlobalFlags, report: &RepairReport) {
    if report.is_whole() {
        return;
    }
    if shared.json {
        let told = report_to_json(shared.key_format(), report);
        return remark!("{}", tame_json(told.to_string()));
    }
    if !report.is_lossy() {
        return remark!("esker: the database is damaged, and nothing is lost; run `esker repair`");
    }
    let losses = report.losses().to_string();
    remark!("esker: the database is damaged; what is lost of it is not in the dump:");
    losses.lines().for_each(|line| remark!("{line}"));
}

/// The engine tells of a directory in which there is something else, and this of a wrong word.
fn refuse_nothing(dir: &Path) -> Outcome {
    match dir.exists() {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "there is no directory {}",
            dir.display()
        ))),
    }
}

/// A folder of our own for what has to be put together anew; removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Outcome<Scratch> {
        let folder = std::env::temp_dir();
        let process = std::process::id();
        let mut tries = 0..SCRATCH_TRIES_MAX;
        loop {
            let count = tries.next();
            let name = format!("esker-dump-{process}-{}", count.unwrap_or_default());
            let path = folder.join(name);
            match DirBuilder::new().mode(DIR_MODE).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == Os::AlreadyExists && count.is_some() => {}
                Err(error) => {
                    let doing = format!("cannot make the folder {}", path.display());
                    return Err(Failure::system(doing, &error));
                }
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            remark!("esker: cannot remove {}: {error}", self.0.display());
        }
    }
}
