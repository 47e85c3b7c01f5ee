//! A memtable's entries without the merges that newer operands already hold.
//!
//! A memtable folds merges as they arrive: an operand of the kind `MergeFolded` holds the merges
//! of the key below it, which stay for older readers. Once sources are merged nobody can tell
//! which entries came from one memtable, so this cursor leaves out, before, what one reader at
//! one sequence number must not fold twice.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::seek_target::{first_trailer, last_trailer, set_seek_target};
use crate::store::mem::memtable::{MemCursor, Memtable};

/// Held merges, or entries too new, of one key that are stepped over before a seek replaces the
/// stepping: a step in a memtable costs one cache miss, a descent about six.
const STEPS_BEFORE_SEEK: usize = 8;

/// The entries of a memtable that a reader at one sequence number needs.
///
/// An entry is there if it is visible, and unless it is a merge that an entry above it holds:
/// one after the other, all merges of the key below a visible `MergeFolded`, down to the first
/// entry that is no merge.
pub struct FoldedCursor {
    table: Arc<Memtable>,
    inner: MemCursor,
    at: SeqNo,
    /// The key whose entries `needed` lists.
    key: Vec<u8>,
    /// What the reader needs of `key`, newest first; known if `is_known`.
    needed: Vec<Trailer>,
    is_known: bool,
    target: Vec<u8>,
}

impl FoldedCursor {
    /// A cursor over what a reader at `at` needs of `table`; stands nowhere.
    pub fn new(table: &Arc<Memtable>, at: SeqNo) -> FoldedCursor {
        FoldedCursor {
            table: Arc::clone(table),
            inner: table.cursor(),
            at,
            key: Vec::new(),
            needed: Vec::new(),
            is_known: false,
            target: Vec::new(),
        }
    }

    /// Goes on to the first visible entry from the current one on, over entries too new.
    fn settle_forward(&mut self) -> Result<bool> {
        let mut steps = 0_usize;
        while self.inner.is_valid() {
            let (user_key, trailer) = key::split(self.inner.key());
            if trailer.seqno().is_visible_at(self.at) {
                return Ok(true);
            }
            steps += 1;
            if steps.is_multiple_of(STEPS_BEFORE_SEEK) {
                set_seek_target(&mut self.target, user_key, Trailer::seek(self.at));
                self.inner.seek(&self.target)?;
            } else {
                self.inner.next()?;
            }
        }
        Ok(false)
    }

    /// Goes back to the first entry, from the current one back, that the reader needs.
    fn settle_backward(&mut self) -> Result<bool> {
        let mut steps = 0_usize;
        while self.inner.is_valid() {
            let (user_key, trailer) = key::split(self.inner.key());
            if !trailer.seqno().is_visible_at(self.at) {
                // What comes before it is newer still, up to the key before.
                steps += 1;
                if steps.is_multiple_of(STEPS_BEFORE_SEEK) {
                    set_seek_target(&mut self.target, user_key, first_trailer());
                    self.inner.seek_for_prev(&self.target)?;
                } else {
                    self.inner.prev()?;
                }
                continue;
            }
            if trailer.kind().is_merge() {
                self.go_to_needed(Closest::Newer)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// On a visible merge: stays if the reader needs it, otherwise goes to the closest needed
    /// entry of the key. There is always a newer one, the one that holds the merge; when there is
    /// no older one, goes behind the key.
    fn go_to_needed(&mut self, closest: Closest) -> Result<()> {
        let (user_key, trailer) = key::split(self.inner.key());
        if !self.is_known || self.key != user_key {
            self.key.clear();
            self.key.extend_from_slice(user_key);
            self.needed.clear();
            let history = self.table.history(user_key, self.at);
            self.needed.extend(history.map(|entry| entry.trailer));
            self.is_known = true;
        }
        let newer = self.needed.partition_point(|needed| *needed > trailer);
        if self.needed.get(newer) == Some(&trailer) {
            return Ok(());
        }
        let wanted = match closest {
            Closest::Newer => self.needed.get(newer - 1).copied(),
            Closest::Older => self.needed.get(newer).copied(),
        };
        let wanted = wanted.unwrap_or_else(last_trailer);
        set_seek_target(&mut self.target, &self.key, wanted);
        self.inner.seek(&self.target).map(drop)
    }
}

/// Which way to look for a needed entry.
#[derive(Clone, Copy, Debug)]
enum Closest {
    Newer,
    Older,
}

impl Cursor for FoldedCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.inner.seek_to_first()?;
        self.settle_forward()
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        self.inner.seek_to_last()?;
        self.settle_backward()
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let (user_key, trailer) = key::split(target);
        let visible = trailer.min(Trailer::seek(self.at));
        set_seek_target(&mut self.target, user_key, visible);
        self.inner.seek(&self.target)?;
        if !self.settle_forward()? {
            return Ok(false);
        }
        // In the middle of the key an entry may be held by one that the seek passed over.
        let (found_key, found) = key::split(self.inner.key());
        if found.kind().is_merge() && found_key == user_key && trailer < Trailer::seek(self.at) {
            self.go_to_needed(Closest::Older)?;
            return self.settle_forward();
        }
        Ok(true)
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.inner.seek_for_prev(target)?;
        self.settle_backward()
    }

    fn next(&mut self) -> Result<bool> {
        let (user_key, trailer) = key::split(self.inner.key());
        if trailer.kind() != Kind::MergeFolded {
            self.inner.next()?;
            return self.settle_forward();
        }
        self.target.clear();
        self.target.extend_from_slice(user_key);
        let mut steps = 0;
        while self.inner.next()? {
            let (next_key, trailer) = key::split(self.inner.key());
            if next_key != self.target || !trailer.kind().is_merge() {
                break;
            }
            steps += 1;
            if steps == STEPS_BEFORE_SEEK {
                self.go_to_needed(Closest::Older)?;
                break;
            }
        }
        self.settle_forward()
    }

    fn prev(&mut self) -> Result<bool> {
        self.inner.prev()?;
        self.settle_backward()
    }

    #[inline]
    fn is_valid(&self) -> bool {
        self.inner.is_valid()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.inner.key()
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        self.inner.value()
    }

    fn value_bytes(&self) -> Result<Bytes> {
        self.inner.value_bytes()
    }

    fn is_surely_newest(&self) -> bool {
        false
    }

    fn fill(&mut self, _: Way, _: Fill<'_>, _: &mut EntryChunk) -> bool {
        false
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        None
    }
}

#[cfg(test)]
mod tests;
