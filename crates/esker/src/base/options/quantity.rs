//! Sizes and durations as people write them: a number and a unit.

/// Units of sizes, smallest first. Powers of 1024 throughout, as in RocksDB, Redis and
/// PostgreSQL settings: `64mb` and `64MiB` are the same.
const SIZE_UNITS: [(u64, &[&str]); 5] = [
    (1, &["", "b"]),
    (1 << 10, &["kib", "kb", "k"]),
    (1 << 20, &["mib", "mb", "m"]),
    (1 << 30, &["gib", "gb", "g"]),
    (1 << 40, &["tib", "tb", "t"]),
];

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Units of durations in nanoseconds; a plain number is in seconds.
const TIME_UNITS: [(u64, &[&str]); 8] = [
    (1, &["ns"]),
    (1_000, &["us"]),
    (MILLISECOND, &["ms"]),
    (SECOND, &["", "s", "sec"]),
    (60 * SECOND, &["m", "min"]),
    (3_600 * SECOND, &["h"]),
    (86_400 * SECOND, &["d"]),
    (7 * 86_400 * SECOND, &["w"]),
];

/// The bytes of `64MiB`, `1.5gb` or `4096`; `None` when it is no size or not whole bytes.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    parse(text, &SIZE_UNITS)
}

/// The nanoseconds of `5s`, `250ms`, `2h` or `30` (seconds); `None` when it is no duration.
pub(crate) fn parse_duration_ns(text: &str) -> Option<u64> {
    parse(text, &TIME_UNITS)
}

/// The whole seconds of a duration; `None` when it is none or has a fraction of a second.
pub(crate) fn parse_seconds(text: &str) -> Option<u64> {
    let ns = parse_duration_ns(text)?;
    (ns % SECOND == 0).then_some(ns / SECOND)
}

/// The whole milliseconds of a duration; `None` when it is none or has a fraction of one.
pub(crate) fn parse_millis(text: &str) -> Option<u64> {
    let ns = parse_duration_ns(text)?;
    (ns % MILLISECOND == 0).then_some(ns / MILLISECOND)
}

/// The size in the largest unit that divides it, as in `64MiB` or `1000B`; exact.
pub(crate) fn show_size(bytes: u64) -> String {
    const WORDS: [(u64, &str); 4] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    show(bytes, &WORDS, "B")
}

/// The duration in the largest unit that divides it, as in `7d` or `90s`; exact.
pub(crate) fn show_seconds(seconds: u64) -> String {
    const WORDS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "min")];
    show(seconds, &WORDS, "s")
}

/// The duration in the largest unit that divides it, as in `7d` or `1500ms`; exact.
pub(crate) fn show_millis(millis: u64) -> String {
    match millis.is_multiple_of(1_000) {
        true => show_seconds(millis / 1_000),
        false => format!("{millis}ms"),
    }
}

fn show(amount: u64, words: &[(u64, &str)], smallest: &str) -> String {
    let fits = |(size, _): &&(u64, &str)| amount != 0 && amount.is_multiple_of(*size);
    match words.iter().find(fits) {
        Some((size, word)) => format!("{}{word}", amount / size),
        None => format!("{amount}{smallest}"),
    }
}

// Decimal arithmetic throughout: `1.1s` must not become 1 099 999 999 ns.
fn parse(text: &str, units: &[(u64, &[&str])]) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit = unit.trim_start();
    let (size, _) = units.iter().find(|(_, names)| names.contains(&unit))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    // 18 digits are more than any unit can hold and still fit the arithmetic.
    if whole.is_empty() || fraction.is_empty() || whole.len() > 20 || fraction.len() > 18 {
        return None;
    }
    let places = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let scaled = whole.parse::<u128>().ok()? * places + fraction.parse::<u128>().ok()?;
    let exact = scaled.checked_mul(u128::from(*size))?;
    if !exact.is_multiple_of(places) {
        return None;
    }
    u64::try_from(exact / places).ok()
}

#[cfg(test)]
mod tests;
