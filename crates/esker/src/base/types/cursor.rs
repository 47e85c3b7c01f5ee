//! The one trait for ordered movement over entries.

use crate::base::types::bytes::Bytes;
use crate::base::types::entry_chunk::{EntryChunk, Terms};
use crate::base::types::error::Result;
use crate::base::types::ids::EncodingId;

/// Ordered movement over entries, in the order of internal keys, both ways.
///
/// A new cursor stands nowhere. Every movement says whether the cursor now stands on an entry;
/// `false` means it ran off an end or found nothing, and it stands nowhere again. After an error
/// it stands nowhere too. `key` and `value` may be called only while it stands on an entry, and
/// what they lend stays unchanged until the next movement.
///
/// Nothing that a cursor over cursors has to pass on is there by default, so that it cannot be
/// forgotten; only `seek_for_prev` is made of the others.
///
/// Law for every implementation: moving `next` then `prev`, or the other way round, returns to
/// the same entry, wherever in the sequence it happens.
pub trait Cursor: Send {
    /// Moves to the first entry.
    fn seek_to_first(&mut self) -> Result<bool>;
    /// Moves to the last entry.
    fn seek_to_last(&mut self) -> Result<bool>;
    /// Moves to the first entry whose internal key is not before `target`.
    fn seek(&mut self, target: &[u8]) -> Result<bool>;
    /// Moves to the last entry whose internal key is not after `target`.
    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        if !self.seek(target)? {
            return self.seek_to_last();
        }
        // Internal keys are unique: either this is the target, or the one before is not after it.
        if self.key() == target {
            return Ok(true);
        }
        self.prev()
    }
    /// Moves to the next entry. Only while standing on an entry.
    fn next(&mut self) -> Result<bool>;
    /// Moves to the previous entry. Only while standing on an entry.
    fn prev(&mut self) -> Result<bool>;
    /// Whether the cursor stands on an entry.
    fn is_valid(&self) -> bool;
    /// Whether the entry before this one is surely of another user key, or there is none: so that
    /// this one is the newest of its key. `false` also where that is not known without moving.
    fn is_surely_newest(&self) -> bool;
    /// The internal key of the entry: user key and trailer.
    fn key(&self) -> &[u8];
    /// The raw value of the entry. One that is compressed by itself is uncompressed when this is
    /// called first.
    ///
    /// Errors: `Corruption` for a value that does not uncompress; the cursor stands where it stood.
    fn value(&self) -> Result<&[u8]>;
    /// The raw value as a handle that outlives the cursor; shares memory where it can. Errors as
    /// those of `value`.
    fn value_bytes(&self) -> Result<Bytes>;
    /// Moves on over entries that lie one behind another where they can be decoded together, makes
    /// `chunk` of those that are wanted, and stands on the last that it came to.
    ///
    /// `false`, and the cursor stands where it stood, with `chunk` of no use, where that is not
    /// cheap or there are none. Only while standing on an entry.
    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool;
    /// The value as it is stored, where it is encoded by itself: for who can use it so.
    fn encoded(&self) -> Option<Encoded<'_>>;
}

/// Which entries a chunk is to be made of.
#[derive(Clone, Copy, Debug)]
pub enum Fill<'a> {
    /// The current one, which is such a value, and what follows as far as each is a plain value
    /// that the reader of these terms sees, of another user key than the entries before and behind.
    /// The chunk stands on the current one.
    Seen(&'a Terms<'a>),
    /// Of any kind, about so many, without the current one. The chunk stands on the first of them.
    Next(usize),
}

/// Which way a cursor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To larger keys.
    Forward,
    /// To smaller keys.
    Back,
}

/// A value that is encoded by itself, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded<'a> {
    /// In which way.
    pub encoding: EncodingId,
    /// Bytes of the value uncompressed.
    pub plain_len: usize,
    /// What the encoder made of it, with its head.
    pub payload: &'a [u8],
}

/// A value on its way from file to file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried<'a> {
    /// The raw value.
    Raw(&'a [u8]),
    /// A value that need not be uncompressed.
    Encoded(Encoded<'a>),
}

impl Carried<'_> {
    /// Bytes of it as it is.
    pub fn stored_len(&self) -> usize {
        match self {
            Carried::Raw(raw) => raw.len(),
            Carried::Encoded(encoded) => encoded.payload.len(),
        }
    }
}
