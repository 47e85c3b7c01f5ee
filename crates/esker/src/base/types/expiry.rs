//! When a value ends.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::base::types::kind::{EXPIRY_MS_BYTES, EXPIRY_S_BYTES, Kind};

/// Milliseconds of a second.
const SECOND_MS: u64 = 1000;

/// Nanoseconds of a millisecond.
const NANOS_OF_MS: u128 = 1_000_000;

/// When a value ends: from that moment on it is gone.
///
/// units   unix time in whole milliseconds, up to second `u32::MAX` in the year 2106: what files
///         say of all their entries is a second of 32 bits.
///
/// ```
/// use esker::Expiry;
///
/// let end = Expiry::from_unix_ms(4_000_000_000_250);
/// assert_eq!(end.to_string(), "4000000000.250");
/// assert!(end > Expiry::from_unix_s(4_000_000_000));
/// assert_eq!(Expiry::from(std::time::SystemTime::from(end)), end);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expiry {
    /// Its milliseconds and 1, so that an `Option` of an end has no more bytes than an end.
    above_ms: NonZeroU64,
}

const _: () = assert!(size_of::<Option<Expiry>>() == 8);

impl Expiry {
    /// The last end there is; whatever would end later ends then.
    pub const MAX: Expiry = Expiry::from_unix_s(u32::MAX);

    /// The end at that unix second.
    pub const fn from_unix_s(second: u32) -> Expiry {
        Expiry::of_ms(second as u64 * SECOND_MS)
    }

    /// The end at that unix millisecond; beyond [`Expiry::MAX`] that.
    pub const fn from_unix_ms(unix_ms: u64) -> Expiry {
        if unix_ms > Expiry::MAX.unix_ms() {
            return Expiry::MAX;
        }
        Expiry::of_ms(unix_ms)
    }

    /// The kind of a put of a value that ends then and stands in its entry.
    pub fn put_kind(self) -> Kind {
        match self.whole_second() {
            Some(_) => Kind::PutExpiring,
            None => Kind::PutExpiringMillis,
        }
    }

    /// What stands in front of the value, or of the pointer to it: as many bytes as
    /// [`Kind::expiry_bytes`] says of its kind.
    pub fn encode(self) -> ExpiryBytes {
        let mut bytes = [0; EXPIRY_MS_BYTES];
        let len = match self.whole_second() {
            Some(second) => {
                bytes[..EXPIRY_S_BYTES].copy_from_slice(&second.to_le_bytes());
                EXPIRY_S_BYTES
            }
            None => {
                let all = self.unix_ms().to_le_bytes();
                bytes.copy_from_slice(&all[..EXPIRY_MS_BYTES]);
                EXPIRY_MS_BYTES
            }
        };
        ExpiryBytes { bytes, len }
    }

    /// The end of an entry of that kind, whose raw value is `raw`, and what stands behind it;
    /// `None` when there is none. For bytes from disk.
    ///
    /// A whole second is never told in milliseconds: each end has one spelling.
    #[inline]
    pub fn split(kind: Kind, raw: &[u8]) -> Option<(Expiry, &[u8])> {
        match kind.expiry_bytes() {
            EXPIRY_S_BYTES => {
                let (second, value) = raw.split_first_chunk::<EXPIRY_S_BYTES>()?;
                Some((Expiry::from_unix_s(u32::from_le_bytes(*second)), value))
            }
            EXPIRY_MS_BYTES => {
                let (millis, value) = raw.split_first_chunk::<EXPIRY_MS_BYTES>()?;
                let mut all = [0; 8];
                all[..EXPIRY_MS_BYTES].copy_from_slice(millis);
                let unix_ms = u64::from_le_bytes(all);
                let is_valid =
                    unix_ms < Expiry::MAX.unix_ms() && !unix_ms.is_multiple_of(SECOND_MS);
                is_valid.then(|| (Expiry::of_ms(unix_ms), value))
            }
            _ => None,
        }
    }

    /// The raw value of a put that ends then.
    pub fn join(self, value: &[u8]) -> Vec<u8> {
        [&self.encode(), value].concat()
    }

    /// The end that long after the beginning of 1970, rounded up to whole milliseconds.
    pub fn after_epoch(since: Duration) -> Expiry {
        let unix_ms = since.as_nanos().div_ceil(NANOS_OF_MS);
        Expiry::from_unix_ms(u64::try_from(unix_ms).unwrap_or(u64::MAX))
    }

    /// The end of what lives for `ttl` from `now` on, told as the time since the beginning of
    /// 1970. Never too early: for a time in whole seconds it is the first whole second at which
    /// that time is over, up to a second later; for any other the first millisecond.
    ///
    /// ```
    /// use esker::Expiry;
    /// use std::time::Duration;
    ///
    /// let now = Duration::from_millis(10_900);
    /// let of = |ttl_ms| Expiry::after(now, Duration::from_millis(ttl_ms)).unix_ms();
    /// assert_eq!((of(999), of(1_000), of(1_001)), (11_899, 12_000, 11_901));
    /// ```
    pub fn after(now: Duration, ttl: Duration) -> Expiry {
        let end = now.saturating_add(ttl);
        if ttl.subsec_nanos() > 0 {
            return Expiry::after_epoch(end);
        }
        let rest = u64::from(end.subsec_nanos() > 0);
        let second = end.as_secs().saturating_add(rest);
        Expiry::from_unix_s(u32::try_from(second).unwrap_or(u32::MAX))
    }

    const fn of_ms(unix_ms: u64) -> Expiry {
        match NonZeroU64::new(unix_ms + 1) {
            Some(above_ms) => Expiry { above_ms },
            None => panic!("milliseconds of 32 bits of seconds are far below the largest number"),
        }
    }

    /// In unix milliseconds.
    #[inline]
    pub const fn unix_ms(self) -> u64 {
        self.above_ms.get() - 1
    }

    /// The unix second, if it is a whole one.
    pub fn whole_second(self) -> Option<u32> {
        let is_whole = self.unix_ms().is_multiple_of(SECOND_MS);
        is_whole.then(|| self.unix_s_up())
    }

    /// The first unix second at which the value is gone: the end, rounded up.
    pub fn unix_s_up(self) -> u32 {
        let second = self.unix_ms().div_ceil(SECOND_MS);
        u32::try_from(second).expect("no end is above that of the largest second")
    }

    /// Whether the value is gone at `now_unix_ms`. It lives through the last millisecond before its
    /// end.
    #[inline]
    pub fn is_past(self, now_unix_ms: u64) -> bool {
        self.unix_ms() <= now_unix_ms
    }
}

/// An end as it stands in front of a value.
#[derive(Clone, Copy, Debug)]
pub struct ExpiryBytes {
    bytes: [u8; EXPIRY_MS_BYTES],
    len: usize,
}

impl Deref for ExpiryBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A part of a millisecond counts as a whole one; a time before 1970 is 1970.
impl From<SystemTime> for Expiry {
    fn from(time: SystemTime) -> Expiry {
        Expiry::after_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

impl From<Expiry> for SystemTime {
    fn from(expiry: Expiry) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(expiry.unix_ms())
    }
}

/// In unix seconds, with a fraction where it has one.
impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (second, rest_ms) = (self.unix_ms() / SECOND_MS, self.unix_ms() % SECOND_MS);
        write!(f, "{second}")?;
        match rest_ms {
            0 => Ok(()),
            _ => write!(f, ".{rest_ms:03}"),
        }
    }
}

impl fmt::Debug for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
