//! What happens in front of the first benchmark: names, directory, store, notes.

use crate::console::Console;
use crate::fail::{Failure, Outcome};
use crate::flags::catalog;
use crate::flags::nearest::nearest;
use crate::scenario::db_bench::default_list::default_list;
use crate::scenario::db_bench::list::{OPERATIONS, find};
use crate::scenario::db_bench::setup::Setup;
use crate::target::marker;
use crate::target::settings::Matched;
use crate::target::store::{Engine, Store};

/// The benchmarks by name; empty ones, as behind a last comma, are passed over.
pub fn names(setup: &Setup) -> Vec<String> {
    let list = match setup.given.is_given("benchmarks") {
        true => setup.given.text("benchmarks"),
        false => default_list(setup.dialect()),
    };
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Refuses unknown benchmarks, and merges without an operator, before anything is touched.
pub fn check_names(setup: &Setup, names: &[String]) -> Outcome {
    for name in names {
        let Some(operation) = find(name) else {
            let near = nearest(name, OPERATIONS.iter().map(|operation| operation.name));
            let advice = match near {
                Some(near) => format!("did you mean {near}?"),
                None => {
                    let all: Vec<&str> = OPERATIONS.iter().map(|one| one.name).collect();
                    format!("there is {}", all.join(", "))
                }
            };
            return Err(Failure::usage(format!(
                "there is no benchmark `{name}`; {advice}"
            )));
        };
        if operation.needs_merge && !setup.settings.has_merges {
            return Err(Failure::usage(format!(
                "{name} needs --merge_operator, such as --merge_operator=uint64add"
            )));
        }
    }
    Ok(())
}

/// Makes the directory ready. Only what a benchmark made is emptied, unless told twice.
pub fn prepare(engine: &dyn Engine, setup: &Setup) -> Outcome {
    let (given, dir) = (&setup.given, &setup.dir);
    if given.is("use_existing_db") {
        if !engine.is_there(dir) {
            return Err(Failure::usage(format!(
                "open error: there is no database in {}; leave --use_existing_db away to make one",
                dir.display()
            )));
        }
        return marker::make_ready(dir);
    }
    let is_insisted = given.is_given("use_existing_db") && given.is("yes");
    marker::make_fresh(engine, dir, is_insisted)
}

/// What cannot be opened is the fault of whoever named it; the dialects exit with 1.
pub fn open(engine: &dyn Engine, setup: &Setup) -> Outcome<(Box<dyn Store>, Vec<Matched>)> {
    let opened = engine
        .open(&setup.dir, &setup.settings)
        .map_err(|failure| {
            let message = format!("open error: {failure}");
            match setup.given.is_given("compat") {
                true => Failure::failed(message),
                false => Failure::usage(message),
            }
        })?;
    Ok((opened.store, opened.matched))
}

/// One line for each flag that was given and has no effect, with the reason.
pub fn notes(setup: &Setup, console: &Console<'_>) -> Outcome {
    for name in setup.given.names() {
        let flag = catalog::find(name).expect("only flags of the catalogue are kept");
        if !flag.without.is_empty() {
            let told = format!("note: --{name} has no effect: {}", flag.without);
            console.err.line(&told)?;
        }
    }
    Ok(())
}
