//! The page of one run: headline, sections in order, and the file as text.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::chart::main_chart::rounds_text;
use crate::report::chart::paint::escape;
use crate::report::date;
use crate::report::page::shell::{Section, page};
use crate::report::page::{conditions, costs, figures, goals, latency, limits, past, speed};
use crate::report::record::Record;
use crate::report::study::ratios::{Ratio, duels};
use crate::report::study::workloads::Study;

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
    let machine = &study.record.machine;
    if !machine.cpu.is_empty() {
        text += &format!("; {} × {}", machine.cpu_count, machine.cpu);
    }
    text
}

/// What stands below the title: the sentence, warnings, and the few numbers that matter most.
pub fn lead(study: &Study<'_>) -> String {
    let record = study.record;
    let mut when = vec![date::utc(record.started_unix_s)];
    if !record.commit.is_empty() {
        when.push(format!("commit {}", record.commit));
    }
    when.retain(|text| !text.is_empty());
    let mut text = format!(
        "<p class=\"lead\">{}<br>{}</p>\n",
        escape(&summary(study)),
        escape(&when.join(", "))
    );
    if !record.is_optimised && !record.measurements.is_empty() {
        text += "<p class=\"warning\">Built without optimisation: these numbers say nothing \
                 about speed.</p>\n";
    }
    text + &tiles(study)
}

/// The few numbers that matter most.
fn tiles(study: &Study<'_>) -> String {
    let mut tiles: Vec<(String, String)> = Vec::new();
    for duel in duels(study) {
        let ratios = duel.ratios.iter().map(|ratio| ratio.times.median);
        if let Some(middle) = Summary::of(ratios) {
            let (won, all) = (won(&duel.ratios), duel.ratios.len());
            tiles.push((
                format!("{} ×", quantity::ratio(middle.median)),
                format!(
                    "the speed of {} in the middle workload; ahead in {won} of {all}",
                    duel.rival.name
                ),
            ));
        }
    }
    let goals = goals::tally(&study.record.verdicts);
    if goals.judged > 0 {
        let open = match goals.open {
            0 => String::new(),
            open => format!(", {open} not measured"),
        };
        tiles.push((
            format!("{} of {}", goals.met, goals.judged),
            format!("goals met{open}"),
        ));
    }
    if tiles.is_empty() {
        return String::new();
    }
    let tiles: String = tiles
        .iter()
        .map(|(number, told)| {
            format!(
                "<div><b>{}</b><span>{}</span></div>",
                escape(number),
                escape(told)
            )
        })
        .collect();
    format!("<div class=\"tiles\">{tiles}</div>\n")
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
