//! Amounts as people write and read them: bytes, counts, rates, durations.

use std::time::Duration;

use esker_bench::quantity::three_digits;
pub use esker_bench::quantity::{counted, grouped as count};

/// Bytes with a binary unit and three digits or so: `4.21 MiB`.
pub fn bytes(amount: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if amount < 1024 {
        return format!("{amount} B");
    }
    // Rounding in the third digit is the point here.
    let mut scaled = amount as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if scaled < 1000.0 {
            break;
        }
        scaled /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", three_digits(scaled))
}

/// As [`counted`], for a noun whose plural has another ending.
pub fn counted_as(amount: u64, noun: &str, plural: &str) -> String {
    let noun = if amount == 1 { noun } else { plural };
    format!("{} {noun}", count(amount))
}

/// How many a second.
pub fn rate(amount: u64, took: Duration) -> String {
    if took.is_zero() {
        return "-".into();
    }
    let per_second = amount as f64 / took.as_secs_f64();
    if per_second < 100.0 {
        return format!("{}/s", three_digits(per_second));
    }
    // Beyond a hundred a second, fractions say nothing.
    format!("{}/s", count(per_second.round() as u64))
}

/// A duration in the unit that keeps it short: `1.25 µs`, `38.0 ms`, `2 min 05 s`.
pub fn duration(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    if seconds >= 100.0 {
        let whole = took.as_secs();
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    let (scaled, unit) = match seconds {
        ..1e-6 => (seconds * 1e9, "ns"),
        ..1e-3 => (seconds * 1e6, "µs"),
        ..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// Bytes from text such as `1048576`, `64KiB`, `4MiB`, `1GB`; `None` for anything else.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A count that a word of the command line spells.
pub fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "give a whole number, 0 or more".to_owned())
}

/// A decimal number of seconds, to the millisecond: `90`, `1.5`, `0.250`.
pub fn seconds(text: &str) -> Option<Duration> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(rest) || rest.len() > 3 {
        return None;
    }
    let millis: u64 = format!("{rest:0<3}").parse().ok()?;
    Some(Duration::from_secs(whole.parse().ok()?) + Duration::from_millis(millis))
}

#[cfg(test)]
mod tests;
