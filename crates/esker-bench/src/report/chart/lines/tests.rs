//! Fields with lines.

use super::*;

fn axis(to: f64) -> Axis {
    Axis {
        from: 0.0,
        to,
        is_log: false,
        marks: vec![(0.0, "0".into()), (to, "all".into())],
        name: "",
    }
}

#[test]
fn names_stand_at_the_ends_of_their_lines() {
    // Two lines that end on one spot: their names are pushed apart, ours in its own colour.
    let thread = |voice, name: &str| Thread {
        voice,
        name: name.into(),
        points: vec![(0.0, 1.0), (10.0, 5.0)],
        tail: None,
    };
    let field = Field {
        title: "<field>".into(),
        across: axis(10.0),
        up: axis(5.0),
        threads: vec![
            thread(Voice::Ours, "Esker"),
            thread(Voice::Theirs(0), "Anvil"),
        ],
    };
    let mut drawing = Drawing::new();
    field.draw(&mut drawing, 328.0);
    let svg = drawing.in_page("", 328.0, HEIGHT, "");
    let at = |name: &str| -> f64 {
        let end = svg.find(&format!(">{name}<")).unwrap();
        let y = svg[..end].rfind(" y=\"").unwrap() + 4;
        svg[y..].split('"').next().unwrap().parse().unwrap()
    };
    assert!((at("Esker") - at("Anvil")).abs() >= 14.0, "{svg}");
    assert!(svg.contains("ours-text") && svg.contains("&lt;field&gt;"));
    // Ours lies over the others.
    assert!(svg.find("\"ours-line\"").unwrap() > svg.find("\"theirs-line\"").unwrap());
}

#[test]
fn an_empty_field_is_still_a_field() {
    // No line at all: title and scales, and no number that is none.
    let field = Field {
        title: "empty".into(),
        across: axis(0.0),
        up: axis(0.0),
        threads: Vec::new(),
    };
    let mut drawing = Drawing::new();
    field.draw(&mut drawing, 328.0);
    assert!(!drawing.in_page("", 328.0, HEIGHT, "").contains("NaN"));
}
