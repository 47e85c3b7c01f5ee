//! What Java would print and hash, so that files and scripts made for YCSB keep their meaning.

/// A double as Java's `Double.toString` writes it: at least one digit behind the point, and powers
/// of ten below a thousandth and from ten million on.
pub fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) {
        // Both languages write the shortest digits that name the same number.
        return format!("{value:?}");
    }
    let scientific = format!("{value:e}");
    let (digits, power) = scientific
        .split_once('e')
        .expect("that format always writes an exponent");
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{power}")
}

/// A number by Java's pattern `#.##`: at most two digits behind the point, none where they are 0.
pub fn decimal_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.into();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// Java's `String.hashCode` of text without letters beyond one byte: `31 h + letter`, wrapping;
/// from the hash of its beginning, which is 0 where there is none.
pub fn continue_hash(hash: i32, more: &[u8]) -> i32 {
    more.iter().fold(hash, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(i32::from(*byte))
    })
}

/// Java's `Boolean.parseBoolean`: everything but "true", in letters of any case, is false.
pub fn is_true(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

#[cfg(test)]
mod tests;
