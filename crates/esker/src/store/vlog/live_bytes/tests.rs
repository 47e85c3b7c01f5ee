//! Tests of the bytes that files point to.

use super::*;

fn live(list: &[(u64, u64)]) -> ValueLiveBytes {
    let list = list.iter();
    list.map(|(segment, bytes)| (FileNumber(*segment), *bytes))
        .collect()
}

#[test]
fn shares_add_up_by_segment() {
    // In any order; a segment of which nothing is pointed to is not there.
    let mut all = live(&[(9, 1), (2, 5), (9, 3), (4, 0)]);
    assert_eq!(all, live(&[(2, 5), (9, 4)]));
    all.add(FileNumber(1), 1);
    all.add(FileNumber(9), 6);
    assert_eq!(all.of(FileNumber(9)), 10);
    assert_eq!(all.of(FileNumber(4)), 0);
    assert_eq!(all.total_bytes(), 16);
}

#[test]
fn shares_read_back_and_damage_is_refused() {
    // Cut short, numbers that do not ascend, empty live, sums beyond 64 bits.
    for list in [&[][..], &[(0, 1)], &[(3, 1 << 40), (4, 2), (1 << 60, 3)]] {
        let mut bytes = Vec::new();
        live(list).put(&mut bytes);
        let mut reader = ByteReader::new(&bytes);
        assert_eq!(ValueLiveBytes::take(&mut reader), Some(live(list)));
        assert!(reader.is_empty());
        for len in 0..bytes.len() {
            assert_eq!(
                ValueLiveBytes::take(&mut ByteReader::new(&bytes[..len])),
                None
            );
        }
    }
    let large = [
        2, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1,
    ];
    for wrong in [&[1, 5, 0][..], &[2, 5, 1, 0, 1], &large] {
        assert_eq!(ValueLiveBytes::take(&mut ByteReader::new(wrong)), None);
    }
}
