//! Whole reports: their shape, and what may not break them.

use super::*;
use crate::measure::summary::Summary;
use crate::report::record::{Measurement, Verdict};
use crate::report::sample::{duel, record, round};
use crate::target::settings::Matched;

/// The headings of a page, in order.
fn headings(html: &str) -> Vec<&str> {
    let parts = html.split("<h2>").skip(1);
    parts
        .filter_map(|part| part.split("</h2>").next())
        .collect()
}

/// Fails unless every element that is opened is closed, in order.
fn assert_balanced(html: &str) {
    const VOID: [&str; 3] = ["meta", "br", "!doctype"];
    let mut open: Vec<&str> = Vec::new();
    for part in html.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        let name = tag.split([' ', '/']).next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn full() -> Record {
    let mut record = duel();
    for one in &mut record.measurements {
        one.usage.cpu_s = 0.5;
        one.settings = vec![Matched {
            wish: "cache_bytes".into(),
            wished: "8388608".into(),
            given: String::new(),
            note: "reads through the page cache".into(),
        }];
    }
    let mut more = round("fill", "Esker", 0, 900.0);
    more.workload = vec![("keys".into(), "10000000".into())];
    record.measurements.push(more);
    record
        .measurements
        .push(round("raw-write", "limit", 0, 5.0));
    record
        .measurements
        .push(round("mergerandom", "Esker", 0, 5.0));
    record.verdicts = vec![Verdict {
        line: "fill".into(),
        asked: "3 × best rival".into(),
        measured: Summary::of([2.0]),
        unit: "×".into(),
        is_met: Some(false),
    }];
    record
}

#[test]
fn a_full_record_has_every_section() {
    // Two engines, goals, two sizes, limits, something published.
    let html = write(&full());
    assert_eq!(
        headings(&html),
        [
            "Speed",
            "Goals",
            "Latency",
            "Cost",
            "Limits of the machine",
            "Published figures",
            "How it was measured",
        ]
    );
    assert_balanced(&html);
    for text in [
        "<h1>Esker 1.0 against Anvil 1.0</h1>",
        "0 of 1",
        "commit abc123",
        "2025-01-05 14:40 UTC",
        "2 × Anvil 3000",
        "--num=1000 --rounds=2",
        "nothing like it",
    ] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn a_page_needs_nothing_else() {
    // No address, no script, no file beside it; the name of SVG's language is not looked up.
    let html = write(&full());
    for word in [
        "http:", "https:", "//", "<script", "<link", "@import", "url(", " src=",
    ] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.contains("prefers-color-scheme:dark") && html.contains("width=device-width"));
}

#[test]
fn hostile_texts_stay_texts_everywhere() {
    // Every text of a record is a tag with a quote in it: none of them becomes one.
    const EVIL: &str = "<img src=x onerror='a' \"b\">&";
    let mut record = full();
    record.tool = EVIL.into();
    record.command = vec![EVIL.into()];
    record.commit = EVIL.into();
    for text in [
        &mut record.machine.cpu,
        &mut record.machine.cpu_cache,
        &mut record.machine.kernel,
        &mut record.machine.disk,
        &mut record.machine.host,
    ] {
        *text = EVIL.into();
    }
    for one in &mut record.measurements {
        if one.engine == "Anvil" || one.name == "read" {
            one.engine_version = EVIL.into();
            one.name = EVIL.into();
            one.message = EVIL.into();
            one.workload.push((EVIL.into(), EVIL.into()));
            one.latencies
                .iter_mut()
                .for_each(|it| it.kind = EVIL.into());
        }
        if one.engine == "Anvil" {
            one.engine = EVIL.into();
        }
        for set in &mut one.settings {
            set.wish = EVIL.into();
            set.wished = EVIL.into();
            set.given = EVIL.into();
            set.note = EVIL.into();
        }
    }
    let verdict = &mut record.verdicts[0];
    verdict.line = EVIL.into();
    verdict.asked = EVIL.into();
    verdict.unit = EVIL.into();
    let html = write(&record);
    assert!(
        !html.contains("<img") && !html.contains("onerror='"),
        "a text became a tag"
    );
    assert_balanced(&html);
}

#[test]
fn numbers_that_are_none_and_records_of_nothing_make_pages() {
    // Empty, one round, nothing but zeros, and NaN wherever a float is.
    let mut broken = round("fill", "Esker", 0, f64::NAN);
    broken.wall_s = f64::NAN;
    broken.usage.cpu_s = f64::INFINITY;
    broken.latencies[0].mean_ns = f64::NAN;
    broken.engine_work.write_amplification = Some(f64::NAN);
    broken.target_rate = Some(f64::NAN);
    for record in [
        record(Vec::new()),
        record(vec![Measurement::default()]),
        record(vec![round("fill", "Esker", 0, 5.0)]),
        record(vec![broken.clone(), round("fill", "Anvil", 0, 0.0)]),
        Record {
            is_optimised: false,
            ..record(vec![broken])
        },
    ] {
        let html = write(&record);
        assert_balanced(&html);
        assert!(!html.contains("NaN") && !html.contains(">inf"), "{html}");
    }
}

#[test]
fn builds_without_optimisation_say_so() {
    // Whoever reads the page must not believe such numbers.
    let mut record = full();
    record.is_optimised = false;
    assert!(write(&record).contains("Built without optimisation"));
}
