//! A cursor over entries in a vector that gives a lookahead of them, for tests.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::chunk_writer::Put;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::flow::read::model::{History, VectorCursor};

/// Entries that lie together, as those of a block do.
const PLACE_ENTRIES: usize = 23;

/// A vector's cursor that decodes ahead, up to where the next part of the vector begins.
pub struct LookaheadCursor {
    inner: VectorCursor,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

impl LookaheadCursor {
    pub fn new(history: &History) -> LookaheadCursor {
        LookaheadCursor {
            inner: history.cursor(),
            entries: history.entries(),
        }
    }

    /// As of [`VectorCursor`]; taking in a lookahead does not fail.
    pub fn fail_after(mut self, move_count: u64) -> LookaheadCursor {
        self.inner.moves_before_failure = Some(move_count);
        self
    }

    fn index(&self) -> usize {
        let own = self.inner.key();
        let mut keys = self.entries.iter().map(|(key, _)| &key[..]);
        keys.position(|key| key == own).unwrap()
    }
}

impl Cursor for LookaheadCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.inner.seek_to_first()
    }
    fn seek_to_last(&mut self) -> Result<bool> {
        self.inner.seek_to_last()
    }
    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.inner.seek(target)
    }
    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.inner.seek_for_prev(target)
    }
    fn next(&mut self) -> Result<bool> {
        self.inner.next()
    }
    fn prev(&mut self) -> Result<bool> {
        self.inner.prev()
    }
    fn is_valid(&self) -> bool {
        self.inner.is_valid()
    }
    fn key(&self) -> &[u8] {
        self.inner.key()
    }
    fn value(&self) -> Result<&[u8]> {
        self.inner.value()
    }
    fn is_surely_newest(&self) -> bool {
        false
    }
    fn value_bytes(&self) -> Result<Bytes> {
        self.value().map(Bytes::copy_of)
    }
    fn encoded(&self) -> Option<Encoded<'_>> {
        None
    }
    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        let Fill::Next(count_max) = fill else {
            return false;
        };
        let own = self.index();
        let start = own - own % PLACE_ENTRIES;
        let end = self.entries.len().min(start + PLACE_ENTRIES);
        let range = match way {
            Way::Forward => own + 1..end.min(own + 1 + count_max),
            Way::Back => start.max(own.saturating_sub(count_max))..own,
        };
        let landing = match way {
            Way::Forward => range.clone().last(),
            Way::Back => range.clone().next(),
        };
        let Some(landing) = landing else {
            return false;
        };
        let mut bytes = Vec::new();
        let mut writer = chunk.begin(PLACE_ENTRIES, 100);
        for (key, value) in &self.entries[range] {
            assert_ne!(writer.put_key(0, key, key.len()), Put::Refused);
            writer.keep(bytes.len()..bytes.len() + value.len());
            bytes.extend_from_slice(value);
        }
        chunk.bind(&Arc::from(bytes), way == Way::Back);
        let failure = self.inner.moves_before_failure.take();
        assert!(self.inner.seek(&self.entries[landing].0).unwrap());
        self.inner.moves_before_failure = failure;
        true
    }
}
