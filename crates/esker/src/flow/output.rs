//! Cuts a sorted stream into sorted files.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::codec::compress::Compression;
use crate::base::options::sst::SstOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key;
use crate::base::types::order::KeyOrder;
use crate::base::types::range_delete::RangeDelete;
use crate::env::bundle::Env;
use crate::flow::pace::Pace;
use crate::store::names::FileName;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::{BuildSettings, FinishedSst};
use crate::store::version::file::FileRecord;
use crate::store::version::numbers::FileNumbers;

/// Bytes of an output beside what grows with its keys: the file's buffer of 128 KiB, and a block
/// plain and packed.
pub const OUTPUT_BYTES: u64 = (128 << 10) + (32 << 10);

/// Bytes for each key of the file being written: its hash, twice while the list grows, and its
/// part of the index.
pub const KEY_BUILD_BYTES: u64 = 20;

/// Bytes for which the rate of background writes is asked at a time: a buffer of the file.
const PAY_BYTES: u64 = 128 << 10;

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
    pub order: KeyOrder,
    /// How its files are written.
    pub sst: SstOptions,
    /// How blocks of these files are packed.
    pub compression: Compression,
    /// How fast they may be written.
    pub pace: Arc<Pace>,
}

/// Writes a run of sorted files: entries in order, cut only between different user keys.
///
/// One that is dropped before [`Output::finish`] takes its files away again: nobody will name
/// them, and where it failed for lack of space they would stand in the way of the next try.
pub struct Output {
    settings: OutputSettings,
    /// Range deletes not yet written, in order of their start; none starts before the file that
    /// is being written.
    range_deletes: VecDeque<RangeDelete>,
    builder: Option<(FileNumber, AnyBuilder)>,
    /// Bytes of the file being written that the rate has been asked for.
    paid_bytes: u64,
    last_key: Vec<u8>,
    /// Every file that was created, until they are handed over.
    begun: Vec<FileNumber>,
    files: Vec<FileRecord>,
}

impl Output {
    /// A run that also holds `range_deletes`, which are in order of their start.
    pub fn new(settings: OutputSettings, range_deletes: Vec<RangeDelete>) -> Output {
        let order = &settings.order;
        assert!(
            range_deletes
                .is_sorted_by(|left, right| { order.compare(&left.start, &right.start).is_le() })
        );
        Output {
            settings,
            range_deletes: range_deletes.into(),
            builder: None,
            paid_bytes: 0,
            last_key: Vec::new(),
            begun: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Appends an entry; internal keys must ascend.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let user_key = key::user_key(internal_key);
        if self.is_full() && user_key != self.last_key {
            self.cut(Some(Bytes::copy_of(user_key)))?;
        }
        let builder = self.builder()?;
        builder.add(internal_key, value)?;
        let size_bytes = builder.size_estimate();
        if size_bytes >= self.paid_bytes + PAY_BYTES {
            self.pay_up_to(size_bytes);
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(user_key);
        Ok(())
    }

    /// Finishes the last file and makes all of them, and their names, durable.
    pub fn finish(mut self) -> Result<Vec<FileRecord>> {
        self.cut(None)?;
        if !self.files.is_empty() {
            self.settings.env.fs.sync_dir(&self.settings.dir)?;
        }
        self.begun.clear();
        Ok(std::mem::take(&mut self.files))
    }

    fn pay_up_to(&mut self, size_bytes: u64) {
        let bytes = size_bytes.saturating_sub(self.paid_bytes);
        self.settings.pace.pay(bytes, &self.settings.env);
        self.paid_bytes = size_bytes;
    }

    fn is_full(&self) -> bool {
        let limit = self.settings.sst.file_size_bytes;
        self.builder
            .as_ref()
            .is_some_and(|(_, builder)| builder.size_estimate() >= limit)
    }

    fn builder(&mut self) -> Result<&mut AnyBuilder> {
        if self.builder.is_none() {
            let settings = &self.settings;
            let number = settings.numbers.take();
            let path = settings.dir.join(FileName::Sst(number).to_string());
            let file = settings.env.fs.create(&path)?;
            self.begun.push(number);
            let build = BuildSettings {
                number,
                order: settings.order.clone(),
                sst: settings.sst.clone(),
                compression: settings.compression,
                keyspace: settings.keyspace,
                created_unix_s: settings.env.clock.unix_seconds(),
            };
            self.builder = Some((number, AnyBuilder::block_based(file, build)));
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
            builder.add_range_delete(range_delete)?;
        }
        let (number, builder) = self.builder.take().expect("made just now");
        self.pay_up_to(builder.size_estimate());
        self.paid_bytes = 0;
        let finished = builder.finish()?;
        self.files
            .push(record_of(number, finished, &clipped, &self.settings.order));
        Ok(())
    }

    /// Takes the parts of the range deletes that lie before `upper`.
    fn clip(&mut self, upper: Option<&Bytes>) -> Vec<RangeDelete> {
        let Some(upper) = upper else {
            return std::mem::take(&mut self.range_deletes).into();
        };
        let order = &self.settings.order;
        let mut clipped = Vec::new();
        let mut beyond = Vec::new();
        while let Some(mut whole) = self
            .range_deletes
            .pop_front_if(|next| order.compare(&next.start, upper).is_lt())
        {
            if order.compare(&whole.end, upper).is_gt() {
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

/// What the tree keeps of a finished file: its range covers points and range deletes.
pub fn record_of(
    number: FileNumber,
    finished: FinishedSst,
    range_deletes: &[RangeDelete],
    order: &KeyOrder,
) -> FileRecord {
    let props = finished.props;
    let has_points = props.entry_count > 0;
    let mut record = FileRecord {
        number,
        size_bytes: finished.size_bytes,
        smallest: props.smallest,
        largest: props.largest,
        is_largest_exclusive: false,
        smallest_seqno: props.smallest_seqno,
        largest_seqno: props.largest_seqno,
        entry_count: props.entry_count,
        delete_count: props.delete_count,
        range_delete_count: props.range_delete_count,
        newest_expiry_s: props.newest_expiry_s,
    };
    let mut is_empty = !has_points;
    for range_delete in range_deletes {
        if is_empty || order.compare(&range_delete.start, &record.smallest).is_lt() {
            record.smallest = range_delete.start.clone();
        }
        if is_empty || order.compare(&range_delete.end, &record.largest).is_gt() {
            record.largest = range_delete.end.clone();
            record.is_largest_exclusive = true;
        }
        is_empty = false;
    }
    record
}

#[cfg(test)]
mod tests;
