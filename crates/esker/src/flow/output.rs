//! Cuts a sorted stream into sorted files.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use esker_phrase::{Dictionary, Effort, Encoder};

use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::Carried;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::bundle::Env;
use crate::flow::background_rate::BackgroundRate;
use crate::flow::compaction_iterator::Verbatim;
use crate::flow::grandparent_boundaries::GrandparentBoundaries;
use crate::flow::parallel_compression::{self, ParallelCompression, ParallelCompressionSettings};
use crate::flow::values::relocation::{Relocated, RelocationSettings, ValueRelocator};
use crate::store::names::FileName;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::{BuildSettings, CompressionTally};
use crate::store::sst::origin::{Lineage, Origin};
use crate::store::version::file::FileRecord;
use crate::store::version::identity::record_of;
use crate::store::version::numbers::FileNumbers;
use crate::store::vlog::open_values::OpenValues;

/// Bytes of an output beside what grows with its keys: the file's buffer of 128 KiB, a block plain
/// and compressed, and the tables of what compresses it.
pub const OUTPUT_BYTES: u64 = (128 << 10) + (32 << 10) + (40 << 10);

/// Bytes for each key of the file being written: its hash, twice while the list grows, and its
/// part of the index.
pub const KEY_BUILD_BYTES: u64 = 20;

/// How many times as large as others a searchable file may become: it holds a dictionary of up to a
/// third of a MiB.
pub const SEARCHABLE_FILE_FACTOR: u64 = 4;

/// Bytes for which the rate of background writes is asked at a time: a buffer of the file.
const PAY_BYTES: u64 = 128 << 10;

/// A file may end at a boundary from this share of its size on: one in so many.
const BORDER_SHARE: u64 = 2;

/// Where and how new sorted files are written.
#[derive(Clone)]
pub struct OutputSettings {
    /// The outside world.
    pub env: Env,
    /// The directory of the database.
    pub dir: PathBuf,
    /// Where new file numbers come from.
    pub numbers: Arc<FileNumbers>,
    /// The keyspace whose entries they are.
    pub keyspace: KeyspaceId,
    /// How its keys compare.
    pub comparator: Comparator,
    /// How its files are written.
    pub sst: SstOptions,
    /// How blocks of these files are compressed.
    pub compression: CompressionType,
    /// What makes them searchable files; without it they are made of blocks.
    pub phrasing: Option<Phrasing>,
    /// Where large values are read.
    pub values: Arc<OpenValues>,
    /// What is done about values that must lie elsewhere; without it all stay where they are.
    pub relocator: Option<RelocationSettings>,
    /// How fast they may be written.
    pub background_rate: Arc<BackgroundRate>,
    /// Name of the keyspace.
    pub keyspace_name: Bytes,
    /// By what the database is known, where that is known.
    pub database_id: Option<[u8; 16]>,
    /// The files, ascending, whose place they take; none where they are made of something else.
    pub sources: Arc<[FileNumber]>,
    /// The live snapshots, ascending, for whose sake older entries are among what is written.
    pub snapshots: Arc<[SeqNo]>,
}

/// How values become phrases.
#[derive(Clone, Debug)]
pub struct Phrasing {
    /// The dictionary.
    pub dictionary: Arc<Dictionary>,
    /// How hard phrases are looked for.
    pub effort: Effort,
    /// Threads that may look for them, the output's own among them: others help when they have
    /// nothing else to do.
    pub threads: usize,
}

impl Phrasing {
    /// Bytes of memory that encoding takes beside what other threads have under way: a trie of all
    /// phrases, for each 60 to 80 bytes (measured with 7 to 18 thousand), and what one record
    /// needs.
    pub fn encoder_bytes(&self) -> u64 {
        self.dictionary.phrase_count() as u64 * 80 + (1 << 20)
    }
}

impl OutputSettings {
    /// Bytes after which a file is cut.
    pub fn file_size_bytes(&self) -> u64 {
        let factor = self.phrasing.as_ref();
        let factor = factor.map_or(1, |_| SEARCHABLE_FILE_FACTOR);
        self.sst.file_size_bytes.saturating_mul(factor)
    }

    /// What may be copied into the files as it is stored.
    pub fn verbatim(&self) -> Verbatim {
        let phrasing = self.phrasing.as_ref();
        // What is to lie apart must be uncompressed first.
        let threshold = self
            .relocator
            .as_ref()
            .map_or(0, |relocator| relocator.threshold_bytes);
        Verbatim {
            dictionary: phrasing.map(|phrasing| phrasing.dictionary.id()),
            plain_len_max: threshold.checked_sub(1).unwrap_or(usize::MAX),
        }
    }
}

/// What an output wrote.
#[derive(Debug)]
pub struct Written {
    /// The files.
    pub files: Vec<FileRecord>,
    /// What became of separated values; to be kept until the files are installed or given up.
    pub relocated: Relocated,
    /// What became of values that phrases were looked for in; `None` without a dictionary.
    pub compressed: Option<CompressionTally>,
}

/// Writes a run of sorted files: entries in order, cut only between different user keys.
///
/// One that is dropped before [`Output::finish`] takes its files away again: nobody will name
/// them, and where it failed for lack of space they would stand in the way of the next try.
pub struct Output {
    settings: OutputSettings,
    relocator: Option<ValueRelocator>,
    /// Range deletes not yet written, in order of their start; none starts before the file that
    /// is being written.
    range_deletes: VecDeque<RangeDelete>,
    /// Where the keys of the file that is being written begin, and those of the last one end.
    lower: Option<Bytes>,
    upper: Option<Bytes>,
    boundaries: GrandparentBoundaries,
    /// Bytes of a file from which on it may end at one of them.
    boundary_from_bytes: u64,
    builder: Option<(FileNumber, AnyBuilder)>,
    /// What the builders of searchable files encode with: each has a copy that shares the trie.
    encoder: Option<Encoder>,
    /// Who compresses values, where more than this thread may.
    parallel: Option<ParallelCompression>,
    compressed: Option<CompressionTally>,
    /// Bytes of the file being written, roughly, and those that the rate has been asked for.
    size_bytes: u64,
    paid_bytes: u64,
    /// Every file that was created, until they are handed over.
    begun: Vec<FileNumber>,
    files: Vec<FileRecord>,
}

impl Output {
    /// A run that also holds `range_deletes`, which are in order of their start.
    pub fn new(settings: OutputSettings, range_deletes: Vec<RangeDelete>) -> Output {
        let comparator = &settings.comparator;
        assert!(
            range_deletes.is_sorted_by(|left, right| {
                comparator.compare(&left.start, &right.start).is_le()
            })
        );
        let relocator = settings.relocator.clone();
        let keyspace = settings.keyspace;
        Output {
            relocator: relocator.map(|relocator| ValueRelocator::new(relocator, keyspace)),
            settings,
            range_deletes: range_deletes.into(),
            lower: None,
            upper: None,
            boundaries: GrandparentBoundaries::default(),
            boundary_from_bytes: u64::MAX,
            builder: None,
            encoder: None,
            parallel: None,
            compressed: None,
            size_bytes: 0,
            paid_bytes: 0,
            begun: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Says that all keys are from `lower` on and before `upper`, so far as these are there.
    pub fn within(&mut self, lower: Option<Bytes>, upper: Option<Bytes>) {
        (self.lower, self.upper) = (lower, upper);
    }

    /// Has files end at these boundaries too, once they are half full.
    pub fn end_at(&mut self, boundaries: GrandparentBoundaries) {
        self.boundaries = boundaries;
        self.boundary_from_bytes = self.settings.file_size_bytes() / BORDER_SHARE;
    }

    /// Appends an entry whose value may be as it was stored; internal keys must ascend.
    pub fn carry(&mut self, internal_key: &[u8], value: Carried<'_>) -> Result<()> {
        match value {
            Carried::Raw(raw) => self.add(internal_key, raw),
            Carried::Encoded(encoded) => {
                // Behind what is being compressed; where nothing is, there is nothing to wait for.
                if let Some(parallel) = self
                    .parallel
                    .as_mut()
                    .filter(|parallel| !parallel.is_empty())
                {
                    let is_due = parallel.add_encoded(internal_key, &encoded);
                    return self.take_compressed_if(is_due);
                }
                self.append(internal_key, |builder| {
                    builder.add_encoded(internal_key, &encoded)
                })
            }
        }
    }

    /// Appends an entry; internal keys must ascend.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(relocator) = &mut self.relocator
            && let Some((moved_key, moved_value)) = relocator.take(internal_key, value)?
        {
            // It was written as large as it was.
            let bytes = relocator.take_unpaid();
            self.settings
                .background_rate
                .request(bytes, &self.settings.env);
            return self.put(&moved_key, &moved_value);
        }
        self.put(internal_key, value)
    }

    fn put(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(parallel) = self.parallel() {
            let is_due = parallel.add(internal_key, value);
            return self.take_compressed_if(is_due);
        }
        self.append(internal_key, |builder| builder.add(internal_key, value))
    }

    // The threads that compress, where there are to be several.
    fn parallel(&mut self) -> Option<&mut ParallelCompression> {
        let settings = &self.settings;
        let phrasing = settings.phrasing.as_ref()?;
        if phrasing.threads < 2 {
            return None;
        }
        if self.parallel.is_none() {
            let theirs = ParallelCompressionSettings {
                encoder: encoder(&mut self.encoder, phrasing).clone(),
                compression: settings.compression,
                sst: settings.sst.clone(),
                threads: phrasing.threads,
                batch_bytes: parallel_compression::BATCH_BYTES,
            };
            let pool = Arc::clone(&settings.env.pool);
            self.parallel = Some(ParallelCompression::new(pool, theirs));
        }
        self.parallel.as_mut()
    }

    fn take_compressed_if(&mut self, is_due: bool) -> Result<()> {
        match is_due {
            true => self.take_compressed(false),
            false => Ok(()),
        }
    }

    // Appends what the threads have compressed; with `is_last` all that it has.
    fn take_compressed(&mut self, is_last: bool) -> Result<()> {
        while let Some(parallel) = &mut self.parallel
            && let Some(mut batch) = parallel.take(is_last)?
        {
            batch.each(|internal_key, add| self.append(internal_key, add))?;
            if let Some(parallel) = &mut self.parallel {
                parallel.take_back(batch);
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        internal_key: &[u8],
        add: impl FnOnce(&mut AnyBuilder) -> Result<()>,
    ) -> Result<()> {
        let user_key = key::user_key(internal_key);
        if (self.is_full() || self.is_at_boundary(user_key)) && !self.has_last(user_key) {
            self.cut(Some(Bytes::copy_of(user_key)))?;
        }
        let builder = self.builder()?;
        add(builder)?;
        self.size_bytes = builder.size_estimate();
        if self.size_bytes >= self.paid_bytes + PAY_BYTES {
            self.pay_up_to(self.size_bytes);
        }
        Ok(())
    }

    /// Finishes the last file and makes all of them, and their names, durable.
    pub fn finish(self) -> Result<Vec<FileRecord>> {
        Ok(self.finish_with_values()?.files)
    }

    /// As [`Output::finish`]; with what became of values.
    pub fn finish_with_values(self) -> Result<Written> {
        let (fs, dir) = (Arc::clone(&self.settings.env.fs), self.settings.dir.clone());
        self.finish_until(|files| match files.is_empty() {
            true => Ok(()),
            false => fs.sync_dir(&dir),
        })
    }

    /// As [`Output::finish_with_values`], but the names are not durable: before an edit names one
    /// of the files its caller syncs the directory, which serves several outputs at once.
    pub fn finish_before_names(self) -> Result<Written> {
        self.finish_until(|_| Ok(()))
    }

    // Hands the files over once `last` is done.
    fn finish_until(mut self, last: impl FnOnce(&[FileRecord]) -> Result<()>) -> Result<Written> {
        self.take_compressed(true)?;
        self.cut(None)?;
        let relocated = self
            .relocator
            .take()
            .map(ValueRelocator::finish)
            .transpose()?;
        last(&self.files)?;
        self.begun.clear();
        let files = std::mem::take(&mut self.files);
        Ok(Written {
            files,
            relocated: relocated.unwrap_or_default(),
            compressed: self.compressed,
        })
    }

    fn pay_up_to(&mut self, size_bytes: u64) {
        let bytes = size_bytes.saturating_sub(self.paid_bytes);
        self.settings
            .background_rate
            .request(bytes, &self.settings.env);
        self.paid_bytes = size_bytes;
    }

    fn is_full(&self) -> bool {
        self.builder.is_some() && self.size_bytes >= self.settings.file_size_bytes()
    }

    // Whether the file that is being written had better end before that key.
    fn is_at_boundary(&mut self, user_key: &[u8]) -> bool {
        self.size_bytes >= self.boundary_from_bytes
            && self.boundaries.is_met(&self.settings.comparator, user_key)
    }

    // Whether the entry added last is one of that key.
    #[cold]
    fn has_last(&self, user_key: &[u8]) -> bool {
        let last = self.builder.as_ref().map(|(_, builder)| builder.last_key());
        last.is_some_and(|last| !last.is_empty() && key::user_key(last) == user_key)
    }

    fn builder(&mut self) -> Result<&mut AnyBuilder> {
        if self.builder.is_none() {
            let settings = &self.settings;
            let number = settings.numbers.take();
            let path = settings.dir.join(FileName::Sst(number).to_string());
            let file = settings.env.fs.create_new(&path)?;
            self.begun.push(number);
            let build = BuildSettings {
                number,
                comparator: settings.comparator.clone(),
                sst: settings.sst.clone(),
                compression: settings.compression,
                keyspace: settings.keyspace,
                created_unix_s: settings.env.clock.unix_seconds(),
            };
            let mut builder = match &settings.phrasing {
                None => AnyBuilder::block_based(file, build),
                Some(phrasing) => {
                    let encoder = encoder(&mut self.encoder, phrasing).clone();
                    AnyBuilder::searchable(file, build, Some(encoder))?
                }
            };
            builder.set_snapshots(Arc::clone(&settings.snapshots));
            self.builder = Some((number, builder));
        }
        Ok(&mut self.builder.as_mut().expect("made just now").1)
    }

    /// Ends the current file before `upper`, where the next one begins.
    fn cut(&mut self, upper: Option<Bytes>) -> Result<()> {
        let clipped = self.clip(upper.as_ref());
        if self.builder.is_none() && clipped.is_empty() {
            return Ok(());
        }
        let builder = self.builder()?;
        for range_delete in &clipped {
            builder.add_range_delete(range_delete);
        }
        let (number, mut builder) = self.builder.take().expect("made just now");
        builder.set_origin(self.origin(upper));
        self.pay_up_to(builder.size_estimate());
        (self.size_bytes, self.paid_bytes) = (0, 0);
        self.boundaries.begin_file();
        let finished = builder.finish()?;
        match (&mut self.compressed, finished.compressed) {
            (Some(compressed), Some(more)) => compressed.add(more),
            (compressed, more) => *compressed = compressed.or(more),
        }
        self.files.push(record_of(
            number,
            finished,
            &clipped,
            &self.settings.comparator,
        ));
        Ok(())
    }

    // Where the file comes from that ends before `upper`.
    fn origin(&mut self, upper: Option<Bytes>) -> Origin {
        let lower = std::mem::replace(&mut self.lower, upper.clone());
        let lineage = Lineage {
            sources: Arc::clone(&self.settings.sources),
            lower,
            upper: upper.or_else(|| self.upper.clone()),
        };
        Origin {
            keyspace_name: self.settings.keyspace_name.clone(),
            lineage: (!lineage.sources.is_empty()).then_some(lineage),
            database_id: self.settings.database_id,
        }
    }

    /// Takes the parts of the range deletes that lie before `upper`.
    fn clip(&mut self, upper: Option<&Bytes>) -> Vec<RangeDelete> {
        let Some(upper) = upper else {
            return std::mem::take(&mut self.range_deletes).into();
        };
        let comparator = &self.settings.comparator;
        let mut clipped = Vec::new();
        let mut beyond = Vec::new();
        let begins_before = |next: &&RangeDelete| comparator.compare(&next.start, upper).is_lt();
        let count = self.range_deletes.iter().take_while(begins_before).count();
        for mut whole in self.range_deletes.drain(..count) {
            if comparator.compare(&whole.end, upper).is_gt() {
                let end = std::mem::replace(&mut whole.end, upper.clone());
                beyond.push(RangeDelete {
                    start: upper.clone(),
                    end,
                    seqno: whole.seqno,
                });
            }
            clipped.push(whole);
        }
        for rest in beyond.into_iter().rev() {
            self.range_deletes.push_front(rest);
        }
        clipped
    }
}

// The encoder that the builders of searchable files, and those who compress for them, have copies
// of.
fn encoder<'a>(slot: &'a mut Option<Encoder>, phrasing: &Phrasing) -> &'a Encoder {
    slot.get_or_insert_with(|| Encoder::new(&phrasing.dictionary, phrasing.effort))
}

impl Drop for Output {
    fn drop(&mut self) {
        for number in &self.begun {
            let number = *number;
            let path = self.settings.dir.join(FileName::Sst(number).to_string());
            // One that cannot be removed is found again at the next open.
            let _left = self.settings.env.fs.remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests;
