//! How scripts write bytes, numbers and moments.

use esker::Expiry;

/// Bytes shown of a long row; the others are counted.
const SHOWN_MAX: usize = 24;

/// Bytes as hexadecimal pairs: all of a short row, the beginning of a long one.
pub fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes
        .iter()
        .take(SHOWN_MAX)
        .map(|b| format!("{b:02x}"))
        .collect();
    let mut text = pairs.join(" ");
    if bytes.len() > SHOWN_MAX {
        text += &format!(" … {} more", bytes.len() - SHOWN_MAX);
    }
    text
}

/// Bytes as quoted text: all of a short row, length and beginning of a long one.
pub fn quoted(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(SHOWN_MAX)];
    if shown.len() < bytes.len() {
        return format!("\"{}…\" ({} bytes)", shown.escape_ascii(), bytes.len());
    }
    format!("\"{}\"", shown.escape_ascii())
}

/// A word that must be a moment: unix seconds, with up to three digits behind a point.
pub fn moment(word: &str) -> Result<Expiry, String> {
    let (second, rest) = word.split_once('.').unwrap_or((word, ""));
    let millis: u64 = number(&format!("{rest:0<3}"))?;
    Ok(Expiry::from_unix_ms(1000 * number::<u64>(second)? + millis))
}

/// A word that must be a number.
pub fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse()
        .map_err(|_| format!("{word:?} is no number that fits here"))
}
