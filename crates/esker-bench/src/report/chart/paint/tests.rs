//! Drawings that nothing breaks.

use super::*;

#[test]
fn hostile_names_stay_text() {
    // A workload called like a tag is shown, not obeyed; in attributes neither.
    let mut drawing = Drawing::new();
    let name = "<script>alert('\"&\u{0}')</script>";
    drawing.text("ink", 0.0, 0.0, Anchor::Start, name);
    drawing.area(
        "ours",
        Area {
            x: 0.0,
            y: 0.0,
            width: 1.0,
            height: 1.0,
        },
        name,
    );
    let svg = drawing.in_page("", 10.0, 10.0, name) + &drawing.in_file("", 10.0, 10.0, name);
    assert!(
        !svg.contains("<script") && !svg.contains("alert('"),
        "{svg}"
    );
    assert_eq!(svg.matches("&lt;script&gt;").count(), 6);
    assert!(!svg.contains('\u{0}'));
}

#[test]
fn numbers_that_are_none_are_not_drawn() {
    // A NaN in one attribute would make browsers drop the shape, or the whole drawing.
    let mut drawing = Drawing::new();
    drawing.line("grid", &[(f64::NAN, 1.0), (f64::INFINITY, 2.25)]);
    drawing.dot("ours", -0.01, f64::NAN, 2.0, "");
    drawing.area(
        "ours",
        Area {
            x: 0.0,
            y: 0.0,
            width: -3.0,
            height: 1.0,
        },
        "",
    );
    let svg = drawing.in_page("", 10.0, 10.0, "");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert!(
        svg.contains("points=\"0,1 0,2.2\"") && svg.contains("width=\"0\""),
        "{svg}"
    );
}

#[test]
fn long_names_are_cut_where_they_no_longer_fit() {
    // By letters, not by bytes.
    assert_eq!(fit("readseq", 200.0), "readseq");
    let cut = fit("störungsfreies-lesen-über-alles", 80.0);
    assert!(cut.ends_with('…') && width_of(&cut) <= 80.0, "{cut}");
}
