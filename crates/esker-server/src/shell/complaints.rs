//! What a thread could not do and has said so: the same is not said again.

use std::collections::BTreeMap;

/// What is remembered; beyond that all of it is forgotten, and said once more.
const REMEMBERED_MAX: usize = 4096;

/// What could not be done, and why, as it was said last.
#[derive(Debug, Default)]
pub(crate) struct Complaints(BTreeMap<String, String>);

impl Complaints {
    /// The line that is due when `what` cannot be done for that reason: none if it was said before.
    pub(crate) fn line(&mut self, what: &str, why: &str) -> Option<String> {
        if self.0.get(what).is_some_and(|said| said == why) {
            return None;
        }
        if self.0.len() >= REMEMBERED_MAX {
            self.0.clear();
        }
        self.0.insert(what.to_owned(), why.to_owned());
        Some(format!("{what}: {why}"))
    }

    /// Whether something is said of it.
    pub(crate) fn is_of(&self, what: &str) -> bool {
        self.0.contains_key(what)
    }

    /// It was done.
    pub(crate) fn settle(&mut self, what: &str) {
        self.0.remove(what);
    }
}

#[cfg(test)]
mod tests;
