//! Tests of `key`.

use super::*;

#[test]
fn newest_entry_of_a_key_comes_first() {
    // A seek to (key, seqno) must land on the newest entry visible at that seqno.
    let comparator = Comparator::Bytewise;
    let old = encode(b"k", Trailer::new(SeqNo::new(5), Kind::Put));
    let new = encode(b"k", Trailer::new(SeqNo::new(9), Kind::Delete));
    let seek = encode(b"k", Trailer::seek(SeqNo::new(9)));
    assert_eq!(compare(&comparator, &new, &old), Ordering::Less);
    assert_eq!(compare(&comparator, &seek, &new), Ordering::Less);
    assert_eq!(
        compare(&comparator, &encode(b"j", Trailer::seek(SeqNo::ZERO)), &new),
        Ordering::Less
    );
}

#[test]
fn a_key_that_begins_another_sorts_first() {
    // The trailer must not take part in the comparison of user keys.
    let comparator = Comparator::Bytewise;
    let short = encode(b"a", Trailer::new(SeqNo::ZERO, Kind::Delete));
    let long = encode(b"a\0", Trailer::new(SeqNo::MAX, Kind::LAST));
    assert_eq!(compare(&comparator, &short, &long), Ordering::Less);
}

#[test]
fn split_gives_back_what_was_encoded() {
    // Also with the largest number there is.
    let trailer = Trailer::new(SeqNo::MAX, Kind::PutExpiring);
    let bytes = encode(b"key", trailer);
    assert_eq!(split(&bytes), (&b"key"[..], trailer));
    assert_eq!(
        (trailer.seqno(), trailer.kind()),
        (SeqNo::MAX, Kind::PutExpiring)
    );
}

#[test]
fn damaged_trailers_are_refused() {
    // A kind that no version of the format ever had.
    assert_eq!(Trailer::checked(u64::from_le_bytes(*b"\xff1234567")), None);
}
