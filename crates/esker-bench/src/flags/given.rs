//! The flags as they were given, and their defaults by dialect where they were not.

use std::collections::BTreeMap;

use crate::flags::catalog;
use crate::flags::flag::Dialect;

/// The values of all flags. Asking for a flag that the catalogue does not have, or for another
/// type than it says, is a bug of ours and panics.
#[derive(Clone, Debug)]
pub struct Given {
    /// Whose defaults hold.
    pub dialect: Dialect,
    values: BTreeMap<&'static str, String>,
}

impl Given {
    /// Checked values, each of the kind that its flag has.
    pub fn new(dialect: Dialect, values: BTreeMap<&'static str, String>) -> Given {
        Given { dialect, values }
    }

    /// Whether the command line gave the flag.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The names of the flags that were given.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.values.keys().copied()
    }

    /// The text.
    pub fn text(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(text) => text,
            None => {
                let flag = catalog::find(name).expect("the catalogue has every flag asked for");
                flag.default(self.dialect)
            }
        }
    }

    /// The truth; what has no default in this dialect is false.
    pub fn is(&self, name: &str) -> bool {
        truth(self.text(name)).unwrap_or(false)
    }

    /// The whole number; 0 where the dialect has no default.
    pub fn whole(&self, name: &str) -> i64 {
        let text = self.text(name);
        match text.is_empty() {
            true => 0,
            false => text.parse().expect("was checked when it was given"),
        }
    }

    /// The whole number, for flags that are never negative.
    pub fn count(&self, name: &str) -> u64 {
        u64::try_from(self.whole(name)).expect("the catalogue says it is not negative")
    }

    /// The whole number, or `other` where it is negative.
    pub fn count_or(&self, name: &str, other: u64) -> u64 {
        u64::try_from(self.whole(name)).unwrap_or(other)
    }

    /// The number.
    pub fn number(&self, name: &str) -> f64 {
        self.text(name)
            .parse()
            .expect("was checked when it was given")
    }
}

/// gflags' words for yes and no.
pub fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "t" | "true" | "y" | "yes" => Some(true),
        "0" | "f" | "false" | "n" | "no" => Some(false),
        _ => None,
    }
}
