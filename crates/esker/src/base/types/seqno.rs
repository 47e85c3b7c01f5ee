//! 56-bit sequence numbers, and what a reader sees by them.

use std::fmt;

use crate::base::types::limits::SEQNO_MAX;

/// Place of an entry in the one order of all writes of a database.
///
/// Every entry of a batch has its own number, counted up from the batch's first. An entry is
/// visible at `s` when its number is not larger than `s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeqNo(u64);

impl SeqNo {
    /// Before the first write.
    pub const ZERO: SeqNo = SeqNo(0);
    /// After every write: a read at `MAX` sees everything.
    pub const MAX: SeqNo = SeqNo(SEQNO_MAX);

    /// The sequence number `number`.
    ///
    /// # Panics
    /// When the number needs more than 56 bits: 2^56 writes take two years at a billion a second.
    pub fn new(number: u64) -> SeqNo {
        assert!(number <= SEQNO_MAX);
        SeqNo(number)
    }

    /// The sequence number, or `None` when it needs more than 56 bits. For bytes from disk.
    pub fn checked(number: u64) -> Option<SeqNo> {
        (number <= SEQNO_MAX).then_some(SeqNo(number))
    }

    /// The number itself.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number `count` places later.
    pub fn plus(self, count: u64) -> SeqNo {
        SeqNo::new(self.0 + count)
    }

    /// The number just before, if there is one.
    pub fn before(self) -> Option<SeqNo> {
        self.0.checked_sub(1).map(SeqNo)
    }

    /// Whether an entry with this number is part of what a read at `reader` sees.
    pub fn is_visible_at(self, reader: SeqNo) -> bool {
        self.0 <= reader.0
    }
}

/// The first of the numbers that a transaction gives to its own writes while nobody else sees them:
/// above those of all that is committed, so that its own writes are the newest for itself. A
/// database comes near them after a year at a billion writes a second.
const OWN_FIRST: u64 = 1 << 55;

/// Which entries a reader sees: those up to a number, and, if it is a transaction, so many of its
/// own writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visibility {
    committed: SeqNo,
    /// The last of its own writes that it sees; below `OWN_FIRST` it sees none.
    own: SeqNo,
}

impl Visibility {
    /// Everything up to `committed`.
    #[inline]
    pub fn at(committed: SeqNo) -> Visibility {
        Visibility {
            committed,
            own: SeqNo::ZERO,
        }
    }

    /// Everything up to `committed`, and the first `own_count` own writes.
    pub fn with_own(committed: SeqNo, own_count: u64) -> Visibility {
        let own = match own_count.checked_sub(1) {
            None => SeqNo::ZERO,
            Some(last) => Visibility::own_seqno(last),
        };
        Visibility { committed, own }
    }

    /// The number of the own write at `index`.
    pub fn own_seqno(index: u64) -> SeqNo {
        SeqNo::new(OWN_FIRST + index)
    }

    /// The last committed number that it sees.
    #[inline]
    pub fn committed(self) -> SeqNo {
        self.committed
    }

    /// Whether it sees own writes.
    #[inline]
    pub fn has_own(self) -> bool {
        self.own.0 >= OWN_FIRST
    }

    /// Whether an entry with that number is part of what it sees.
    #[inline]
    pub fn sees(self, seqno: SeqNo) -> bool {
        seqno.is_visible_at(self.committed) || (OWN_FIRST <= seqno.0 && seqno.0 <= self.own.0)
    }

    /// The newest number that it sees.
    #[inline]
    pub fn newest(self) -> SeqNo {
        self.committed.max(self.own)
    }

    /// The newest number that it sees among those of the source that has an entry with the number
    /// `seqno`: no source has committed entries and own ones.
    pub fn newest_beside(self, seqno: SeqNo) -> SeqNo {
        match seqno.0 < OWN_FIRST {
            true => self.committed,
            false => self.own,
        }
    }
}

impl fmt::Display for SeqNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
