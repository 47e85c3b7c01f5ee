//! Fields of tails, of rates over time and over memory, and of growth.

use crate::report::chart::lines::{Axis, Field, HEIGHT, Mark, Thread, Voice};
use crate::report::chart::paint::{Area, Drawing};
use crate::report::chart::scale::{decades, round_marks};
use crate::report::quantity;
use crate::report::study::flow::Flow;
use crate::report::study::growth::Growth;
use crate::report::study::line::Line;
use crate::report::study::memory::{OverMemory, UNLIMITED};
use crate::report::study::rounds::Seat;
use crate::report::study::tails::{NINES_MAX, Tail, nines};

/// Where the slowest operation stands on the scale of nines: behind the last percentile.
const MAX_AT: f64 = NINES_MAX + 0.8;

/// The percentiles that have a mark.
const MARKED: [(f64, &str); 5] = [
    (0.5, "p50"),
    (0.9, "p90"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (0.9999, "p99.99"),
];

/// Latency over percentiles: `None` if nothing was timed.
pub fn tails(title: &str, seats: &[Seat], tails: &[Tail]) -> Option<Field> {
    let lowest = |tail: &Tail| tail.points.first().map_or(1.0, |(_, nanos)| *nanos);
    let from = tails.iter().map(lowest).reduce(f64::min)?;
    let to = tails.iter().map(|tail| tail.max_ns).reduce(f64::max)?;
    let ends = decades(from, to);
    let across = MARKED.map(|(share, text)| (nines(share), text.to_owned()));
    let across = across.into_iter().chain([(MAX_AT, "max".to_owned())]);
    let threads = tails.iter().map(|tail| Thread {
        voice: Voice::of(tail.place),
        name: seats[tail.place].name.clone(),
        points: tail.points.clone(),
        tail: Some((MAX_AT, tail.max_ns)),
    });
    Some(Field {
        title: title.to_owned(),
        across: Axis {
            from: 0.0,
            to: MAX_AT,
            is_log: false,
            marks: across.collect(),
            name: "",
        },
        up: Axis {
            from: *ends.first()?,
            to: *ends.last()?,
            is_log: true,
            marks: marked(&ends, |nanos| quantity::on_scale(&quantity::nanos(nanos))),
            name: "",
        },
        threads: threads.collect(),
    })
}

/// Rates over time, ours with its slow intervals.
pub struct Course<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The engines.
    pub seats: &'a [Seat],
    /// By engine; ours first if it has one.
    pub flows: &'a [(usize, Flow)],
}

impl Course<'_> {
    /// The drawing at that width and its height; `None` if there is none.
    pub fn draw(&self, width: f64) -> Option<(Drawing, f64)> {
        let field = self.field()?;
        let mut drawing = Drawing::new();
        let frame = field.frame(width);
        // Only the first engine's slow intervals are marked: those of all would hide one another.
        let (_, flow) = self.flows.first()?;
        for index in &flow.slow {
            let step = flow.steps[*index];
            let (left, right) = (frame.x.at(step.from_s), frame.x.at(step.to_s));
            let told = format!(
                "{} to {}: {}/s, {} of the mean",
                quantity::seconds(step.from_s),
                quantity::seconds(step.to_s),
                quantity::count(step.rate),
                quantity::ratio(step.rate / flow.mean)
            );
            let band = Area {
                x: left,
                y: frame.y.last(),
                width: (right - left).max(1.5),
                height: frame.y.first() - frame.y.last(),
            };
            drawing.area("stall", band, &told);
            let edge = Area {
                height: 3.0,
                ..band
            };
            drawing.area("stall-edge", edge, &told);
        }
        let half = frame
            .y
            .at(flow.mean * crate::report::study::flow::SLOW_SHARE);
        let ends = [(frame.x.first(), half), (frame.x.last(), half)];
        drawing.line("base faint", &ends);
        field.draw(&mut drawing, width);
        Some((drawing, HEIGHT))
    }

    fn field(&self) -> Option<Field> {
        let steps = || self.flows.iter().flat_map(|(_, flow)| &flow.steps);
        let until = steps().map(|step| step.to_s).reduce(f64::max)?;
        let fastest = steps().map(|step| step.rate).reduce(f64::max)?;
        let (across, up) = (round_marks(until), round_marks(fastest));
        let threads = self.flows.iter().map(|(place, flow)| Thread {
            voice: Voice::of(*place),
            name: self.seats[*place].name.clone(),
            points: stairs(flow),
            tail: None,
        });
        let inner = |mark: &f64| *mark <= until;
        let across: Vec<f64> = across.into_iter().filter(inner).collect();
        Some(Field {
            title: self.title.to_owned(),
            across: Axis {
                from: 0.0,
                to: until,
                is_log: false,
                marks: marked(&across, |seconds| {
                    quantity::on_scale(&format!("{seconds:.2} s"))
                }),
                name: "",
            },
            up: Axis {
                from: 0.0,
                to: *up.last()?,
                is_log: false,
                marks: marked(&up, |rate| quantity::on_scale(&quantity::count(rate))),
                name: "",
            },
            threads: threads.collect(),
        })
    }
}

/// Each interval as a step of its own rate.
fn stairs(flow: &Flow) -> Vec<(f64, f64)> {
    let steps = flow.steps.iter();
    steps
        .flat_map(|step| [(step.from_s, step.rate), (step.to_s, step.rate)])
        .collect()
}

/// Nanoseconds for each operation over keys.
pub fn growth(growth: &Growth, seats: &[Seat]) -> Option<Field> {
    let threads = growth.lines.iter().map(|line| {
        let (name, factor) = (&seats[line.place].name, quantity::ratio(line.factor()));
        thread(line, format!("{name} {factor}×"))
    });
    let across = Scale {
        name: "keys",
        text: |keys| quantity::on_scale(&quantity::count(keys)),
    };
    let up = |nanos| quantity::on_scale(&quantity::nanos(nanos));
    by_factors(&growth.name, threads.collect(), across, up)
}

/// Operations a second over the share of the raw bytes that memory has room for.
pub fn memory(over: &OverMemory, seats: &[Seat]) -> Option<Field> {
    let threads = over.lines.iter();
    let threads = threads.map(|line| thread(line, seats[line.place].name.clone()));
    let across = Scale {
        name: "memory as a share of the text",
        text: |share| match share {
            UNLIMITED.. => "no limit".to_owned(),
            _ => quantity::ratio(share),
        },
    };
    let up = |rate| quantity::on_scale(&quantity::count(rate));
    by_factors(&over.choice, threads.collect(), across, up)
}

fn thread(line: &Line, name: String) -> Thread {
    Thread {
        voice: Voice::of(line.place),
        name,
        points: line.points.clone(),
        tail: None,
    }
}

/// What runs from left to right, and how its numbers are told.
struct Scale {
    name: &'static str,
    text: fn(f64) -> String,
}

/// A field whose scales both go by factors, with a mark below every point; `None` if there is
/// none.
fn by_factors(
    title: &str,
    threads: Vec<Thread>,
    across: Scale,
    up: fn(f64) -> String,
) -> Option<Field> {
    let points = || threads.iter().flat_map(|thread| &thread.points);
    let heights = || points().map(|point| point.1);
    let ends = decades(heights().reduce(f64::min)?, heights().reduce(f64::max)?);
    let mut places: Vec<f64> = points().map(|point| point.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    Some(Field {
        title: title.to_owned(),
        across: Axis {
            from: *places.first()?,
            to: *places.last()?,
            is_log: true,
            marks: marked(&places, across.text),
            name: across.name,
        },
        up: Axis {
            from: *ends.first()?,
            to: *ends.last()?,
            is_log: true,
            marks: marked(&ends, up),
            name: "",
        },
        threads,
    })
}

fn marked(values: &[f64], text: impl Fn(f64) -> String) -> Vec<Mark> {
    values.iter().map(|value| (*value, text(*value))).collect()
}

#[cfg(test)]
mod tests;
