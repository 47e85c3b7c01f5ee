//! What of a sorted file passes by itself: what snapshots hold, and what expires.

use std::collections::BTreeMap;

use super::Row;
use super::bytes::Front;
use super::sorted::{SortedFile, pointed_by};

/// What a file, or the manifest of it, says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// Bytes by the snapshot that holds them.
    pub held: BTreeMap<u64, u64>,
    pub held_deletes: u64,
    /// Bytes, and first and last expiry.
    pub expiring: Option<(u64, u32, u32)>,
}

impl Passing {
    pub fn take(front: &mut Front<'_>) -> Passing {
        let mut held = BTreeMap::new();
        let mut before = 0;
        let count = front.varint();
        assert!(count <= 16);
        for index in 0..count {
            let step = front.varint();
            assert!(index == 0 || step > 0);
            before += step;
            let bytes = front.varint();
            assert!(bytes > 0);
            held.insert(before, bytes);
        }
        let held_deletes = front.varint();
        let expiring = match front.varint() {
            0 => None,
            bytes => Some((bytes, front.u32(), front.u32())),
        };
        assert!(expiring.is_none_or(|(_, first, last)| first <= last));
        Passing {
            held,
            held_deletes,
            expiring,
        }
    }
}

/// Holds what a file says against its entries. Which snapshots there were only the writer knew: so
/// what is held lies between what must be, and what may.
pub fn check(said: &Passing, file: &SortedFile) {
    let mut expiring: Option<(u64, u32, u32)> = None;
    let (mut surely, mut perhaps) = (0, 0);
    let mut newer: Option<&Row> = None;
    for row in &file.rows {
        let bytes = bytes_of(row);
        if let Some(expiry) = row.expiry() {
            let (sum, first, last) = expiring.unwrap_or((0, expiry, expiry));
            expiring = Some((sum + bytes, first.min(expiry), last.max(expiry)));
        }
        let newer = newer.replace(row).filter(|newer| newer.key == row.key);
        if newer.is_some_and(|newer| newer.kind != 2) {
            surely += bytes;
        }
        if newer.is_some() || row.kind == 0 {
            perhaps += bytes;
        }
    }
    let range_bytes = |range: &super::Range| range.start.len() + range.end.len() + 8;
    let range_bytes: usize = file.ranges.iter().map(range_bytes).sum();
    perhaps += u64::try_from(range_bytes).unwrap();
    assert_eq!(said.expiring, expiring);
    let held: u64 = said.held.values().sum();
    assert!(
        surely <= held && held <= perhaps,
        "{surely} {held} {perhaps}"
    );
    let ranges = u64::try_from(file.ranges.len()).unwrap();
    assert!(said.held_deletes <= file.count(&[0]) + ranges);
    assert!(
        said.held
            .keys()
            .all(|seqno| Some(*seqno) < file.seqnos().max())
    );
}

fn bytes_of(row: &Row) -> u64 {
    let own = u64::try_from(row.key.len() + 8 + row.value.len()).unwrap();
    match row.is_separated() {
        true => own + pointed_by(row).1,
        false => own,
    }
}
