//! A key as messages show it.

/// Bytes of a key that a message shows: enough to find it, short enough for one line of a log.
const SHOWN_BYTES_MAX: usize = 64;

/// The key in quotes, printable; of a long one the beginning.
pub fn shown_key(key: &[u8]) -> String {
    let shown = &key[..key.len().min(SHOWN_BYTES_MAX)];
    let dots = if shown.len() < key.len() { "…" } else { "" };
    format!("b\"{}\"{dots}", shown.escape_ascii())
}

#[cfg(test)]
mod tests;
