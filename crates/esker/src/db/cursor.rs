//! The public cursor.

use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::stats::memory_budget::Reservation;
use crate::base::stats::statistics::Ticker;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::Way;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::moment::{Moment, Source, When, check, not_refreshed};
use crate::db::read_cost::CostMeter;
use crate::db::txn::read_set::ScanRecorder;
use crate::db::worker;
use crate::db::write_control;
use crate::flow::read::scan::{Scan, ScanSources};
use crate::flow::read::sources::LOOKAHEAD_BYTES_MAX;

/// Ordered movement over the entries of a keyspace as they were when the cursor was made.
///
/// Keeps the database open, and the files it reads on the disk. Every movement says whether the
/// cursor stands on an entry now; key and value are there only then.
pub struct DbCursor {
    // `None` only while being dropped.
    scan: Option<Scan>,
    database: DatabaseRef,
    parts: Arc<KeyspaceParts>,
    /// The number of the view that it reads: not kept, for the files outside of its range.
    view: u64,
    options: ReadOptions,
    cost_meter: Option<CostMeter>,
    /// Whether it shows what a transaction sees, and who is told then what it comes through.
    is_within: bool,
    recorder: Option<Box<ScanRecorder>>,
    seeks: u64,
    steps: u64,
    // Of what it reads ahead, from the step on that makes it a scan.
    charge: Option<Reservation>,
}

/// Steps that are counted together; the rest when the cursor goes. One by one it would be as much
/// as a step costs. From so many on a cursor is charged with what it decodes and reads ahead.
const STEPS_PER_COUNT: u64 = 64;

/// Most that each source reads ahead before the cursor is charged with it: one window.
const AHEAD_BYTES_FIRST: usize = 64 << 10;

/// Cursors that are not charged yet, and may have that at the same time, each some of the share.
const AHEAD_CURSORS: u64 = 16;

/// Bytes of a source that neither reads ahead nor has a lookahead: two blocks, and itself.
const SOURCE_BYTES: usize = 10 << 10;

/// Least bytes that are read ahead: for less, a block is better read by itself, and the cache has
/// it then.
const AHEAD_BYTES_MIN: usize = 8 << 10;

/// Entries that one cursor passed over from which on that is worth a flush: two milliseconds.
const PASSED_MIN: u64 = 1 << 14;

impl DbCursor {
    /// A cursor that stands nowhere yet.
    pub(crate) fn open(source: Source) -> Result<DbCursor> {
        let mut at = source.at;
        let options = at.options;
        let share = source.database.core().memory_budget.iterators_share() / AHEAD_CURSORS;
        let sources = source.view.runs().len().max(1) as u64;
        let first = usize::try_from(share / sources).unwrap_or(usize::MAX);
        at.options.readahead_bytes_max = options
            .readahead_bytes_max
            .min(first.min(AHEAD_BYTES_FIRST));
        let sources = ScanSources::of(&source.view, &source.range, &at)?;
        Ok(DbCursor {
            scan: Some(sources.into_scan(&source.view, source.range, &at)),
            view: source.view.number(),
            options,
            database: source.database,
            parts: source.parts,
            cost_meter: source.cost_meter,
            is_within: source.is_within,
            recorder: source.recorder,
            seeks: 0,
            steps: 0,
            charge: None,
        })
    }

    /// Moves to the first entry.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// let mut cursor = db.cursor()?;
    /// assert!(cursor.seek_to_first()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn seek_to_first(&mut self) -> Result<bool> {
        let found = self.seeking()?.seek_to_first();
        self.record(found, |recorder, found| recorder.sought(None, found))
    }

    /// Moves to the last entry.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.put("b", "2")?;
    /// let mut cursor = db.cursor()?;
    /// assert!(cursor.seek_to_last()?);
    /// assert_eq!(cursor.key(), Some(&b"b"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn seek_to_last(&mut self) -> Result<bool> {
        let found = self.seeking()?.seek_to_last();
        self.record(found, |recorder, found| recorder.sought_back(None, found))
    }

    /// Moves to the first entry with a key not before `key`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("b", "2")?;
    /// let mut cursor = db.cursor()?;
    /// assert!(cursor.seek("a")? && cursor.key() == Some(b"b"));
    /// assert!(!cursor.seek("c")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn seek(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        let found = self.seeking()?.seek(key);
        self.record(found, |recorder, found| recorder.sought(Some(key), found))
    }

    /// Moves to the last entry with a key not after `key`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("b", "2")?;
    /// let mut cursor = db.cursor()?;
    /// assert!(cursor.seek_for_prev("c")? && cursor.key() == Some(b"b"));
    /// assert!(!cursor.seek_for_prev("a")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn seek_for_prev(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        let found = self.seeking()?.seek_for_prev(key);
        self.record(found, |recorder, found| {
            recorder.sought_back(Some(key), found)
        })
    }

    /// Moves to the next entry; from nowhere it stays nowhere.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.put("b", "2")?;
    /// let mut cursor = db.cursor()?;
    /// let mut is_on = cursor.seek_to_first()?;
    /// let mut count = 0;
    /// while is_on {
    ///     count += 1;
    ///     is_on = cursor.next()?;
    /// }
    /// assert_eq!(count, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[allow(
        clippy::should_implement_trait,
        reason = "the word of the field, and fallible"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        match self.step_at_hand(Scan::next_at_hand) {
            true => Ok(true),
            false => self.step(Way::Forward),
        }
    }

    /// Moves to the previous entry; from nowhere it stays nowhere.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.put("b", "2")?;
    /// let mut cursor = db.cursor()?;
    /// cursor.seek("b")?;
    /// assert!(cursor.prev()? && cursor.key() == Some(b"a"));
    /// assert!(cursor.next()? && cursor.key() == Some(b"b"));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn prev(&mut self) -> Result<bool> {
        match self.step_at_hand(Scan::prev_at_hand) {
            true => Ok(true),
            false => self.step(Way::Back),
        }
    }

    /// Whether the cursor stands on an entry.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.scan().is_valid()
    }

    /// The key, if the cursor stands on an entry.
    #[inline]
    pub fn key(&self) -> Option<&[u8]> {
        self.is_valid().then(|| self.scan().key())
    }

    /// The value, if the cursor stands on an entry. A separated one is read when this is
    /// called first, so that a walk over keys reads none.
    ///
    /// Errors: those of reading it; the cursor stands where it stood, and may go on.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// let mut cursor = db.cursor()?;
    /// assert_eq!(cursor.value()?, None);
    /// cursor.seek("a")?;
    /// assert_eq!(cursor.value()?, Some(&b"1"[..]));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn value(&self) -> Result<Option<&[u8]>> {
        match self.is_valid() {
            true => self.scan().value().map(Some),
            false => Ok(None),
        }
    }

    /// The value as a handle that may be kept; otherwise as [`DbCursor::value`].
    pub fn value_bytes(&self) -> Result<Option<Bytes>> {
        match self.is_valid() {
            true => self.scan().value_bytes().map(Some),
            false => Ok(None),
        }
    }

    /// When the entry ends, if the cursor stands on one that does; a value of merge operands stays.
    pub fn expiry(&self) -> Result<Option<Expiry>> {
        match self.is_valid() {
            true => self.scan().expiry(),
            false => Ok(None),
        }
    }

    /// Sees from now on what is there now, as if it were made now from the keyspace, whether it was
    /// made from that or from a snapshot; stands nowhere then, as RocksDB's iterators do after
    /// `Refresh`. Who wants to go on from a key seeks it.
    ///
    /// Where nothing has changed since, and no second has passed in which an entry might have
    /// expired, it keeps what it has read.
    ///
    /// Errors: as of `cursor`; `Invalid` for a cursor of a transaction. It sees and stands as
    /// before then.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("1", "anna")?;
    /// let mut cursor = db.cursor()?;
    /// assert!(cursor.seek("1")?);
    /// db.put("2", "bela")?;
    /// assert!(!cursor.next()?); // Written later.
    /// cursor.refresh()?;
    /// assert!(!cursor.is_valid());
    /// assert!(cursor.seek("2")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh(&mut self) -> Result<()> {
        if self.is_within {
            return Err(not_refreshed());
        }
        let now = Moment {
            database: &self.database,
            parts: &self.parts,
            at: When::Now,
            options: self.options,
        };
        let (view, at) = now.look()?;
        let scan = self.scan.as_mut().expect("there until dropped");
        if self.view == view.number() && scan.reader().at == at.visibility {
            scan.leave(at.now_unix_ms);
            return Ok(());
        }
        let range = scan.reader().range.clone();
        *self = DbCursor::open(now.source_of(view, at, range))?;
        Ok(())
    }

    /// Stands nowhere from now on, and sees what has not expired at that time.
    pub(crate) fn leave(&mut self, now_unix_ms: u64) {
        let scan = self.scan.as_mut().expect("there until dropped");
        scan.leave(now_unix_ms);
    }

    /// Makes the step that nearly all are: to an entry that is decoded already, with nobody to be
    /// told of it. Makes none where anything is in its way, which `step` looks into: with one call
    /// for all of that, a loop over such steps is some twenty instructions for each.
    #[inline]
    fn step_at_hand(&mut self, step: impl FnOnce(&mut Scan) -> bool) -> bool {
        if self.recorder.is_some() || self.database.core().gate.is_closed() {
            return false;
        }
        let scan = self.scan.as_mut().expect("there until dropped");
        let is_on = step(scan);
        if is_on {
            self.count_step();
        }
        is_on
    }

    #[inline(never)]
    fn step(&mut self, way: Way) -> Result<bool> {
        check(self.database.core())?;
        self.count_step();
        if self.recorder.is_some() {
            return self.step_recorded(way);
        }
        let scan = self.scan.as_mut().expect("there until dropped");
        scan.step(way)
    }

    #[cold]
    fn step_recorded(&mut self, way: Way) -> Result<bool> {
        let scan = self.scan.as_mut().expect("there until dropped");
        let found = scan.step(way);
        let tell = match way {
            Way::Forward => ScanRecorder::moved,
            Way::Back => ScanRecorder::moved_back,
        };
        self.record(found, tell)
    }

    // Whatever came of a movement, what it came through was read.
    #[inline]
    fn record(
        &mut self,
        found: Result<bool>,
        tell: impl FnOnce(&mut ScanRecorder, Option<&[u8]>),
    ) -> Result<bool> {
        if let Some(recorder) = &mut self.recorder {
            let scan = self.scan.as_ref().expect("there until dropped");
            tell(recorder, scan.is_valid().then(|| scan.key()));
        }
        found
    }

    #[inline]
    fn scan(&self) -> &Scan {
        self.scan.as_ref().expect("there until dropped")
    }

    fn seeking(&mut self) -> Result<&mut Scan> {
        let core = self.database.core();
        check(core)?;
        core.statistics.add(Ticker::Seeks, 1);
        self.seeks += 1;
        Ok(self.scan.as_mut().expect("there until dropped"))
    }

    #[inline]
    fn count_step(&mut self) {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_PER_COUNT) {
            self.count_steps();
        }
    }

    #[cold]
    fn count_steps(&mut self) {
        let core = self.database.core();
        core.statistics.add(Ticker::Steps, STEPS_PER_COUNT);
        // From here on it is a scan: what a seek and a few entries need, a block or two of each
        // file, is small.
        if self.charge.is_none() {
            self.begin_ahead();
        }
    }

    // Is charged with what it decodes and reads ahead, as far as there is memory for it.
    fn begin_ahead(&mut self) {
        let core = self.database.core();
        let ahead_bytes_max = self.options.readahead_bytes_max;
        let scan = self.scan.as_mut().expect("there until dropped");
        let sources = scan.sources_mut();
        let ahead_count = sources.iter().filter(|it| it.reads_ahead()).count();
        let least = ahead_count * SOURCE_BYTES;
        let most = least + ahead_count * (LOOKAHEAD_BYTES_MAX + ahead_bytes_max);
        let mut charge = core.memory_budget.hold_ahead(least as u64, most as u64);
        let ahead = usize::try_from(charge.bytes()).unwrap_or(usize::MAX) - least;
        let each = (ahead / ahead_count.max(1)).saturating_sub(LOOKAHEAD_BYTES_MAX);
        let each = match each < AHEAD_BYTES_MIN.min(ahead_bytes_max) {
            true => 0,
            false => each,
        };
        if each == 0 {
            charge.resize(least as u64);
        }
        for source in sources {
            source.set_readahead(each);
        }
        let is_shared = charge.bytes() > 0;
        self.charge = Some(charge);
        // Memtables alone are not read ahead: nobody has to make room, which looks at every shard.
        if is_shared {
            write_control::set_cache(core);
        }
    }
}

impl Drop for DbCursor {
    fn drop(&mut self) {
        if self.database.core().gate.check_process().is_err() {
            // What the scan holds is shared under locks that may be held in a forked child.
            std::mem::forget((self.scan.take(), self.charge.take()));
            return;
        }
        let passed = self.scan().passed_count();
        self.scan = None;
        let core = self.database.core();
        if passed > 0 {
            core.statistics.add(Ticker::Passed, passed);
        }
        if passed >= PASSED_MIN && passed > self.steps {
            worker::clear_way(core, self.parts.id);
        }
        core.statistics
            .add(Ticker::Steps, self.steps % STEPS_PER_COUNT);
        let shared = self.charge.take().filter(|charge| charge.bytes() > 0);
        if shared.map(drop).is_some() {
            write_control::set_cache(core);
        }
        write_control::let_go(core);
        let cost_meter = self.cost_meter.as_ref();
        if cost_meter.is_some_and(|cost_meter| cost_meter.pay(self.seeks, self.steps)) {
            // Perhaps they have paid for a merge.
            worker::look_after_reads(core, self.parts.id);
        }
        worker::tidy(core);
    }
}

#[cfg(test)]
mod tests;
