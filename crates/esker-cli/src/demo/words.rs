//! Third act: words of the text are counted by merge, without reading a counter.

use esker::internals::base::hooks::merge_builtin::builtin;
use esker::{Db, Keyspace, KeyspaceOptions};

use crate::demo::measure::Timings;
use crate::demo::stage::{Act, Books, book_bytes};
use crate::demo::texts;
use crate::fail::{Failure, Outcome};
use crate::quantity;

/// The keyspace of the counters.
pub const KEYSPACE: &str = "words";

/// Words that are counted.
const WORDS: u64 = 1_000_000;

/// The operator that adds 8-byte little-endian numbers.
const OPERATOR: &str = "uint64add";

/// What the third act leaves behind.
pub struct Counted {
    /// Its line in the summary.
    pub act: Act,
    /// The most frequent words.
    pub top: Vec<(String, u64)>,
    /// Memory of the counts to compare with, about.
    pub book_bytes: u64,
}

/// Counts words, then compares every counter with a count in memory.
pub fn count(db: &Db) -> Outcome<Counted> {
    let words = keyspace(db)?;
    let mut timings = Timings::new();
    let mut known = Books::new();
    let one = 1_u64.to_le_bytes();
    'texts: for entry in db.iter()? {
        let (_, text) = entry?;
        for word in texts::words(&text) {
            timings.time(|| words.merge(word, one))?;
            *known.entry(word.to_vec()).or_default() += 1;
            if timings.count() == WORDS {
                break 'texts;
            }
        }
    }
    compare(&words, &known)?;
    let mut top: Vec<(u64, &Vec<u8>)> = known.iter().map(|(word, count)| (*count, word)).collect();
    top.sort_unstable_by(|left, right| right.cmp(left));
    let top = top.iter().take(5).map(|(count, word)| {
        let word = String::from_utf8_lossy(word).into_owned();
        (word, *count)
    });
    Ok(Counted {
        top: top.collect(),
        book_bytes: book_bytes(&known),
        act: Act {
            name: "count words, merge",
            unit: "merges",
            timings,
            proved: format!("{} right", quantity::counted(known.len() as u64, "counter")),
        },
    })
}

fn keyspace(db: &Db) -> Outcome<Keyspace> {
    let options = KeyspaceOptions {
        merge: builtin(OPERATOR),
        ..KeyspaceOptions::default()
    };
    Ok(db.keyspace_with(KEYSPACE, options)?)
}

fn compare(words: &Keyspace, known: &Books) -> Outcome {
    let mut expected = known.iter();
    for entry in words.iter()? {
        let (word, value) = entry?;
        let is_right = expected
            .next()
            .is_some_and(|(known, count)| word == *known && value == count.to_le_bytes());
        if !is_right {
            return Err(wrong(&word));
        }
    }
    match expected.next() {
        Some((word, _)) => Err(wrong(word)),
        None => Ok(()),
    }
}

fn wrong(word: &[u8]) -> Failure {
    Failure::not_found(format!(
        "the counter of {:?} is wrong; please report this with the directory as it is",
        word.escape_ascii().to_string()
    ))
}
