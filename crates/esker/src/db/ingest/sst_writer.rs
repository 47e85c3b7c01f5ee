//! Writes sorted files outside of any database.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::pairs::to_pairs;
use crate::base::options::sst::Compression;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX, check_len};
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::db::ingest::file_set::{FileSet, Maker, make_empty_dir};
use crate::env::bundle::Env;
use crate::store::names::FileName;
use crate::store::sst::adoption::Adoption;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::BuildSettings;
use crate::store::version::apply::apply;
use crate::store::version::edit::Change;
use crate::store::version::file::FileRecord;
use crate::store::version::format::DATABASE_ID_BYTES;
use crate::store::version::identity::record_of;
use crate::store::version::state::{Identity, KeyspaceState, Orders, Version};

/// The number that all files of a writer have in them: no file of a database has it in its name.
const WRITTEN_AS: FileNumber = FileNumber(0);

/// Sequence numbers in a writer's files: what deletes ranges is older than all else.
const RANGES_SEQNO: u64 = 1;
const POINTS_SEQNO: u64 = 2;

/// The keyspace that the list of a writer's set names.
const KEYSPACE_NAME: &str = "written";

/// How many times larger a searchable file grows than others: it holds what all its records share.
const SEARCHABLE_FILE_SIZES: u64 = 4;

/// Writes sorted files outside of a database, for [`Keyspace::ingest`](crate::Keyspace::ingest):
/// a way to bring in what is in order already past log and memtables, with no database at hand.
///
/// Keys come in ascending order, each once. The files are cut at the target size of the options,
/// and are of either kind, as its compression says. Large values lie in the files themselves: they
/// go to the value log when a compaction rewrites them. Range deletes act before all other
/// writes, wherever they are called: they delete what the keyspace held, not what these files put.
///
/// One that is dropped before [`SstWriter::finish`] takes its files away again, and what a crash
/// leaves of one is never taken for a finished set.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// use esker::{Db, IngestOptions, KeyspaceOptions, SstWriter};
///
/// let files = dir.path().join("files");
/// let mut writer = SstWriter::create(&files, KeyspaceOptions::default())?;
/// for number in 0..1000_u32 {
///     writer.put(number.to_be_bytes(), "one of a thousand")?;
/// }
/// assert!(writer.put(7_u32.to_be_bytes(), "again").is_err()); // Keys must ascend.
/// let written = writer.finish()?;
/// assert_eq!(written.entry_count, 1000);
///
/// let db = Db::open(dir.path().join("db"))?;
/// db.ingest(&files, &IngestOptions::default())?;
/// assert_eq!(db.get(999_u32.to_be_bytes())?.expect("it is there"), "one of a thousand");
/// # Ok(())
/// # }
/// ```
pub struct SstWriter {
    env: Env,
    dir: PathBuf,
    options: KeyspaceOptions,
    builder: Option<(FileNumber, AnyBuilder)>,
    range_deletes: Vec<RangeDelete>,
    next: FileNumber,
    /// Files that were begun, until the set is whole.
    begun: Vec<FileNumber>,
    ranges: Option<FileRecord>,
    files: Vec<FileRecord>,
    last_key: Option<Vec<u8>>,
    internal_key: Vec<u8>,
    has_failed: bool,
}

/// What a file set holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSetSummary {
    /// Sorted files.
    pub file_count: usize,
    /// Their bytes, and those of the segments of the value log beside them.
    pub size_bytes: u64,
    /// Their entries, deletes and older versions among them.
    pub entry_count: u64,
    /// Their range deletes.
    pub range_delete_count: u64,
    /// The first key, and the last one or the end of a range delete; `None` of an empty set.
    pub keys: Option<(Bytes, Bytes)>,
}

impl SstWriter {
    /// A writer of files in `dir`, which is made if it is not there, and must hold no set yet. Of
    /// the options it takes how keys compare, the merge operator, and how files are written.
    ///
    /// Errors: `Invalid` when the directory is not empty; `NotBuilt` for a compression that this
    /// build does not have; `Io`.
    pub fn create(dir: impl AsRef<Path>, options: KeyspaceOptions) -> Result<SstWriter> {
        SstWriter::create_in(&Env::real(1), dir.as_ref(), options)
    }

    /// As [`SstWriter::create`], in any world.
    #[doc(hidden)]
    pub fn create_in(env: &Env, dir: &Path, options: KeyspaceOptions) -> Result<SstWriter> {
        options.sst.compression.of_blocks().check_built()?;
        make_empty_dir(&*env.fs, dir)?;
        Ok(SstWriter {
            env: env.clone(),
            dir: dir.to_path_buf(),
            options,
            builder: None,
            range_deletes: Vec::new(),
            next: FileNumber(1),
            begun: Vec::new(),
            ranges: None,
            files: Vec::new(),
            last_key: None,
            internal_key: Vec::new(),
            has_failed: false,
        })
    }

    /// Puts `value` under `key`.
    ///
    /// Errors: `Invalid` when the key is not behind the last one: nothing is changed then;
    /// `TooLarge`; those of the file, after which the writer is of no more use.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.add(key.as_ref(), Kind::Put, value.as_ref())
    }

    /// The same for a value that ends then.
    pub fn put_until(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry: Expiry,
    ) -> Result<()> {
        check_len("value", value.as_ref().len(), VALUE_BYTES_MAX)?;
        let raw = expiry.join(value.as_ref());
        self.add(key.as_ref(), expiry.put_kind(), &raw)
    }

    /// Deletes `key` in the keyspace that takes the files in.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.add(key.as_ref(), Kind::Delete, b"")
    }

    /// Merges `operand` into what that keyspace has under `key`. `Invalid` where the options have
    /// no merge operator.
    pub fn merge(&mut self, key: impl AsRef<[u8]>, operand: impl AsRef<[u8]>) -> Result<()> {
        if self.options.merge.is_none() {
            return Err(Error::invalid(
                "the options of this writer have no merge operator; give them one",
            ));
        }
        self.add(key.as_ref(), Kind::Merge, operand.as_ref())
    }

    /// Deletes what that keyspace has from `start` on up to `end`, exclusive; nothing that this
    /// writer puts. At any time, in any order.
    pub fn delete_range(&mut self, start: impl AsRef<[u8]>, end: impl AsRef<[u8]>) -> Result<()> {
        let (start, end) = (start.as_ref(), end.as_ref());
        check_len("key", start.len().max(end.len()), KEY_BYTES_MAX)?;
        if self.options.comparator.compare(start, end).is_lt() {
            self.range_deletes.push(RangeDelete {
                start: Bytes::copy_of(start),
                end: Bytes::copy_of(end),
                seqno: SeqNo::new(RANGES_SEQNO),
            });
        }
        Ok(())
    }

    /// Finishes the files, makes them durable, and lists them: from then on they are a set.
    ///
    /// Errors: those of the files; what was written is taken away again.
    pub fn finish(mut self) -> Result<FileSetSummary> {
        if self.has_failed {
            return Err(Error::invalid("writing a file failed before"));
        }
        self.cut()?;
        self.write_ranges()?;
        let set = self.set()?;
        set.write(&*self.env.fs, &self.dir)?;
        self.begun.clear();
        Ok(FileSetSummary::of(&set.version))
    }

    fn add(&mut self, key: &[u8], kind: Kind, raw: &[u8]) -> Result<()> {
        check_len("key", key.len(), KEY_BYTES_MAX)?;
        check_len("value", raw.len(), VALUE_BYTES_MAX + kind.expiry_bytes())?;
        if let Some(last) = &self.last_key {
            let order = &self.options.comparator;
            if order.compare(last, key) != Ordering::Less {
                return Err(Error::invalid(format!(
                    "key b\"{}\" is not behind b\"{}\", the one before it; keys must ascend, each \
                     once, in the order {:?}",
                    key.escape_ascii(),
                    last.escape_ascii(),
                    order.name()
                )));
            }
        }
        let added = self.append(key, kind, raw);
        self.has_failed |= added.is_err();
        added?;
        let last = self.last_key.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
        Ok(())
    }

    fn append(&mut self, key: &[u8], kind: Kind, raw: &[u8]) -> Result<()> {
        let is_full = |(_, builder): &(_, AnyBuilder)| builder.size_estimate() >= self.file_bytes();
        if self.builder.as_ref().is_some_and(is_full) {
            self.cut()?;
        }
        if self.builder.is_none() {
            self.builder = Some(self.begin()?);
        }
        self.internal_key.clear();
        let trailer = Trailer::new(SeqNo::new(POINTS_SEQNO), kind);
        key::encode_into(&mut self.internal_key, key, trailer);
        let (_, builder) = self.builder.as_mut().expect("made just now");
        builder.add(&self.internal_key, raw)
    }

    fn is_searchable(&self) -> bool {
        self.options.sst.compression == Compression::Searchable
    }

    fn file_bytes(&self) -> u64 {
        let times = if self.is_searchable() {
            SEARCHABLE_FILE_SIZES
        } else {
            1
        };
        self.options.sst.file_size_bytes.saturating_mul(times)
    }

    fn begin(&mut self) -> Result<(FileNumber, AnyBuilder)> {
        let number = self.next;
        self.next = FileNumber(number.0 + 1);
        let path = self.dir.join(FileName::Sst(number).to_string());
        let file = self.env.fs.create_new(&path)?;
        self.begun.push(number);
        let settings = BuildSettings {
            number: WRITTEN_AS,
            comparator: self.options.comparator.clone(),
            sst: self.options.sst.clone(),
            compression: self.options.sst.compression.of_blocks(),
            keyspace: KeyspaceId::DEFAULT,
            created_unix_s: self.env.clock.unix_seconds(),
        };
        let builder = match self.is_searchable() {
            false => AnyBuilder::block_based(file, settings),
            true => AnyBuilder::searchable(file, settings, None)?,
        };
        Ok((number, builder))
    }

    fn cut(&mut self) -> Result<()> {
        if let Some((number, builder)) = self.builder.take() {
            let record = self.end(number, builder, &[])?;
            self.files.push(record);
        }
        Ok(())
    }

    fn write_ranges(&mut self) -> Result<()> {
        let range_deletes = std::mem::take(&mut self.range_deletes);
        if range_deletes.is_empty() {
            return Ok(());
        }
        let (number, mut builder) = self.begin()?;
        for range_delete in &range_deletes {
            builder.add_range_delete(range_delete);
        }
        self.ranges = Some(self.end(number, builder, &range_deletes)?);
        Ok(())
    }

    fn end(
        &self,
        number: FileNumber,
        builder: AnyBuilder,
        range_deletes: &[RangeDelete],
    ) -> Result<FileRecord> {
        let finished = builder.finish()?;
        let record = record_of(number, finished, range_deletes, &self.options.comparator);
        Ok(FileRecord {
            passing: None,
            adoption: Some(Adoption {
                number: WRITTEN_AS,
                smallest_seqno: record.smallest_seqno,
            }),
            ..record
        })
    }

    // Two runs of level 0, what deletes ranges being the older one.
    fn set(&mut self) -> Result<FileSet> {
        let comparator = &self.options.comparator;
        let orders = Orders::new(vec![comparator.clone()]);
        let identity = Identity {
            database_id: [0; DATABASE_ID_BYTES],
            created_unix_s: 0,
        };
        let keyspace = KeyspaceId::DEFAULT;
        let mut edit = vec![Change::CreateKeyspace {
            id: keyspace,
            name: KEYSPACE_NAME.into(),
            comparator_name: comparator.name().into(),
            merge_name: self.options.merge.as_ref().map(|rule| rule.0.name().into()),
            settings: to_pairs(&self.options).into_iter().collect(),
        }];
        let ranges = self.ranges.take().map(|record| (RANGES_SEQNO, record));
        let points = self.files.drain(..).map(|record| (POINTS_SEQNO, record));
        edit.extend(
            ranges
                .into_iter()
                .chain(points)
                .map(|(run, record)| Change::AddFile {
                    keyspace,
                    level: Level::ZERO,
                    run,
                    record: Arc::new(record),
                }),
        );
        Ok(FileSet {
            maker: Maker::Writer,
            version: apply(&Version::empty(identity, orders), &edit)?,
        })
    }
}

impl Drop for SstWriter {
    fn drop(&mut self) {
        self.builder = None;
        for number in &self.begun {
            let path = self.dir.join(FileName::Sst(*number).to_string());
            // What stays is listed nowhere, so it is no part of any set.
            let _left = self.env.fs.remove_file(&path);
        }
    }
}

impl FileSetSummary {
    /// What all keyspaces of a set hold.
    pub(crate) fn of(version: &Version) -> FileSetSummary {
        let mut all = FileSetSummary::default();
        for state in version.keyspaces.values() {
            all.add(state);
        }
        all
    }

    /// The same with what that keyspace holds.
    fn add(&mut self, state: &KeyspaceState) {
        let files = state.levels.files().map(|(_, file)| &**file);
        self.add_files(&state.comparator, files);
    }

    /// The same with those files, whose keys are in that order.
    pub(crate) fn add_files<'f>(
        &mut self,
        comparator: &Comparator,
        files: impl Iterator<Item = &'f FileRecord>,
    ) {
        for file in files {
            self.file_count += 1;
            let values = file.values.iter().map(|(_, bytes)| bytes);
            self.size_bytes += file.size_bytes + values.sum::<u64>();
            self.entry_count += file.entry_count;
            self.range_delete_count += file.range_delete_count;
            let whole = || (file.smallest.clone(), file.largest.clone());
            let (first, last) = self.keys.get_or_insert_with(whole);
            if comparator.compare(&file.smallest, first).is_lt() {
                *first = file.smallest.clone();
            }
            if comparator.compare(&file.largest, last).is_gt() {
                *last = file.largest.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests;
