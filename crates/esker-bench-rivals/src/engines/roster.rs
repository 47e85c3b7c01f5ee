//! Every engine that this program was built with, ours first.

use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::embedded::Esker;
use esker_bench::target::store::Engine;

/// An engine and what a table says of it.
pub struct Entry {
    /// The word for it on the command line.
    pub word: &'static str,
    /// Whether it is a log-structured merge tree: some goals compare like with like.
    pub is_lsm: bool,
    /// The engine.
    pub engine: Box<dyn Engine>,
}

/// The word for our engine.
pub const OURS: &str = "esker";

/// Every engine there could be, for messages.
pub const ALL: [&str; 6] = [OURS, "rocksdb", "leveldb", "lmdb", "fjall", "redb"];

/// All of them, ours first.
pub fn every() -> Vec<Entry> {
    vec![
        entry(OURS, true, Box::new(Esker)),
        #[cfg(feature = "rocksdb")]
        entry("rocksdb", true, Box::new(crate::engines::rocksdb::RocksDb)),
        #[cfg(feature = "leveldb")]
        entry("leveldb", true, Box::new(crate::engines::leveldb::LevelDb)),
        #[cfg(feature = "lmdb")]
        entry("lmdb", false, Box::new(crate::engines::lmdb::Lmdb)),
        #[cfg(feature = "fjall")]
        entry("fjall", true, Box::new(crate::engines::fjall::Fjall)),
        #[cfg(feature = "redb")]
        entry("redb", false, Box::new(crate::engines::redb::Redb)),
    ]
}

fn entry(word: &'static str, is_lsm: bool, engine: Box<dyn Engine>) -> Entry {
    Entry {
        word,
        is_lsm,
        engine,
    }
}

/// Those named in `words`, in the order of [`every`]; all if there are no words.
pub fn choose(words: &[String]) -> Outcome<Vec<Entry>> {
    let built = every();
    for word in words {
        if built.iter().any(|entry| entry.word == word) {
            continue;
        }
        check_names(std::slice::from_ref(word))?;
        return Err(Failure::usage(format!(
            "{word} was not built in; build with --features {word}, or --features all"
        )));
    }
    let is_wanted = |entry: &Entry| words.is_empty() || words.iter().any(|word| word == entry.word);
    Ok(built.into_iter().filter(is_wanted).collect())
}

/// Whether there are engines of these names, built in or not. Errors: `Usage`.
pub fn check_names(words: &[String]) -> Outcome {
    match words.iter().find(|word| !ALL.contains(&word.as_str())) {
        Some(word) => Err(unknown(word)),
        None => Ok(()),
    }
}

fn unknown(word: &str) -> Failure {
    let all = ALL.join(", ");
    Failure::usage(format!("there is no engine `{word}`; there is {all}"))
}
