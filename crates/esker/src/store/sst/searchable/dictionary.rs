//! The phrase dictionary of a file, shared in memory with every open file that has the same.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use esker_phrase::{Dictionary, DictionaryId};

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::EncodingId;

/// Dictionaries that somebody has, by number.
///
/// A file carries its dictionary, so that nothing else must be there to read it; and the files of
/// a keyspace mostly carry the same. Its tables are some megabytes, and what is the same is the
/// same in every database of the process.
static SHARED: Mutex<Vec<Named>> = Mutex::new(Vec::new());

struct Named {
    id: DictionaryId,
    dictionary: Weak<Dictionary>,
}

/// The dictionary of an open file.
#[derive(Clone)]
pub struct SharedDictionary {
    dictionary: Arc<Dictionary>,
}

impl SharedDictionary {
    /// The dictionary in these bytes: the one that is there, or a new one.
    ///
    /// Errors: `Unsupported` for a newer format, else `Corruption`.
    pub fn read(bytes: &[u8]) -> Result<SharedDictionary> {
        let id = DictionaryId::of(bytes);
        let dictionary = match find(id) {
            Some(dictionary) => dictionary,
            None => {
                // Under no lock: it takes milliseconds. Two threads that do it at once have one
                // each.
                let dictionary = Arc::new(Dictionary::from_bytes(bytes)?);
                keep(Named {
                    id,
                    dictionary: Arc::downgrade(&dictionary),
                });
                dictionary
            }
        };
        Ok(SharedDictionary { dictionary })
    }

    /// The dictionary.
    pub fn get(&self) -> &Arc<Dictionary> {
        &self.dictionary
    }

    /// Bytes of memory that it takes, roughly: once, however many files have it.
    pub fn size_bytes(&self) -> usize {
        self.dictionary.memory_bytes()
    }
}

/// The way in which values are encoded that are phrases of that dictionary.
#[inline]
pub fn encoding_of(id: DictionaryId) -> EncodingId {
    EncodingId(id.0)
}

impl From<esker_phrase::Error> for Error {
    #[track_caller]
    fn from(refusal: esker_phrase::Error) -> Error {
        let kind = match refusal {
            esker_phrase::Error::Newer(_) => ErrorKind::Unsupported,
            _ => ErrorKind::Corruption,
        };
        Error::new(kind, refusal.to_string())
    }
}

fn find(id: DictionaryId) -> Option<Arc<Dictionary>> {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut same = shared.iter().filter(|named| named.id == id);
    same.find_map(|named| named.dictionary.upgrade())
}

fn keep(named: Named) {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.retain(|named| named.dictionary.strong_count() > 0);
    shared.push(named);
}

impl fmt::Debug for SharedDictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phrases = self.dictionary.phrase_count();
        write!(f, "SharedDictionary({phrases} phrases)")
    }
}

#[cfg(test)]
mod tests;
