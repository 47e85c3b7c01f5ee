//! About how much a range of keys holds, asked of a keyspace.

use std::ops::RangeBounds;

use crate::base::types::error::Result;
use crate::base::types::range::KeyRange;
use crate::db::keyspace_handle::Keyspace;
use crate::db::moment::Moment;
use crate::db::readable::AtMoment;
use crate::flow::read::approximate::{Approximation, approximate};

impl Keyspace {
    /// About how many bytes on the disk the keys in `bounds` take, those of large values in the
    /// value log included. What is in memory only is not there yet. As exact as
    /// [`Keyspace::approximate`].
    ///
    /// Errors: as of `get`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// for ship in 0..1000_u32 {
    ///     db.put(format!("ship:{ship:04}"), "in port")?;
    /// }
    /// db.flush()?;
    /// let all = db.approximate_size::<&str>(..)?;
    /// let half = db.approximate_size("ship:0500"..)?;
    /// assert!(half < all && half > all / 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn approximate_size<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<u64> {
        let range = KeyRange::new(bounds);
        Ok(self.moment().approximate(&[range])?[0].disk_bytes())
    }

    /// About how many keys in `bounds` have a value: what a planner of queries asks for. An entry
    /// that was overwritten and not merged away yet is counted twice, and one that a range delete
    /// hides, too; every delete of a single key is taken to hide one entry that lies below. As
    /// exact as [`Keyspace::approximate`].
    ///
    /// Errors: as of `get`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// for ship in 0..1000_u32 {
    ///     db.put(format!("ship:{ship:04}"), "in port")?;
    /// }
    /// assert_eq!(db.approximate_count("ship:0100".."ship:0200")?, 100);
    /// # Ok(())
    /// # }
    /// ```
    pub fn approximate_count<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<u64> {
        let range = KeyRange::new(bounds);
        Ok(self.moment().approximate(&[range])?[0].key_count())
    }

    /// About how much lies in each of `ranges`, in their order, all as of one moment: by the index
    /// of each file in which an end of a range lies, without reading data.
    ///
    /// How exact: files that lie wholly inside count as they are. In each run, and in every file of
    /// level 0, an end of a range lies in at most one file. In a file made of blocks it is found to
    /// within a block (`sst.block_size` before packing), and entries are taken to be as large as
    /// the others in the file; in a searchable one, to within an entry. Entries of memtables are
    /// counted up to some hundreds, and more reckoned by a sample, to within an eighth. What is
    /// overwritten or deleted is counted until it is merged away.
    ///
    /// Errors: as of `get`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// for ship in 0..100_u32 {
    ///     db.put(format!("ship:{ship:02}"), "in port")?;
    /// }
    /// db.flush()?;
    /// db.put("ship:99", vec![7; 100_000])?; // Not in a file yet.
    /// let ranges = ["ship:00".."ship:50", "ship:50".."ship:~"];
    /// let [first, second] = db.approximate(&ranges)?[..] else { panic!("two were asked for") };
    /// assert_eq!(first.memory_bytes, 0);
    /// assert!(second.memory_bytes > 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn approximate<K, R>(&self, ranges: &[R]) -> Result<Vec<Approximation>>
    where
        K: AsRef<[u8]>,
        R: RangeBounds<K>,
    {
        let of = |range: &R| {
            let bounds = (range.start_bound(), range.end_bound());
            KeyRange::new::<&K>(bounds)
        };
        let ranges: Vec<KeyRange> = ranges.iter().map(of).collect();
        self.moment().approximate(&ranges)
    }
}

impl Moment<'_> {
    fn approximate(&self, ranges: &[KeyRange]) -> Result<Vec<Approximation>> {
        let (view, at) = self.look()?;
        let of = |range| approximate(&view, range, at.options.fill_cache);
        ranges.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests;
