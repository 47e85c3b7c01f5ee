//! How large a number an entry may take without anybody telling the difference.
//!
//! Of the entries of a key only their order counts, and which snapshots see them. So what a merge
//! keeps of the oldest stripe may have any number that no snapshot is too old for, as long as
//! everything newer of the key has a larger one: that is what lies above the output and is not
//! merged. Where nothing of it is older than the inputs' last write, the whole merge shares one
//! number, and eight bytes of each entry compress to nothing (decision 0011).

use crate::base::types::comparator::Comparator;
use crate::base::types::ids::Level;
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::plan::Plan;
use crate::flow::compact::row::Row;
use crate::store::version::levels::Levels;

/// The largest numbers that the survivors of a merge may take, key by key.
pub struct SeqNoCeiling<'a> {
    /// No key may have a larger one.
    most: SeqNo,
    /// The runs above the output, of which only the files with anything older.
    above: Vec<Row<'a>>,
}

impl<'a> SeqNoCeiling<'a> {
    /// What the merge of `plan` may use in a tree of these levels, while the oldest live snapshot
    /// reads at `oldest_snapshot`.
    pub fn new(
        plan: &Plan,
        levels: &'a Levels,
        oldest_snapshot: Option<SeqNo>,
    ) -> SeqNoCeiling<'a> {
        // Memtables are newer than every file, so the last write of an input is older than them.
        let newest = plan.files().map(|(_, file)| file.largest_seqno).max();
        let newest = newest.unwrap_or(SeqNo::ZERO);
        let most = oldest_snapshot.map_or(newest, |oldest| newest.min(oldest));
        let above = Row::beside(plan, levels, |level, file| {
            level < plan.output && file.smallest_seqno <= most
        });
        SeqNoCeiling {
            // Runs of level 0 are told apart by their numbers.
            most: match plan.output {
                Level::ZERO => SeqNo::ZERO,
                _ => most,
            },
            above,
        }
    }

    /// The largest number for an entry of that key. Keys are asked in order.
    pub fn of(&mut self, comparator: &Comparator, user_key: &[u8]) -> SeqNo {
        let newer = self.above.iter_mut();
        let newer = newer.filter_map(|row| row.at(comparator, user_key));
        newer.fold(self.most, |most, file| {
            most.min(file.smallest_seqno.before().unwrap_or(SeqNo::ZERO))
        })
    }
}

#[cfg(test)]
mod tests;
