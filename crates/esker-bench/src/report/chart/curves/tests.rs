//! Fields made of what a record says.

use super::*;
use crate::report::study::flow::Step;
use crate::report::study::line::Line;

fn seats() -> Vec<Seat> {
    let seat = |name: &str| Seat {
        name: name.into(),
        version: String::new(),
    };
    vec![seat("Esker"), seat("Anvil")]
}

#[test]
fn a_stall_is_shaded_where_it_was() {
    // Four seconds, the third nearly still: one band, a quarter of the field wide, at its half.
    let step = |from: f64, rate: f64| Step {
        from_s: from,
        to_s: from + 1.0,
        rate,
    };
    let flow = Flow {
        steps: vec![
            step(0.0, 90.0),
            step(1.0, 90.0),
            step(2.0, 4.0),
            step(3.0, 90.0),
        ],
        mean: 68.5,
        slow: vec![2],
        stall_s: 0.9,
    };
    let seats = seats();
    let flows = [(0, flow)];
    let course = Course {
        title: "fill",
        seats: &seats,
        flows: &flows,
    };
    let (drawing, height) = course.draw(400.0).unwrap();
    let svg = drawing.in_page("", 400.0, height, "");
    assert_eq!(svg.matches("class=\"stall\"").count(), 1);
    let frame = course.field().unwrap().frame(400.0);
    let (left, right) = (frame.x.at(2.0), frame.x.at(3.0));
    assert!(
        svg.contains(&format!("x=\"{left:.1}\"").replace(".0\"", "\"")),
        "{left} {svg}"
    );
    assert!(((right - left) * 4.0 - (frame.x.last() - frame.x.first())).abs() < 0.1);
    assert!(svg.contains("4/s"), "{svg}");
}

#[test]
fn tails_share_one_scale_with_room_for_the_slowest() {
    // Ours from 1 to 300 µs, theirs to 20 ms: the scale reaches from a microsecond to 100 ms.
    let tail = |place: usize, slowest: f64| Tail {
        place,
        count: 10,
        points: vec![(0.0, 1e3), (1.0, 5e3)],
        max_ns: slowest,
    };
    let field = tails("fill", &seats(), &[tail(0, 3e5), tail(1, 2e7)]).unwrap();
    assert_eq!((field.up.from, field.up.to), (1e3, 1e8));
    assert_eq!(field.threads[1].voice, Voice::Theirs(0));
    assert_eq!(field.threads[1].tail, Some((MAX_AT, 2e7)));
    assert!(tails("fill", &seats(), &[]).is_none());
}

#[test]
fn growth_names_its_factor() {
    // From 1 µs at a million keys to 1.5 µs at fifty.
    let line = Line {
        place: 0,
        points: vec![(1e6, 1000.0), (5e7, 1500.0)],
    };
    let growth_of = Growth {
        name: "read".into(),
        lines: vec![line],
    };
    let field = growth(&growth_of, &seats()).unwrap();
    assert_eq!(field.threads[0].name, "Esker 1.50×");
    let marks: Vec<&str> = field
        .across
        .marks
        .iter()
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(marks, ["1 M", "50 M"]);
}

#[test]
fn memory_ends_where_there_is_no_limit() {
    // From 50 to 900 operations a second: three decades, and the last mark is in words.
    let line = Line {
        place: 1,
        points: vec![(0.22, 50.0), (UNLIMITED, 900.0)],
    };
    let over = OverMemory {
        choice: "zipf".into(),
        lines: vec![line],
    };
    let field = memory(&over, &seats()).unwrap();
    let marks = field.across.marks.iter().map(|(_, text)| text.as_str());
    assert!(marks.eq(["0.22", "no limit"]));
    assert_eq!((field.up.from, field.up.to), (10.0, 1000.0));
    assert_eq!(field.threads[0].name, "Anvil");
}
