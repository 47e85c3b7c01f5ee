//! Rows of ratios and of rates.

use super::*;

fn row(label: &str, median: f64, min: f64, max: f64) -> Row {
    Row {
        label: label.into(),
        value: Summary { median, min, max },
        told: String::new(),
    }
}

/// The attribute of every shape of a class.
fn attributes(svg: &str, class: &str, name: &str) -> Vec<f64> {
    let mark = format!("class=\"{class}\"");
    let shapes = svg.split(&mark).skip(1);
    let values = shapes.filter_map(|shape| {
        let (_, rest) = shape.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()?.parse().ok()
    });
    values.collect()
}

#[test]
fn bars_are_as_long_as_their_ratios_say() {
    // Twice and four times as fast: the second bar is twice as long, on a scale of factors; half
    // as fast goes as far to the other side.
    let rows = vec![
        row("a", 2.0, 2.0, 2.0),
        row("b", 4.0, 3.0, 5.0),
        row("c", 0.5, 0.5, 0.5),
    ];
    let rows = Rows::new(Kind::Ratio, rows, None);
    let svg = rows.draw(500.0).in_page("", 500.0, rows.height(500.0), "");
    let ours = attributes(&svg, "ours", "width");
    let theirs = attributes(&svg, "theirs", "width");
    assert_eq!((ours.len(), theirs.len()), (2, 1));
    assert!((ours[1] - 2.0 * ours[0]).abs() < 0.3, "{ours:?}");
    assert!((theirs[0] - ours[0]).abs() < 0.3);
    // Only the second has a spread: a line and its two ends.
    assert_eq!(svg.matches("class=\"whisker\"").count(), 3);
    assert!(svg.contains("4.00 ×"));
}

#[test]
fn nothing_leaves_the_drawing() {
    // Ratios of any size, labels of any length, on a phone and on a screen.
    for width in [328.0, 500.0, 760.0] {
        let rows = vec![
            row(
                "a-workload-with-a-name-that-nobody-would-want-to-read",
                1e-4,
                1e-5,
                1.0,
            ),
            row("b", 3e6, 1.0, 1e7),
        ];
        let rows = Rows::new(Kind::Ratio, rows, Some((0.5, 2.0)));
        let svg = rows.draw(width).in_page("", width, rows.height(width), "");
        for class in ["ours", "theirs"] {
            let edges = attributes(&svg, class, "x")
                .into_iter()
                .zip(attributes(&svg, class, "width"));
            for (x, wide) in edges {
                assert!(x >= 0.0 && x + wide <= width, "{x} {wide}");
            }
        }
    }
}

#[test]
fn what_is_no_number_has_no_row() {
    // Zero, NaN and infinity are left out; without rows the drawing is empty and still sound.
    let rows = vec![
        row("a", f64::NAN, 1.0, 1.0),
        row("b", 0.0, 0.0, 0.0),
        row("c", 1.0, 1.0, f64::INFINITY),
    ];
    for kind in [Kind::Ratio, Kind::Rate] {
        let rows = Rows::new(kind, rows.clone(), None);
        assert!(rows.is_empty());
        assert!(
            !rows
                .draw(300.0)
                .in_page("", 300.0, 50.0, "")
                .contains("NaN")
        );
    }
}
