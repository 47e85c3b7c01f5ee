//! With which dictionary a keyspace's values become phrases, and when it wants another one.
//!
//! A dictionary is trained from a sample of the keyspace once there is enough of it, and again
//! when it compresses clearly worse than it did at first, or when there is so much more data that a
//! larger one pays. Files keep the dictionary they were written with; they change it when they
//! are rewritten. Nothing of this is stored: a database that is opened goes on with the
//! dictionary of its newest searchable file.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker_phrase::{Dictionary, Wish};

use crate::store::sst::contract::CompressionTally;

/// Raw bytes of the keyspace for each phrase. Fewer phrases compress worse, more take longer to
/// train than they spare: 64 MB call for the most there are.
const RAW_BYTES_PER_PHRASE: u64 = 1 << 10;

/// Fewest and most phrases of a dictionary.
const PHRASES_MIN: u64 = 256;
const PHRASES_MAX: u64 = Wish::LARGE.phrase_count as u64;

/// Phrases for each class of them: with fewer, classes tell nothing.
const PHRASES_PER_CLASS: usize = 64;

/// How many times as many phrases a dictionary should have before it is trained anew for that
/// alone: each four times bring about a tenth.
const GROWTH: usize = 4;

/// How many times as much data there must be until what did not pay is tried again.
const RETRY_GROWTH: u64 = 4;

/// Bytes of values over which it is measured how well a dictionary compresses.
const WINDOW_BYTES: u64 = 16 << 20;

/// Part of its first ratio below which a dictionary is out of date.
const STALE_RATIO: f64 = 0.93;

/// The dictionary of one keyspace for new files. Any thread may call anything.
#[derive(Debug, Default)]
pub struct DictionaryPolicy {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    dictionary: Option<Arc<Dictionary>>,
    /// Phrases that it was to have: a small sample may not give as many.
    wished: usize,
    is_training: bool,
    is_stale: bool,
    /// Raw bytes of the keyspace when a dictionary was found not to pay.
    useless_at: Option<u64>,
    /// How many bytes became one at first, once that is known.
    first_ratio: Option<f64>,
    /// Whether files of its values that were joined became no fewer.
    is_joining_useless: bool,
    /// What it compressed since it was measured last.
    window: Option<CompressionTally>,
}

impl DictionaryPolicy {
    /// The dictionary, if there is one and it pays.
    pub fn dictionary(&self) -> Option<Arc<Dictionary>> {
        self.state().dictionary.clone()
    }

    /// Takes a dictionary into use, which was to have so many phrases.
    pub fn adopt(&self, dictionary: Arc<Dictionary>, wished: usize) {
        let mut state = self.state();
        *state = State {
            dictionary: Some(dictionary),
            wished,
            is_training: state.is_training,
            ..State::default()
        };
    }

    /// Goes without a dictionary until there is much more than these bytes: none pays.
    pub fn give_up(&self, raw_bytes: u64) {
        let mut state = self.state();
        *state = State {
            useless_at: Some(raw_bytes),
            is_training: state.is_training,
            ..State::default()
        };
    }

    /// Counts what a dictionary made of new values, if it is the one in use: a compaction that
    /// began before it was taken into use ends with another one's.
    pub fn note(&self, compressed: CompressionTally) {
        let mut state = self.state();
        let id = state.dictionary.as_ref().map(|dictionary| dictionary.id());
        if id != Some(compressed.dictionary) {
            return;
        }
        let mut window = state
            .window
            .take()
            .unwrap_or(CompressionTally::new(compressed.dictionary));
        window.add(compressed);
        if window.plain_bytes < WINDOW_BYTES {
            state.window = Some(window);
            return;
        }
        let ratio = window.plain_bytes as f64 / window.compressed_bytes.max(1) as f64;
        match state.first_ratio {
            None => state.first_ratio = Some(ratio),
            Some(first) => state.is_stale = ratio < first * STALE_RATIO,
        }
    }

    /// Small files were written as one where that could be: where memory for keys is short, it
    /// cannot, and is not tried again with this dictionary.
    pub fn note_joined(&self, input_count: usize, output_count: usize) {
        self.state().is_joining_useless |= output_count >= input_count;
    }

    /// Whether small files become fewer when they are written as one, for all that is known.
    pub fn is_joining_useful(&self) -> bool {
        !self.state().is_joining_useless
    }

    /// Whether a keyspace of so many raw bytes, which goes without a dictionary below `min_bytes`,
    /// should have one trained.
    pub fn wants_training(&self, raw_bytes: u64, min_bytes: u64) -> bool {
        let state = self.state();
        if state.is_training || raw_bytes < min_bytes.max(1) {
            return false;
        }
        if let Some(useless_at) = state.useless_at {
            return raw_bytes / RETRY_GROWTH >= useless_at.max(1);
        }
        let is_small = wish(raw_bytes).phrase_count >= GROWTH * state.wished;
        state.dictionary.is_none() || state.is_stale || is_small
    }

    /// Whether one is being trained.
    pub fn is_training(&self) -> bool {
        self.state().is_training
    }

    /// Says that one is being trained, or no longer; what was said before.
    pub fn set_training(&self, is_training: bool) -> bool {
        std::mem::replace(&mut self.state().is_training, is_training)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The dictionary for a keyspace of so many raw bytes.
pub fn wish(raw_bytes: u64) -> Wish {
    let phrases = (raw_bytes / RAW_BYTES_PER_PHRASE).clamp(PHRASES_MIN, PHRASES_MAX);
    let phrase_count = usize::try_from(phrases).expect("at most 2^16");
    let class_count = (phrase_count / PHRASES_PER_CLASS).min(Wish::LARGE.class_count);
    Wish {
        phrase_count,
        class_count,
    }
}

#[cfg(test)]
mod tests;
