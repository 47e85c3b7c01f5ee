//! What a dump is made of: a database as it is, or what is left of a damaged one.

use std::path::Path;

use esker::{Db, Keyspace, RepairReport};

use crate::commands::repair::report_to_json;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::open;
use crate::progress::Spinner;
use crate::scratch::Scratch;
use crate::text::tame_json;

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
        let scratch = Scratch::make("dump")?;
        let (db, report) = {
            let _spinner = Spinner::start("reading every byte");
            builder.open_past_damage(scratch.path())?
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
