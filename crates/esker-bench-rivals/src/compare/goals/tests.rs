//! Verdicts on boards made by hand.

use esker_bench::report::record::Measurement;

use super::*;
use crate::compare::board::Seat;
use crate::compare::workloads::WORKLOADS;
use crate::engines::roster::ALL;
use esker_bench::disk::raw::LIMITS;

fn board(rates: &[(&str, &str, &[f64])]) -> Board {
    let mut board = Board::default();
    for word in [OURS, "leveldb", "lmdb"] {
        board.seats.push(Seat {
            word,
            name: word.to_owned(),
            version: String::new(),
            is_lsm: word != "lmdb",
            matched: Vec::new(),
        });
    }
    for (line, word, rates) in rates {
        let place = board.place(word).expect("a seat");
        let cell = rates.iter().map(|rate| Measurement {
            ops_per_s: *rate,
            ..Measurement::default()
        });
        board
            .cells
            .insert(((*line).to_owned(), place), cell.collect());
    }
    board
}

#[test]
fn the_best_rival_is_the_one_with_the_best_median() {
    // LMDB is ahead on reads, so the tree's goal is held against LevelDB and LMDB has its own.
    let board = board(&[
        ("readrandom", OURS, &[30.0, 40.0, 50.0]),
        ("readrandom", "leveldb", &[10.0, 20.0, 20.0]),
        ("readrandom", "lmdb", &[50.0, 50.0, 50.0]),
    ]);
    let verdicts = judge(&board);
    assert_eq!(verdicts.len(), 2);
    assert_eq!(verdicts[0].measured.expect("a ratio").median, 2.5);
    assert_eq!(verdicts[0].is_met, Some(true));
    assert_eq!(verdicts[1].measured.expect("a ratio").median, 0.8);
    assert_eq!(verdicts[1].is_met, Some(false));
}

#[test]
fn history_keeps_ratios_to_the_best_tree() {
    // LMDB is no tree, whatever it does; what no tree ran has no ratio, and each line is named
    // once.
    let board = board(&[
        ("readrandom", OURS, &[30.0, 40.0, 50.0]),
        ("readrandom", "leveldb", &[10.0, 20.0, 20.0]),
        ("readrandom", "lmdb", &[50.0, 50.0, 50.0]),
        ("updaterandom", OURS, &[30.0]),
    ]);
    assert_eq!(board.ratios(&raced()), [("readrandom".to_owned(), 2.5)]);
    assert!(!raced().contains(&"compact-settled"));
    let counts = raced().into_iter().filter(|line| *line == "mergerandom");
    assert_eq!(counts.count(), 1);
}

#[test]
fn without_a_rival_there_is_no_verdict() {
    // Ours alone was measured: nothing is claimed.
    let verdicts = judge(&board(&[("fillseq", OURS, &[1.0])]));
    assert_eq!(verdicts[0].is_met, None);
}

#[test]
fn goals_name_lines_limits_and_engines_that_exist() {
    // A name with a slip in it would never be judged.
    let is_line = |name: &str| WORKLOADS.iter().any(|line| line.name == name);
    let is_limit = |name: &str| LIMITS.iter().any(|limit| limit.name == name);
    for (line, bar) in GOALS {
        assert!(is_line(line), "{line}");
        match bar {
            Bar::LimitOps(limit, _) | Bar::LimitBytes(limit, _) => assert!(is_limit(limit)),
            Bar::Own(other, _) => assert!(is_line(other)),
            Bar::Rival(word, _) => assert!(ALL.contains(&word)),
            _ => {}
        }
    }
}
