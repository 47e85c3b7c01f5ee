//! Which entries live on when files are rewritten; pure rules over a merged stream.
//!
//! Live snapshots cut the sequence numbers into stripes (`flow/stripes`). Of the entries of one key
//! in one stripe only the newest answer counts, so the rest is dropped:
//!
//! - a put, a delete or an expired value covers everything older in its stripe;
//! - a range delete covers what is older than itself in its stripe;
//! - merge operands of a stripe fold into their base where it is at hand, into `None` where no
//!   older entry can exist, and else into one operand. A base that has yet to expire is not
//!   folded: once it has, readers fold the operands onto nothing;
//! - a delete is dropped where nothing older can exist below it, in the oldest stripe.
//!
//! A value that the keyspace's retain rule drops is as good as expired. The rule is asked only
//! about what is in the newest stripe, which no snapshot sees, and has nothing of its key above it
//! here: under operands it is not the key's value.
//!
//! What lives on of the oldest stripe may take a larger number, as long as it stays older than
//! everything newer of its key: neighbours that share a number compress better (decision 0011).

use std::collections::VecDeque;

use esker_phrase::DictionaryId;

use crate::base::hooks::merge::MergeRule;
use crate::base::types::cursor::{Carried, Cursor, Encoded};
use crate::base::types::entry::Entry;
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::flow::operands::{Base, Folding, Operand, has_expired, misplaced};
use crate::flow::read::lookup_outcome::{LookupOutcome, Part, outcome};
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::range_tombstones::{Piece, RangeTombstones};
use crate::flow::retaining::Retaining;
use crate::flow::stripes::Stripes;
use crate::store::sst::searchable::dictionary::encoding_of;
use crate::store::vlog::open_values::OpenValues;

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
    /// Now, in unix milliseconds.
    pub now_unix_ms: u64,
    /// Whether nothing older than the inputs can exist for a user key. Asked in key order.
    pub is_bottom: &'a mut dyn FnMut(&[u8]) -> bool,
    /// The number that an entry of the oldest stripe may be given: below that of everything
    /// newer of the user key that is not among the inputs. Asked in key order.
    pub ceiling: &'a mut dyn FnMut(&[u8]) -> SeqNo,
    /// The values that need not be uncompressed to live on.
    pub verbatim: Verbatim,
    /// The user's say in what lives on.
    pub retaining: Option<&'a Retaining>,
}

impl<'a> Rules<'a> {
    fn folding(&self) -> Folding<'a> {
        Folding {
            merge: self.merge,
            values: self.values,
            now_unix_ms: self.now_unix_ms,
        }
    }

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
    /// Values that the retain rule dropped.
    pub unretained_count: u64,
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
            Kind::PutExpiring
            | Kind::PutSeparatedExpiring
            | Kind::PutExpiringMillis
            | Kind::PutSeparatedExpiringMillis => {
                let entry = Entry::from_internal(self.input.key(), self.input.value()?);
                has_expired(&entry, self.rules.now_unix_ms)?
            }
            Kind::Merge => return Ok(Verdict::Fold),
            Kind::MergeFolded | Kind::RangeDelete => return Err(misplaced()),
        };
        self.covered = Some(stripe);
        let is_dropped = !is_gone && self.is_dropped(stripe)?;
        self.tally.unretained_count += u64::from(is_dropped);
        let is_gone = is_gone || is_dropped;
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

    // The rule, if it is to be asked about an entry of that stripe that is the first of its key, or
    // not.
    #[inline]
    fn retaining(&self, is_first: bool, stripe: usize) -> Option<&'a Retaining> {
        let retaining = self.rules.retaining?;
        (is_first && stripe == self.rules.stripes.newest()).then_some(retaining)
    }

    // Whether the rule drops the entry that the input stands on.
    fn is_dropped(&self, stripe: usize) -> Result<bool> {
        let Some(retaining) = self.retaining(self.is_first, stripe) else {
            return Ok(false);
        };
        let (user_key, trailer) = key::split(self.input.key());
        let raw = || self.input.value();
        match outcome(user_key, trailer, raw, || self.rules.now_unix_ms)? {
            LookupOutcome::Value(part) => retaining.drops(user_key, part, &raw, self.rules.values),
            LookupOutcome::Gone | LookupOutcome::Operand => Ok(false),
        }
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
        let folding = self.rules.folding();
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
                base = folding.base(&entry)?;
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
        let left_count = match folding.fold_onto(&self.key, &base, &newest_first) {
            Some(value) => {
                // What is older in this stripe is folded in, so it goes.
                self.covered = Some(stripe);
                self.emit_folded(newest, is_first, value)?;
                0
            }
            None => {
                let operands = folding.combine(&self.key, newest_first);
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

    // What operands made of their base is a value: the rule is asked about it.
    fn emit_folded(&mut self, newest: SeqNo, is_first: bool, value: Vec<u8>) -> Result<()> {
        let stripe = self.rules.stripes.of(newest);
        let is_dropped = match self.retaining(is_first, stripe) {
            None => false,
            Some(retaining) => {
                let raw = || Ok(&value[..]);
                retaining.drops(&self.key, Part::WHOLE, &raw, self.rules.values)?
            }
        };
        self.tally.unretained_count += u64::from(is_dropped);
        if is_dropped && stripe == 0 && (self.rules.is_bottom)(&self.key) {
            return Ok(());
        }
        let seqno = match is_first {
            true => self.rules.rewritten(&self.key, newest, stripe),
            false => newest,
        };
        match is_dropped {
            true => self.emit(seqno, Kind::Delete, Vec::new()),
            false => self.emit(seqno, Kind::Put, value),
        }
        Ok(())
    }

    fn emit(&mut self, seqno: SeqNo, kind: Kind, value: Vec<u8>) {
        self.ready
            .push_back((key::encode(&self.key, Trailer::new(seqno, kind)), value));
    }
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
