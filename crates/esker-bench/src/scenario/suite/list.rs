//! Every scenario: what it shows, how long it takes, how much disk.

use crate::fail::{Failure, Outcome};
use crate::flags::nearest::nearest;
use crate::scenario::suite::request::{ALL, Request};
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::Stage;
use crate::scenario::suite::{
    growth, large_values, leveldb_list, merge_counters, pegasus, reviews, service, service_line,
    sql,
};

/// A scenario.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in one line.
    pub shows: &'static str,
    /// How long it takes on two processors, smallest size first.
    pub times: [&'static str; 3],
    /// Whether several engines can play it in turns.
    pub has_rivals: bool,
    /// Bytes that it takes on the disk.
    pub disk_bytes: fn(&Request) -> u64,
    /// What its own help says besides; empty where that of all is enough.
    pub teaches: &'static str,
    /// Runs it.
    pub run: fn(&mut Stage<'_, '_>) -> Outcome,
}

/// All of them.
pub const SCENARIOS: [Scenario; 7] = [
    Scenario {
        name: "merge-counters",
        shows: "a merge against read, change and write, as RocksDB's wiki measured it",
        times: ["1 min", "20 min", "hours"],
        has_rivals: false,
        disk_bytes: |request| merge_counters::disk_bytes(request.size),
        teaches: "",
        run: merge_counters::run,
    },
    Scenario {
        name: "leveldb-suite",
        shows: "LevelDB's list in its dialect; with --growth, time against the number of keys",
        times: ["20 s", "30 s", "1 min"],
        has_rivals: false,
        disk_bytes: |request| match request.is_growth {
            true => growth::disk_bytes(request.size),
            false => leveldb_list::disk_bytes(request.size),
        },
        teaches: "",
        run: |stage| match stage.request.is_growth {
            true => growth::run(stage),
            false => leveldb_list::run(stage),
        },
    },
    Scenario {
        name: "large-values",
        shows: "values of 100 KB: put, cold get, both mixed, three buffer sizes, and the raw disk",
        times: ["20 s", "3 min", "1 hour"],
        has_rivals: false,
        disk_bytes: |request| large_values::disk_bytes(request.size),
        teaches: "",
        run: large_values::run,
    },
    Scenario {
        name: "reviews",
        shows: "real text: load, size, then 16 threads reading at less and less memory",
        times: ["30 s", "3 min", "20 min"],
        has_rivals: true,
        disk_bytes: |request| reviews::disk_bytes(request.size),
        teaches: "",
        run: reviews::run,
    },
    Scenario {
        name: "reviews-sql",
        shows: "the same in tables of a SQL server, beside InnoDB and MyRocks: make reviews-sql",
        times: ["8 min", "40 min", "hours"],
        has_rivals: false,
        disk_bytes: sql::told::disk_bytes,
        teaches: sql::told::TEACHES,
        run: sql::told::run,
    },
    Scenario {
        name: "pegasus",
        shows: "a cluster, ours or one of Pegasus, under Pegasus's own benchmark; needs --target",
        times: ["2 min", "12 min", "a day"],
        has_rivals: false,
        disk_bytes: pegasus::disk_bytes,
        teaches: "",
        run: pegasus::run,
    },
    Scenario {
        name: "service",
        shows: "clusters that it starts: writes, reads, idle cost, killed nodes; also beside etcd",
        times: ["5 min", "12 min", "1 hour"],
        has_rivals: false,
        disk_bytes: service::run::disk_bytes,
        teaches: service_line::TEACHES,
        run: service::run::run,
    },
];

/// The scenarios that a name asks for.
///
/// Errors: `Usage` with the nearest name.
pub fn choose(name: &str) -> Outcome<Vec<&'static Scenario>> {
    let chosen: Vec<&Scenario> = SCENARIOS
        .iter()
        .filter(|scenario| scenario.name == name || name == ALL)
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let names = SCENARIOS.iter().map(|scenario| scenario.name);
    let advice = match nearest(name, names.clone().chain([ALL])) {
        Some(near) => format!("did you mean {near}?"),
        None => format!(
            "there is {}, and {ALL}",
            names.collect::<Vec<_>>().join(", ")
        ),
    };
    Err(Failure::usage(format!(
        "there is no scenario `{name}`; {advice}"
    )))
}

/// What each size takes, for the list.
pub fn sizes(scenario: &Scenario) -> impl Iterator<Item = (Size, &'static str, u64)> {
    Size::ALL
        .into_iter()
        .zip(scenario.times)
        .map(|(size, time)| {
            let request = Request {
                size,
                ..Request::plain(scenario.name)
            };
            (size, time, (scenario.disk_bytes)(&request))
        })
}
