//! Iterators over entries and over keys: two cursors that meet.

use std::cmp::Ordering;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::db::cursor::DbCursor;
use crate::db::moment::Source;

/// Entries in order, from both ends: `(key, value)`, or the error that ended the iteration.
/// After an error, and after the ends have met, it yields nothing more. Sees one moment, until
/// [`Iter::refresh`] has it see what is there now.
pub struct Iter {
    source: Source,
    front: Option<DbCursor>,
    back: Option<DbCursor>,
    /// Cursors that stand nowhere, for the ends that have not begun.
    rested: Vec<DbCursor>,
    is_over: bool,
}

impl Iter {
    /// An iterator over all that `source` holds.
    pub(crate) fn new(source: Source) -> Iter {
        Iter {
            source,
            front: None,
            back: None,
            rested: Vec::new(),
            is_over: false,
        }
    }

    /// Sees from now on what is there now, as if it were made now from the keyspace, whether it was
    /// made from that or from a snapshot, and begins again at both ends, also after an error.
    ///
    /// Where nothing has changed since, and no second has passed in which an entry might have
    /// expired, it keeps what it has read.
    ///
    /// Errors: as of `iter`; `Invalid` for an iterator of a transaction. It sees and goes on as
    /// before then.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("1", "anna")?;
    /// let mut ships = db.iter()?;
    /// assert_eq!(ships.by_ref().count(), 1);
    /// db.put("2", "bela")?;
    /// assert!(ships.next().is_none()); // Written later.
    /// ships.refresh()?;
    /// assert_eq!(ships.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh(&mut self) -> Result<()> {
        let now = self.source.now()?;
        self.is_over = false;
        if now.sees_as(&self.source) {
            let ends = [self.front.take(), self.back.take()];
            self.rested.extend(ends.into_iter().flatten());
            for rested in &mut self.rested {
                rested.leave(now.at.now_unix_ms);
            }
            self.source = now;
            return Ok(());
        }
        *self = Iter::new(now);
        Ok(())
    }

    // A cursor that stands nowhere.
    fn begin(&mut self) -> Result<DbCursor> {
        match self.rested.pop() {
            Some(rested) => Ok(rested),
            None => DbCursor::open(self.source.clone()),
        }
    }

    fn step_front(&mut self) -> Result<bool> {
        match &mut self.front {
            Some(front) => front.next(),
            None => {
                let mut front = self.begin()?;
                let is_valid = front.seek_to_first()?;
                self.front = Some(front);
                Ok(is_valid)
            }
        }
    }

    fn step_back(&mut self) -> Result<bool> {
        match &mut self.back {
            Some(back) => back.prev(),
            None => {
                let mut back = self.begin()?;
                let is_valid = back.seek_to_last()?;
                self.back = Some(back);
                Ok(is_valid)
            }
        }
    }

    /// Whether the two ends have not passed each other.
    fn is_separated(&self) -> bool {
        let front = self.front.as_ref().and_then(DbCursor::key);
        let back = self.back.as_ref().and_then(DbCursor::key);
        match (front, back) {
            (Some(front), Some(back)) => {
                self.source.view.comparator().compare(front, back) == Ordering::Less
            }
            _ => true,
        }
    }

    /// The keys instead of the entries. Values that lie apart are not read, so that one that is
    /// damaged does no harm.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", vec![7; 1 << 20])?;
    /// let keys: Vec<_> = db.iter()?.keys().collect::<Result<_, _>>()?;
    /// assert_eq!(keys, ["a"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn keys(self) -> Keys {
        Keys(self)
    }

    fn taken<T>(
        &mut self,
        moved: Result<bool>,
        is_front: bool,
        value: impl FnOnce(&DbCursor) -> Result<Option<T>>,
    ) -> Option<Result<(Bytes, T)>> {
        let taken = match moved {
            Ok(true) if self.is_separated() => {
                let end = if is_front { &self.front } else { &self.back };
                let end = end.as_ref()?;
                let key = Bytes::copy_of(end.key()?);
                value(end).map(|value| Some((key, value?)))
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        };
        match taken {
            Ok(Some(entry)) => Some(Ok(entry)),
            Ok(None) => {
                self.is_over = true;
                None
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error))
            }
        }
    }
}

impl Iterator for Iter {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let moved = self.step_front();
        self.taken(moved, true, DbCursor::value_bytes)
    }
}

impl DoubleEndedIterator for Iter {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let moved = self.step_back();
        self.taken(moved, false, DbCursor::value_bytes)
    }
}

impl std::iter::FusedIterator for Iter {}

/// Keys in order, from both ends, or the error that ended the iteration. Made by [`Iter::keys`].
pub struct Keys(Iter);

impl Keys {
    /// Sees from now on what is there now, and begins again at both ends; otherwise as
    /// [`Iter::refresh`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut names = db.iter()?.keys();
    /// db.put("anna", "at sea")?;
    /// assert!(names.next().is_none());
    /// names.refresh()?;
    /// assert_eq!(names.next().transpose()?.as_deref(), Some(&b"anna"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh(&mut self) -> Result<()> {
        self.0.refresh()
    }
}

impl Iterator for Keys {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_over {
            return None;
        }
        let moved = self.0.step_front();
        let taken = self.0.taken(moved, true, |_| Ok(Some(())));
        taken.map(|taken| taken.map(|(key, ())| key))
    }
}

impl DoubleEndedIterator for Keys {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.0.is_over {
            return None;
        }
        let moved = self.0.step_back();
        let taken = self.0.taken(moved, false, |_| Ok(Some(())));
        taken.map(|taken| taken.map(|(key, ())| key))
    }
}

impl std::iter::FusedIterator for Keys {}

#[cfg(test)]
mod tests;
