//! Text to value to text for option types.

use crate::base::hooks::merge_builtin::{BUILTIN_NAMES, builtin};
use crate::base::options::quantity;
use crate::base::types::error::{Error, Result};

/// The value of one setting, whichever setting it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A size, rate, duration or count, in the unit of its shape.
    Whole(i64),
    /// A number with a fraction.
    Decimal(f64),
    /// On or off.
    Flag(bool),
    /// One of a list of words, or a name.
    Word(String),
}

/// What a whole number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, as in `64MiB`.
    Bytes,
    /// Bytes in each second, as in `20MiB/s`.
    BytesPerSecond,
    /// Seconds, as in `2h`.
    Seconds,
    /// Milliseconds, as in `250ms`; a number without a unit is of seconds here too.
    Milliseconds,
    /// Pieces, as in `4`.
    Count,
}

/// What values a setting takes, and how they are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A whole number of a unit, from `min` to `max`.
    Whole {
        /// What it counts.
        unit: Unit,
        /// Smallest value, 0 apart.
        min: i64,
        /// Largest value.
        max: i64,
        /// The word for 0 where 0 has a meaning of its own, such as `auto` or `none`.
        zero: Option<&'static str>,
    },
    /// A size of memory, from `min` to `max`; whoever gives the database a world of its own may go
    /// down to `tiny`.
    Memory {
        /// Smallest value that is told.
        min: i64,
        /// Smallest value.
        tiny: i64,
        /// Largest value.
        max: i64,
    },
    /// A number with a fraction, from `min` to `max`.
    Decimal {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of a built-in merge operator, or `none`.
    Operator,
}

impl Shape {
    /// The value that `text` spells for the setting `name`.
    ///
    /// `Invalid` when it spells none or one outside the range; the message says what was given,
    /// what is allowed and `example`.
    pub fn parse(&self, name: &str, example: &str, text: &str) -> Result<Value> {
        let text = text.trim();
        self.read(text)
            .filter(|value| self.allows(value))
            .ok_or_else(|| self.refusal(name, example, text))
    }

    /// Whether a value, however it came about, is one that the setting takes. A merge operator of
    /// the user's own is: it is only text that cannot name it.
    pub fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Shape::Whole { min, max, zero, .. }, Value::Whole(whole)) => {
                (min..=max).contains(&whole) || (*whole == 0 && zero.is_some())
            }
            (Shape::Memory { tiny, max, .. }, Value::Whole(whole)) => (tiny..=max).contains(&whole),
            (Shape::Decimal { min, max }, Value::Decimal(number)) => (min..=max).contains(&number),
            (Shape::Flag, Value::Flag(_)) => true,
            (Shape::Choice(words), Value::Word(word)) => words.contains(&word.as_str()),
            (Shape::Operator, Value::Word(_)) => true,
            _ => false,
        }
    }

    /// `Invalid` for the setting `name` and a value that [`Shape::allows`] does not.
    #[track_caller]
    pub fn refusal(&self, name: &str, example: &str, given: &str) -> Error {
        let allowed = self.allowed();
        Error::invalid(format!(
            "`{name}` cannot be `{given}`: give {allowed}, as in `{example}`"
        ))
    }

    /// The text that spells `value`, such that [`Shape::parse`] gives it back exactly.
    pub fn show(&self, value: &Value) -> String {
        match (self, value) {
            (
                Shape::Whole {
                    zero: Some(word), ..
                },
                Value::Whole(0),
            ) => (*word).into(),
            (Shape::Whole { unit, .. }, Value::Whole(whole)) => show_whole(*unit, *whole),
            (Shape::Memory { .. }, Value::Whole(whole)) => show_whole(Unit::Bytes, *whole),
            (_, Value::Whole(whole)) => whole.to_string(),
            (_, Value::Decimal(number)) => number.to_string(),
            (_, Value::Flag(flag)) => flag.to_string(),
            (_, Value::Word(word)) => word.clone(),
        }
    }

    /// The word for the unit of a plain number in tables: `bytes`, `bytes/s`, `seconds`, or none.
    pub fn unit_word(&self) -> &'static str {
        match self {
            Shape::Whole { unit, .. } => match unit {
                Unit::Bytes => "bytes",
                Unit::BytesPerSecond => "bytes/s",
                Unit::Seconds | Unit::Milliseconds => "seconds",
                Unit::Count => "",
            },
            Shape::Memory { .. } => "bytes",
            _ => "",
        }
    }

    /// What the setting takes, in words that follow "give".
    pub fn allowed(&self) -> String {
        match self {
            Shape::Whole {
                unit,
                min,
                max,
                zero,
            } => {
                let noun = match unit {
                    Unit::Bytes => "a size",
                    Unit::BytesPerSecond => "a rate",
                    Unit::Seconds => "a duration in whole seconds",
                    Unit::Milliseconds => "a duration in whole milliseconds",
                    Unit::Count => "a whole number",
                };
                let (min, max) = (show_whole(*unit, *min), show_whole(*unit, *max));
                let or_zero = zero.map_or(String::new(), |word| format!(", or `{word}`"));
                format!("{noun} from {min} to {max}{or_zero}")
            }
            Shape::Memory { min, max, .. } => {
                let [min, max] = [min, max].map(|bytes| show_whole(Unit::Bytes, *bytes));
                format!("a size from {min} to {max}")
            }
            Shape::Decimal { min, max } => format!("a number from {min} to {max}"),
            Shape::Flag => "`true` or `false`".into(),
            Shape::Choice(words) => format!("one of {}", quoted(words)),
            Shape::Operator => format!(
                "the name of a built-in merge operator ({}) or `none`; operators of your own are \
                 given in code",
                quoted(&BUILTIN_NAMES)
            ),
        }
    }

    fn read(&self, text: &str) -> Option<Value> {
        match self {
            Shape::Whole {
                zero: Some(word), ..
            } if text.eq_ignore_ascii_case(word) => Some(Value::Whole(0)),
            Shape::Whole { unit, .. } => read_whole(*unit, text).map(Value::Whole),
            Shape::Memory { .. } => read_whole(Unit::Bytes, text).map(Value::Whole),
            Shape::Decimal { .. } => text.parse().ok().map(Value::Decimal),
            Shape::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => Some(Value::Flag(true)),
                "false" | "off" | "no" | "0" => Some(Value::Flag(false)),
                _ => None,
            },
            Shape::Choice(_) => Some(Value::Word(text.to_ascii_lowercase())),
            Shape::Operator => {
                let is_known = text == "none" || builtin(text).is_some();
                is_known.then(|| Value::Word(text.into()))
            }
        }
    }
}

fn read_whole(unit: Unit, text: &str) -> Option<i64> {
    let amount = match unit {
        Unit::Bytes => quantity::parse_size(text)?,
        Unit::BytesPerSecond => quantity::parse_size(text.strip_suffix("/s").unwrap_or(text))?,
        Unit::Seconds => quantity::parse_seconds(text)?,
        Unit::Milliseconds => quantity::parse_millis(text)?,
        Unit::Count => return text.parse().ok(),
    };
    i64::try_from(amount).ok()
}

fn show_whole(unit: Unit, whole: i64) -> String {
    // Only counts may be negative; a value of another unit that is shows as the number it is.
    let Ok(amount) = u64::try_from(whole) else {
        return whole.to_string();
    };
    match unit {
        Unit::Bytes => quantity::show_size(amount),
        Unit::BytesPerSecond => format!("{}/s", quantity::show_size(amount)),
        Unit::Seconds => quantity::show_seconds(amount),
        Unit::Milliseconds => quantity::show_millis(amount),
        Unit::Count => whole.to_string(),
    }
}

fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests;
