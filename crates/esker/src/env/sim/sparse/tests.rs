//! Tests of `sparse`.

use super::*;
use crate::env::random::Random;

#[test]
fn it_behaves_like_a_vector() {
    // Random writes, cuts and growths, on chunk borders and off them, against a plain vector.
    let mut random = Random::new(1);
    let (mut bytes, mut model) = (SparseBytes::default(), Vec::new());
    for _ in 0..2_000 {
        let offset = to_index(random.below(20_000));
        if random.one_in(4) {
            bytes.resize(offset as u64);
            model.resize(offset, 0);
        } else {
            let len = to_index(random.below(6_000));
            let piece = random.bytes(len);
            bytes.write(offset as u64, &piece);
            model.resize(model.len().max(offset + piece.len()), 0);
            model[offset..offset + piece.len()].copy_from_slice(&piece);
        }
        assert_eq!(bytes.len(), model.len() as u64);
        let mut whole = vec![1; model.len()];
        bytes.read(0, &mut whole);
        assert!(whole == model);
    }
}

#[test]
fn a_copy_is_not_changed_by_its_origin() {
    // Images share chunks with the disk that goes on.
    let mut bytes = SparseBytes::default();
    bytes.write(0, &[1; 10_000]);
    let copy = bytes.clone();
    bytes.write(5_000, &[2; 10]);
    bytes.resize(5_005);
    assert_eq!(copy.sector(5_000 / 512), [1; 512]);
    assert_eq!(copy.len(), 10_000);
}

#[test]
fn a_sector_beyond_the_end_is_zeros_and_cannot_be_set() {
    // The last sector of a file is mostly a part of one.
    let mut bytes = SparseBytes::default();
    bytes.write(0, &[1; 600]);
    bytes.set_sector(1, &[2; 512]);
    bytes.set_sector(2, &[3; 512]);
    assert_eq!(bytes.len(), 600);
    let sector = bytes.sector(1);
    assert!(sector[..88] == [2; 88] && sector[88..] == [0; 424]);
    assert_eq!(bytes.sector(2), [0; 512]);
}
