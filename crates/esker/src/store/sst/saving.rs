//! What is whole of a damaged sorted file, taken in order, and what is lost between.

use std::cmp::Ordering;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::key;
use crate::store::vlog::pointer::ValuePointer;

/// A part of a sorted file that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPart {
    /// What it is, with its article.
    pub what: &'static str,
    /// The last user key that was read before it; `None` where there was none.
    pub after: Option<Bytes>,
    /// The first user key that was read behind it; `None` where there was none.
    pub before: Option<Bytes>,
    /// What is wrong with it.
    pub cause: String,
}

/// What is done with an entry: internal key and raw value.
pub type Take<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

/// Takes the entries of a damaged file, in their order.
///
/// An entry that is not behind the one before, or makes no sense, is not taken: whatever is taken
/// can be written into a new file.
pub struct Saving<'a> {
    comparator: Comparator,
    take: &'a mut Take<'a>,
    /// Internal key of the entry taken last; empty before the first.
    last: Vec<u8>,
    lost: Vec<LostPart>,
    /// Whether nothing was taken since the last loss.
    is_behind_loss: bool,
}

impl<'a> Saving<'a> {
    /// Hands entries to `take`, internal key and raw value. An error of it ends everything.
    pub fn new(comparator: Comparator, take: &'a mut Take<'a>) -> Saving<'a> {
        Saving {
            comparator,
            take,
            last: Vec::new(),
            lost: Vec::new(),
            is_behind_loss: false,
        }
    }

    /// How keys compare.
    pub fn comparator(&self) -> &Comparator {
        &self.comparator
    }

    /// Whether an entry may come next.
    pub fn fits(&self, internal_key: &[u8]) -> bool {
        self.last.is_empty()
            || key::compare(&self.comparator, &self.last, internal_key) == Ordering::Less
    }

    /// Takes an entry; one that does not fit is lost.
    pub fn entry(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        if !self.fits(internal_key) || !makes_sense(internal_key, value) {
            self.lose("an entry", &Error::corruption("it makes no sense here"));
            return Ok(());
        }
        if std::mem::take(&mut self.is_behind_loss)
            && let Some(lost) = self.lost.last_mut()
        {
            lost.before = Some(Bytes::copy_of(key::user_key(internal_key)));
        }
        self.last.clear();
        self.last.extend_from_slice(internal_key);
        (self.take)(internal_key, value)
    }

    /// Notes that `what` is lost. Losses without an entry between them are one.
    pub fn lose(&mut self, what: &'static str, cause: &Error) {
        if std::mem::replace(&mut self.is_behind_loss, true) {
            return;
        }
        let last = &self.last;
        self.lost.push(LostPart {
            what,
            after: (!last.is_empty()).then(|| Bytes::copy_of(key::user_key(last))),
            before: None,
            cause: cause.to_string(),
        });
    }

    /// What was read; nothing where it is damaged, and then `what` is lost.
    ///
    /// Errors: whatever is no damage: a file that cannot be read now is not lost.
    pub fn read<T>(&mut self, what: &'static str, read: Result<T>) -> Result<Option<T>> {
        let read = only_damage(read)?;
        Ok(read.map_err(|error| self.lose(what, &error)).ok())
    }

    /// Everything that was lost, in the order of keys.
    pub fn finish(self) -> Vec<LostPart> {
        self.lost
    }
}

/// What was read, or the damage that it has.
///
/// Errors: whatever is no damage.
pub fn only_damage<T>(read: Result<T>) -> Result<std::result::Result<T, Error>> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(error) if error.kind() == ErrorKind::Corruption => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

fn makes_sense(internal_key: &[u8], value: &[u8]) -> bool {
    let entry = Entry::from_internal(internal_key, value);
    entry.expiry().is_ok() && ValuePointer::of(&entry).is_ok()
}
