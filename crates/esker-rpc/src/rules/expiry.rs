//! When a value ends after a write.

use crate::time::WireSecond;

/// Expiry after a write that asks for `asked`: 0 takes the table's default, which is in seconds
/// from `now` on, 0 for none.
pub fn after_write(asked: i32, default_ttl_s: u32, now: WireSecond) -> WireSecond {
    match WireSecond::of_bits(asked) {
        WireSecond::NONE => now.after(default_ttl_s),
        expiry => expiry,
    }
}

/// Expiry after an increment of what ends, or has ended, at `old`: 0 keeps that, a positive number
/// sets another, a negative one clears it. What then has none takes the table's default.
pub fn after_increment(
    asked: i32,
    old: WireSecond,
    default_ttl_s: u32,
    now: WireSecond,
) -> WireSecond {
    let wished = match asked {
        0 if old.is_expired(now) => WireSecond::NONE,
        0 => old,
        1.. => WireSecond::of_bits(asked),
        _ => WireSecond::NONE,
    };
    after_write(wished.to_bits(), default_ttl_s, now)
}

/// What `TTL` answers for a value that lives and ends at `expiry`: -1 if never.
pub fn ttl_s(expiry: WireSecond, now: WireSecond) -> i32 {
    match expiry {
        WireSecond::NONE => -1,
        WireSecond(end) => i32::try_from(end.saturating_sub(now.0)).unwrap_or(i32::MAX),
    }
}

#[cfg(test)]
mod tests;
