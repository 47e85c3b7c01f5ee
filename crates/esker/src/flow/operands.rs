//! Merge operands of one key that no snapshot tells apart: onto what they fold, and into what.

use crate::base::hooks::merge::MergeRule;
use crate::base::types::bytes::Bytes;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::kind::Kind;
use crate::base::types::limits::VALUE_BYTES_MAX;
use crate::base::types::seqno::SeqNo;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;

/// A merge operand and its number.
pub type Operand = (SeqNo, Vec<u8>);

/// What lies below the operands of a stripe.
pub enum Base {
    /// Something may lie in an older stripe or in files that are not part of this; or it is a
    /// value that has yet to expire, and then the operands must stand without it.
    Unknown,
    /// Nothing.
    Missing,
    /// A value that stays.
    Value(Bytes),
}

/// How operands fold.
#[derive(Clone, Copy)]
pub struct Folding<'a> {
    /// The operator; without it operands are kept as they are.
    pub merge: Option<&'a MergeRule>,
    /// Where large values are read, to fold operands into them.
    pub values: &'a OpenValues,
    /// Now, in unix milliseconds.
    pub now_unix_ms: u64,
}

impl Folding<'_> {
    /// What an entry that is no operand is for those above it.
    pub fn base(&self, entry: &Entry<'_>) -> Result<Base> {
        match entry.kind() {
            Kind::Put => Ok(Base::Value(Bytes::copy_of(entry.value))),
            Kind::PutSeparated => self.separated(entry),
            Kind::Delete => Ok(Base::Missing),
            Kind::PutExpiring
            | Kind::PutSeparatedExpiring
            | Kind::PutExpiringMillis
            | Kind::PutSeparatedExpiringMillis => Ok(match has_expired(entry, self.now_unix_ms)? {
                true => Base::Missing,
                false => Base::Unknown,
            }),
            Kind::Merge | Kind::MergeFolded | Kind::RangeDelete => Err(misplaced()),
        }
    }

    // A value that is damaged is left as it is, and the operands stand without it: whoever reads
    // the key is told, and nothing else waits for it.
    fn separated(&self, entry: &Entry<'_>) -> Result<Base> {
        if self.merge.is_none() {
            return Ok(Base::Unknown);
        }
        let Some(pointer) = ValuePointer::of(entry)? else {
            return Err(misplaced());
        };
        match self.values.value(&pointer) {
            Ok(value) => Ok(Base::Value(value)),
            Err(error) if error.kind() == ErrorKind::Corruption => Ok(Base::Unknown),
            Err(error) => Err(error),
        }
    }

    /// The value that the operands make of `base`, if that is known and the operator agrees.
    pub fn fold_onto(&self, key: &[u8], base: &Base, newest_first: &[Operand]) -> Option<Vec<u8>> {
        let base = match base {
            Base::Unknown => return None,
            Base::Missing => None,
            Base::Value(value) => Some(&value[..]),
        };
        let oldest_first: Vec<&[u8]> = newest_first
            .iter()
            .rev()
            .map(|(_, value)| &value[..])
            .collect();
        let folded = self.merge?.fold(key, base, &oldest_first);
        folded.ok().filter(|value| value.len() <= VALUE_BYTES_MAX)
    }

    /// As few operands as do what these do, both newest first; all of them where the operator
    /// panics. Neighbours are combined two by
    /// two, round after round, so that an operator that appends copies a byte of `n` operands
    /// `log2(n)` times and not `n` times.
    pub fn combine(&self, key: &[u8], mut newest_first: Vec<Operand>) -> Vec<Operand> {
        let Some(merge) = self.merge else {
            return newest_first;
        };
        loop {
            let count = newest_first.len();
            let mut combined: Vec<Operand> = Vec::with_capacity(count);
            let mut rest = newest_first.into_iter();
            let mut waiting = rest.next();
            while let Some(newer) = waiting.take() {
                let Some(older) = rest.next() else {
                    combined.push(newer);
                    break;
                };
                let both = merge.combine(key, &older.1, &newer.1);
                let Ok(both) = both else {
                    // It panicked, and would once more for each of what may be a million.
                    combined.extend([newer, older]);
                    combined.extend(rest);
                    return combined;
                };
                match both.filter(|value| value.len() <= VALUE_BYTES_MAX) {
                    Some(value) => {
                        combined.push((newer.0, value));
                        waiting = rest.next();
                    }
                    None => {
                        combined.push(newer);
                        waiting = Some(older);
                    }
                }
            }
            newest_first = combined;
            if newest_first.len() == count {
                return newest_first;
            }
        }
    }
}

/// Whether the value of an entry has expired at that time. `Corruption` when its kind says that it
/// expires, and it does not say when.
pub fn has_expired(entry: &Entry<'_>, now_unix_ms: u64) -> Result<bool> {
    let expiry = entry.expiry()?;
    Ok(expiry.is_some_and(|expiry| expiry.is_past(now_unix_ms)))
}

/// The error of an entry whose kind has no place in sorted files.
pub fn misplaced() -> Error {
    Error::corruption("an entry of this kind cannot lie in a sorted file")
}
