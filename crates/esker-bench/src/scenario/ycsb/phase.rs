//! A phase from its plan to its results: the store is opened, worked on, closed and told of.

use std::time::Instant;

use crate::console::Console;
use crate::fail::{Failure, Outcome};
use crate::report::json;
use crate::report::record::{EngineWork, Record};
use crate::scenario::ycsb::arguments::Arguments;
use crate::scenario::ycsb::core_client::Shared;
use crate::scenario::ycsb::drive::drive;
use crate::scenario::ycsb::meter::{Metric, Tally};
use crate::scenario::ycsb::place;
use crate::scenario::ycsb::plan::Plan;
use crate::scenario::ycsb::reply::Reply;
use crate::scenario::ycsb::results;
use crate::scenario::ycsb::table::Table;
use crate::target::store::Engine;

/// Carries out what the command line asks for, on `engine`.
pub fn carry_out(
    engine: &dyn Engine,
    arguments: &Arguments,
    words: &[String],
    console: &mut Console<'_>,
) -> Outcome {
    console.err.line("Loading workload...")?;
    let plan = Plan::new(arguments)?;
    for note in arguments.notes.iter().chain(&plan.notes) {
        console.err.line(note)?;
    }
    let place = place::open(engine, arguments, &plan)?;
    console.err.line(&format!(
        "{} {} in {}",
        place.engine, place.version, place.shown
    ))?;
    console.err.line("Starting test.")?;
    let store = &place.store;
    let mut record = Record::begin("ycsb", &place.dir, words);
    let before = store.counters();
    let shared = Shared::new(&plan.workload, Table::new(store.as_ref(), place.binding));
    let mut driven = drive(&plan, store.as_ref(), &shared, &console.err)?;
    let first_failure = shared.table.first_failure().map(str::to_owned);
    drop(shared);
    let done = EngineWork::between(&before, &store.counters());
    let start = Instant::now();
    place.store.close()?;
    let took = start.elapsed();
    driven.tally.check(Metric::Cleanup, took, Reply::Ok);
    results::print(&plan, &driven, &done, console.out)?;
    if let Some(path) = &arguments.json_path {
        let mut measured = results::measurement(&plan, &driven, done, &arguments.properties);
        measured.engine = place.engine;
        measured.engine_version = place.version;
        measured.settings = place.matched;
        record.measurements.push(measured);
        json::write(path, &record)?;
    }
    verdict(&driven.tally, first_failure.as_deref())
}

/// Results were printed; what failed meanwhile decides the exit code.
fn verdict(tally: &Tally, first_failure: Option<&str>) -> Outcome {
    let wrong = tally.count(Metric::Verify, Reply::UnexpectedState)
        + tally.count(Metric::Verify, Reply::Error);
    if let Some(first) = first_failure {
        return Err(Failure::failed(format!(
            "{} operations failed; the first one: {first}",
            tally.count_all(Reply::Error) + tally.count_all(Reply::UnexpectedState)
        )));
    }
    if wrong > 0 {
        return Err(Failure::failed(format!(
            "{wrong} records were not what belongs to their keys"
        )));
    }
    Ok(())
}
