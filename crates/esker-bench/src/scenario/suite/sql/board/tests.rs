//! Goals are held against the rivals that they name, and only against what was measured.

use super::*;
use crate::report::record::LatencyRecord;

fn measured(line: &str, engine: Contender, per_s: f64, p99_ns: u64) -> Measurement {
    Measurement {
        name: line.into(),
        engine: engine.name().into(),
        ops_per_s: per_s,
        latencies: vec![LatencyRecord {
            percentiles: vec![(50.0, 1), (95.0, 2), (99.0, p99_ns)],
            ..LatencyRecord::default()
        }],
        workload: vec![(DISK_SHARE.into(), "0.25".into())],
        ..Measurement::default()
    }
}

fn verdict<'a>(verdicts: &'a [Verdict], line: &str, asked: &str) -> &'a Verdict {
    let found = verdicts
        .iter()
        .find(|one| one.line == line && one.asked == asked);
    found.unwrap_or_else(|| panic!("no goal {asked} on {line}: {verdicts:?}"))
}

#[test]
fn a_goal_names_the_better_of_its_rivals() {
    let line = read_line("zipf", Some(0.45));
    let all = [
        measured(LOAD, Contender::Esker, 160.0, 1),
        measured(LOAD, Contender::Innodb, 100.0, 1),
        measured(LOAD, Contender::MyrocksLz4, 120.0, 1),
        measured(LOAD, Contender::MyrocksZstd, 200.0, 1),
        measured(&line, Contender::Esker, 400.0, 30),
        measured(&line, Contender::Innodb, 100.0, 40),
        measured(&line, Contender::MyrocksZstd, 200.0, 20),
        measured(INDEXED_UPDATE, Contender::Esker, 130.0, 1),
        measured(INDEXED_UPDATE, Contender::Innodb, 100.0, 1),
        measured(INDEXED_UPDATE, Contender::MyrocksLz4, 100.0, 1),
    ];
    let verdicts = judge(&board(&all, &Contender::ALL));
    let expected = [
        (LOAD, "1.5 × InnoDB", true),
        (LOAD, "1 × MyRocks zstd", false),
        ("on disk", "0.30 × the raw text at most", true),
        (INDEXED_UPDATE, "5 × InnoDB", false),
        (INDEXED_UPDATE, "1.2 × MyRocks lz4", true),
        (&line, "3 × MyRocks zstd", false),
        (&line, "p99 ≤ 1 × MyRocks zstd", false),
    ];
    for (line, asked, is_met) in expected {
        assert_eq!(
            verdict(&verdicts, line, asked).is_met,
            Some(is_met),
            "{asked} {line}"
        );
    }
}

#[test]
fn what_was_not_measured_is_not_judged() {
    let only = [measured(LOAD, Contender::Esker, 1.0, 1)];
    let verdicts = judge(&board(&only, &[Contender::Esker]));
    assert_eq!(verdict(&verdicts, MIX, "1 × no rival").is_met, None);
    // Without ours there is nothing to judge.
    assert!(judge(&board(&only, &[Contender::Innodb])).is_empty());
}

#[test]
fn tables_have_a_row_for_each_engine_and_a_dash_where_nothing_was_measured() {
    let all = [measured(LOAD, Contender::MyrocksLz4, 1234.0, 1)];
    let board = board(&all, &Contender::ALL);
    let written = written_table(&board);
    assert_eq!(
        written
            .lines()
            .filter(|line| line.contains("MyRocks"))
            .count(),
        2
    );
    assert!(
        written.contains("0.250") && written.contains(NONE),
        "{written}"
    );
    let reads = reads_table(&board);
    assert_eq!(
        reads
            .lines()
            .filter(|line| line.contains("InnoDB packed"))
            .count(),
        4
    );
}
