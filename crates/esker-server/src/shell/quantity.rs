//! Bytes and durations as people write them: `64MiB`, `5s`.

use std::time::Duration;

/// Units of bytes, the largest first.
const BYTES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("B", 1),
];

/// Units of time in milliseconds, the largest first.
const TIMES: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("min", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// Bytes such as `64MiB`; a bare number is bytes. Letters may be of either case.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let advice = || format!("\"{text}\" is no number of bytes: write it like 64MiB");
    let (digits, unit) = split(text);
    let factor = match unit {
        "" => 1,
        unit => {
            let row = BYTES.iter().find(|row| row.0.eq_ignore_ascii_case(unit));
            row.ok_or_else(advice)?.1
        }
    };
    let number: u64 = digits.parse().map_err(|_| advice())?;
    number.checked_mul(factor).ok_or_else(advice)
}

/// A duration such as `250ms`, `5s`, `10min`, `1h`. The unit is never left out.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let advice = || format!("\"{text}\" is no duration: write it like 5s, 250ms, 10min or 1h");
    let (digits, unit) = split(text);
    let row = TIMES.iter().find(|row| row.0 == unit);
    let factor = row.ok_or_else(advice)?.1;
    let number: u64 = digits.parse().map_err(|_| advice())?;
    let millis = number.checked_mul(factor).ok_or_else(advice)?;
    Ok(Duration::from_millis(millis))
}

/// Bytes in the largest unit that leaves no rest.
pub fn show_bytes(bytes: u64) -> String {
    show(bytes, &BYTES)
}

/// A duration in the largest unit that leaves no rest, cut to milliseconds.
pub fn show_duration(duration: Duration) -> String {
    show(
        u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        &TIMES,
    )
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    (digits, unit.trim())
}

fn show(number: u64, units: &[(&str, u64)]) -> String {
    let smallest = units[units.len() - 1];
    let fits = |row: &&(&str, u64)| number > 0 && number.is_multiple_of(row.1);
    let (unit, factor) = units.iter().find(fits).copied().unwrap_or(smallest);
    format!("{}{unit}", number / factor)
}

#[cfg(test)]
mod tests;
