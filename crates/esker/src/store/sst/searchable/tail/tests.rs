//! Tests of `tail`.

use super::*;
use crate::env::random::Random;

/// What is stored of a tail.
fn stored(tail: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_tail(&mut out, tail);
    out
}

#[test]
fn tails_of_every_alphabet_come_back() {
    // Of all lengths around what a byte says, in each alphabet, with a character of another one
    // now and then; and each is told from those that differ in one place.
    let mut random = Random::new(1);
    let alphabets: [&[u8]; 4] = [&HEX, &UPPER, &LOWER, b"Az09 \xff"];
    for characters in alphabets {
        for len in (0..70).chain([200, 5000]) {
            let pick = |random: &mut Random| {
                characters[usize::try_from(random.below(characters.len() as u64)).unwrap()]
            };
            let mut tail: Vec<u8> = (0..len).map(|_| pick(&mut random)).collect();
            if len > 0 && random.below(4) == 0 {
                tail[len / 2] = b'~';
            }
            let bytes = stored(&tail);
            assert!(bytes.len() <= varint_len((len as u64) << 2) + len);
            let mut reader = ByteReader::new(&bytes);
            let taken = Tail::take(&mut reader).unwrap();
            assert!(reader.is_empty());
            assert_eq!((taken.len(), taken.is_empty()), (len, len == 0));
            assert_eq!(taken.stored_len(), bytes.len());
            let mut back = b"front".to_vec();
            taken.put_into(&mut back);
            assert_eq!(back, [b"front", &tail[..]].concat());
            assert!(taken.is(&tail));
            assert!(!taken.is(&[&tail[..], b"0"].concat()));
            for other in [b'0', b'f', b'Q', b'z', b'_', 0] {
                let mut wrong = tail.clone();
                if let Some(byte) = wrong.last_mut() {
                    *byte = other;
                    assert_eq!(taken.is(&wrong), wrong == tail);
                }
            }
        }
    }
}

#[test]
fn identifiers_and_times_take_two_thirds() {
    // A user and a second, as reviews have them; a hash; and what has no small alphabet.
    assert_eq!(stored(b"SDE90N6RSZF/1042502400").len(), 1 + 15);
    assert_eq!(stored(b"9f86d081884c7d659a2feaa0c55ad015").len(), 2 + 16);
    assert_eq!(stored(b"someone-else_17").len(), 1 + 10);
    assert_eq!(stored(b"Some one").len(), 1 + 8);
    assert_eq!(stored(b"").len(), 1);
    // Two characters are not worth it.
    assert_eq!(stored(b"zz").len(), 1 + 2);
}

#[test]
fn characters_beyond_the_alphabet_are_refused() {
    // Any bytes: a tail that says what it would be stored as, or none.
    let mut random = Random::new(2);
    let mut found = 0;
    for _ in 0..20_000 {
        let len = usize::try_from(random.below(12)).unwrap();
        let bytes = random.bytes(len);
        let mut reader = ByteReader::new(&bytes);
        if let Some(tail) = Tail::take(&mut reader) {
            let mut back = Vec::new();
            tail.put_into(&mut back);
            assert_eq!(back.len(), tail.len());
            assert!(tail.is(&back));
            found += 1;
        }
    }
    assert!(found > 1000);
    let refused: [&[u8]; 4] = [
        // 64 000 and more; two characters beyond 1599; one beyond 39; half a byte too much.
        &[3 << 2 | 2, 0x00, 0xfa],
        &[2 << 2 | 3, 0x40, 0x06],
        &[1 << 2 | 2, 40],
        &[1 << 2 | 1, 0x1f],
    ];
    for bytes in refused {
        assert!(Tail::take(&mut ByteReader::new(bytes)).is_none());
    }
}
