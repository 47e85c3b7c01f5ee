//! Newest visible value of one key.

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::key::Trailer;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::flow::read::lookup_outcome::{LookupOutcome, outcome};
use crate::flow::read::values::follow;
use crate::flow::read::view::View;
use crate::store::sst::any_reader::{AnyEntryPlace, AnyReader};
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::contract::{Announced, Found};
use crate::store::version::file::FileRecord;
use crate::store::vlog::pointer::ValuePointer;

/// When and how a reader reads.
#[derive(Clone, Copy, Debug)]
pub struct ReadAt {
    /// Which entries are seen.
    pub visibility: Visibility,
    /// The wall time that decides about expiries, in milliseconds since 1970. No later than when
    /// the entries were settled: what ended meanwhile may have been given another end.
    pub now_unix_ms: u64,
    /// How files are read.
    pub options: ReadOptions,
}

/// A value and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valued {
    /// The user's value.
    pub value: Bytes,
    /// When it ends; `None` when it stays. A value with merge operands
    /// folded in stays: from its base's expiry on they are folded into nothing instead.
    pub expiry: Option<Expiry>,
}

/// The value of `key`, if it has one.
///
/// # Errors
/// Those of the files that had to be read; `Unsupported` and `Invalid` as `Folder::fold`.
pub fn get(view: &View, key: &[u8], at: &ReadAt) -> Result<Option<Bytes>> {
    Ok(get_valued(view, key, at)?.map(|valued| valued.value))
}

/// The value of `key` with its expiry, if it has one. Errors as [`get`].
pub fn get_valued(view: &View, key: &[u8], at: &ReadAt) -> Result<Option<Valued>> {
    let mut lookup = Lookup::new(key, at, LookupMode::Value);
    search(view, &mut lookup)?;
    lookup.finish(view)
}

/// A value where it is stored, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is at hand.
    Here(Valued),
    /// Operands make it of what lies below them, which ends by itself.
    Folded(Bytes, Option<Expiry>),
    /// It lies in the value log, and was not read.
    Separated(ValuePointer, Option<Expiry>),
}

impl Stored {
    /// When it ends; `None` when it stays. What operands make does.
    pub fn expiry(&self) -> Option<Expiry> {
        match self {
            Stored::Here(valued) => valued.expiry,
            Stored::Folded(..) => None,
            Stored::Separated(_, expiry) => *expiry,
        }
    }

    /// Bytes that are written again with it: none of a value that lies in a segment.
    pub fn written_bytes(&self) -> usize {
        match self {
            Stored::Here(Valued { value, .. }) | Stored::Folded(value, _) => value.len(),
            Stored::Separated(pointer, _) if pointer.is_to_no_place() => pointer.len as usize,
            Stored::Separated(..) => 0,
        }
    }

    /// Whether it ends then already. What operands make does not: the value below them may.
    pub fn ends_at(&self, expiry: Option<Expiry>) -> bool {
        !matches!(self, Stored::Folded(..)) && self.expiry() == expiry
    }
}

/// The value of `key` as it is stored, if it has one. A large one is not read. Errors as [`get`].
pub fn stored(view: &View, key: &[u8], at: &ReadAt) -> Result<Option<Stored>> {
    let mut lookup = Lookup::new(key, at, LookupMode::Value);
    search(view, &mut lookup)?;
    if let Some((pointer, expiry)) = lookup.separated()? {
        return Ok(Some(Stored::Separated(pointer, expiry)));
    }
    let is_folded = !lookup.operands.is_empty();
    let base = lookup.base_expiry();
    let valued = lookup.finish(view)?;
    Ok(valued.map(|valued| match is_folded {
        true => Stored::Folded(valued.value, base),
        false => Stored::Here(valued),
    }))
}

/// Where in the value log the value of `key` lies, if it does and nothing is folded into it.
/// Neither reads nor folds a value. Errors as [`contains`].
pub fn separated(view: &View, key: &[u8], at: &ReadAt) -> Result<Option<ValuePointer>> {
    let mut lookup = Lookup::new(key, at, LookupMode::Value);
    search(view, &mut lookup)?;
    Ok(lookup.separated()?.map(|(pointer, _)| pointer))
}

/// Whether `key` has a value. Copies nothing and folds nothing: a key with merge operands has a
/// value, even one whose operator would refuse to fold them.
///
/// # Errors
/// Those of the files that had to be read.
pub fn contains(view: &View, key: &[u8], at: &ReadAt) -> Result<bool> {
    let mut lookup = Lookup::new(key, at, LookupMode::Presence);
    search(view, &mut lookup)?;
    Ok(lookup.is_present())
}

/// When the value of `key` ends, if it has one: `Some(None)` when it stays. Reads, copies and folds
/// no value. Errors as [`contains`].
pub fn expiry(view: &View, key: &[u8], at: &ReadAt) -> Result<Option<Option<Expiry>>> {
    let mut lookup = Lookup::new(key, at, LookupMode::Presence);
    search(view, &mut lookup)?;
    Ok(match lookup.base {
        Some(base) => Some(base.expiry),
        // What operands are folded into stays.
        None => (!lookup.operands.is_empty()).then_some(None),
    })
}

/// Asks one source after the other, newest first, until the key is settled.
pub(in crate::flow::read) fn search(view: &View, lookup: &mut Lookup<'_>) -> Result<()> {
    for index in 0..view.parts().memtables.len() {
        lookup.ask_memtable(view, index)?;
        if lookup.is_settled {
            return Ok(());
        }
    }
    for index in 0..view.runs().len() {
        lookup.ask_run(view, index)?;
        if lookup.is_settled {
            return Ok(());
        }
    }
    Ok(())
}

/// What a lookup is to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupMode {
    /// The value.
    Value,
    /// Whether there is a value.
    Presence,
}

/// What is known so far of one key, while source after source is asked, newest first.
#[derive(Debug)]
pub struct Lookup<'k> {
    key: &'k [u8],
    hash: u64,
    /// Not a copy: with one, what is known of a key was copied by a call for each read.
    at: &'k ReadAt,
    mode: LookupMode,
    /// Merge operands that must be folded into what is found below them, newest first.
    operands: Vec<Bytes>,
    base: Option<Valued>,
    /// Whether the base's value is a pointer still.
    is_base_separated: bool,
    is_settled: bool,
}

/// Where a key would be in a run.
#[derive(Debug)]
pub struct RunPlace {
    /// The file, by its place in the run.
    file: usize,
    /// Where in the file; `None` where only its range deletes may say anything.
    in_file: Option<AnyEntryPlace>,
}

/// A raw value where it lies.
enum Raw<'a> {
    Lent(&'a [u8]),
    Own(Bytes),
}

impl<'k> Lookup<'k> {
    /// A lookup of `key` that has asked nobody yet.
    pub fn new(key: &'k [u8], at: &'k ReadAt, mode: LookupMode) -> Lookup<'k> {
        Lookup {
            key,
            hash: hash64(key),
            at,
            mode,
            operands: Vec::new(),
            base: None,
            is_base_separated: false,
            is_settled: false,
        }
    }

    /// The key.
    pub fn key(&self) -> &'k [u8] {
        self.key
    }

    /// When what was found below the operands ends, or the value itself where there are none.
    pub fn base_expiry(&self) -> Option<Expiry> {
        self.base.as_ref().and_then(|base| base.expiry)
    }

    // Where the value lies apart, and when it ends, if nothing is folded into it.
    fn separated(&self) -> Result<Option<(ValuePointer, Option<Expiry>)>> {
        match &self.base {
            Some(base) if self.is_base_separated && self.operands.is_empty() => {
                let pointer = ValuePointer::decode(&base.value)?;
                Ok(Some((pointer, base.expiry)))
            }
            _ => Ok(None),
        }
    }

    /// Whether older sources need not be asked any more.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Asks the memtable in that place.
    #[inline]
    pub fn ask_memtable(&mut self, view: &View, index: usize) -> Result<()> {
        match view.parts().memtables[index].is_empty() {
            true => Ok(()),
            false => self.ask_filled(view, index),
        }
    }

    #[inline(never)]
    fn ask_filled(&mut self, view: &View, index: usize) -> Result<()> {
        let table = &view.parts().memtables[index];
        let at = view.newest_seen(index, self.at.visibility);
        let cover = view.memtable_cover(index, self.key, at);
        for entry in table.history(self.key, at) {
            self.take(entry.trailer, Raw::Lent(entry.value), cover)?;
            if self.is_settled {
                return Ok(());
            }
        }
        self.is_settled = cover.is_some();
        Ok(())
    }

    /// Asks the run in that place.
    #[inline]
    pub fn ask_run(&mut self, view: &View, index: usize) -> Result<()> {
        let Some(file) = self.file_in(view, index) else {
            return Ok(());
        };
        let reader = view.open_at(index, file)?;
        let file = &view.runs()[index].files()[file];
        let (key, hash, options) = (self.key, self.hash, self.at.options);
        let first = |at| reader.get_hashed(key, hash, at, &options);
        self.ask_file(view, file, &reader, first)
    }

    /// The file of the run in that place that is to be asked, by its place in the run.
    #[inline]
    fn file_in(&self, view: &View, index: usize) -> Option<usize> {
        if view.is_ruled_out(index, self.hash) {
            return None;
        }
        let run = &view.runs()[index];
        let place = run.find(view.comparator(), self.key)?;
        let smallest = run.files()[place].smallest_seqno;
        smallest
            .is_visible_at(self.at.visibility.committed())
            .then_some(place)
    }

    /// Says what asking the run in that place will read, as far as what is in memory leads.
    /// `is_index_announced` as in [`AnyReader::announce`]. Errors: of files that are opened, and of
    /// what is read of an index.
    pub fn announce(
        &self,
        view: &View,
        index: usize,
        is_index_announced: bool,
        announcer: &mut Announcer,
    ) -> Result<Announced<RunPlace>> {
        let Some(file) = self.file_in(view, index) else {
            return Ok(Announced::Absent);
        };
        let reader = view.open_at(index, file)?;
        let (newest, options) = (self.at.visibility.committed(), &self.at.options);
        let announced = reader.announce(
            self.key,
            self.hash,
            newest,
            options,
            is_index_announced,
            announcer,
        )?;
        match announced {
            // What the file's range deletes say of the key is to be heard.
            Announced::Absent if !reader.range_deletes().is_empty() => {
                let in_file = None;
                Ok(Announced::Place(RunPlace { file, in_file }))
            }
            announced => announced.try_map(|in_file| {
                let in_file = Some(in_file);
                Ok(RunPlace { file, in_file })
            }),
        }
    }

    /// Asks the run in that place, where [`Lookup::announce`] came to in it.
    pub fn ask_at_place(&mut self, view: &View, index: usize, at: RunPlace) -> Result<()> {
        let reader = view.open_at(index, at.file)?;
        let file = &view.runs()[index].files()[at.file];
        let (key, hash, options) = (self.key, self.hash, self.at.options);
        let first = |newest| match at.in_file {
            Some(in_file) => reader.get_at_place(in_file, key, hash, newest, &options),
            None => Ok(None),
        };
        self.ask_file(view, file, &reader, first)
    }

    /// Takes the entries of the key in a file, of which `first` gets the newest that is visible at
    /// a number.
    #[inline]
    fn ask_file(
        &mut self,
        view: &View,
        file: &FileRecord,
        reader: &AnyReader,
        first: impl FnOnce(SeqNo) -> Result<Option<Found>>,
    ) -> Result<()> {
        let newest = self.at.visibility.committed();
        let tombstones = view.file_tombstones(file, reader);
        let cover = tombstones.and_then(|tombstones| tombstones.newest_cover(self.key, newest));
        let mut next = first(newest)?;
        while let Some(found) = next {
            self.take(found.trailer, Raw::Own(found.value), cover)?;
            if self.is_settled {
                return Ok(());
            }
            next = match found.trailer.seqno().before() {
                Some(at) => reader.get_hashed(self.key, self.hash, at, &self.at.options)?,
                None => None,
            };
        }
        self.is_settled = cover.is_some();
        Ok(())
    }

    /// Takes the value from memory if it lies apart and is there; otherwise says that
    /// [`Lookup::finish`] will read it.
    pub fn announce_value(&mut self, view: &View) -> Result<()> {
        if self.is_base_separated
            && let Some(base) = &mut self.base
        {
            let pointer = ValuePointer::decode(&base.value)?;
            if let Some(value) = view.parts().values.value_or_announce(&pointer) {
                base.value = value;
                self.is_base_separated = false;
            }
        }
        Ok(())
    }

    /// Whether the key has a value, for a lookup of presence.
    pub fn is_present(&self) -> bool {
        self.base.is_some() || !self.operands.is_empty()
    }

    /// The value of the key, all sources asked; reads it if it lies apart.
    #[inline]
    pub fn finish(self, view: &View) -> Result<Option<Valued>> {
        match self.is_base_separated || !self.operands.is_empty() {
            false => Ok(self.base),
            true => self.assemble(view),
        }
    }

    // Apart: what is known of a key was copied for this by each read, and few need it.
    #[inline(never)]
    fn assemble(mut self, view: &View) -> Result<Option<Valued>> {
        if self.is_base_separated
            && let Some(base) = &mut self.base
        {
            let pointer = std::mem::take(&mut base.value);
            base.value = follow(&view.parts().values, pointer, true)?;
        }
        if self.operands.is_empty() {
            return Ok(self.base);
        }
        let base = self.base.as_ref().map(|base| &base.value[..]);
        let folded = view.parts().folder.fold(self.key, base, &self.operands)?;
        Ok(Some(Valued {
            value: Bytes::from(folded),
            expiry: None,
        }))
    }

    /// Takes the next older entry of the key.
    fn take(&mut self, trailer: Trailer, raw: Raw<'_>, cover: Option<SeqNo>) -> Result<()> {
        if cover > Some(trailer.seqno()) {
            self.is_settled = true;
            return Ok(());
        }
        match outcome(
            self.key,
            trailer,
            || Ok(raw.bytes()),
            || self.at.now_unix_ms,
        )? {
            LookupOutcome::Operand => {
                // An operand is a value, whatever lies below it.
                self.is_settled = self.mode == LookupMode::Presence;
                self.operands.push(self.part(raw, 0));
            }
            LookupOutcome::Gone => self.is_settled = true,
            LookupOutcome::Value(part) => {
                self.is_settled = true;
                self.is_base_separated = part.is_separated && self.mode == LookupMode::Value;
                self.base = Some(Valued {
                    value: self.part(raw, part.start),
                    expiry: part.expiry,
                });
            }
        }
        Ok(())
    }

    /// The value from `start` on, unless nobody wishes to have it.
    fn part(&self, raw: Raw<'_>, start: usize) -> Bytes {
        match (self.mode, raw) {
            (LookupMode::Presence, _) => Bytes::EMPTY,
            (LookupMode::Value, Raw::Lent(bytes)) => Bytes::copy_of(&bytes[start..]),
            (LookupMode::Value, Raw::Own(bytes)) if start == 0 => bytes,
            (LookupMode::Value, Raw::Own(bytes)) => bytes.slice(start..bytes.len()),
        }
    }
}

impl Raw<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Raw::Lent(bytes) => bytes,
            Raw::Own(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests;
