//! Seconds as the wire counts them: since the first moment of 2016, in 32 bits.

/// The unix second at which the wire's count begins: 2016-01-01 00:00:00 UTC.
pub const EPOCH_UNIX_S: u64 = 1_451_606_400;

/// A second of the wire; as an expiry, 0 says that there is none.
///
/// The count ends in 2152. The wire has it as a signed number, whose bits these are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireSecond(pub u32);

impl WireSecond {
    /// No expiry.
    pub const NONE: WireSecond = WireSecond(0);

    /// That unix second; the nearest one that the wire can say.
    pub fn of_unix(unix_s: u64) -> WireSecond {
        let second = unix_s.saturating_sub(EPOCH_UNIX_S);
        WireSecond(u32::try_from(second).unwrap_or(u32::MAX))
    }

    /// Its unix second.
    pub fn to_unix(self) -> u64 {
        EPOCH_UNIX_S + u64::from(self.0)
    }

    /// The bits of a signed number of the wire.
    pub fn of_bits(bits: i32) -> WireSecond {
        WireSecond(bits.cast_unsigned())
    }

    /// The signed number that the wire has for it.
    pub fn to_bits(self) -> i32 {
        self.0.cast_signed()
    }

    /// True for an expiry that is no later than `now`.
    pub fn is_expired(self, now: WireSecond) -> bool {
        self != WireSecond::NONE && self <= now
    }

    /// The expiry of what lives for `ttl_s` from now on; none for 0.
    pub fn after(self, ttl_s: u32) -> WireSecond {
        match ttl_s {
            0 => WireSecond::NONE,
            _ => WireSecond(self.0.saturating_add(ttl_s)),
        }
    }
}

#[cfg(test)]
mod tests;
