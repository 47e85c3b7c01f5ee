//! The sections over time, size and memory: stalls, growth with the keys, reads at a limit.

use crate::report::chart::curves::{self, Course};
use crate::report::chart::lines::{Field, HEIGHT};
use crate::report::chart::paint::{Drawing, escape};
use crate::report::page::markup::{WIDE, both_widths, note};
use crate::report::page::shell::Section;
use crate::report::quantity;
use crate::report::record::Measurement;
use crate::report::study::flow::{Flow, flow};
use crate::report::study::growth::growths;
use crate::report::study::memory::over_memory as courses_over_memory;
use crate::report::study::rounds::{Cell, Study};

const OVER_TIME: &str = "Operations a second over time, of the round that came out in the middle. \
    The dashed line is half of the mean of the first engine named; intervals in which it fell \
    below are shaded, with an edge on top.";

const GROWTH: &str = "What an operation costs as the data grows; both scales go by factors of ten. \
    Beside each engine: how many times as long an operation takes at the most keys as at the \
    fewest.";

const MEMORY: &str = "Operations a second with less and less memory, one field for each choice of \
    keys; memory is told as a share of the keys and texts before packing, and both scales go by \
    factors.";

/// Throughput over time; empty if every run was over within three intervals.
pub fn over_time(study: &Study<'_>) -> Section {
    let mut drawings = String::new();
    for workload in &study.workloads {
        let flows = workload.cells.iter().filter_map(|cell| {
            let flow = flow(middle_round(cell)?)?;
            Some((cell.place, flow))
        });
        let flows: Vec<(usize, Flow)> = flows.collect();
        // Where ours was over within three intervals, the others' course says nothing about it.
        let Some((place @ 0, first)) = flows.first() else {
            continue;
        };
        let name = &study.seats[*place].name;
        let course = Course {
            title: &workload.label,
            seats: &study.seats,
            flows: &flows,
        };
        let label = format!("Operations a second of {} over time", workload.label);
        let drawn = both_widths(WIDE, &label, |width| {
            course
                .draw(width)
                .expect("a course with an engine has a drawing")
        });
        let caption = escape(&caption(name, first));
        drawings += &drawn.replace("</figure>", &format!("<p>{caption}</p></figure>"));
    }
    in_pairs("Over time", OVER_TIME, &drawings)
}

fn caption(engine: &str, flow: &Flow) -> String {
    let slow = match flow.slow.len() {
        0 => "never below half of the mean".to_owned(),
        1 => "one interval below half of the mean".to_owned(),
        count => format!("{count} intervals below half of the mean"),
    };
    let mut text = format!(
        "{engine}: {slow}, the slowest at {:.0} % of it",
        flow.lowest_share() * 100.0
    );
    if flow.stall_s > 0.0 {
        text += &format!(
            "; writers were held back for {}",
            quantity::seconds(flow.stall_s)
        );
    }
    text + "."
}

/// The round whose rate is the median of all; of an even number the lower one.
fn middle_round<'a>(cell: &Cell<'a>) -> Option<&'a Measurement> {
    let mut rounds = cell.rounds.clone();
    rounds.sort_by(|left, right| left.ops_per_s.total_cmp(&right.ops_per_s));
    rounds.get((rounds.len() - 1) / 2).copied()
}

/// Cost over size; empty unless a workload ran at several numbers of keys.
pub fn over_size(study: &Study<'_>) -> Section {
    let drawn = growths(study).into_iter().filter_map(|growth| {
        let field = curves::growth(&growth, &study.seats)?;
        Some((
            format!("Time of an operation of {} over keys", growth.name),
            field,
        ))
    });
    of_fields("Growth", GROWTH, drawn)
}

/// Speed over memory; empty unless a workload ran at several limits.
pub fn over_memory(study: &Study<'_>) -> Section {
    let drawn = courses_over_memory(study).into_iter().filter_map(|over| {
        let field = curves::memory(&over, &study.seats)?;
        let choice = &over.choice;
        Some((
            format!("Operations a second over memory, keys chosen {choice}"),
            field,
        ))
    });
    of_fields("Memory", MEMORY, drawn)
}

/// A section of fields, each with what it shows in words.
fn of_fields(title: &str, text: &str, fields: impl Iterator<Item = (String, Field)>) -> Section {
    let drawings = fields.map(|(label, field)| {
        both_widths(WIDE, &label, |width| {
            let mut drawing = Drawing::new();
            field.draw(&mut drawing, width);
            (drawing, HEIGHT)
        })
    });
    in_pairs(title, text, &drawings.collect::<String>())
}

/// A section of drawings, two beside each other where there is room; empty without any.
fn in_pairs(title: &str, text: &str, drawings: &str) -> Section {
    let body = match drawings.is_empty() {
        true => String::new(),
        false => format!("{}<div class=\"pair\">{drawings}</div>\n", note(text)),
    };
    Section::new(title, body)
}
