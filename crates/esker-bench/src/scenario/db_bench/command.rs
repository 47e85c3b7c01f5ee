//! The command `db`: a command line of db_bench on an engine.

use crate::console::Console;
use crate::fail::{Failure, FailureKind, Outcome};
use crate::flags::parse::{Asked, help, parse};
use crate::report::record::Record;
use crate::scenario::db_bench::list::needs_rocksdb;
use crate::scenario::db_bench::session;
use crate::scenario::db_bench::setup::Setup;
use crate::target::embedded::Esker;
use crate::target::store::Engine;

/// Runs a command line on our engine.
pub fn run(words: &[String], console: &mut Console<'_>) -> Outcome {
    measure(&Esker, words, console).map(|_record| ())
}

/// Runs a command line on any engine; gives what was measured, and nothing where the line only
/// asks for help or the version.
pub fn measure(
    engine: &dyn Engine,
    words: &[String],
    console: &mut Console<'_>,
) -> Outcome<Option<Record>> {
    let (given, why) = match parse(words, &needs_rocksdb)? {
        Asked::Help => {
            console.out.write_all(help()?.as_bytes())?;
            return Ok(None);
        }
        Asked::Version => {
            let line = format!("db_bench of {} {}\n", engine.name(), engine.version());
            console.out.write_all(line.as_bytes())?;
            return Ok(None);
        }
        Asked::Run { given, why } => (given, why),
    };
    let setup = Setup::new(given)?;
    let outcome = session::run(engine, &setup, words, &why, console);
    outcome.map(Some).map_err(|failure| match failure.kind {
        // In db_bench's own words, which begin the line.
        FailureKind::Failed => Failure::own(1, failure.message),
        _ => failure,
    })
}
