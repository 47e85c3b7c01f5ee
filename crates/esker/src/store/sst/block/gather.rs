//! Decodes the entries around a place of a block together, for a reader who walks over them.
//!
//! A cursor that is asked for one entry at a time pays for itself at each of them: what it knows is
//! written back, every layer above asks and answers, and the reader compares keys to pass over old
//! versions. In here the block itself tells that a key is another one, and the loop stays in
//! registers.

use std::cmp::Ordering;
use std::ops::Range;

use crate::base::codec::fixed::u64_at;
use crate::base::types::kind::Kind;
use crate::base::types::order::KeyOrder;
use crate::base::types::prefix::prefix_number_16;
use crate::base::types::sheaf::Terms;
use crate::base::types::sheaf_writer::{Put, SheafWriter};
use crate::store::sst::block::format::{Head, whole_at};

/// The entry that a walk came to.
#[derive(Clone, Debug)]
pub struct Landing {
    /// Its offset.
    pub at: usize,
    /// Where its value lies.
    pub value: Range<usize>,
}

/// Adds to `sheaf`, whose last key is that of the entry before, the entries from offset `next` on,
/// up to the first that is not for it. Returns the last one, if there is any.
///
/// What is damaged ends it as the end of the block does: whoever comes to it will say so.
pub fn gather_ahead(
    entries: &[u8],
    mut next: usize,
    terms: &Terms<'_>,
    mut sheaf: SheafWriter<'_>,
) -> Option<Landing> {
    let limit = Limit::new(terms);
    let mut landing = None;
    while next < entries.len() && sheaf.len() < terms.count_max {
        let Some(head) = whole_at(entries, next) else {
            break;
        };
        if !is_plain(entries, &head, terms)
            || put_key(entries, &head, &mut sheaf) != Put::Another
            || !limit.place_of(&sheaf).is_none_or(Ordering::is_lt)
        {
            break;
        }
        sheaf.keep(head.value_start..head.value_end);
        landing = Some((next, head));
        next = head.value_end;
    }
    landing.map(Landing::new)
}

/// Adds to `sheaf` the entries that end with the one at offset `target`, from the first behind
/// the restart at `start` such that all are for it. Returns the first of them, if there is any.
///
/// The entry at the restart is none of them: of the one before it nothing is known.
pub fn gather_back(
    entries: &[u8],
    start: usize,
    target: usize,
    terms: &Terms<'_>,
    mut sheaf: SheafWriter<'_>,
) -> Option<Landing> {
    let limit = Limit::new(terms);
    let mut landing = None;
    let mut next = start;
    while next <= target {
        let head = whole_at(entries, next)?;
        let put = put_key(entries, &head, &mut sheaf);
        if put == Put::Refused {
            return None;
        }
        let is_for_it = next > start
            && put == Put::Another
            && is_plain(entries, &head, terms)
            && limit.place_of(&sheaf).is_none_or(Ordering::is_gt);
        if is_for_it {
            sheaf.keep(head.value_start..head.value_end);
            landing = landing.or(Some((next, head)));
        } else {
            sheaf.drop_kept();
            landing = None;
        }
        if next == target {
            return landing.map(Landing::new);
        }
        next = head.value_end;
    }
    None
}

impl Landing {
    fn new((at, head): (usize, Head)) -> Landing {
        let value = head.value_start..head.value_end;
        Landing { at, value }
    }
}

/// Whether the entry is a value as it stands, and one that the reader sees.
#[inline(always)]
fn is_plain(entries: &[u8], head: &Head, terms: &Terms<'_>) -> bool {
    u64_at(entries, head.trailer_start).is_some_and(|trailer| {
        trailer & 0xff == u64::from(Kind::Put as u8) && trailer >> 8 <= terms.at.get()
    })
}

#[inline(always)]
fn put_key(entries: &[u8], head: &Head, sheaf: &mut SheafWriter<'_>) -> Put {
    let rest_len = head.value_start - head.suffix_start;
    sheaf.put_key(head.shared, &entries[head.suffix_start..], rest_len)
}

/// The key at which a walk ends.
struct Limit<'a> {
    order: &'a KeyOrder,
    key: Option<&'a [u8]>,
    /// The first bytes of the key, where keys compare as bytes.
    head: Option<u128>,
}

impl<'a> Limit<'a> {
    fn new(terms: &Terms<'a>) -> Limit<'a> {
        let Terms { order, limit, .. } = *terms;
        let head = limit.filter(|_| order.is_bytewise()).map(prefix_number_16);
        Limit {
            order,
            key: limit,
            head,
        }
    }

    /// How the key put together last compares with the limit, if there is one.
    #[inline(always)]
    fn place_of(&self, sheaf: &SheafWriter<'_>) -> Option<Ordering> {
        let limit = self.key?;
        let by_head = self.head.map(|head| sheaf.last_prefix().cmp(&head));
        match by_head {
            None | Some(Ordering::Equal) => Some(self.order.compare(sheaf.last_user_key(), limit)),
            decided => decided,
        }
    }
}

#[cfg(test)]
mod tests;
