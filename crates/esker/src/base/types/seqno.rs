//! 56-bit sequence numbers, and what "visible at" means.

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

impl fmt::Display for SeqNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
