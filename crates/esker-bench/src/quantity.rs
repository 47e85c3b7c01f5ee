//! Numbers as people read them: rates, bytes, times, ratios; a dash for what is no number.

/// Stands for a number that there is none of.
pub const NONE: &str = "–";

/// A count or a rate in three digits or so: `864`, `8.64 k`, `86.4 M`.
pub fn count(amount: f64) -> String {
    match amount.abs() {
        // Of counts below a thousand nothing is left out, and nothing added to whole ones.
        ..999.5 if amount.fract() == 0.0 => format!("{amount:.0}"),
        ..999.5 => three_digits(amount),
        _ => scaled(amount / 1e3, &["k", "M", "G"]),
    }
}

/// Bytes with a decimal unit, as disks are sold: `4.21 MB`.
pub fn bytes(amount: f64) -> String {
    match amount.abs() {
        ..999.5 => format!("{amount:.0} B"),
        _ => scaled(amount / 1e3, &["kB", "MB", "GB", "TB"]),
    }
}

/// A time given in nanoseconds: `850 ns`, `8.50 µs`, `12.0 ms`, `3.20 s`.
pub fn nanos(nanos: f64) -> String {
    match nanos.abs() {
        ..1.0 => format!("{} ns", three_digits(nanos)),
        ..999.5 => format!("{nanos:.0} ns"),
        _ => scaled(nanos / 1e3, &["µs", "ms", "s"]),
    }
}

/// In the first of some units, each a thousand times the one before it, in which the amount has
/// three digits at most before the point; a dash for what is no number.
fn scaled(amount: f64, units: &[&str]) -> String {
    match units {
        _ if !amount.is_finite() => NONE.into(),
        [_, larger @ ..] if amount.abs() >= 999.5 && !larger.is_empty() => {
            scaled(amount / 1e3, larger)
        }
        [unit, ..] => format!("{} {unit}", three_digits(amount)),
        [] => three_digits(amount),
    }
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
