//! Chooses phrases from a sample, round by round.
//!
//! Each round parses a part of the sample with the phrases it has, at the prices of their counts,
//! and counts phrases and pairs. Phrases are worth the bits that others would take in their
//! place, pairs the bits that a phrase of their own would save; the best stay. Early rounds are
//! small: what they find is only the stuff of the next. Last rounds choose among more phrases
//! than are wanted, without new ones. In the end phrases get classes, if wished, and codes.
//!
//! A round is cut into steps that cost about the same, so that whoever trains in the background
//! can stop after each of them. The same sample and wish give the same dictionary, however the
//! steps fall.

use std::cmp::Reverse;

use crate::classes::{Classes, PASSES};
use crate::code::{CLASS, shape};
use crate::count::{Counted, Counter, Counts};
use crate::dictionary::Dictionary;
use crate::format::{BYTE_COUNT, CLASS_COUNT_MAX, PHRASE_COUNT_MAX, Parts};
use crate::grow::select;
use crate::prefix::Lengths;
use crate::sample::Sample;
use crate::text::Phrase;

/// What a dictionary is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Most phrases of more than one byte.
    pub phrase_count: usize,
    /// Classes of phrases, 1 to 64. With one a record takes half the time to decode, with 64 it
    /// is 8 % smaller.
    pub class_count: usize,
}

impl Wish {
    /// 64 Ki phrases and 64 classes: for families of more than 64 MB.
    pub const LARGE: Wish = Wish {
        phrase_count: 1 << 16,
        class_count: CLASS_COUNT_MAX,
    };

    /// 16 Ki phrases and 64 classes: for smaller families.
    pub const SMALL: Wish = Wish {
        phrase_count: 1 << 14,
        class_count: CLASS_COUNT_MAX,
    };

    /// 64 Ki phrases in one class: for reads before size.
    pub const QUICK: Wish = Wish {
        phrase_count: 1 << 16,
        class_count: 1,
    };
}

/// Bytes of the sample that one step parses: 0.1 s at the speed of `Effort::Best`.
const STEP_BYTES: usize = 1 << 20;

/// Phrases that one step looks at for their class.
const STEP_PHRASES: usize = 1 << 13;

/// One round: how many phrases are to come out of it, in 32nds of the wish, and of how much of
/// the sample, in eighths.
#[derive(Clone, Copy, Debug)]
struct Round {
    phrases: usize,
    sample: usize,
    may_join: bool,
}

/// The rounds of every training.
const ROUNDS: [Round; 9] = [
    Round::grow(1, 1),
    Round::grow(4, 2),
    Round::grow(16, 4),
    Round::grow(32, 8),
    Round::grow(40, 8),
    Round::grow(40, 8),
    Round::prune(36, 8),
    Round::prune(33, 8),
    Round::prune(32, 8),
];

/// Parts of the wish and of the sample in which rounds are told.
const PHRASE_PARTS: usize = 32;
const SAMPLE_PARTS: usize = 8;

/// What a pair that came counts, where one that did not counts 1.
const ROW_SCALE: u64 = 4;

impl Round {
    const fn grow(phrases: usize, sample: usize) -> Round {
        Round {
            phrases,
            sample,
            may_join: true,
        }
    }

    const fn prune(phrases: usize, sample: usize) -> Round {
        Round {
            phrases,
            sample,
            may_join: false,
        }
    }
}

/// A training on its way.
#[derive(Debug)]
pub struct Trainer<'a> {
    wish: Wish,
    records: Vec<&'a [u8]>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Counting(Counting),
    Classing(Classing),
    /// Phrases, what was counted of them, and their classes.
    Coding(Vec<Counted>, Counts, Vec<u8>),
    Done,
}

/// A round. The one behind the last only counts what the codes are made of.
#[derive(Debug)]
struct Counting {
    round: usize,
    phrases: Vec<Counted>,
    counter: Counter,
    /// Records done, and those to do.
    done: usize,
    wanted: usize,
}

/// The search for classes.
#[derive(Debug)]
struct Classing {
    phrases: Vec<Counted>,
    counts: Counts,
    classes: Classes,
    pass: usize,
    /// Phrases looked at in this pass.
    done: usize,
}

impl Dictionary {
    /// Trains a dictionary at once: some seconds for 8 MB of sample and 64 Ki phrases.
    ///
    /// # Panics
    /// When the wish is beyond its limits.
    pub fn train(sample: &Sample, wish: Wish) -> Dictionary {
        let mut trainer = Trainer::new(sample, wish);
        loop {
            if let Some(dictionary) = trainer.step() {
                return dictionary;
            }
        }
    }
}

impl<'a> Trainer<'a> {
    /// Begins a training.
    ///
    /// # Panics
    /// When the wish is beyond its limits.
    pub fn new(sample: &'a Sample, wish: Wish) -> Trainer<'a> {
        assert!(wish.phrase_count <= PHRASE_COUNT_MAX);
        assert!((1..=CLASS_COUNT_MAX).contains(&wish.class_count));
        let single = |byte| Counted {
            phrase: Phrase::of_byte(byte),
            count: 1,
        };
        let mut trainer = Trainer {
            wish,
            records: sample.records(),
            stage: Stage::Done,
        };
        trainer.stage = trainer.begin(0, (0..=u8::MAX).map(single).collect());
        trainer
    }

    /// Goes a step; the last one gives the dictionary.
    ///
    /// # Panics
    /// When the training is done.
    pub fn step(&mut self) -> Option<Dictionary> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Counting(counting) => self.count(counting),
            Stage::Classing(classing) => Trainer::classify(classing),
            Stage::Coding(phrases, counts, classes) => {
                let parts = self.parts(&phrases, &counts, classes);
                let dictionary = Dictionary::from_parts(parts);
                return Some(dictionary.expect("what was made obeys its own laws"));
            }
            Stage::Done => panic!("the training is done"),
        };
        None
    }

    fn begin(&self, round: usize, phrases: Vec<Counted>) -> Stage {
        let (part, wants_pairs) = match ROUNDS.get(round) {
            Some(round) => (round.sample, round.may_join),
            None => (SAMPLE_PARTS, self.wish.class_count > 1),
        };
        let all: usize = self.records.iter().map(|record| record.len()).sum();
        let mut bytes = (all / SAMPLE_PARTS * part).max(STEP_BYTES);
        let fits = |record: &&&[u8]| {
            let fits = bytes > 0;
            bytes = bytes.saturating_sub(record.len());
            fits
        };
        let wanted = match part {
            SAMPLE_PARTS => self.records.len(),
            _ => self.records.iter().take_while(fits).count(),
        };
        Stage::Counting(Counting {
            round,
            counter: Counter::new(&phrases, wants_pairs),
            phrases,
            done: 0,
            wanted,
        })
    }

    fn count(&self, mut counting: Counting) -> Stage {
        let mut bytes = 0;
        while counting.done < counting.wanted && bytes < STEP_BYTES {
            let record = self.records[counting.done];
            counting.counter.add(record);
            counting.done += 1;
            bytes += record.len();
        }
        if counting.done < counting.wanted {
            return Stage::Counting(counting);
        }
        let (trie, counts) = counting.counter.finish();
        let phrases = counting.phrases;
        let Some(round) = ROUNDS.get(counting.round) else {
            return self.end_counting(phrases, counts);
        };
        let wanted = self.wish.phrase_count * round.phrases / PHRASE_PARTS;
        let phrases = select(&phrases, &trie, &counts, wanted, round.may_join);
        self.begin(counting.round + 1, phrases)
    }

    fn end_counting(&self, phrases: Vec<Counted>, counts: Counts) -> Stage {
        if self.wish.class_count == 1 {
            return Stage::Coding(phrases, counts, Vec::new());
        }
        Stage::Classing(Classing {
            classes: Classes::new(&phrases, &counts, self.wish.class_count),
            phrases,
            counts,
            pass: 0,
            done: 0,
        })
    }

    fn classify(mut classing: Classing) -> Stage {
        let until = (classing.done + STEP_PHRASES).min(classing.classes.phrase_count());
        classing.classes.improve(classing.done..until);
        classing.done = until;
        if until == classing.classes.phrase_count() {
            classing.pass += 1;
            classing.done = 0;
        }
        if classing.pass < PASSES {
            return Stage::Classing(classing);
        }
        Stage::Coding(classing.phrases, classing.counts, classing.classes.classes)
    }

    // Numbers go to the single bytes first; until here a phrase's number was its place.
    fn parts(&self, phrases: &[Counted], counts: &Counts, classes: Vec<u8>) -> Parts {
        let class_count = self.wish.class_count;
        let mut parts = Parts {
            phrases: Vec::new(),
            lengths: vec![0; phrases.len()],
            class_count,
            classes: Vec::new(),
            contexts: contexts(counts, &classes, class_count),
        };
        let mut members = vec![Vec::new(); class_count];
        let (single, long): (Vec<usize>, Vec<usize>) =
            (0..phrases.len()).partition(|place| phrases[*place].phrase.len() == 1);
        for (id, &place) in single.iter().chain(&long).enumerate() {
            let class = classes.get(place).copied().unwrap_or(0);
            // What did not come may still come: less often than what came once.
            let weight = 2 * counts.phrases[place] + 1;
            members[usize::from(class)].push((weight, id));
            if class_count > 1 {
                parts.classes.push(class);
            }
            if id >= BYTE_COUNT {
                parts.phrases.push(phrases[place].phrase);
            }
        }
        for mut members in members {
            members.sort_unstable_by_key(|(weight, id)| (Reverse(*weight), *id));
            let weights: Vec<u64> = members.iter().map(|(weight, _)| *weight).collect();
            let lengths = Lengths::for_weights(shape(&parts), &weights);
            for ((_, id), len) in members.iter().zip(lengths.each()) {
                parts.lengths[*id] = len;
            }
        }
        parts
    }
}

// The lengths of the codes of classes, row by row.
fn contexts(counts: &Counts, classes: &[u8], class_count: usize) -> Vec<u8> {
    if class_count == 1 {
        return Vec::new();
    }
    // One more than what came, so that every class has a code everywhere.
    let mut rows = vec![vec![1; class_count]; class_count + 1];
    let class = |place: u32| usize::from(classes[place as usize]);
    for pair in &counts.pairs {
        rows[class(pair.left)][class(pair.right)] += ROW_SCALE * pair.count;
    }
    for (place, count) in (0..).zip(&counts.firsts) {
        rows[class_count][class(place)] += ROW_SCALE * count;
    }
    let mut contexts = Vec::new();
    for row in rows {
        let mut order: Vec<usize> = (0..class_count).collect();
        order.sort_unstable_by_key(|class| (Reverse(row[*class]), *class));
        let weights: Vec<u64> = order.iter().map(|class| row[*class]).collect();
        let mut lengths = vec![0; class_count];
        for (class, len) in order
            .iter()
            .zip(Lengths::for_weights(CLASS, &weights).each())
        {
            lengths[*class] = len;
        }
        contexts.extend(lengths);
    }
    contexts
}

#[cfg(test)]
mod tests;
