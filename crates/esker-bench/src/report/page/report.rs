//! The page of one run: headline, sections in order, and the file as text.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::chart::main_chart::rounds_text;
use crate::report::chart::paint::escape;
use crate::report::date;
use crate::report::page::markup::{facts, headline};
use crate::report::page::shell::{Section, page};
use crate::report::page::{conditions, costs, figures, goals, latency, limits, past, speed};
use crate::report::record::Record;
use crate::report::study::ratios::{Duel, Ratio, duels};
use crate::report::study::workloads::Study;

/// More goals that were missed are counted, not named, beside the number.
const MISSED_MAX: usize = 3;

/// The whole page of a run.
pub fn write(record: &Record) -> String {
    let study = Study::of(record);
    page(&title(&study), &lead(&study), "", &sections(&study))
}

/// Ours against whom, or ours alone.
pub fn title(study: &Study<'_>) -> String {
    let names: Vec<String> = study.seats.iter().map(|seat| seat.full()).collect();
    match names.split_first() {
        None => "A run without measurements".into(),
        Some((ours, [])) => format!("{ours}, measured by {}", tool(study.record)),
        Some((ours, [rival])) => format!("{ours} against {rival}"),
        Some((ours, [rivals @ .., last])) => {
            format!("{ours} against {} and {last}", rivals.join(", "))
        }
    }
}

fn tool(record: &Record) -> &str {
    match record.tool.is_empty() {
        true => "an unnamed tool",
        false => &record.tool,
    }
}

/// How much was run, on what, when: one sentence for pages and charts.
pub fn summary(study: &Study<'_>) -> String {
    let workloads = match study.workloads.len() {
        1 => "one workload".to_owned(),
        count => format!("{count} workloads"),
    };
    let mut text = format!("{workloads}, {}", rounds_text(study.round_count()));
    let mut keys: Vec<u64> = study.workloads.iter().filter_map(|it| it.keys).collect();
    keys.sort_unstable();
    keys.dedup();
    if let [first, .., last] | [first @ last] = &keys[..] {
        let count = |keys: &u64| quantity::on_scale(&quantity::count(*keys as f64));
        text += &match first == last {
            true => format!(", {} keys", count(first)),
            false => format!(", {} to {} keys", count(first), count(last)),
        };
    }
    let processors = study.record.machine.processors();
    if !processors.is_empty() {
        text += &format!("; {processors}");
    }
    text
}

/// What stands below the title: the sentence, warnings, and the few numbers that matter most.
pub fn lead(study: &Study<'_>) -> String {
    conditions_line(study) + &numbers(study)
}

/// How much was run, on what, when, of which commit; and a warning where one is due.
pub fn conditions_line(study: &Study<'_>) -> String {
    let record = study.record;
    let mut told = vec![summary(study), date::utc(record.started_unix_s)];
    if !record.commit.is_empty() {
        told.push(format!("commit {}", record.commit));
    }
    told.retain(|text| !text.is_empty());
    let mut text = format!("<p class=\"lead\">{}</p>\n", escape(&told.join("; ")));
    if !record.is_optimised && !record.measurements.is_empty() {
        text += "<p class=\"warning\">Built without optimisation: these numbers say nothing \
                 about speed.</p>\n";
    }
    text
}

/// The one number that matters most, and those that come next: the rival that comes nearest, the
/// goals, or what ran first.
fn numbers(study: &Study<'_>) -> String {
    let mut all = rivals(study);
    all.extend(goals(study.record));
    if all.is_empty() {
        all.extend(first(study));
    }
    match all.split_first() {
        Some(((number, told), others)) => headline(number, told) + &facts(others),
        None => String::new(),
    }
}

/// Ours to each rival in the middle workload, the nearest first.
fn rivals(study: &Study<'_>) -> Vec<(String, String)> {
    let middle = |duel: &Duel| Summary::of(duel.ratios.iter().map(|ratio| ratio.times.median));
    let duels = duels(study);
    let mut all: Vec<(f64, &Duel)> = duels
        .iter()
        .filter_map(|duel| Some((middle(duel)?.median, duel)))
        .collect();
    all.sort_by(|left, right| left.0.total_cmp(&right.0));
    let told = all.into_iter().map(|(times, duel)| {
        let (won, count) = (won(&duel.ratios), duel.ratios.len());
        (
            format!("{} ×", quantity::ratio(times)),
            format!(
                "the speed of {} in the middle workload; ahead in {won} of {count}",
                duel.rival.full()
            ),
        )
    });
    told.collect()
}

/// How many goals were met, and which were not.
fn goals(record: &Record) -> Option<(String, String)> {
    let goals = goals::tally(&record.verdicts);
    if goals.judged == 0 {
        return None;
    }
    let missed = record.verdicts.iter().filter(|it| it.is_met == Some(false));
    let missed: Vec<String> = missed
        .map(|it| format!("{} ({})", it.line, it.asked))
        .collect();
    let mut told = "goals met".to_owned();
    if !missed.is_empty() && missed.len() <= MISSED_MAX {
        told += &format!("; not met: {}", missed.join(", "));
    }
    if goals.open > 0 {
        told += &format!("; {} not measured", goals.open);
    }
    Some((format!("{} of {}", goals.met, goals.judged), told))
}

/// The speed of the workload that ran first.
fn first(study: &Study<'_>) -> Option<(String, String)> {
    let workload = study.workloads.first()?;
    let cell = workload.cell(0)?;
    let of = match study.workloads.len() {
        1 => String::new(),
        count => format!(", the first of {count} workloads"),
    };
    let (number, unit) = match cell.is_one_piece() {
        true => (
            quantity::seconds(cell.summary(|one| Some(one.wall_s))?.median),
            "",
        ),
        false => (
            quantity::count(cell.rate()?.median),
            "operations a second: ",
        ),
    };
    Some((number, format!("{unit}{}{of}", workload.label)))
}

fn won(ratios: &[Ratio]) -> usize {
    ratios.iter().filter(|it| it.times.median > 1.0).count()
}

/// Every section of a run, in order; some may be empty.
pub fn sections(study: &Study<'_>) -> Vec<Section> {
    vec![
        speed::section(study),
        goals::section(study.record),
        latency::section(study),
        costs::section(study),
        limits::section(study),
        figures::section(study),
        past::section(study.record),
        conditions::section(study),
    ]
}

#[cfg(test)]
mod tests;
