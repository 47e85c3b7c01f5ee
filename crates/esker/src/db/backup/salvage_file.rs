//! What a sorted file comes to: whole, saved in part, or lost.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::Cursor;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::db::backup::lost_values::{LostValue, LostValueList};
use crate::db::backup::report::{KeyGap, LostValues};
use crate::db::backup::segments::{Segments, delete_for};
use crate::env::bundle::Env;
use crate::env::fs::ReadFile;
use crate::flow::output::{Output, OutputSettings};
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::adoption::FileBinding;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::sst::origin::Origin;
use crate::store::sst::salvage::SstRemains;
use crate::store::sst::saving::{LostPart, only_damage};
use crate::store::version::file::FileRecord;
use crate::store::version::identity::{Known, record_of};

/// Bytes of blocks kept in memory: every file is read once, from front to back.
const CACHE_BYTES: usize = 8 << 20;

/// Whose a file is, and what it comes to.
pub struct Examined {
    /// The keyspace, if anybody says.
    pub keyspace: Option<KeyspaceId>,
    /// What it comes to.
    pub state: FileState,
}

/// What a file comes to.
pub enum FileState {
    /// All of it, and every value it points to, is there.
    Whole(Box<Sound>),
    /// Something is lost of it or of its values; the rest was written anew, or counted.
    Saved(Saved),
    /// Nothing of it can be had.
    Lost(Error),
}

/// A file that is whole.
pub struct Sound {
    /// What the tree keeps of it.
    pub record: FileRecord,
    /// Its range deletes.
    pub range_deletes: Vec<RangeDelete>,
    /// Where it comes from.
    pub origin: Origin,
}

/// What was saved of a file.
#[derive(Default)]
pub struct Saved {
    /// What is wrong with the file itself, if something is.
    pub cause: Option<Error>,
    /// The new files; none when nothing is left, or it was only counted.
    pub records: Vec<FileRecord>,
    /// Its range deletes.
    pub range_deletes: Vec<RangeDelete>,
    /// Entries that were saved.
    pub entry_count: u64,
    /// The largest sequence number among them.
    pub last_seqno: SeqNo,
    /// Where entries are lost.
    pub gaps: Vec<KeyGap>,
    /// Values that are lost, without the name of their keyspace.
    pub values: Vec<LostValues>,
    /// Name of its keyspace, if it says.
    pub keyspace_name: Bytes,
}

/// Reads sorted files for repair.
pub struct FileExaminer<'a> {
    env: &'a Env,
    dir: &'a Path,
    /// The value log.
    pub segments: Segments<'a>,
    cache: Arc<BlockCache>,
}

impl<'a> FileExaminer<'a> {
    /// An examiner of the files in `dir`, which point into `segments`.
    pub fn new(env: &'a Env, dir: &'a Path, segments: Segments<'a>) -> FileExaminer<'a> {
        FileExaminer {
            env,
            dir,
            segments,
            cache: Arc::new(ShardedCache::new(CACHE_BYTES)),
        }
    }

    /// Reads all of the file with that number and of the values that it points to; what is whole
    /// of a file that is not goes into files by `settings`, or is counted.
    ///
    /// Errors: `Invalid` when the file has another order of keys; those of writing, and those of
    /// reading that are no damage.
    pub fn examine(
        &mut self,
        number: FileNumber,
        comparator: &Comparator,
        known: Option<Known<'_>>,
        settings: impl FnOnce(KeyspaceId) -> Result<Option<OutputSettings>>,
    ) -> Result<Examined> {
        let path = self.dir.join(FileName::Sst(number).to_string());
        let file = self.env.fs.open_read(&path)?;
        let binding = known.map_or(number.into(), |known| known.record.binding());
        let cause = match self.read_whole(&file, binding, comparator, known)? {
            Ok((keyspace, sound)) => {
                let lost = match sound.record.values.is_empty() {
                    true => None,
                    false => self.first_lost_value(&file, binding, comparator)?,
                };
                if lost.is_none() {
                    let keyspace = Some(keyspace);
                    let state = FileState::Whole(Box::new(sound));
                    return Ok(Examined { keyspace, state });
                }
                None
            }
            Err(Flaw::Stranger(error)) => return Ok(Examined::lost(known, error)),
            Err(Flaw::Damaged(error)) => Some(error),
        };
        let cache = Arc::clone(&self.cache);
        let remains = SstRemains::read(file, binding, comparator.clone(), cache)?;
        let said = remains.props().map(|props| props.keyspace);
        let keyspace = known.map(|known| known.keyspace).or(said);
        // What was written elsewhere names a keyspace of that place.
        let said = said.filter(|_| binding.renumbering.is_none());
        let (Some(keyspace), true) = (keyspace, said.is_none_or(|said| Some(said) == keyspace))
        else {
            let error = Error::corruption("nothing says whose entries these are");
            return Ok(Examined::lost(known, cause.unwrap_or(error)));
        };
        let mut saver = Saver::new(&mut self.segments, comparator, known, keyspace);
        let range_deletes = remains.range_deletes().to_vec();
        saver.output =
            settings(keyspace)?.map(|settings| Output::new(settings, range_deletes.clone()));
        let saved = remains.save(&mut |key, value| saver.take(key, value));
        let Ok(lost) = only_damage(saved)? else {
            let error = Error::corruption("its entries are none of that file's");
            return Ok(Examined::lost(known, error.in_file(FileName::Sst(number))));
        };
        let mut saved = saver.finish()?;
        let deletes = range_deletes.iter().map(|range| range.seqno);
        saved.last_seqno = deletes.max().unwrap_or(SeqNo::ZERO).max(saved.last_seqno);
        saved.gaps = gaps_of(lost, known);
        if let Some(error) = remains.lost_range_deletes() {
            saved.gaps.push(KeyGap {
                what: "the range deletes".into(),
                after: None,
                before: None,
                cause: format!("{error}; what they deleted is there again"),
            });
        }
        let props = remains.props();
        saved.keyspace_name =
            props.map_or(Bytes::EMPTY, |props| props.origin.keyspace_name.clone());
        (saved.cause, saved.range_deletes) = (cause, range_deletes);
        Ok(Examined {
            keyspace: Some(keyspace),
            state: FileState::Saved(saved),
        })
    }

    // Every byte, and what the manifest says of it.
    fn read_whole(
        &self,
        file: &Arc<dyn ReadFile>,
        binding: FileBinding,
        comparator: &Comparator,
        known: Option<Known<'_>>,
    ) -> Result<std::result::Result<(KeyspaceId, Sound), Flaw>> {
        let cache = Arc::clone(&self.cache);
        let opened = AnyReader::open(Arc::clone(file), binding, comparator.clone(), cache);
        let reader = match only_damage_of(opened, known.is_some())? {
            Ok(reader) => reader,
            Err(error) => return Ok(Err(Flaw::Damaged(error))),
        };
        let range_deletes = reader.range_deletes().to_vec();
        let mut record = record_of(
            binding.number,
            reader.finished(),
            &range_deletes,
            comparator,
        );
        record.adoption = known.and_then(|known| known.record.adoption);
        let keyspace = reader.props().keyspace;
        if let Some(known) = known
            && let Err(error) = known.check_record(keyspace, record.clone())
        {
            return Ok(Err(Flaw::Stranger(error)));
        }
        // What was written elsewhere names a keyspace of that place.
        let keyspace = known.map_or(keyspace, |known| known.keyspace);
        Ok(match only_damage(reader.verify())? {
            Ok(()) => Ok((
                keyspace,
                Sound {
                    record,
                    range_deletes,
                    origin: reader.props().origin.clone(),
                },
            )),
            Err(error) => Err(Flaw::Damaged(error)),
        })
    }

    fn first_lost_value(
        &mut self,
        file: &Arc<dyn ReadFile>,
        binding: FileBinding,
        comparator: &Comparator,
    ) -> Result<Option<(FileNumber, Error)>> {
        let cache = Arc::clone(&self.cache);
        let reader = AnyReader::open(Arc::clone(file), binding, comparator.clone(), cache)?;
        let read = ReadOptions {
            fill_cache: false,
            ..ReadOptions::default()
        };
        let mut cursor = Arc::new(reader).cursor(read);
        let mut is_on = cursor.seek_to_first()?;
        while is_on {
            let entry = Entry::from_internal(cursor.key(), cursor.value()?);
            let lost = self.segments.lost_value(&entry)?;
            if lost.is_some() {
                return Ok(lost);
            }
            is_on = cursor.next()?;
        }
        Ok(None)
    }
}

impl Examined {
    fn lost(known: Option<Known<'_>>, error: Error) -> Examined {
        Examined {
            keyspace: known.map(|known| known.keyspace),
            state: FileState::Lost(error),
        }
    }
}

/// Why a file does not count as it is.
enum Flaw {
    /// It is another file than the one that is meant.
    Stranger(Error),
    /// It was damaged.
    Damaged(Error),
}

// What a manifest of a known format names is of a known format too.
fn only_damage_of<T>(read: Result<T>, is_known: bool) -> Result<std::result::Result<T, Error>> {
    match read {
        Err(error) if is_known && error.kind() == ErrorKind::Unsupported => Ok(Err(error)),
        read => only_damage(read),
    }
}

// A loss at an end of the file reaches to the file's own first or last key, where that is known.
fn gaps_of(lost: Vec<LostPart>, known: Option<Known<'_>>) -> Vec<KeyGap> {
    let ends = known.map(|known| (known.record.smallest.clone(), known.record.largest.clone()));
    let (smallest, largest) = ends.unzip();
    let gap = |part: LostPart| KeyGap {
        what: part.what.into(),
        after: part.after.or_else(|| smallest.clone()),
        before: part.before.or_else(|| largest.clone()),
        cause: part.cause,
    };
    lost.into_iter().map(gap).collect()
}

/// Takes what is whole of one file.
struct Saver<'a, 'b> {
    segments: &'a mut Segments<'b>,
    comparator: &'a Comparator,
    known: Option<Known<'a>>,
    keyspace: KeyspaceId,
    output: Option<Output>,
    saved: Saved,
    lost_values: LostValueList,
}

impl<'a, 'b> Saver<'a, 'b> {
    fn new(
        segments: &'a mut Segments<'b>,
        comparator: &'a Comparator,
        known: Option<Known<'a>>,
        keyspace: KeyspaceId,
    ) -> Saver<'a, 'b> {
        Saver {
            segments,
            comparator,
            known,
            keyspace,
            output: None,
            saved: Saved::default(),
            lost_values: LostValueList::default(),
        }
    }

    fn take(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let entry = Entry::from_internal(internal_key, value);
        if !self
            .known
            .is_none_or(|known| self.belongs(&entry, known.record))
        {
            return Err(Error::corruption("an entry of another file"));
        }
        self.saved.last_seqno = self.saved.last_seqno.max(entry.seqno());
        match self.segments.lost_value(&entry)? {
            None => {
                self.lost_values.pass(self.keyspace);
                self.saved.entry_count += 1;
                self.put(internal_key, value)
            }
            Some((segment, error)) => {
                self.lose_value(internal_key, segment, &error);
                self.put(&delete_for(internal_key), &[])
            }
        }
    }

    fn put(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        match &mut self.output {
            Some(output) => output.add(internal_key, value),
            None => Ok(()),
        }
    }

    fn belongs(&self, entry: &Entry<'_>, record: &FileRecord) -> bool {
        let comparator = self.comparator;
        comparator.compare(entry.key, &record.smallest) != Ordering::Less
            && comparator.compare(entry.key, &record.largest) != Ordering::Greater
            && (record.smallest_seqno..=record.largest_seqno).contains(&entry.seqno())
    }

    fn lose_value(&mut self, internal_key: &[u8], segment: FileNumber, error: &Error) {
        self.lost_values.add(&LostValue {
            keyspace: self.keyspace,
            // Who reads all of them knows its name.
            name: "",
            comparator: self.comparator,
            key: key::user_key(internal_key),
            segment,
            error,
        });
    }

    fn finish(self) -> Result<Saved> {
        let mut saved = self.saved;
        saved.values = self.lost_values.finish();
        if let Some(output) = self.output {
            saved.records = output.finish()?;
        }
        Ok(saved)
    }
}
