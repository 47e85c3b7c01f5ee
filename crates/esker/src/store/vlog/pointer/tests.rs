//! Tests of pointers into the value log.

use super::*;
use crate::base::types::expiry::Expiry;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;

const POINTER: ValuePointer = ValuePointer {
    segment: FileNumber(0x0102_0304),
    offset: 58,
    len: 1 << 30,
    crc: 0xdead_beef,
};

#[test]
fn a_pointer_reads_back_and_what_cannot_be_one_is_refused() {
    // Lengths, offsets before any value, values beyond the limit.
    assert_eq!(ValuePointer::decode(&POINTER.encode()).unwrap(), POINTER);
    let long = [&POINTER.encode()[..], &[0]].concat();
    assert!(ValuePointer::decode(&long).is_err());
    assert!(ValuePointer::decode(&POINTER.encode()[1..]).is_err());
    for wrong in [
        ValuePointer {
            offset: 57,
            ..POINTER
        },
        ValuePointer {
            len: (1 << 30) + 1,
            ..POINTER
        },
    ] {
        assert!(ValuePointer::decode(&wrong.encode()).is_err());
    }
}

#[test]
fn an_entry_shows_its_pointer_with_and_without_an_expiry() {
    // The expiry stands in front, and stays when the value moves.
    let plain = POINTER.encode();
    let expiring = Expiry::from_unix_s(99).join(&plain);
    for (kind, value) in [
        (Kind::PutSeparated, &plain[..]),
        (Kind::PutSeparatedExpiring, &expiring[..]),
    ] {
        let entry = Entry {
            key: b"k",
            trailer: Trailer::new(SeqNo::new(5), kind),
            value,
        };
        assert_eq!(ValuePointer::of(&entry).unwrap(), Some(POINTER));
        let moved = ValuePointer {
            segment: FileNumber(9),
            ..POINTER
        };
        let raw = repointed(&entry, &moved);
        let entry = Entry {
            value: &raw,
            ..entry
        };
        assert_eq!(ValuePointer::of(&entry).unwrap(), Some(moved));
        assert_eq!(entry.value.len(), value.len());
        let short = Entry {
            value: &value[..3],
            ..entry
        };
        assert!(ValuePointer::of(&short).is_err());
    }
    let put = Entry {
        key: b"k",
        trailer: Trailer::new(SeqNo::new(5), Kind::Put),
        value: &plain,
    };
    assert_eq!(ValuePointer::of(&put).unwrap(), None);
}
