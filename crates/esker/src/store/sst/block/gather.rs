//! Decodes the entries around a place of a block together, for a reader who walks over them.
//!
//! A cursor that is asked for one entry at a time pays for itself at each of them: what it knows is
//! written back, every layer above asks and answers, and the reader compares keys to pass over old
//! versions. In here the block itself tells that a key is another one, and the loop stays in
//! registers.

use std::cmp::Ordering;
use std::ops::Range;

use crate::base::codec::fixed::u64_at;
use crate::base::types::chunk_writer::{ChunkWriter, Put};
use crate::base::types::comparator::Comparator;
use crate::base::types::entry_chunk::Terms;
use crate::base::types::key::TRAILER_BYTES;
use crate::base::types::kind::Kind;
use crate::base::types::prefix::prefix_number_16;
use crate::store::sst::block::format::{Head, whole_at};

/// The entry that a walk came to.
#[derive(Clone, Debug)]
pub struct Landing {
    /// Its offset.
    pub at: usize,
    /// Where its value lies.
    pub value: Range<usize>,
}

/// Adds to `chunk`, whose last key is that of the entry before, the entries from offset `next` on,
/// up to the first that is not for it. Returns the last one, if there is any.
///
/// What is damaged ends it as the end of the block does: whoever comes to it will say so.
pub fn gather_ahead(
    entries: &[u8],
    next: usize,
    terms: &Terms<'_>,
    chunk: ChunkWriter<'_>,
) -> Option<Landing> {
    let limit = Limit::new(terms);
    decode_ahead(entries, next, terms.count_max, chunk, |head, put, chunk| {
        put == Put::Another
            && is_plain(entries, head, terms)
            && limit.place_of(chunk).is_none_or(Ordering::is_lt)
    })
}

/// Adds to `chunk` the entries that end with the one at offset `target`, from the first behind
/// the restart at `start` such that all are for it. Returns the first of them, if there is any.
///
/// The entry at the restart is none of them: of the one before it nothing is known.
pub fn gather_back(
    entries: &[u8],
    start: usize,
    target: usize,
    terms: &Terms<'_>,
    chunk: ChunkWriter<'_>,
) -> Option<Landing> {
    let limit = Limit::new(terms);
    let stretch = Stretch {
        start,
        target,
        has_target: true,
    };
    decode_back(entries, stretch, chunk, |at, head, put, chunk| {
        at > start
            && put == Put::Another
            && is_plain(entries, head, terms)
            && limit.place_of(chunk).is_none_or(Ordering::is_gt)
    })
}

/// As [`gather_ahead`], of entries for whomever: of any kind, and several of one key.
pub fn lookahead_ahead(
    entries: &[u8],
    next: usize,
    count_max: usize,
    chunk: ChunkWriter<'_>,
) -> Option<Landing> {
    decode_ahead(entries, next, count_max, chunk, |head, put, _| {
        put != Put::Refused && head.is_of_point_kind(entries)
    })
}

/// As [`gather_back`], of entries for whomever: from the one at the restart on, and without the
/// one at `target`.
pub fn lookahead_back(
    entries: &[u8],
    start: usize,
    target: usize,
    chunk: ChunkWriter<'_>,
) -> Option<Landing> {
    let stretch = Stretch {
        start,
        target,
        has_target: false,
    };
    decode_back(entries, stretch, chunk, |_, head, _, _| {
        head.is_of_point_kind(entries)
    })
}

/// The entries from one offset up to another, with or without the one there.
struct Stretch {
    start: usize,
    target: usize,
    has_target: bool,
}

#[inline(always)]
fn decode_ahead(
    entries: &[u8],
    mut next: usize,
    count_max: usize,
    mut chunk: ChunkWriter<'_>,
    is_for_it: impl Fn(&Head, Put, &ChunkWriter<'_>) -> bool,
) -> Option<Landing> {
    let mut last = None;
    while next < entries.len() && chunk.len() < count_max {
        let Some((head, put)) = put_key_at(entries, next, &mut chunk) else {
            break;
        };
        if !is_for_it(&head, put, &chunk) {
            break;
        }
        chunk.keep(head.value_start..head.value_end);
        (last, next) = (Some(next), head.value_end);
    }
    let value = chunk.last_value()?;
    last.map(|at| Landing { at, value })
}

#[inline(always)]
fn decode_back(
    entries: &[u8],
    stretch: Stretch,
    mut chunk: ChunkWriter<'_>,
    is_for_it: impl Fn(usize, &Head, Put, &ChunkWriter<'_>) -> bool,
) -> Option<Landing> {
    assert!(chunk.is_empty());
    let Stretch { start, target, .. } = stretch;
    let end = target + usize::from(stretch.has_target);
    // Where the first lies of those that are kept: behind the last that is not.
    let mut first = start;
    let (mut last, mut next) = (None, start);
    while next < end {
        let (head, put) = put_key_at(entries, next, &mut chunk)?;
        if put == Put::Refused {
            return None;
        }
        if is_for_it(next, &head, put, &chunk) {
            chunk.keep(head.value_start..head.value_end);
        } else {
            chunk.drop_kept();
            first = head.value_end;
        }
        (last, next) = (Some(next), head.value_end);
    }
    // Behind a damaged length nothing is where it was.
    let is_whole = match stretch.has_target {
        true => last == Some(target),
        false => next == target,
    };
    let value = chunk.first_value()?;
    is_whole.then_some(Landing { at: first, value })
}

/// Whether the entry is a value as it stands, and one that the reader sees.
#[inline(always)]
fn is_plain(entries: &[u8], head: &Head, terms: &Terms<'_>) -> bool {
    u64_at(entries, head.trailer_start).is_some_and(|trailer| {
        trailer & 0xff == u64::from(Kind::Put as u8) && trailer >> 8 <= terms.at.get()
    })
}

// Puts the key of the entry at `at` together; `None` where that is not whole.
#[inline(always)]
fn put_key_at(entries: &[u8], at: usize, chunk: &mut ChunkWriter<'_>) -> Option<(Head, Put)> {
    let rest = entries.get(at..)?;
    if let Some((&[shared, unshared, value_len], rest)) = rest.split_first_chunk()
        && (shared | unshared | value_len) < 0x80
        && let Some(rest) = rest.first_chunk()
    {
        let suffix_start = at + 3;
        let trailer_start = suffix_start + usize::from(unshared);
        let value_start = trailer_start + TRAILER_BYTES;
        let head = Head {
            shared: usize::from(shared),
            suffix_start,
            trailer_start,
            value_start,
            value_end: value_start + usize::from(value_len),
        };
        if head.value_end <= entries.len()
            && let Some(put) = chunk.put_short(shared, unshared, rest)
        {
            return Some((head, put));
        }
    }
    put_long_key_at(entries, at, chunk)
}

// As that, of any entry.
#[inline(never)]
fn put_long_key_at(entries: &[u8], at: usize, chunk: &mut ChunkWriter<'_>) -> Option<(Head, Put)> {
    let head = whole_at(entries, at)?;
    let rest_len = head.value_start - head.suffix_start;
    let put = chunk.put_key(head.shared, &entries[head.suffix_start..], rest_len);
    Some((head, put))
}

/// The key at which a walk ends.
struct Limit<'a> {
    comparator: &'a Comparator,
    key: Option<&'a [u8]>,
    /// The first bytes of the key, where keys compare as bytes.
    head: Option<u128>,
}

impl<'a> Limit<'a> {
    fn new(terms: &Terms<'a>) -> Limit<'a> {
        let Terms {
            comparator, limit, ..
        } = *terms;
        let head = limit
            .filter(|_| comparator.is_bytewise())
            .map(prefix_number_16);
        Limit {
            comparator,
            key: limit,
            head,
        }
    }

    /// How the key put together last compares with the limit, if there is one.
    #[inline(always)]
    fn place_of(&self, chunk: &ChunkWriter<'_>) -> Option<Ordering> {
        let limit = self.key?;
        let by_head = self.head.map(|head| chunk.last_prefix().cmp(&head));
        match by_head {
            None | Some(Ordering::Equal) => {
                Some(self.comparator.compare(chunk.last_user_key(), limit))
            }
            decided => decided,
        }
    }
}

#[cfg(test)]
mod tests;
