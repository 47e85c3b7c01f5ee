//! About how much of a searchable sorted file lies before a place.

use crate::base::types::error::Result;
use crate::store::sst::rank::{Gap, Rank, scaled};
use crate::store::sst::searchable::keys::{Landing, Spot, Wanted};
use crate::store::sst::searchable::page::{Page, bad};
use crate::store::sst::searchable::reader::SearchableReader;

impl SearchableReader {
    /// How much of the file lies before `gap`: to an entry, since only its record tells whether the
    /// one that may have the key has it. Reads one key page, and no record.
    ///
    /// Errors: `Corruption` and `Io` of reading the page.
    pub fn rank(&self, gap: Gap<'_>, fill_cache: bool) -> Result<Rank> {
        let all = Rank {
            entry_count: self.sst().props().entry_count,
            size_bytes: self.sst().source().size_bytes(),
        };
        let Some(slot) = self.page_of(gap.user_key(), gap.trailer()) else {
            return Ok(all);
        };
        let page = self.page(slot, fill_cache)?;
        let rank = self.rank_in(&page, gap, all);
        rank.map_err(|error| self.in_page(error, slot))
    }

    fn rank_in(&self, page: &Page, gap: Gap<'_>, all: Rank) -> Result<Rank> {
        let wanted = Wanted {
            comparator: self.sst().comparator(),
            user_key: gap.user_key(),
            trailer: gap.trailer(),
        };
        let last = page.group_count().checked_sub(1);
        let last = last.ok_or_else(|| bad("it has no groups"))?;
        let (spot, is_behind) = match wanted.find(page)? {
            Landing::Perhaps(spot, _) | Landing::Behind(spot) => (spot, false),
            Landing::AtEnd => {
                let entry = page.group(last)?.len().saturating_sub(1);
                (Spot { group: last, entry }, true)
            }
        };
        let mut ordinal = page.first_ordinal();
        for group in 0..spot.group {
            ordinal += page.group(group)?.len() as u64;
        }
        let place = page.group(spot.group)?.marks()?.record(spot.entry)?;
        let len = if is_behind { u64::from(place.len) } else { 0 };
        // Records lie in front of the first page.
        let records_end = self.index().handle(0).offset;
        Ok(Rank {
            entry_count: (ordinal + spot.entry as u64 + u64::from(is_behind)).min(all.entry_count),
            size_bytes: scaled(all.size_bytes, place.offset + len, records_end),
        })
    }
}
