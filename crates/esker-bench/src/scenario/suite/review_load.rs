//! Loads reviews: one thread reads them, one puts them, each timed.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::fail::{Failure, Outcome};
use crate::run::course::{Course, Finished};
use crate::scenario::db_bench::work::{KINDS, WRITE};
use crate::scenario::suite::review_source::Reviews;
use crate::scenario::suite::stage::Stage;
use crate::target::settings::StoreSettings;
use crate::target::store::{Opened, WriteHow};

/// Records that are handed over at once: few hand-overs, little memory.
const CHUNK_RECORDS: usize = 256;

/// Chunks that wait at most.
const CHUNKS_MAX: usize = 16;

/// A chunk of keys and texts.
type Chunk = Vec<(Vec<u8>, Vec<u8>)>;

/// Every key that was put, close together in memory.
#[derive(Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes of keys and texts.
    pub raw_bytes: u64,
}

impl Keys {
    /// Adds a key behind the others, and the bytes of both to those of all.
    pub fn add(&mut self, key: &[u8], text: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        self.raw_bytes += (key.len() + text.len()) as u64;
    }

    /// Whether these are the same keys with as many bytes of text.
    pub fn is_same(&self, other: &Keys) -> bool {
        (self.raw_bytes, &self.ends) == (other.raw_bytes, &other.ends) && self.bytes == other.bytes
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    /// A key by its number.
    pub fn key(&self, number: u64) -> &[u8] {
        let place = usize::try_from(number).expect("below the count");
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[place]]
    }
}

/// What every engine is given for reviews: memory maps, as in the document, and by its own names
/// the packing that ours has for them, also for long ones, of which one in forty would otherwise
/// lie unpacked in the value log.
pub fn ours() -> StoreSettings {
    let own = [
        ("compression", "searchable"),
        ("value_log.threshold", "none"),
    ];
    let own = own.map(|(name, text)| (name.to_owned(), text.to_owned()));
    StoreSettings {
        own: own.to_vec(),
        mapped_reads: Some(true),
        ..StoreSettings::default()
    }
}

/// Puts every record, one call each, and keeps what that came to under `name`.
pub fn load(
    stage: &mut Stage<'_, '_>,
    name: &str,
    play: &Opened,
    reviews: &mut Reviews,
) -> Outcome<(Keys, Finished)> {
    let (sender, receiver) = sync_channel(CHUNKS_MAX);
    let receiver = Mutex::new(Some(receiver));
    let course = Course::plain();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || read(reviews, &sender));
        let finished = stage.measure(name, &[KINDS[WRITE]], play, &course, &|lane| {
            while let Some(chunk) = take(&receiver) {
                // What came until here was waiting for the reader.
                lane.skip();
                for (key, text) in chunk {
                    if !lane.go() {
                        return Ok(());
                    }
                    play.store.put(&key, &text, WriteHow::default())?;
                    lane.add_bytes((key.len() + text.len()) as u64);
                    lane.finish(0, 1);
                }
            }
            Ok(())
        });
        // A reader that waits for room would wait for ever.
        receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let read = reader.join();
        let read = read.map_err(|_| Failure::failed("the thread that reads reviews panicked"))?;
        let finished = finished?;
        let keys = read?;
        if keys.count() == 0 {
            return Err(Failure::usage("there are no reviews; name another file"));
        }
        Ok((keys, finished))
    })
}

fn take(receiver: &Mutex<Option<Receiver<Chunk>>>) -> Option<Chunk> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.as_ref()?.recv().ok()
}

fn read(reviews: &mut Reviews, sender: &SyncSender<Chunk>) -> Outcome<Keys> {
    let mut keys = Keys::default();
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_RECORDS);
        while chunk.len() < CHUNK_RECORDS {
            let Some((key, text)) = reviews.next_review()? else {
                break;
            };
            keys.add(&key, &text);
            chunk.push((key, text));
        }
        // Who puts has ended early and says why.
        if chunk.is_empty() || sender.send(chunk).is_err() {
            return Ok(keys);
        }
    }
}
