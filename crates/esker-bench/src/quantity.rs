//! Numbers as people read them: rates, bytes, times, ratios; a dash for what is no number.

/// Stands for a number that there is none of.
pub const NONE: &str = "–";

/// A count or a rate in three digits or so: `864`, `8.64 k`, `86.4 M`.
pub fn count(amount: f64) -> String {
    if !amount.is_finite() {
        return NONE.into();
    }
    let (scaled, unit) = match amount.abs() {
        ..999.5 => (amount, ""),
        ..999_500.0 => (amount / 1e3, " k"),
        ..999_500_000.0 => (amount / 1e6, " M"),
        _ => (amount / 1e9, " G"),
    };
    // Of counts below a thousand nothing is left out, and nothing added to whole ones.
    match unit.is_empty() && scaled.fract() == 0.0 {
        true => format!("{scaled:.0}"),
        false => format!("{}{unit}", three_digits(scaled)),
    }
}

/// Bytes with a decimal unit, as disks are sold: `4.21 MB`.
pub fn bytes(amount: f64) -> String {
    if !amount.is_finite() {
        return NONE.into();
    }
    let (scaled, unit) = match amount.abs() {
        ..999.5 => return format!("{amount:.0} B"),
        ..999_500.0 => (amount / 1e3, "kB"),
        ..999_500_000.0 => (amount / 1e6, "MB"),
        ..999_500_000_000.0 => (amount / 1e9, "GB"),
        _ => (amount / 1e12, "TB"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// A time given in nanoseconds: `850 ns`, `8.50 µs`, `12.0 ms`, `3.20 s`.
pub fn nanos(nanos: f64) -> String {
    if !nanos.is_finite() {
        return NONE.into();
    }
    let (scaled, unit) = match nanos.abs() {
        ..1.0 => (nanos, "ns"),
        ..999.5 => return format!("{nanos:.0} ns"),
        ..999_500.0 => (nanos / 1e3, "µs"),
        ..999_500_000.0 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// A time given in seconds, in the unit that suits it.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".into(),
        _ => nanos(seconds * 1e9),
    }
}

/// A ratio with two decimals, from ten on with one: `1.71`, `12.4`.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() => NONE.into(),
        ..0.0095 => format!("{ratio:.4}"),
        ..9.995 => format!("{ratio:.2}"),
        ..99.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

/// A count that must stay exact, in groups of three that no line breaks at: `1 234 567`.
pub fn exact(amount: u64) -> String {
    in_groups(amount, '\u{202f}')
}

/// The same for terminals, with ordinary spaces.
pub fn grouped(amount: u64) -> String {
    in_groups(amount, ' ')
}

fn in_groups(amount: u64, between: char) -> String {
    let digits = amount.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(between);
        }
        text.push(digit);
    }
    text
}

/// A count with its noun, which takes an `s`, or an `es` behind one, unless there is exactly one.
pub fn counted(amount: u64, noun: &str) -> String {
    let plural = match amount {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", grouped(amount))
}

/// A rate for terminals: whole numbers in groups, and a fraction only below a hundred.
pub fn rate(rate: f64) -> String {
    match rate {
        // Rates are far below 2^53 and not negative.
        100.0.. => grouped(rate.round() as u64),
        _ => format!("{rate:.1}"),
    }
}

/// The text of a number on a scale, where zeros behind the point say nothing: `10 µs`, `1 M`.
pub fn on_scale(text: &str) -> String {
    let (number, unit) = match text.split_once(' ') {
        Some((number, unit)) => (number, format!(" {unit}")),
        None => (text, String::new()),
    };
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number}{unit}")
}

/// Three digits or so, whatever the size.
pub fn three_digits(amount: f64) -> String {
    match amount.abs() {
        ..9.995 => format!("{amount:.2}"),
        ..99.95 => format!("{amount:.1}"),
        _ => format!("{amount:.0}"),
    }
}

#[cfg(test)]
mod tests;
