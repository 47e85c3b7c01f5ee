//! Tests of `sampling`.

use std::collections::BTreeSet;

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::Level;
use crate::base::types::key::Trailer;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::model::{History, Write};
use crate::flow::read::model_view::Layout;

const COUNT: u64 = 2000;

/// Two thousand values of 200 bytes over four files, and some deletes; each begins with its number.
fn view() -> Arc<View> {
    let write = |number: u64| {
        let is_delete = number % 10 == 9;
        let kind = if is_delete { Kind::Delete } else { Kind::Put };
        let value = format!("{number:08}{}", "x".repeat(192)).into_bytes();
        Write {
            key: format!("{number:08}").into_bytes(),
            trailer: Trailer::new(SeqNo::new(number + 1), kind),
            value: if is_delete { Vec::new() } else { value },
        }
    };
    let history = History {
        writes: (0..COUNT).map(write).collect(),
        ..History::default()
    };
    let cuts = ["00000500", "00001200", "00001300"].map(|cut| cut.as_bytes().to_vec());
    let mut layout = Layout::new(&Comparator::Bytewise);
    layout.add_run(Level::new(5).unwrap(), &history, cuts.to_vec());
    layout.view(&[])
}

fn pick_of(bytes_max: usize, seed: u64) -> Picked {
    pick(&view(), bytes_max, seed, &|| false).unwrap().unwrap()
}

/// Numbers of the values in a sample.
fn numbers(sample: &Sample) -> BTreeSet<u64> {
    let records = sample.records().into_iter();
    records
        .map(|record| std::str::from_utf8(&record[..8]).unwrap().parse().unwrap())
        .collect()
}

#[test]
fn a_small_keyspace_is_looked_at_whole() {
    // Each value once, one in eight for the trial, and nothing of deletes.
    let picked = pick_of(1 << 20, 1);
    assert_eq!(picked.value_count, COUNT / 10 * 9);
    assert_eq!(picked.value_bytes, picked.value_count * 200);
    let (sample, trial) = (numbers(&picked.sample), numbers(&picked.trial));
    assert_eq!(sample.len() + trial.len(), picked.value_count as usize);
    assert_eq!(trial.len(), picked.value_count.div_ceil(8) as usize);
    assert!(sample.is_disjoint(&trial));
}

#[test]
fn a_large_one_is_looked_at_in_many_places() {
    // Not more than is asked for, from every part of it, and the same for the same seed.
    let bytes_max = 64 << 10;
    let picked = pick_of(bytes_max, 1);
    let read = usize::try_from(picked.value_bytes).unwrap();
    assert!(
        (bytes_max / 2..bytes_max + PIECE_BYTES).contains(&read),
        "{read}"
    );
    assert!(picked.sample.size_bytes() <= bytes_max);
    let sample = numbers(&picked.sample);
    assert_eq!(sample, numbers(&pick_of(bytes_max, 1).sample));
    assert_ne!(sample, numbers(&pick_of(bytes_max, 2).sample));
    let mut everywhere = BTreeSet::new();
    for seed in 0..40 {
        let sample = numbers(&pick_of(bytes_max, seed).sample);
        everywhere.extend(sample.into_iter().map(|number| number / 100));
    }
    assert_eq!(everywhere.len() as u64, COUNT / 100);
}

#[test]
fn picking_ends_when_it_is_told_to() {
    // The database is closing.
    assert!(pick(&view(), 1 << 20, 1, &|| true).unwrap().is_none());
    assert!(pick(&view(), 1 << 14, 1, &|| true).unwrap().is_none());
}

#[test]
fn what_lies_behind_a_desert_is_not_picked_for_it() {
    // Most of the keyspace are deletes. Whoever walked on from each of them to the first values
    // behind would look at those again and again, and find them typical of all.
    const VALUES: u64 = 300;
    let write = |number: u64| {
        let is_delete = number < 30_000;
        let kind = if is_delete { Kind::Delete } else { Kind::Put };
        Write {
            key: format!("{number:08}").into_bytes(),
            trailer: Trailer::new(SeqNo::new(number + 1), kind),
            value: vec![b'v'; if is_delete { 0 } else { 200 }],
        }
    };
    let history = History {
        writes: (0..30_000 + VALUES).map(write).collect(),
        ..History::default()
    };
    let mut layout = Layout::new(&Comparator::Bytewise);
    layout.add_run(Level::new(5).unwrap(), &history, Vec::new());
    let picked = pick(&layout.view(&[]), 8 * PIECE_BYTES, 7, &|| false);
    let picked = picked.unwrap().unwrap();
    assert!(picked.value_count <= VALUES, "{}", picked.value_count);
}
