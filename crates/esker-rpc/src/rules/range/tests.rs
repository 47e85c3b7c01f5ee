//! Ranges against a plain reading of each request.

use super::{KeyRange, of_multi_get, of_scan};
use crate::codec::scalars::Blob;
use crate::dice::Dice;
use crate::keys::{raw_key, split_raw_key};
use crate::message::data::{FilterType, GetScannerRequest, MultiGetRequest};

fn short(dice: &mut Dice, len_max: usize) -> Blob {
    let choice = [0, 1, 0xfe, 0xff];
    let bytes = dice.bytes(len_max);
    Blob::from(
        bytes
            .iter()
            .map(|byte| choice[usize::from(byte % 4)])
            .collect::<Vec<u8>>(),
    )
}

#[test]
fn a_multi_get_covers_what_its_fields_say() {
    let mut dice = Dice::new(5);
    for _ in 0..20_000 {
        let request = MultiGetRequest {
            hash_key: short(&mut dice, 2),
            start_sortkey: short(&mut dice, 2),
            stop_sortkey: short(&mut dice, 2),
            start_inclusive: dice.below(2) == 0,
            stop_inclusive: dice.below(2) == 0,
            sort_key_filter_type: FilterType(i32::try_from(dice.below(4)).unwrap()),
            sort_key_filter_pattern: short(&mut dice, 2),
            ..MultiGetRequest::default()
        };
        let range = of_multi_get(&request).unwrap();
        let (hash_key, sort_key) = (short(&mut dice, 2), short(&mut dice, 3));
        let raw = raw_key(&hash_key, &sort_key).unwrap();
        let (start, stop) = (&request.start_sortkey, &request.stop_sortkey);
        let is_prefix = request.sort_key_filter_type == FilterType::FT_MATCH_PREFIX;
        let expected = hash_key == request.hash_key
            && (sort_key > *start || (sort_key == *start && request.start_inclusive))
            && (stop.is_empty()
                || sort_key < *stop
                || (sort_key == *stop && request.stop_inclusive))
            && (!is_prefix || sort_key.starts_with(&request.sort_key_filter_pattern));
        assert_eq!(range.contains(&raw), expected, "{request:?} {raw:?}");
        assert!(!(range.is_empty() && expected));
    }
}

#[test]
fn a_scan_covers_what_its_fields_say() {
    let mut dice = Dice::new(6);
    for _ in 0..20_000 {
        let raw = |dice: &mut Dice| {
            let (hash_key, sort_key) = (short(dice, 2), short(dice, 2));
            Blob::from(raw_key(&hash_key, &sort_key).unwrap())
        };
        let request = GetScannerRequest {
            start_key: raw(&mut dice),
            stop_key: match dice.below(6) {
                0 => Blob::default(),
                1 => Blob::of(&[0xff, 0xff]),
                _ => raw(&mut dice),
            },
            full_scan: [None, Some(false), Some(true)][dice.below(3)],
            start_inclusive: dice.below(2) == 0,
            stop_inclusive: dice.below(2) == 0,
            hash_key_filter_type: FilterType(i32::try_from(dice.below(4)).unwrap()),
            hash_key_filter_pattern: short(&mut dice, 2),
            ..GetScannerRequest::default()
        };
        let range = of_scan(&request);
        let hash_key = short(&mut dice, 2);
        let key = Blob::from(raw_key(&hash_key, &short(&mut dice, 2)).unwrap());
        let (start, stop) = (&request.start_key, &request.stop_key);
        let (first, _) = split_raw_key(start).unwrap();
        let is_of_table = request.full_scan == Some(true) || stop[..] == [0xff, 0xff];
        let is_asked = (key > *start || (key == *start && request.start_inclusive))
            && (stop.is_empty() || key < *stop || (key == *stop && request.stop_inclusive))
            && (is_of_table || first.is_empty() || hash_key[..] == *first);
        let is_prefix = request.hash_key_filter_type == FilterType::FT_MATCH_PREFIX;
        let passes = !is_prefix || hash_key.starts_with(&request.hash_key_filter_pattern);
        // The filter may leave more in the range, and never less.
        assert!(
            range.contains(&key) || !(is_asked && passes),
            "{request:?} {key:?}"
        );
        assert!(is_asked || !range.contains(&key));
    }
}

#[test]
fn a_whole_table_is_two_zeros_to_two_of_the_last_byte() {
    let range = of_scan(&GetScannerRequest {
        start_key: Blob::of(&[0, 0]),
        stop_key: Blob::of(&[0xff, 0xff]),
        start_inclusive: true,
        ..GetScannerRequest::default()
    });
    for hash_key in [vec![], vec![0xff; 65_534]] {
        assert!(range.contains(&raw_key(&hash_key, b"").unwrap()));
    }
}

#[test]
fn a_scan_that_stops_behind_its_hash_key_ends_with_it() {
    // As the Python client asks for all of hash key "hk": to the next of the bare hash key.
    let of = |start_key: &[u8], stop_key: &[u8], full_scan| {
        of_scan(&GetScannerRequest {
            start_key: Blob::of(start_key),
            stop_key: Blob::of(stop_key),
            start_inclusive: true,
            full_scan,
            ..GetScannerRequest::default()
        })
    };
    let (mine, other) = (
        raw_key(b"hk", b"s").unwrap(),
        raw_key(b"hkx", b"s").unwrap(),
    );
    let both = |range: KeyRange| [range.contains(&mine), range.contains(&other)];
    let start = raw_key(b"hk", b"").unwrap();
    assert_eq!(both(of(&start, b"hl", None)), [true, false]);
    assert_eq!(both(of(&start, b"hl", Some(false))), [true, false]);
    assert_eq!(both(of(&start, b"hl", Some(true))), [true, true]);
    // Whole tables: from their begin, and from a key that was seen.
    assert_eq!(both(of(&[0, 0], b"hl", None)), [true, true]);
    assert_eq!(both(of(&start, &[0xff, 0xff], None)), [true, true]);
    // What is no raw key belongs to no hash key.
    assert_eq!(both(of(&[0], b"hl", None)), [true, true]);
}

#[test]
fn hash_keys_that_are_too_long_have_no_range() {
    let too_long = vec![0; 65_535];
    assert_eq!(KeyRange::of_hash_key(&too_long), None);
    let request = MultiGetRequest {
        hash_key: Blob::from(too_long),
        ..MultiGetRequest::default()
    };
    assert_eq!(of_multi_get(&request), None);
}
