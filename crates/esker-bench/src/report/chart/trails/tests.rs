//! Tests of `trails`.

use super::*;

fn trail(label: &str, ratios: &[f64]) -> Trail {
    Trail {
        label: label.into(),
        points: ratios.iter().copied().enumerate().collect(),
    }
}

#[test]
fn each_workload_has_a_line_and_its_ends_as_text() {
    // One rises, one falls below 1; both on one scale, within the drawing.
    let trails = [
        trail("fillrandom", &[1.0, 1.5, 2.0]),
        trail("a workload with a name that is far too long", &[2.0, 0.5]),
    ];
    for width in [328.0, 500.0] {
        let svg = draw(&trails, width).in_page("", width, height(&trails), "");
        assert_eq!(svg.matches("class=\"ours-line\"").count(), 2);
        assert!(svg.contains("1.00 → 2.00 ×") && svg.contains("2.00 → 0.50 ×"));
        assert_eq!(svg.matches("class=\"ours-text\"").count(), 1);
        assert!(!svg.contains("NaN"));
    }
    assert!(height(&[]) == 0.0);
}
