//! Which entries live on when files are rewritten; pure rules over a merged stream.
//!
//! Live snapshots cut the sequence numbers into *stripes*: two entries lie in the same stripe
//! when no snapshot can tell them apart. Of the entries of one key in one stripe only the newest
//! answer counts, so the rest is dropped:
//!
//! - a put, a delete or an expired value covers everything older in its stripe;
//! - a range delete covers what is older than itself in its stripe;
//! - merge operands of a stripe fold into their base where it is at hand, into `None` where no
//!   older entry can exist, and else into one operand. A base that has yet to expire is not
//!   folded: once it has, readers fold the operands onto nothing;
//! - a delete is dropped where nothing older can exist below it, in the oldest stripe.
//!
//! What lives on of the oldest stripe may take a larger number, as long as it stays older than
//! everything newer of its key: neighbours that share a number compress better (decision 0011).

use std::collections::VecDeque;

use esker_phrase::DictionaryId;

use crate::base::hooks::merge::MergeRule;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Carried, Cursor, Encoded};
use crate::base::types::entry::{Entry, is_expired, split_expiring};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::limits::VALUE_BYTES_MAX;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::range_tombstones::{Piece, RangeTombstones};
use crate::store::sst::searchable::dictionary::encoding_of;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;

/// Live snapshots, oldest first, and the stripes they cut.
#[derive(Clone, Debug, Default)]
pub struct Stripes {
    snapshots: Vec<SeqNo>,
}

impl Stripes {
    /// The stripes between `snapshots`, which are in ascending order.
    pub fn new(snapshots: Vec<SeqNo>) -> Stripes {
        assert!(snapshots.is_sorted());
        Stripes { snapshots }
    }

    /// The snapshots, ascending.
    pub fn snapshots(&self) -> &[SeqNo] {
        &self.snapshots
    }

    /// The stripe of an entry: how many snapshots are too old to see it. 0 is the oldest.
    pub fn of(&self, seqno: SeqNo) -> usize {
        self.snapshots.partition_point(|snapshot| *snapshot < seqno)
    }
}

/// What the rules need to know besides the entries.
pub struct Rules<'a> {
    /// Stripes of the live snapshots.
    pub stripes: &'a Stripes,
    /// Range deletes of all inputs.
    pub tombstones: &'a RangeTombstones,
    /// How operands fold; without it they are kept as they are.
    pub merge: Option<&'a MergeRule>,
    /// Where large values are read, to fold operands into them.
    pub values: &'a OpenValues,
    /// Now, in unix seconds.
    pub now_unix_s: u64,
    /// Whether nothing older than the inputs can exist for a user key. Asked in key order.
    pub is_bottom: &'a mut dyn FnMut(&[u8]) -> bool,
    /// The number that an entry of the oldest stripe may be given: below that of everything
    /// newer of the user key that is not among the inputs. Asked in key order.
    pub ceiling: &'a mut dyn FnMut(&[u8]) -> SeqNo,
    /// The values that need not be uncompressed to live on.
    pub verbatim: Verbatim,
}

impl Rules<'_> {
    // The number with which the first survivor of a key lives on.
    #[inline]
    fn rewritten(&mut self, user_key: &[u8], seqno: SeqNo, stripe: usize) -> SeqNo {
        match stripe {
            0 => seqno.max((self.ceiling)(user_key)),
            _ => seqno,
        }
    }
}

/// Values that whoever writes the survivors can copy as they are stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verbatim {
    /// Those that are phrases of this dictionary; `None` is none at all.
    pub dictionary: Option<DictionaryId>,
    /// And have at most so many bytes uncompressed.
    pub plain_len_max: usize,
}

impl Verbatim {
    fn takes(&self, value: &Encoded<'_>) -> bool {
        self.dictionary.map(encoding_of) == Some(value.encoding)
            && value.plain_len <= self.plain_len_max
    }
}

/// What the rules did, for statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries read.
    pub read_count: u64,
    /// Entries that live on.
    pub kept_count: u64,
    /// Merge operands that were folded away.
    pub folded_count: u64,
    /// Values that lived on as they were stored.
    pub verbatim_count: u64,
}

/// The entries of a stream that live on, one after the other.
pub struct CompactionIterator<'a, C> {
    input: MergingCursor<C>,
    rules: Rules<'a>,
    /// The current key, where the input does not tell keys apart or operands are folded.
    key: Vec<u8>,
    has_key: bool,
    /// Stripe in which everything older of the current key is covered.
    covered: Option<usize>,
    /// Whether nothing of the current key lives on yet.
    is_first: bool,
    /// The key of the entry that was handed out last, if its number was rewritten.
    rewritten: Vec<u8>,
    is_input_ready: bool,
    lent_input: bool,
    ready: VecDeque<(Vec<u8>, Vec<u8>)>,
    lent: Option<(Vec<u8>, Vec<u8>)>,
    tally: Tally,
}

/// What to do with the entry the input stands on.
enum Verdict {
    Keep,
    Drop,
    Rewrite(SeqNo, Kind),
    Fold,
}

impl<'a, C: Cursor> CompactionIterator<'a, C> {
    /// The survivors of `input`, which stands nowhere yet; from `lower` on, if given.
    pub fn new(
        mut input: MergingCursor<C>,
        lower: Option<&[u8]>,
        rules: Rules<'a>,
    ) -> Result<CompactionIterator<'a, C>> {
        let is_input_ready = match lower {
            None => input.seek_to_first()?,
            Some(user_key) => input.seek(&key::encode(user_key, Trailer::seek(SeqNo::MAX)))?,
        };
        Ok(CompactionIterator {
            input,
            rules,
            key: Vec::new(),
            has_key: false,
            covered: None,
            is_first: true,
            rewritten: Vec::new(),
            is_input_ready,
            lent_input: false,
            ready: VecDeque::new(),
            lent: None,
            tally: Tally::default(),
        })
    }

    /// The next entry that lives on: internal key and value.
    pub fn advance(&mut self) -> Result<Option<(&[u8], Carried<'_>)>> {
        if std::mem::take(&mut self.lent_input) {
            self.step()?;
        }
        loop {
            if !self.ready.is_empty() {
                self.lent = self.ready.pop_front();
                self.tally.kept_count += 1;
                let lent = self.lent.as_ref();
                return Ok(lent.map(|(key, value)| (&key[..], Carried::Raw(value))));
            }
            if !self.is_input_ready {
                return Ok(None);
            }
            match self.judge()? {
                Verdict::Drop => self.step()?,
                Verdict::Keep => {
                    self.lent_input = true;
                    self.tally.kept_count += 1;
                    let is_verbatim = self.verbatim().is_some();
                    self.tally.verbatim_count += u64::from(is_verbatim);
                    return Ok(Some((self.kept_key(), self.carried()?)));
                }
                Verdict::Rewrite(seqno, kind) => {
                    key::user_key(self.input.key()).clone_into(&mut self.key);
                    self.emit(seqno, kind, Vec::new());
                    self.step()?;
                }
                Verdict::Fold => self.fold()?,
            }
        }
    }

    /// What the rules did so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn step(&mut self) -> Result<()> {
        self.tally.read_count += 1;
        self.is_input_ready = self.input.next()?;
        Ok(())
    }

    // The key of the entry that the input stands on, as it lives on.
    fn kept_key(&self) -> &[u8] {
        match self.rewritten.is_empty() {
            true => self.input.key(),
            false => &self.rewritten,
        }
    }

    // The value of the entry that the input stands on, uncompressed only where it must be.
    fn carried(&self) -> Result<Carried<'_>> {
        match self.verbatim() {
            Some(encoded) => Ok(Carried::Encoded(encoded)),
            None => self.input.value().map(Carried::Raw),
        }
    }

    fn verbatim(&self) -> Option<Encoded<'_>> {
        let rule = &self.rules.verbatim;
        rule.dictionary?;
        self.input.encoded().filter(|encoded| rule.takes(encoded))
    }

    fn judge(&mut self) -> Result<Verdict> {
        let is_of_key = || key::user_key(self.input.key()) == self.key;
        if !self.has_key || !self.input.is_again().unwrap_or_else(is_of_key) {
            self.has_key = true;
            self.covered = None;
            self.is_first = true;
            self.input.keep_key(&mut self.key);
        }
        let (user_key, trailer) = key::split(self.input.key());
        let stripe = self.rules.stripes.of(trailer.seqno());
        if self.covered == Some(stripe) || self.is_hidden(user_key, trailer.seqno()) {
            return Ok(Verdict::Drop);
        }
        let is_gone = match trailer.kind() {
            Kind::Put | Kind::PutSeparated => false,
            Kind::Delete => true,
            Kind::PutExpiring | Kind::PutSeparatedExpiring => {
                let entry = Entry::from_internal(self.input.key(), self.input.value()?);
                is_expired(expiry_of(&entry)?, self.rules.now_unix_s)
            }
            Kind::Merge => return Ok(Verdict::Fold),
            Kind::MergeFolded | Kind::RangeDelete => return Err(misplaced()),
        };
        self.covered = Some(stripe);
        if is_gone && stripe == 0 && (self.rules.is_bottom)(user_key) {
            return Ok(Verdict::Drop);
        }
        let kind = match is_gone {
            true => Kind::Delete,
            false => trailer.kind(),
        };
        let mut seqno = trailer.seqno();
        self.rewritten.clear();
        if std::mem::take(&mut self.is_first) {
            seqno = self.rules.rewritten(user_key, seqno, stripe);
            if seqno > trailer.seqno() {
                key::encode_into(&mut self.rewritten, user_key, Trailer::new(seqno, kind));
            }
        }
        Ok(match kind == trailer.kind() {
            true => Verdict::Keep,
            false => Verdict::Rewrite(seqno, kind),
        })
    }

    fn is_hidden(&self, user_key: &[u8], seqno: SeqNo) -> bool {
        !self.rules.tombstones.is_empty()
            && self.rules.tombstones.is_hidden_in_stripe(
                user_key,
                seqno,
                self.rules.stripes.snapshots(),
            )
    }

    /// Folds the operands of the current key and stripe; the input stands on the newest one.
    fn fold(&mut self) -> Result<()> {
        key::user_key(self.input.key()).clone_into(&mut self.key);
        let newest = key::split(self.input.key()).1.seqno();
        let stripe = self.rules.stripes.of(newest);
        let is_first = std::mem::take(&mut self.is_first);
        let mut newest_first: Vec<Operand> = Vec::new();
        let mut base = Base::Unknown;
        while self.is_input_ready {
            let entry = Entry::from_internal(self.input.key(), self.input.value()?);
            if entry.key != self.key || self.rules.stripes.of(entry.seqno()) != stripe {
                break;
            }
            if self.is_hidden(entry.key, entry.seqno()) {
                base = Base::Missing;
                break;
            }
            if entry.kind() != Kind::Merge {
                base = Base::of(&entry, &self.rules)?;
                break;
            }
            newest_first.push((entry.seqno(), entry.value.to_vec()));
            self.step()?;
        }
        let is_last_of_key = !self.is_input_ready || key::user_key(self.input.key()) != self.key;
        if matches!(base, Base::Unknown)
            && stripe == 0
            && is_last_of_key
            && (self.rules.is_bottom)(&self.key)
        {
            base = Base::Missing;
        }
        let operand_count = newest_first.len();
        let left_count = match self.fold_onto(&base, &newest_first) {
            Some(value) => {
                // What is older in this stripe is folded in, so it goes.
                self.covered = Some(stripe);
                let mut seqno = newest;
                if is_first {
                    seqno = self.rules.rewritten(&self.key, seqno, stripe);
                }
                self.emit(seqno, Kind::Put, value);
                0
            }
            None => {
                let operands = self.combine(newest_first);
                let left_count = operands.len();
                for (seqno, value) in operands {
                    self.emit(seqno, Kind::Merge, value);
                }
                left_count
            }
        };
        self.tally.folded_count += (operand_count - left_count) as u64;
        Ok(())
    }

    /// The value that the operands make of `base`, if that is known and the operator agrees.
    fn fold_onto(&self, base: &Base, newest_first: &[Operand]) -> Option<Vec<u8>> {
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
        let folded = self.rules.merge?.fold(&self.key, base, &oldest_first);
        folded.ok().filter(|value| value.len() <= VALUE_BYTES_MAX)
    }

    /// As few operands as do what these do, both newest first; all of them where the operator
    /// panics. Neighbours are combined two by
    /// two, round after round, so that an operator that appends copies a byte of `n` operands
    /// `log2(n)` times and not `n` times.
    fn combine(&self, mut newest_first: Vec<Operand>) -> Vec<Operand> {
        let Some(merge) = self.rules.merge else {
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
                let both = merge.combine(&self.key, &older.1, &newer.1);
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

    fn emit(&mut self, seqno: SeqNo, kind: Kind, value: Vec<u8>) {
        self.ready
            .push_back((key::encode(&self.key, Trailer::new(seqno, kind)), value));
    }
}

/// A merge operand and its number.
type Operand = (SeqNo, Vec<u8>);

/// What lies below the operands of a stripe.
enum Base {
    /// Something may lie in an older stripe or in files that are not part of this; or it is a
    /// value that has yet to expire, and then the operands must stand without it.
    Unknown,
    /// Nothing.
    Missing,
    /// A value that stays.
    Value(Bytes),
}

impl Base {
    fn of(entry: &Entry<'_>, rules: &Rules<'_>) -> Result<Base> {
        match entry.kind() {
            Kind::Put => Ok(Base::Value(Bytes::copy_of(entry.value))),
            Kind::PutSeparated => Base::separated(entry, rules),
            Kind::Delete => Ok(Base::Missing),
            Kind::PutExpiring | Kind::PutSeparatedExpiring => {
                let is_gone = is_expired(expiry_of(entry)?, rules.now_unix_s);
                Ok(if is_gone {
                    Base::Missing
                } else {
                    Base::Unknown
                })
            }
            Kind::Merge | Kind::MergeFolded | Kind::RangeDelete => Err(misplaced()),
        }
    }
}

impl Base {
    // A value that is damaged is left as it is, and the operands stand without it: whoever reads
    // the key is told, and nothing else waits for it.
    fn separated(entry: &Entry<'_>, rules: &Rules<'_>) -> Result<Base> {
        if rules.merge.is_none() {
            return Ok(Base::Unknown);
        }
        let Some(pointer) = ValuePointer::of(entry)? else {
            return Err(misplaced());
        };
        match rules.values.value(&pointer) {
            Ok(value) => Ok(Base::Value(value)),
            Err(error) if error.kind() == ErrorKind::Corruption => Ok(Base::Unknown),
            Err(error) => Err(error),
        }
    }
}

fn expiry_of(entry: &Entry<'_>) -> Result<u32> {
    split_expiring(entry.value)
        .map(|(expiry, _)| expiry)
        .ok_or_else(|| Error::corruption("an expiring value is shorter than its expiry"))
}

fn misplaced() -> Error {
    Error::corruption("an entry of this kind cannot lie in a sorted file")
}

/// The range deletes of `tombstones` that live on, in order of their start. Where nothing older can
/// exist (`is_bottom`), those of the oldest stripe have hidden all there was to hide.
pub fn surviving_range_deletes(
    tombstones: &RangeTombstones,
    stripes: &Stripes,
    is_bottom: bool,
) -> Vec<RangeDelete> {
    let pieces = tombstones.pieces(stripes.snapshots());
    let deletes = pieces.iter().flat_map(Piece::deletes);
    deletes
        .filter(|delete| !is_bottom || stripes.of(delete.seqno) > 0)
        .collect()
}

#[cfg(test)]
mod tests;
