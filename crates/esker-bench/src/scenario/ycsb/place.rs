//! What a phase works on: our engine in a directory, or a table of a cluster.

use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::arguments::Arguments;
use crate::scenario::ycsb::plan::Plan;
use crate::scenario::ycsb::properties::{Properties, wrong};
use crate::scenario::ycsb::table::Binding;
use crate::target::marker::{is_marked, make_fresh, make_ready};
use crate::target::pegasus::{Modes, PegasusTable, ReadMode, TableAddress, WriteMode};
use crate::target::settings::{Matched, StoreSettings};
use crate::target::store::{Engine, Opened, Store};

/// More sort keys or clients than this are a slip of the finger.
const COUNT_MAX: u64 = 1000;

/// An open store, and what it is.
pub struct Place {
    /// The store.
    pub store: Box<dyn Store>,
    /// What the engine made of its settings.
    pub matched: Vec<Matched>,
    /// How records are laid out in it.
    pub binding: Binding,
    /// Name of the engine.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// Where it is, for people.
    pub shown: String,
    /// A directory on the disk that it uses, or else this one.
    pub dir: PathBuf,
}

/// Opens what the command line names.
///
/// Errors: `Usage` for what will not be touched, and for what the target does not do.
pub fn open(engine: &dyn Engine, arguments: &Arguments, plan: &Plan) -> Outcome<Place> {
    match &arguments.target {
        Some(address) => open_table(address, arguments),
        None => open_here(engine, arguments, plan),
    }
}

fn open_here(engine: &dyn Engine, arguments: &Arguments, plan: &Plan) -> Outcome<Place> {
    let dir = arguments.dir();
    make_place(engine, &dir, arguments, plan)?;
    let settings = StoreSettings {
        own: arguments.own_settings(),
        ..StoreSettings::default()
    };
    let Opened { store, matched } = engine.open(&dir, &settings)?;
    Ok(Place {
        store,
        matched,
        binding: Binding::RocksDb,
        engine: engine.name().to_owned(),
        version: engine.version(),
        shown: dir.display().to_string(),
        dir,
    })
}

/// Makes the directory ready, or says why it will not be touched.
fn make_place(engine: &dyn Engine, dir: &Path, arguments: &Arguments, plan: &Plan) -> Outcome {
    let is_there = engine.is_there(dir);
    if !plan.is_load && !is_there {
        return Err(Failure::usage(format!(
            "there is no database in {}; load one first: esker bench ycsb load …",
            dir.display()
        )));
    }
    if arguments.keeps_existing == Some(false) {
        return match plan.is_load {
            true => make_fresh(engine, dir, arguments.is_insisted),
            false => Err(Failure::usage(
                "--use_existing_db=0 makes sense for a load only: a run needs what was loaded",
            )),
        };
    }
    // A phase writes records between those that are there: only with a clear word where a
    // benchmark did not make them.
    if is_there && !is_marked(dir) && arguments.keeps_existing != Some(true) {
        return Err(Failure::usage(format!(
            "the database in {} was not made by a benchmark: refusing to write records into it; \
             name another directory with --db, or say --use_existing_db=1",
            dir.display()
        )));
    }
    make_ready(dir)
}

fn open_table(address: &TableAddress, arguments: &Arguments) -> Outcome<Place> {
    let properties = &arguments.properties;
    refuse_local(arguments)?;
    if properties.number("scanproportion", 0.0)? > 0.0 {
        return Err(Failure::usage(
            "a table of a cluster has no order of its hash keys, so there are no scans over \
             records, as in YCSB's binding; leave workload E out, or say -p scanproportion=0",
        ));
    }
    let modes = modes(properties)?;
    let mut address = address.clone();
    if address.table.is_empty() {
        address.table = properties.text("table", "usertable").to_owned();
    }
    Ok(Place {
        store: Box::new(PegasusTable::connect(&address, modes)?),
        matched: Vec::new(),
        binding: Binding::Pegasus,
        engine: "table of a cluster".to_owned(),
        version: "of unknown version".to_owned(),
        shown: address.to_string(),
        dir: PathBuf::from("."),
    })
}

/// Refuses what only a database in this process has.
fn refuse_local(arguments: &Arguments) -> Outcome {
    let told = match arguments {
        Arguments { dir: Some(_), .. } => "--db names a directory",
        Arguments {
            keeps_existing: Some(false),
            ..
        } => "--use_existing_db=0 destroys what is there, and esker table drop does that here",
        _ if !arguments.own_settings().is_empty() => "settings of the engine are the servers'",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{told}; leave it out with --target, or measure the engine without --target"
    )))
}

/// The modes that YCSB's binding has, by its properties.
fn modes(properties: &Properties) -> Outcome<Modes> {
    let count = |name: &str, default| {
        let count = properties.count(name, default)?;
        match (1..=COUNT_MAX).contains(&count) {
            true => Ok(count),
            false => Err(wrong(name, count, format!("1 to {COUNT_MAX}"))),
        }
    };
    let write = match properties.text("write_mode", "single") {
        "single" => WriteMode::Single,
        "batch" => WriteMode::Batch,
        "multi" => WriteMode::Multi,
        other => return Err(wrong("write_mode", other, "single, batch or multi")),
    };
    let read = match properties.text("read_mode", "single") {
        "single" => ReadMode::Single,
        "batch" => ReadMode::Batch,
        "multi" => ReadMode::Multi,
        "range" => ReadMode::Range,
        other => return Err(wrong("read_mode", other, "single, batch, multi or range")),
    };
    if (write == WriteMode::Single) != (read == ReadMode::Single) {
        return Err(Failure::usage(
            "write_mode and read_mode are both single or neither is: what is written under one \
             sort key is not read under others",
        ));
    }
    let fits = "a thousand at most";
    Ok(Modes {
        write,
        read,
        sort_key_count: u32::try_from(count("sort_keys_count", 10)?).expect(fits),
        clients: usize::try_from(count("pegasus.clients", 1)?).expect(fits),
    })
}
