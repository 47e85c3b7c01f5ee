//! What Esker is to reach on each workload, and whether it did.

use esker_bench::measure::summary::Summary;
use esker_bench::report::record::Verdict;

use crate::compare::board::{Board, byte_rate};
use crate::engines::roster::OURS;

/// What a workload is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// So many times the best rival.
    Best(f64),
    /// So many times the best rival that is a log-structured merge tree.
    BestTree(f64),
    /// So many times one rival.
    Rival(&'static str, f64),
    /// So much of the operations of a raw limit.
    LimitOps(&'static str, f64),
    /// So much of the bytes a second of a raw limit.
    LimitBytes(&'static str, f64),
    /// So many times another workload of ours.
    Own(&'static str, f64),
    /// So many operations a second.
    Rate(f64),
    /// No later than the best rival for 99.9 % of the operations.
    Tail,
    /// No more bytes written for each byte of the user's than the best tree.
    Written,
}

/// Every goal with its workload.
pub const GOALS: [(&str, Bar); 43] = [
    ("fillseq", Bar::Best(3.0)),
    ("fillrandom", Bar::Best(3.0)),
    ("overwrite", Bar::Best(3.0)),
    ("fillsync", Bar::LimitOps("raw-fdatasync", 0.95)),
    ("fillsync-4", Bar::Own("fillsync", 3.0)),
    ("fill100K", Bar::Best(2.0)),
    ("fill100K", Bar::LimitBytes("raw-write", 0.9)),
    ("readrandom-cold", Bar::BestTree(2.0)),
    ("readrandom", Bar::BestTree(2.0)),
    ("readrandom", Bar::Rival("lmdb", 1.0)),
    ("readmissing", Bar::Best(3.0)),
    ("readseq", Bar::Best(2.0)),
    ("readseq", Bar::Rate(1e7)),
    ("readreverse", Bar::Best(2.0)),
    ("seekrandom", Bar::Best(2.0)),
    ("seekrandom-10", Bar::Best(2.0)),
    ("compact", Bar::BestTree(1.5)),
    ("compact-settled", Bar::Written),
    ("compacted-readrandom-cold", Bar::BestTree(2.0)),
    ("compacted-readrandom", Bar::BestTree(2.0)),
    ("compacted-readrandom", Bar::Rival("lmdb", 1.0)),
    ("compacted-readmissing", Bar::Best(3.0)),
    ("compacted-readseq", Bar::Best(2.0)),
    ("compacted-readseq", Bar::Rate(1e7)),
    ("compacted-readreverse", Bar::Best(2.0)),
    ("readwhilewriting-80k", Bar::Own("readalone", 0.8)),
    ("readwhilewriting-80k", Bar::Tail),
    ("readwhilewriting", Bar::Own("readalone", 0.8)),
    ("readwhilewriting", Bar::Tail),
    ("deleteseq", Bar::Best(2.0)),
    ("deleteseq-scan", Bar::Best(2.0)),
    ("deleterandom", Bar::Best(2.0)),
    ("deleterandom-scan", Bar::Best(2.0)),
    ("mergerandom", Bar::Rival("rocksdb", 3.0)),
    // A merge costs no more than a put.
    ("mergerandom", Bar::Own("fillrandom", 1.0)),
    // The published ratio, 105 892 to 33 498.
    ("mergerandom", Bar::Own("updaterandom", 3.16)),
    ("updaterandom", Bar::Rival("rocksdb", 2.5)),
    // A get of a key with ten thousand operands takes at most twice as long as a plain one.
    ("get-merged", Bar::Own("get-plain", 0.5)),
    // A transaction takes at most 1.3 times, one that locks 1.5 times as long as what it does.
    ("txn-optimistic", Bar::Own("txn-none", 1.0 / 1.3)),
    ("txn-optimistic", Bar::Rival("rocksdb", 2.0)),
    ("txn-locking", Bar::Own("txn-none", 1.0 / 1.5)),
    ("txn-locking", Bar::Rival("rocksdb", 2.0)),
    ("txn-contended-16", Bar::Rival("rocksdb", 2.0)),
];

/// Every workload in which the speed of engines is compared by some goal, once, in order. A key
/// with many operands is none of them: how far behind a rival is that folds them at each read would
/// draw all other ratios flat.
pub fn raced() -> Vec<&'static str> {
    let is_race = |workload: &str, bar: &Bar| *bar != Bar::Written && workload != "get-merged";
    let raced = GOALS
        .iter()
        .filter(|(workload, bar)| is_race(workload, bar));
    let mut workloads: Vec<&str> = raced.map(|(workload, _)| *workload).collect();
    workloads.dedup();
    workloads
}

/// The verdict on every goal whose workload was measured on our engine.
pub fn judge(board: &Board) -> Vec<Verdict> {
    let Some(ours) = board.place(OURS) else {
        return Vec::new();
    };
    let is_measured = |workload: &str| !board.cell(workload, ours).is_empty();
    let goals = GOALS.iter().filter(|(workload, _)| is_measured(workload));
    goals
        .map(|(workload, bar)| verdict(board, workload, *bar, ours))
        .collect()
}

fn verdict(board: &Board, workload: &'static str, bar: Bar, ours: usize) -> Verdict {
    let own = board.rates(workload, ours);
    let over = |place: Option<usize>| {
        let theirs = board.rates(workload, place?);
        Summary::of_ratios(&own, &theirs)
    };
    let name = |place: Option<usize>| match place {
        Some(place) => format!(" ({})", board.seats[place].name),
        None => String::new(),
    };
    let (asked, measured, least) = match bar {
        Bar::Best(least) => {
            let place = board.best_rival(workload, |_| true);
            (
                format!("{least} × best rival{}", name(place)),
                over(place),
                least,
            )
        }
        Bar::BestTree(least) => {
            let place = board.best_tree(workload);
            (
                format!("{least} × best LSM rival{}", name(place)),
                over(place),
                least,
            )
        }
        Bar::Rival(word, least) => (format!("{least} × {word}"), over(board.place(word)), least),
        Bar::LimitOps(limit, least) => {
            let limits = board.limit(limit, |one| one.ops_per_s);
            let share = Summary::of_ratios(&own, &limits);
            (format!("{least} of {limit}"), share, least)
        }
        Bar::LimitBytes(limit, least) => {
            let bytes: Vec<f64> = board.cell(workload, ours).iter().map(byte_rate).collect();
            let share = Summary::of_ratios(&bytes, &board.limit(limit, byte_rate));
            (format!("{least} of {limit}, in bytes"), share, least)
        }
        Bar::Own(other, least) => {
            let ratio = Summary::of_ratios(&own, &board.rates(other, ours));
            (format!("{least:.2} × own {other}"), ratio, least)
        }
        Bar::Rate(least) => (format!("{} M/s", least / 1e6), Summary::of(own), least),
        Bar::Tail => return tail(board, workload, ours),
        Bar::Written => return written(board, workload, ours),
    };
    let unit = match bar {
        Bar::Rate(_) => "/s",
        _ => "×",
    };
    Verdict::of(workload, asked, unit, measured, |median| median >= least)
}

/// Smaller is better: the ratio must not exceed 1.
fn at_most(workload: &'static str, asked: String, measured: Option<Summary>) -> Verdict {
    Verdict::of(workload, asked, "×", measured, |median| median <= 1.0)
}

fn tail(board: &Board, workload: &'static str, ours: usize) -> Verdict {
    let rivals = (0..board.seats.len()).filter(|place| *place != ours);
    let medians = rivals.filter_map(|place| {
        let median = Summary::of(board.tails(workload, place))?.median;
        Some((place, median))
    });
    let best = medians.min_by(|left, right| left.1.total_cmp(&right.1));
    let ratio = best.and_then(|(place, _)| {
        Summary::of_ratios(&board.tails(workload, ours), &board.tails(workload, place))
    });
    let name = best.map_or(String::new(), |(place, _)| {
        format!(" ({})", board.seats[place].name)
    });
    at_most(workload, format!("p99.9 ≤ 1 × best rival{name}"), ratio)
}

fn written(board: &Board, workload: &'static str, ours: usize) -> Verdict {
    let is_rival = |place: &usize| *place != ours && board.seats[*place].is_lsm;
    let rivals = (0..board.seats.len()).filter(is_rival);
    let medians = rivals.filter_map(|place| {
        let median = Summary::of(board.write_amplifications(place))?.median;
        Some((place, median))
    });
    let best = medians.min_by(|left, right| left.1.total_cmp(&right.1));
    let ratio = best.and_then(|(place, _)| {
        let (own, theirs) = (ours, place);
        let own = board.write_amplifications(own);
        Summary::of_ratios(&own, &board.write_amplifications(theirs))
    });
    let name = best.map_or(String::new(), |(place, _)| {
        format!(" ({})", board.seats[place].name)
    });
    at_most(
        workload,
        format!("write amplification ≤ 1 × best LSM rival{name}"),
        ratio,
    )
}

#[cfg(test)]
mod tests;
