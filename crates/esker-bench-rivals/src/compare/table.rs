//! The tables of a comparison, as Markdown that is readable as plain text.

use crate::compare::board::{Board, byte_rate};
use crate::compare::goals::judge;
use crate::compare::workloads::{WORKLOADS, Work, Workload};
use esker_bench::disk::raw::LIMITS;
use esker_bench::measure::summary::Summary;
use esker_bench::quantity;
use esker_bench::report::record::Measurement;
use esker_bench::table::Table;

/// A cell without a number.
const NONE: &str = "–";

/// What else there are goals for, and why it is not here.
const ELSEWHERE: &str = "
Measured elsewhere, because it takes long or has no rival: growth with the keys by `esker bench \
scenario leveldb-suite --growth --size full`; 20 GB of puts, memory under a limit and opening as \
docs/performance.md tells.
";

/// All tables.
pub fn render(board: &Board, conditions: &str) -> String {
    let mut text = format!("{conditions}\n\n");
    text += "Speed: medians (smallest–largest), operations a second unless told.\n\n";
    text += &speed(board);
    text += &cut_short(board);
    text += "\nGoals: ratios are medians over the rounds (smallest–largest).\n\n";
    text += &verdicts(board);
    text += ELSEWHERE;
    text += "\nLatency: 99.9 % of the operations took no longer.\n\n";
    text += &numbers(
        board,
        |workload, place| board.tails(workload, place),
        quantity::nanos,
    );
    text += "\nBeside the readers: puts a second.\n\n";
    text += &numbers(
        board,
        |workload, place| board.beside(workload, place),
        quantity::count,
    );
    text += "\nBytes: written by the process for each byte of the user's over fillrandom, \
             overwrite, settle and compact-settled, and in the reads between them; on the medium \
             after that.\n\n";
    text += &bytes(board);
    if !board.limits.is_empty() {
        text += "\nLimits of the machine in the same run.\n\n";
        text += &limits(board);
    }
    text += "\nSettings: what each engine made of what all were told.\n\n";
    text + &settings(board)
}

/// Rows under their heads, each column as wide as its widest cell.
fn grid(heads: &[String], rows: Vec<Vec<String>>) -> String {
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&heads);
    rows.into_iter().for_each(|row| table.add(row));
    table.markdown()
}

fn speed(board: &Board) -> String {
    let mut heads = vec!["line".to_owned()];
    heads.extend(
        board
            .seats
            .iter()
            .map(|seat| format!("{} {}", seat.name, seat.version)),
    );
    heads.push("Esker to the best rival".into());
    let mut rows = Vec::new();
    for workload in &WORKLOADS {
        let cells = (0..board.seats.len()).map(|place| cell(board, workload, place));
        let cells: Vec<Option<String>> = cells.collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![workload.name.to_owned()];
        row.extend(
            cells
                .into_iter()
                .map(|cell| cell.unwrap_or_else(|| NONE.into())),
        );
        let best = board.best_rival(workload.name, |_| true);
        let ratio = best.and_then(|place| {
            let theirs = board.rates(workload.name, place);
            let ratio = Summary::of_ratios(&board.rates(workload.name, 0), &theirs)?;
            Some(format!(
                "{} {}",
                spread(ratio, ratio_text),
                board.seats[place].name
            ))
        });
        row.push(ratio.unwrap_or_else(|| NONE.into()));
        rows.push(row);
    }
    grid(&heads, rows)
}

/// Which cells are of workloads that were cut short; nothing where there are none.
fn cut_short(board: &Board) -> String {
    let tell = |(one, asked): (&Measurement, &str)| {
        format!("{} {} at {} of {asked}", one.engine, one.name, one.ops)
    };
    let told: Vec<String> = board.cut_short().map(tell).collect();
    if told.is_empty() {
        return String::new();
    }
    format!(
        "\nCut short, with the rate until then, and what was left of that store left out: {}.\n",
        told.join("; ")
    )
}

fn cell(board: &Board, workload: &Workload, place: usize) -> Option<String> {
    let cell = board.cell(workload.name, place);
    Some(match workload.work {
        Work::Settle | Work::Compact => {
            let seconds = cell.iter().map(|one| one.wall_s);
            spread(Summary::of(seconds)?, |seconds| format!("{seconds:.2} s"))
        }
        Work::FillLarge => spread(Summary::of(cell.iter().map(byte_rate))?, bytes_a_second),
        _ => spread(
            Summary::of(board.rates(workload.name, place))?,
            quantity::count,
        ),
    })
}

fn verdicts(board: &Board) -> String {
    let heads = ["line", "goal", "measured", "met"]
        .map(str::to_owned)
        .to_vec();
    let rows = judge(board).into_iter().map(|verdict| {
        let text = |number: f64| match verdict.unit.as_str() {
            "/s" => format!("{}/s", quantity::count(number)),
            _ => ratio_text(number),
        };
        let measured = verdict.measured.map(|measured| spread(measured, text));
        let met = match verdict.is_met {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not measured",
        };
        vec![
            verdict.line,
            verdict.asked,
            measured.unwrap_or_else(|| NONE.into()),
            met.to_owned(),
        ]
    });
    grid(&heads, rows.collect())
}

/// Of each workload for which an engine has some: the numbers that `of` has for it and a place.
fn numbers(
    board: &Board,
    of: impl Fn(&str, usize) -> Vec<f64>,
    text: impl Fn(f64) -> String + Copy,
) -> String {
    let mut heads = vec!["line".to_owned()];
    heads.extend(board.seats.iter().map(|seat| seat.name.clone()));
    let mut rows = Vec::new();
    for workload in &WORKLOADS {
        let summary = |place| Summary::of(of(workload.name, place));
        let cells: Vec<_> = (0..board.seats.len()).map(summary).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![workload.name.to_owned()];
        let text = |cell: Option<Summary>| cell.map_or(NONE.into(), |cell| spread(cell, text));
        row.extend(cells.into_iter().map(text));
        rows.push(row);
    }
    grid(&heads, rows)
}

fn bytes(board: &Board) -> String {
    let heads = ["engine", "written", "on the medium"]
        .map(str::to_owned)
        .to_vec();
    let row = |(place, seat): (usize, &crate::compare::board::Seat)| {
        let written = Summary::of(board.write_amplifications(place));
        let held = Summary::of(board.compacted_bytes(place));
        let held = held.map(|held| spread(held, |bytes| format!("{:.1} MB", bytes / 1e6)));
        vec![
            seat.name.clone(),
            written.map_or(NONE.into(), |written| spread(written, ratio_text)),
            held.unwrap_or_else(|| NONE.into()),
        ]
    };
    grid(&heads, board.seats.iter().enumerate().map(row).collect())
}

fn limits(board: &Board) -> String {
    let heads = ["limit", "what it is", "a second", "bytes a second"];
    let mut rows = Vec::new();
    for limit in &LIMITS {
        let ops = Summary::of(board.limit(limit.name, |one| one.ops_per_s));
        let bytes = Summary::of(board.limit(limit.name, byte_rate));
        rows.push(vec![
            limit.name.to_owned(),
            limit.doc.to_owned(),
            ops.map_or(NONE.into(), |ops| spread(ops, quantity::count)),
            bytes.map_or(NONE.into(), |bytes| spread(bytes, bytes_a_second)),
        ]);
    }
    grid(&heads.map(str::to_owned), rows)
}

fn settings(board: &Board) -> String {
    let heads = ["engine", "asked", "given", "note"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = Vec::new();
    for seat in &board.seats {
        for row in &seat.matched {
            let given = if row.has_effect() { &row.given } else { NONE };
            rows.push(vec![
                seat.name.clone(),
                format!("{}: {}", row.wish, row.wished),
                given.to_owned(),
                row.note.clone(),
            ]);
        }
    }
    grid(&heads, rows)
}

fn spread(summary: Summary, text: impl Fn(f64) -> String) -> String {
    let Summary { median, min, max } = summary;
    format!("{} ({}–{})", text(median), text(min), text(max))
}

fn ratio_text(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn bytes_a_second(rate: f64) -> String {
    format!("{}/s", quantity::bytes(rate))
}
