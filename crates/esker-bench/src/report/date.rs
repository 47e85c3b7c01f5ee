//! Moments as people and as db_bench's dialects write them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment taken apart.
struct Parts {
    year: u64,
    month: u64,
    day: u64,
    weekday: usize,
    seconds: u64,
}

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// As `ctime` has it: `Sun Jan  5 14:40:05 2025`.
pub fn ctime(unix_s: u64) -> String {
    let at = parts(unix_s);
    let month = MONTHS[usize::try_from(at.month - 1).expect("a month")];
    let (hour, minute, second) = clock(at.seconds);
    format!(
        "{} {month} {:2} {hour:02}:{minute:02}:{second:02} {}",
        DAYS[at.weekday], at.day, at.year
    )
}

/// As RocksDB's reports have it: `2025/01/05-14:40:05`.
pub fn stamp(unix_s: u64) -> String {
    let at = parts(unix_s);
    let (hour, minute, second) = clock(at.seconds);
    let (year, month, day) = (at.year, at.month, at.day);
    format!("{year:04}/{month:02}/{day:02}-{hour:02}:{minute:02}:{second:02}")
}

/// As a page has it: `2025-01-05 14:40 UTC`; nothing for 0, which no run began at.
pub fn utc(unix_s: u64) -> String {
    if unix_s == 0 {
        return String::new();
    }
    let at = parts(unix_s);
    let (hour, minute, _) = clock(at.seconds);
    let (year, month, day) = (at.year, at.month, at.day);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

fn clock(seconds: u64) -> (u64, u64, u64) {
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

// Days are counted from 1 March of the year 0, so that leap days come last.
// Source: Hinnant, "chrono-compatible low-level date algorithms".
fn parts(unix_s: u64) -> Parts {
    // No clock that a record was made by is further on than the year 9999.
    let days = unix_s.min(253_402_300_799) / 86_400;
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    Parts {
        year: year_of_era + era * 400 + u64::from(month <= 2),
        month,
        day: of_year - (153 * shifted_month + 2) / 5 + 1,
        weekday: usize::try_from(days % 7).expect("a day of the week"),
        seconds: unix_s % 86_400,
    }
}

#[cfg(test)]
mod tests;
