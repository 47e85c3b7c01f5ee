//! What an entry does: delete, put, merge, delete a range.

/// Bytes of an expiry in front of a value, where it is a whole second.
pub const EXPIRY_S_BYTES: usize = 4;

/// The same where it has milliseconds.
pub const EXPIRY_MS_BYTES: usize = 6;

/// What an entry does to its key.
///
/// The byte is part of every format; numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The key has no value from here on.
    Delete = 0,
    /// The key has this value.
    Put = 1,
    /// The value is an operand, to be folded into the older entries of the key.
    Merge = 2,
    /// All keys from this entry's key up to its value, exclusive, have no value from here on.
    RangeDelete = 3,
    /// The key has this value until an expiry: the entry's value is the expiry (unix seconds,
    /// `u32`, little-endian) and then the user's value.
    PutExpiring = 4,
    /// An operand that already holds every older operand of the key that lies in the same
    /// memtable: readers skip those. Exists only in memtables.
    MergeFolded = 5,
    /// The key has a separated value, in the value log: the entry's value is a pointer
    /// (`store/vlog/pointer`).
    PutSeparated = 6,
    /// As [`Kind::PutSeparated`] until an expiry, which stands in front of the pointer as in
    /// [`Kind::PutExpiring`].
    PutSeparatedExpiring = 7,
    /// As [`Kind::PutExpiring`] until an expiry that is no whole second (unix milliseconds, 48
    /// bits, little-endian). From database format 3 on.
    PutExpiringMillis = 8,
    /// As [`Kind::PutSeparated`] until an expiry, which stands in front of the pointer as in
    /// [`Kind::PutExpiringMillis`].
    PutSeparatedExpiringMillis = 9,
}

impl Kind {
    /// The largest kind: with it, a seek finds the newest entry of a sequence number.
    pub const LAST: Kind = Kind::PutSeparatedExpiringMillis;

    /// The kind with that byte, or `None`. For bytes from disk.
    pub fn from_byte(byte: u8) -> Option<Kind> {
        Some(match byte {
            0 => Kind::Delete,
            1 => Kind::Put,
            2 => Kind::Merge,
            3 => Kind::RangeDelete,
            4 => Kind::PutExpiring,
            5 => Kind::MergeFolded,
            6 => Kind::PutSeparated,
            7 => Kind::PutSeparatedExpiring,
            8 => Kind::PutExpiringMillis,
            9 => Kind::PutSeparatedExpiringMillis,
            _ => return None,
        })
    }

    /// The byte that stands for the kind in every format.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// Whether the entry's value is separated, in the value log.
    #[inline]
    pub fn is_separated(self) -> bool {
        matches!(
            self,
            Kind::PutSeparated | Kind::PutSeparatedExpiring | Kind::PutSeparatedExpiringMillis
        )
    }

    /// Whether the entry's raw value begins with an expiry.
    #[inline]
    pub fn is_expiring(self) -> bool {
        matches!(
            self,
            Kind::PutExpiring
                | Kind::PutSeparatedExpiring
                | Kind::PutExpiringMillis
                | Kind::PutSeparatedExpiringMillis
        )
    }

    /// Whether that expiry has milliseconds.
    #[inline]
    pub fn has_millis(self) -> bool {
        matches!(
            self,
            Kind::PutExpiringMillis | Kind::PutSeparatedExpiringMillis
        )
    }

    /// Bytes of the expiry with which the entry's raw value begins; 0 where it has none.
    #[inline]
    pub fn expiry_bytes(self) -> usize {
        match self {
            Kind::PutExpiring | Kind::PutSeparatedExpiring => EXPIRY_S_BYTES,
            Kind::PutExpiringMillis | Kind::PutSeparatedExpiringMillis => EXPIRY_MS_BYTES,
            _ => 0,
        }
    }

    /// The kind of the same put with its value in the value log; of any other entry its own.
    pub fn separated(self) -> Kind {
        match self {
            Kind::Put => Kind::PutSeparated,
            Kind::PutExpiring => Kind::PutSeparatedExpiring,
            Kind::PutExpiringMillis => Kind::PutSeparatedExpiringMillis,
            kind => kind,
        }
    }

    /// The kind of the same put with its value in the entry; of any other entry its own.
    pub fn unseparated(self) -> Kind {
        match self {
            Kind::PutSeparated => Kind::Put,
            Kind::PutSeparatedExpiring => Kind::PutExpiring,
            Kind::PutSeparatedExpiringMillis => Kind::PutExpiringMillis,
            kind => kind,
        }
    }

    /// Whether a reader needs older entries of the key to know its value.
    pub fn is_merge(self) -> bool {
        matches!(self, Kind::Merge | Kind::MergeFolded)
    }
}
