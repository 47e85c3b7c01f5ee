//! Bytes inside JSON: strings where they are text, `{"base64": …}` where they are not.

use esker::Expiry;
use serde_json::{Value, json};

use crate::quantity;
use crate::text::{Format, parse_base64, show_base64};

/// Bytes as JSON. In the format `text` that is a string if they are UTF-8, else an object with
/// their base64; in the others a string in that format.
pub fn spell(format: Format, bytes: &[u8]) -> Value {
    match (format, std::str::from_utf8(bytes)) {
        (Format::Text, Ok(text)) => text.into(),
        (Format::Text, Err(_)) => json!({ "base64": show_base64(bytes) }),
        _ => format.show_field(bytes).into(),
    }
}

/// An end in unix seconds, with a fraction where it has one.
pub fn expiry(expiry: Expiry) -> Value {
    match expiry.whole_second() {
        Some(second) => second.into(),
        // A float has room for all milliseconds up to 2106 thousands of times.
        None => (expiry.unix_ms() as f64 / 1000.0).into(),
    }
}

/// The end that [`expiry`] wrote; `None` for what is none, and for a part of a millisecond.
pub fn parse_expiry(value: &Value) -> Option<Expiry> {
    if let Some(second) = value.as_u64() {
        return Some(Expiry::from_unix_s(u32::try_from(second).ok()?));
    }
    // By its digits, as they are written: 0.1 is no binary fraction.
    let since = quantity::seconds(&value.as_number()?.to_string())?;
    (since.as_secs() < u64::from(u32::MAX)).then(|| Expiry::after_epoch(since))
}

/// The bytes that [`spell`] wrote. A number stands for its digits.
pub fn parse(format: Format, value: &Value) -> Result<Vec<u8>, String> {
    match value {
        Value::String(text) => format.parse(text),
        Value::Number(number) => Ok(number.to_string().into_bytes()),
        Value::Object(fields) => match fields.get("base64") {
            Some(Value::String(text)) if fields.len() == 1 => parse_base64(text.as_bytes()),
            _ => Err("an object here has one field, `base64`".into()),
        },
        Value::Null => Err("it is null".into()),
        Value::Bool(_) => Err("it is true or false, not a text".into()),
        Value::Array(_) => Err("it is a list, not a text".into()),
    }
}
