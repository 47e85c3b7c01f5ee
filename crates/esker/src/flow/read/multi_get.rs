//! Newest visible values of many keys, for which the medium is asked at the same time.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::flow::read::get::{Lookup, LookupMode, ReadAt, RunPlace};
use crate::flow::read::view::View;
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::contract::Announced;

/// One of the keys that were asked for.
struct Question<'k> {
    /// Place among the keys as they were given.
    place: usize,
    lookup: Lookup<'k>,
    /// The run to ask next, by its place; those before were asked, or have nothing of the key.
    run: usize,
    /// Where in that run.
    ahead: Option<RunPlace>,
    failure: Option<Error>,
}

/// The values of `keys`, in their sequence. A key that cannot be read fails alone.
///
/// By turns each key that is still open goes on to the next run that may have it, and says to the
/// system what will be read there; only then is any of it waited for. So the medium has as many
/// requests at a time as there are keys, and keys that share a block find it at hand.
pub fn multi_get(view: &View, keys: &[&[u8]], at: &ReadAt) -> Vec<Result<Option<Bytes>>> {
    let mut questions: Vec<Question<'_>> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| Question {
            place,
            lookup: Lookup::new(key, at, LookupMode::Value),
            run: 0,
            ahead: None,
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
    let run_count = view.runs().len();
    let mut announcer = Announcer::default();
    while questions
        .iter()
        .any(|question| question.is_to_ask(run_count))
    {
        // Parts of an index first, which lead on to what else is to be announced.
        for is_index_announced in [false, true] {
            for question in questions.iter_mut().filter(|q| q.is_to_ask(run_count)) {
                question.go_on(view, is_index_announced, &mut announcer);
            }
        }
        for question in questions.iter_mut().filter(|q| q.is_to_ask(run_count)) {
            question.ask(view);
        }
    }
    for question in questions.iter_mut().filter(|q| q.failure.is_none()) {
        question.failure = question.lookup.announce_value(view).err();
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

    fn is_to_ask(&self, run_count: usize) -> bool {
        self.is_open() && self.run < run_count
    }

    /// Goes on to the next run that may have the key, unless it stands there. Where it needs a part
    /// of an index that is not in memory it says so to the system and stays; with
    /// `is_index_announced`, which is to be said after that, it reads that part.
    fn go_on(&mut self, view: &View, mut is_index_announced: bool, announcer: &mut Announcer) {
        while self.ahead.is_none() && self.run < view.runs().len() {
            let lookup = &self.lookup;
            match lookup.announce(view, self.run, is_index_announced, announcer) {
                Ok(Announced::Place(ahead)) => self.ahead = Some(ahead),
                Ok(Announced::Index) => return,
                Ok(Announced::Absent) => {
                    self.run += 1;
                    is_index_announced = false;
                }
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
    }

    /// Asks the run that it stands at. One that stands nowhere goes on in the next turn.
    fn ask(&mut self, view: &View) {
        if let Some(ahead) = self.ahead.take() {
            self.failure = self.lookup.ask_at_place(view, self.run, ahead).err();
            self.run += 1;
        }
    }
}

#[cfg(test)]
mod tests;
