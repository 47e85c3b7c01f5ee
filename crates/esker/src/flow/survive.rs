//! Which entries live on when files are rewritten; pure rules over a merged stream.
//!
//! Live snapshots cut the sequence numbers into *stripes*: two entries lie in the same stripe
//! when no snapshot can tell them apart. Of the entries of one key in one stripe only the newest
//! answer counts, so the rest is dropped:
//!
//! - a put, a delete or an expired value covers everything older in its stripe;
//! - a range delete covers what is older than itself in its stripe;
//! - merge operands of a stripe fold into their base where it is at hand, into `None` where no
//!   older entry can exist, and else into one operand;
//! - a delete is dropped where nothing older can exist below it, in the oldest stripe.

use std::collections::VecDeque;

use crate::base::hooks::merge::MergeRule;
use crate::base::types::cursor::Cursor;
use crate::base::types::entry::{Entry, is_expired, join_expiring, split_expiring};
use crate::base::types::error::{Error, Result};
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::shadow::{Piece, Shadow};

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
    pub shadow: &'a Shadow,
    /// How operands fold; without it they are kept as they are.
    pub merge: Option<&'a MergeRule>,
    /// Now, in unix seconds.
    pub now_unix_s: u64,
    /// Whether nothing older than the inputs can exist for a user key. Asked in key order.
    pub is_bottom: &'a mut dyn FnMut(&[u8]) -> bool,
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
}

/// The entries of a stream that live on, one after the other.
pub struct Survivors<'a> {
    input: Box<dyn Cursor + 'a>,
    rules: Rules<'a>,
    key: Vec<u8>,
    has_key: bool,
    /// Stripe in which everything older of the current key is covered.
    covered: Option<usize>,
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
    Rewrite(Kind),
    Fold,
}

impl<'a> Survivors<'a> {
    /// The survivors of `input`, which stands nowhere yet; from `lower` on, if given.
    pub fn new(
        mut input: Box<dyn Cursor + 'a>,
        lower: Option<&[u8]>,
        rules: Rules<'a>,
    ) -> Result<Survivors<'a>> {
        let is_input_ready = match lower {
            None => input.seek_to_first()?,
            Some(user_key) => input.seek(&key::encode(user_key, Trailer::seek(SeqNo::MAX)))?,
        };
        Ok(Survivors {
            input,
            rules,
            key: Vec::new(),
            has_key: false,
            covered: None,
            is_input_ready,
            lent_input: false,
            ready: VecDeque::new(),
            lent: None,
            tally: Tally::default(),
        })
    }

    /// The next entry that lives on: internal key and value.
    pub fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if std::mem::take(&mut self.lent_input) {
            self.step()?;
        }
        loop {
            self.lent = self.ready.pop_front();
            if self.lent.is_some() {
                self.tally.kept_count += 1;
                return Ok(self
                    .lent
                    .as_ref()
                    .map(|(key, value)| (&key[..], &value[..])));
            }
            if !self.is_input_ready {
                return Ok(None);
            }
            match self.judge()? {
                Verdict::Drop => self.step()?,
                Verdict::Keep => {
                    self.lent_input = true;
                    self.tally.kept_count += 1;
                    return Ok(Some((self.input.key(), self.input.value())));
                }
                Verdict::Rewrite(kind) => {
                    let seqno = key::split(self.input.key()).1.seqno();
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

    fn judge(&mut self) -> Result<Verdict> {
        let entry = Entry::from_internal(self.input.key(), self.input.value());
        if !self.has_key || entry.key != self.key {
            self.key.clear();
            self.key.extend_from_slice(entry.key);
            self.has_key = true;
            self.covered = None;
        }
        let stripe = self.rules.stripes.of(entry.seqno());
        if self.covered == Some(stripe) || self.is_hidden(entry.key, entry.seqno()) {
            return Ok(Verdict::Drop);
        }
        let is_gone = match entry.kind() {
            Kind::Put => false,
            Kind::Delete => true,
            Kind::PutExpiring => is_expired(expiry_of(&entry)?, self.rules.now_unix_s),
            Kind::Merge => return Ok(Verdict::Fold),
            Kind::MergeFolded | Kind::RangeDelete => {
                return Err(Error::corruption(
                    "an entry of this kind cannot lie in a sorted file",
                ));
            }
        };
        self.covered = Some(stripe);
        if !is_gone {
            return Ok(Verdict::Keep);
        }
        if stripe == 0 && (self.rules.is_bottom)(&self.key) {
            return Ok(Verdict::Drop);
        }
        let is_delete = entry.kind() == Kind::Delete;
        Ok(if is_delete {
            Verdict::Keep
        } else {
            Verdict::Rewrite(Kind::Delete)
        })
    }

    fn is_hidden(&self, user_key: &[u8], seqno: SeqNo) -> bool {
        !self.rules.shadow.is_empty()
            && self.rules.shadow.is_hidden_in_stripe(
                user_key,
                seqno,
                self.rules.stripes.snapshots(),
            )
    }

    /// Folds the operands of the current key and stripe; the input stands on the newest one.
    fn fold(&mut self) -> Result<()> {
        let newest = key::split(self.input.key()).1.seqno();
        let stripe = self.rules.stripes.of(newest);
        let mut operands: Vec<(SeqNo, Vec<u8>)> = Vec::new();
        let mut base = Base::Unknown;
        while self.is_input_ready {
            let entry = Entry::from_internal(self.input.key(), self.input.value());
            if entry.key != self.key || self.rules.stripes.of(entry.seqno()) != stripe {
                break;
            }
            if self.is_hidden(entry.key, entry.seqno()) {
                base = Base::Missing;
                break;
            }
            match entry.kind() {
                Kind::Merge => operands.push((entry.seqno(), entry.value.to_vec())),
                _ => {
                    base = Base::of(&entry, self.rules.now_unix_s)?;
                    break;
                }
            }
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
        self.emit_folded(operands, base);
        Ok(())
    }

    fn emit_folded(&mut self, operands: Vec<(SeqNo, Vec<u8>)>, base: Base) {
        let newest = operands.first().map_or(SeqNo::ZERO, |(seqno, _)| *seqno);
        let oldest_first: Vec<&[u8]> = operands.iter().rev().map(|(_, value)| &value[..]).collect();
        let known = match &base {
            Base::Unknown => None,
            Base::Missing => Some((None, None)),
            Base::Value(value, expiry) => Some((Some(&value[..]), *expiry)),
        };
        if let (Some((value, expiry)), Some(merge)) = (known, self.rules.merge)
            && let Ok(folded) = merge.0.fold(&self.key, value, &oldest_first)
        {
            self.tally.folded_count += operands.len() as u64;
            // What is older in this stripe is folded in; the loop drops it.
            self.covered = Some(self.rules.stripes.of(newest));
            match expiry {
                None => self.emit(newest, Kind::Put, folded),
                Some(expiry) => {
                    self.emit(newest, Kind::PutExpiring, join_expiring(expiry, &folded));
                }
            }
            return;
        }
        if let Some(one) = self.combine(&oldest_first) {
            self.tally.folded_count += operands.len() as u64 - 1;
            self.emit(newest, Kind::Merge, one);
            return;
        }
        for (seqno, value) in operands {
            self.emit(seqno, Kind::Merge, value);
        }
    }

    fn combine(&self, oldest_first: &[&[u8]]) -> Option<Vec<u8>> {
        let merge = self.rules.merge?;
        let (first, rest) = oldest_first.split_first()?;
        rest.iter().try_fold(first.to_vec(), |older, newer| {
            merge.0.combine(&self.key, &older, newer)
        })
    }

    fn emit(&mut self, seqno: SeqNo, kind: Kind, value: Vec<u8>) {
        self.ready
            .push_back((key::encode(&self.key, Trailer::new(seqno, kind)), value));
    }
}

/// What lies below the operands of a stripe.
enum Base {
    /// Something may lie in an older stripe or in files that are not part of this.
    Unknown,
    /// Nothing.
    Missing,
    /// A value, with its expiry.
    Value(Vec<u8>, Option<u32>),
}

impl Base {
    fn of(entry: &Entry<'_>, now_unix_s: u64) -> Result<Base> {
        match entry.kind() {
            Kind::Put => Ok(Base::Value(entry.value.to_vec(), None)),
            Kind::PutExpiring => {
                let (expiry, value) = split_expiring(entry.value).ok_or_else(short_value)?;
                if is_expired(expiry, now_unix_s) {
                    return Ok(Base::Missing);
                }
                Ok(Base::Value(value.to_vec(), Some(expiry)))
            }
            _ => Ok(Base::Missing),
        }
    }
}

fn expiry_of(entry: &Entry<'_>) -> Result<u32> {
    split_expiring(entry.value)
        .map(|(expiry, _)| expiry)
        .ok_or_else(short_value)
}

fn short_value() -> Error {
    Error::corruption("an expiring value is shorter than its expiry")
}

/// The range deletes of `shadow` that live on, in order of their start. Where nothing older can
/// exist (`is_bottom`), those of the oldest stripe have hidden all there was to hide.
pub fn surviving_range_deletes(
    shadow: &Shadow,
    stripes: &Stripes,
    is_bottom: bool,
) -> Vec<RangeDelete> {
    let pieces = shadow.pieces(stripes.snapshots());
    let deletes = pieces.iter().flat_map(Piece::deletes);
    deletes
        .filter(|delete| !is_bottom || stripes.of(delete.seqno) > 0)
        .collect()
}

#[cfg(test)]
mod tests;
