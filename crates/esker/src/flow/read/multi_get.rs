//! Newest visible values of many keys, each file and block visited once.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::flow::read::get::{Lookup, LookupMode, ReadAt};
use crate::flow::read::view::View;

/// One of the keys that were asked for.
struct Question<'k> {
    /// CursorState among the keys as they were given.
    place: usize,
    lookup: Lookup<'k>,
    failure: Option<Error>,
}

/// The values of `keys`, in their sequence. A key that cannot be read fails alone.
///
/// Every source is asked for all keys that are still open, in the order of the keys, before the
/// next one is: keys that share a file or a block find it at hand.
pub fn multi_get(view: &View, keys: &[&[u8]], at: &ReadAt) -> Vec<Result<Option<Bytes>>> {
    let mut questions: Vec<Question<'_>> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| Question {
            place,
            lookup: Lookup::new(key, at, LookupMode::Value),
            failure: None,
        })
        .collect();
    questions.sort_by(|left, right| {
        view.comparator()
            .compare(left.lookup.key(), right.lookup.key())
    });
    for index in 0..view.parts().memtables.len() {
        for question in questions.iter_mut().filter(|question| question.is_open()) {
            let asked = question.lookup.ask_memtable(view, index);
            question.failure = asked.err();
        }
    }
    for index in 0..view.runs().len() {
        for question in questions.iter_mut().filter(|question| question.is_open()) {
            question.failure = question.lookup.ask_run(view, index).err();
        }
    }
    questions.sort_by_key(|question| question.place);
    let answer = |question: Question<'_>| match question.failure {
        Some(failure) => Err(failure),
        None => {
            let found = question.lookup.finish(view)?;
            Ok(found.map(|valued| valued.value))
        }
    };
    questions.into_iter().map(answer).collect()
}

impl Question<'_> {
    fn is_open(&self) -> bool {
        self.failure.is_none() && !self.lookup.is_settled()
    }
}

#[cfg(test)]
mod tests;
