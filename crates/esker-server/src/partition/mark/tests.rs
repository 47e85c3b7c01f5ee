//! Marks come back as they went, within their bound, and nothing else is taken for one.

use esker::internals::base::types::limits::MARK_BYTES_MAX;
use esker::internals::env::random::Random;
use esker_raft::{NodeId, ReplicaId};

use super::*;

fn of_members(count: u64) -> ReplicaMark {
    let voters: Vec<_> = (1..=count)
        .map(|id| (ReplicaId(id), NodeId(u64::MAX - id)))
        .collect();
    let mut mark = Mark::first(&voters);
    mark.applied = Point {
        index: NUMBER_MAX,
        term: NUMBER_MAX,
    };
    ReplicaMark {
        raft: mark,
        clock_us: u64::MAX,
    }
}

#[test]
fn a_mark_comes_back_and_the_largest_is_within_the_engines_limit() {
    for count in 1..=16 {
        let mark = of_members(count);
        let bytes = mark.encode();
        assert_eq!(ReplicaMark::decode(&bytes).unwrap(), mark);
        assert!(bytes.len() <= MARK_BYTES_MAX, "{}", bytes.len());
    }
    assert_eq!(of_members(16).encode().len(), 334);
    let empty = ReplicaMark::default();
    assert_eq!(ReplicaMark::decode(&empty.encode()).unwrap(), empty);
}

#[test]
fn a_mark_of_another_version_is_unsupported_and_no_damage() {
    let mut bytes = of_members(3).encode();
    bytes[0] = 2;
    let error = ReplicaMark::decode(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn what_is_cut_or_cannot_be_is_corruption() {
    let bytes = of_members(3).encode();
    for len in 0..bytes.len() {
        let error = ReplicaMark::decode(&bytes[..len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{len}");
    }
    let with = |at: usize, word: u64| {
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&word.to_le_bytes());
        ReplicaMark::decode(&changed).is_err()
    };
    assert!(with(1, NUMBER_MAX + 1), "an index beyond all");
    assert!(with(1, 0), "applied before it began");
    assert!(with(41, NUMBER_MAX + 1), "members of no entry");
}

#[test]
fn any_bytes_are_refused_or_come_back_as_they_are() {
    let mut dice = Random::new(7);
    let whole = of_members(5).encode();
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + dice.below(3) {
            let at = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
            bytes[at] ^= 1 << dice.below(8);
        }
        if let Ok(mark) = ReplicaMark::decode(&bytes) {
            assert_eq!(mark.encode(), bytes);
        }
    }
}
