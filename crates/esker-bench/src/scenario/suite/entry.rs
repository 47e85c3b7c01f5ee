//! The way in: the list, the checks before the start, the scenarios in turn, what came of goals.

use clap::CommandFactory;

use crate::console::Console;
use crate::disk::space::check_room;
use crate::fail::{Failure, Outcome};
use crate::quantity;
use crate::report::record::{Record, Verdict};
use crate::report::{file, json};
use crate::scenario::suite::list::{SCENARIOS, Scenario, choose, sizes};
use crate::scenario::suite::request::Request;
use crate::scenario::suite::stage::{Seat, Stage};
use crate::table::Table;
use crate::target::embedded::Esker;
use crate::target::marker::is_foreign;
use crate::target::store::Engine;

/// Runs `esker bench scenario` with the words behind it, on our engine.
pub fn run(words: &[String], console: &mut Console<'_>) -> Outcome {
    run_among(&[&Esker], words, console)
}

/// Whether the words make sense, before anything is run, or even built.
///
/// Errors: `Usage` for what [`run_among`] would refuse at once.
pub fn check(words: &[String]) -> Outcome {
    let request = Request::parse(words)?;
    if !request.is_help && !request.name.is_empty() {
        choose(&request.name)?;
    }
    Ok(())
}

/// Runs scenarios on several engines in turns, ours first.
///
/// Errors: `Usage` for a scenario that is played by one engine alone.
pub fn run_among(engines: &[&dyn Engine], words: &[String], console: &mut Console<'_>) -> Outcome {
    let request = Request::parse(words)?;
    if request.name.is_empty() {
        return Ok(console.out.write_all(help().as_bytes())?);
    }
    let chosen = choose(&request.name)?;
    if request.is_help {
        let text = match chosen[..] {
            [one] if !one.teaches.is_empty() => help_of(one),
            _ => help(),
        };
        return Ok(console.out.write_all(text.as_bytes())?);
    }
    check_alone(&chosen, engines)?;
    if let Some(path) = &request.json {
        file::check_writable(path)?;
    }
    // One after another, each cleared away; only what is kept adds up.
    let needs = chosen.iter().map(|scenario| {
        let bytes = (scenario.disk_bytes)(&request) * engines.len() as u64;
        // What tests run is a fraction.
        (bytes as f64 * request.scale) as u64
    });
    let wanted = match request.keeps_stores {
        true => needs.sum(),
        false => needs.max().unwrap_or(0),
    };
    check_room(&request.dir, wanted, request.size.smaller())?;
    for seat in chosen.iter().flat_map(|one| seats(engines, &request, one)) {
        if is_foreign(&seat.dir)? {
            return Err(Failure::usage(format!(
                "{} was not made by a benchmark and is not empty: refusing to destroy what is \
                 there; name another directory with --dir",
                seat.dir.display()
            )));
        }
    }
    let tool = format!("scenario {}", request.name);
    let mut record = Record::begin(tool, &request.dir, words);
    if !record.is_optimised {
        console
            .err
            .line("WARNING: built without optimisation; the figures mean nothing")?;
    }
    for scenario in &chosen {
        let title = format!(
            "== {} ({}): {}\n",
            scenario.name,
            request.size.name(),
            scenario.shows
        );
        let mut stage = Stage {
            seats: &seats(engines, &request, scenario),
            place: 0,
            round: 0,
            request: &request,
            console: &mut *console,
            name: scenario.name,
            record: &mut record,
            has_told_cold: false,
        };
        stage.say(&title)?;
        (scenario.run)(&mut stage)?;
    }
    console.out.write_all(goals(&record.verdicts).as_bytes())?;
    if let Some(path) = &request.json {
        json::write(path, &record)?;
        console.err.line(&format!("written: {}", path.display()))?;
    }
    Ok(())
}

/// Refuses several engines where only one plays.
fn check_alone(chosen: &[&Scenario], engines: &[&dyn Engine]) -> Outcome {
    let alone = chosen.iter().find(|scenario| !scenario.has_rivals);
    match alone {
        Some(scenario) if engines.len() > 1 => Err(Failure::usage(format!(
            "{} is played by one engine alone; several play reviews",
            scenario.name
        ))),
        _ => Ok(()),
    }
}

/// Each engine with a directory of its own: that of the first is named after the scenario alone.
fn seats<'a>(engines: &[&'a dyn Engine], request: &Request, scenario: &Scenario) -> Vec<Seat<'a>> {
    let seat = |(place, engine): (usize, &&'a dyn Engine)| {
        let name = engine.name().to_lowercase().replace(' ', "-");
        Seat {
            engine: *engine,
            dir: request.dir.join(match place {
                0 => scenario.name.to_owned(),
                _ => format!("{}-{name}", scenario.name),
            }),
        }
    };
    engines.iter().enumerate().map(seat).collect()
}

/// What came of goals; nothing where the run was held against none.
fn goals(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["workload", "goal", "measured", ""]).with_sides("<<");
    for verdict in verdicts {
        table.add(vec![
            verdict.line.clone(),
            verdict.asked.clone(),
            verdict.measured_text(),
            verdict.word().into(),
        ]);
    }
    format!("\n{}", table.text())
}

fn help() -> String {
    let mut text = String::from(
        "Run a whole benchmark that others published, their figures beside ours\n\n\
         Usage: esker bench scenario NAME|all [options]\n\nScenarios:\n",
    );
    for scenario in &SCENARIOS {
        text += &entry(scenario);
    }
    text += "\nOptions:\n";
    text += &Request::command().render_help().to_string();
    text += "\nTimes are those of two processors and an SSD. Disk is checked before the start.\n";
    text
}

/// What one scenario says of itself.
fn help_of(scenario: &Scenario) -> String {
    let name = scenario.name;
    format!(
        "{}\nUsage: esker bench scenario {name} [options]\n\n{}\nOptions of all scenarios: esker \
         bench scenario --help\n",
        entry(scenario).trim_start(),
        scenario.teaches
    )
}

fn entry(scenario: &Scenario) -> String {
    let mut text = format!("  {:<16} {}\n", scenario.name, scenario.shows);
    let takes: Vec<String> = sizes(scenario)
        .map(|(size, time, bytes)| {
            format!("{} {time}, {}", size.name(), quantity::bytes(bytes as f64))
        })
        .collect();
    text += &format!("  {:<16} {}\n", "", takes.join("; "));
    text
}
