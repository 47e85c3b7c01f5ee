//! Compresses the values of one output on several threads, and gives them back in order.
//!
//! Compression takes ten times as long as all else that a searchable file costs, and each value is
//! compressed by itself. So entries are gathered into batches, threads of the pool that have
//! nothing else to do compress some of them, and the output's own thread those that nobody took. It
//! takes them back in the order of keys, so what it writes is the same whoever compressed what.
//!
//! Nobody waits for a job that has not begun: where all threads of the pool have other work, the
//! output's own thread compresses everything. A job compresses one batch; if there are more it
//! queues itself anew, behind what else is to be done.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_phrase::Encoder;

use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::cursor::Encoded;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::env::pool::{Pool, Priority};
use crate::env::signal::Signal;
use crate::store::sst::any_builder::{AnyBuilder, compressor};
use crate::store::sst::searchable::records::{CompressedValue, ValueCompressor};

/// Keys and values of a batch, in bytes: five to ten milliseconds of compression. So long a
/// compaction may wait for a thread, and giving a batch away takes a thousandth of that.
pub const BATCH_BYTES: usize = 128 << 10;

/// Batches under way for each thread: one that it compresses, and one for it to take next.
const BATCHES_PER_THREAD: usize = 2;

/// How long is waited for a thread that compresses the oldest batch before it is looked at again:
/// it says when it is done, so this only bounds what a mistake would cost.
const WAIT: Duration = Duration::from_secs(1);

/// Bytes of memory that encoding a record and a Zstd frame take.
const PACKER_BYTES: u64 = 2 << 20;

/// Bytes of memory that so many threads take: batches plain and compressed, and a compressor
/// for each thread.
pub fn buffer_bytes(threads: usize) -> u64 {
    if threads < 2 {
        return 0;
    }
    let batch_bytes = 2 * BATCHES_PER_THREAD * BATCH_BYTES;
    threads as u64 * (batch_bytes as u64 + PACKER_BYTES)
}

/// What the threads compress with.
#[derive(Clone)]
pub struct ParallelCompressionSettings {
    /// Encodes phrases.
    pub encoder: Encoder,
    /// How blocks of the files are compressed.
    pub compression: CompressionType,
    /// How the files are written.
    pub sst: SstOptions,
    /// Threads that may compress, the output's own among them.
    pub threads: usize,
    /// Keys and values of a batch, in bytes: [`BATCH_BYTES`], and in tests less.
    pub batch_bytes: usize,
}

/// The threads that compress for one output. Belongs to the output's thread.
///
/// Shape: entries of up to two batches for each thread, plain and compressed. Dropping it gives up
/// what was not taken back; a batch that a thread compresses just then is compressed to its end.
pub struct ParallelCompression {
    pool: Arc<dyn Pool>,
    desk: Arc<Desk>,
    filling: RecordBatch,
    /// Memory of batches that were written.
    spare: Vec<RecordBatch>,
}

/// Where batches lie between threads.
struct Desk {
    settings: ParallelCompressionSettings,
    state: Mutex<State>,
    /// Raised when somebody has compressed a batch.
    compressed_one: Signal,
}

#[derive(Default)]
struct State {
    /// The oldest first.
    batches: VecDeque<Stage>,
    /// How many were before the oldest.
    taken_count: u64,
    plain_bytes: usize,
    /// Jobs that were spawned and have not ended.
    job_count: usize,
    /// Packers that nobody uses just now.
    compressors: Vec<ValueCompressor>,
}

enum Stage {
    Waiting(RecordBatch),
    /// Some thread compresses it.
    Begun,
    Compressed(Result<RecordBatch>),
    /// The thread that compressed it panicked.
    Lost,
}

/// What the output's thread does next.
enum Step {
    Nothing,
    Take(Result<RecordBatch>),
    Pack(u64, RecordBatch),
    Wait,
}

/// Entries one behind the other, and their values compressed.
#[derive(Default)]
pub struct RecordBatch {
    keys: Vec<u8>,
    values: Vec<u8>,
    items: Vec<Item>,
}

struct Item {
    key_end: usize,
    value_end: usize,
    state: ItemState,
}

enum ItemState {
    Plain,
    Compressed(CompressedValue),
    /// Of such a value uncompressed.
    Encoded(Encoded<'static>),
}

impl ParallelCompression {
    /// A parallel of nobody but the caller, who hires others of `pool` when there is work for them.
    pub fn new(pool: Arc<dyn Pool>, settings: ParallelCompressionSettings) -> ParallelCompression {
        let desk = Desk {
            settings,
            state: Mutex::default(),
            compressed_one: Signal::default(),
        };
        ParallelCompression {
            pool,
            desk: Arc::new(desk),
            filling: RecordBatch::default(),
            spare: Vec::new(),
        }
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.filling.items.is_empty() && self.desk.state().batches.is_empty()
    }

    /// Appends an entry; whether it is time to take.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> bool {
        self.filling.push(internal_key, value, ItemState::Plain);
        self.is_full()
    }

    /// As [`ParallelCompression::add`], of a put whose value is phrases already.
    pub fn add_encoded(&mut self, internal_key: &[u8], value: &Encoded<'_>) -> bool {
        let whole = Encoded {
            payload: &[],
            ..*value
        };
        let state = ItemState::Encoded(whole);
        self.filling.push(internal_key, value.payload, state);
        self.is_full()
    }

    fn is_full(&self) -> bool {
        self.filling.plain_bytes() >= self.desk.settings.batch_bytes
    }

    /// The oldest batch, compressed, if so many are under way that one must be, or if it is
    /// compressed already; with `is_last` until there is none. Compresses what nobody else has
    /// begun.
    ///
    /// # Panics
    /// When a thread that compressed for this one did.
    pub fn take(&mut self, is_last: bool) -> Result<Option<RecordBatch>> {
        if (is_last || self.is_full()) && !self.filling.items.is_empty() {
            let next = self.spare.pop().unwrap_or_default();
            let batch = std::mem::replace(&mut self.filling, next);
            if self.desk.put(batch) {
                hire(&self.desk, &self.pool);
            }
        }
        loop {
            // Before anything is looked at, so that no batch is missed.
            let seen = self.desk.compressed_one.raised_count();
            match self.desk.step(is_last) {
                Step::Nothing => return Ok(None),
                Step::Take(batch) => return batch.map(Some),
                Step::Pack(number, batch) => self.desk.compress(number, batch),
                Step::Wait => {
                    self.pool.wait(&self.desk.compressed_one, seen, WAIT);
                }
            }
        }
    }

    /// Takes the memory of a batch that was written.
    pub fn take_back(&mut self, mut batch: RecordBatch) {
        // A value of many MiB must not keep its memory.
        if self.spare.is_empty() && batch.values.capacity() <= 2 * self.desk.settings.batch_bytes {
            batch.clear();
            self.spare.push(batch);
        }
    }
}

impl Drop for ParallelCompression {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        state.taken_count += state.batches.len() as u64;
        state.batches.clear();
        state.compressors.clear();
    }
}

// Has a thread of the pool compress a batch; whoever calls it counted the job.
fn hire(desk: &Arc<Desk>, pool: &Arc<dyn Pool>) {
    let (desk, own_pool) = (Arc::clone(desk), Arc::clone(pool));
    let job = move || {
        if desk.help() {
            hire(&desk, &own_pool);
        }
    };
    pool.spawn(Priority::Low, "compress values", Box::new(job));
}

impl Desk {
    // Lays a batch behind the others; whether a thread is to be hired for it, which is counted.
    fn put(&self, batch: RecordBatch) -> bool {
        let mut state = self.state();
        state.plain_bytes += batch.plain_bytes();
        state.batches.push_back(Stage::Waiting(batch));
        let is_short = state.job_count + 1 < self.settings.threads;
        state.job_count += usize::from(is_short);
        is_short
    }

    // One job's work: compresses the oldest batch that waits, if there is one. Whether there are
    // more, and another job is to be spawned in its place.
    fn help(&self) -> bool {
        let waiting = self.state().first_waiting();
        if let Some((number, batch)) = waiting {
            self.compress(number, batch);
        }
        let mut state = self.state();
        let goes_on = state.is_waiting();
        state.job_count -= usize::from(!goes_on);
        goes_on
    }

    fn step(&self, is_last: bool) -> Step {
        let settings = &self.settings;
        let bytes_max = settings.threads * BATCHES_PER_THREAD * settings.batch_bytes;
        let mut state = self.state();
        match state.batches.front() {
            None => return Step::Nothing,
            Some(Stage::Compressed(_)) => return Step::Take(state.take_compressed()),
            Some(Stage::Lost) => panic!("a thread panicked that compressed values"),
            Some(_) if !is_last && state.plain_bytes < bytes_max => return Step::Nothing,
            Some(_) => {}
        }
        match state.first_waiting() {
            Some((number, batch)) => Step::Pack(number, batch),
            None => Step::Wait,
        }
    }

    // Compresses a batch and lays it back.
    fn compress(&self, number: u64, mut batch: RecordBatch) {
        let laid_back = LaidBack {
            desk: self,
            number,
            stage: Some(Stage::Lost),
        };
        let own = self.state().compressors.pop();
        let own = own.map_or_else(|| self.compressor(), Ok);
        let compressed = own.and_then(|mut compressor| {
            batch.compress(&mut compressor)?;
            Ok((compressor, batch))
        });
        let mut state = self.state();
        let stage = match compressed {
            Ok((compressor, batch)) => {
                state.compressors.push(compressor);
                Stage::Compressed(Ok(batch))
            }
            Err(error) => Stage::Compressed(Err(error)),
        };
        drop(state);
        laid_back.with(stage);
    }

    fn compressor(&self) -> Result<ValueCompressor> {
        let settings = &self.settings;
        compressor(
            settings.encoder.clone(),
            settings.compression,
            &settings.sst,
        )
    }

    // Never held while something is compressed, so what it guards is whole even after a panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_waiting(&self) -> bool {
        let mut batches = self.batches.iter();
        batches.any(|stage| matches!(stage, Stage::Waiting(_)))
    }

    // The oldest batch that nobody compresses, which the caller now does, and its number.
    fn first_waiting(&mut self) -> Option<(u64, RecordBatch)> {
        for (number, stage) in (self.taken_count..).zip(&mut self.batches) {
            if matches!(stage, Stage::Waiting(_))
                && let Stage::Waiting(batch) = std::mem::replace(stage, Stage::Begun)
            {
                return Some((number, batch));
            }
        }
        None
    }

    // The oldest batch, which is compressed.
    fn take_compressed(&mut self) -> Result<RecordBatch> {
        let oldest = self.batches.pop_front();
        let Some(Stage::Compressed(batch)) = oldest else {
            panic!("the oldest batch is compressed");
        };
        self.taken_count += 1;
        let batch = batch?;
        self.plain_bytes -= batch.plain_bytes();
        Ok(batch)
    }
}

/// Lays a batch back into its place, unless it was given up, and says so; one that nobody
/// compressed to its end, as lost.
struct LaidBack<'a> {
    desk: &'a Desk,
    number: u64,
    stage: Option<Stage>,
}

impl LaidBack<'_> {
    fn with(mut self, stage: Stage) {
        self.stage = Some(stage);
    }
}

impl Drop for LaidBack<'_> {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        let place = self.number.checked_sub(state.taken_count);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let slot = place.and_then(|place| state.batches.get_mut(place));
        if let (Some(slot), Some(stage)) = (slot, self.stage.take()) {
            *slot = stage;
        }
        drop(state);
        self.desk.compressed_one.raise();
    }
}

impl RecordBatch {
    fn push(&mut self, internal_key: &[u8], value: &[u8], state: ItemState) {
        self.keys.extend_from_slice(internal_key);
        self.values.extend_from_slice(value);
        self.items.push(Item {
            key_end: self.keys.len(),
            value_end: self.values.len(),
            state,
        });
    }

    fn plain_bytes(&self) -> usize {
        self.keys.len() + self.values.len()
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
        self.items.clear();
    }

    fn compress(&mut self, compressor: &mut ValueCompressor) -> Result<()> {
        let (mut key_start, mut value_start) = (0, 0);
        for item in &mut self.items {
            let internal_key = &self.keys[key_start..item.key_end];
            let value = &self.values[value_start..item.value_end];
            (key_start, value_start) = (item.key_end, item.value_end);
            let kind = key::split(internal_key).1.kind();
            // The builder tells what is wrong with one that expires and does not say when.
            let is_whole = value.len() >= kind.expiry_bytes();
            if matches!(item.state, ItemState::Plain) && is_whole {
                item.state = ItemState::Compressed(compressor.compress(kind, value)?);
            }
        }
        Ok(())
    }

    /// Gives every entry to `add`, in order: its internal key, and what adds it to a builder.
    ///
    /// Errors: the first of `add`, which then is asked no more.
    pub fn each(
        &mut self,
        mut add: impl FnMut(&[u8], &mut dyn FnMut(&mut AnyBuilder) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let (mut key_start, mut value_start) = (0, 0);
        for item in &mut self.items {
            let internal_key = &self.keys[key_start..item.key_end];
            let value = &self.values[value_start..item.value_end];
            (key_start, value_start) = (item.key_end, item.value_end);
            let mut state = std::mem::replace(&mut item.state, ItemState::Plain);
            add(
                internal_key,
                &mut |builder| match std::mem::replace(&mut state, ItemState::Plain) {
                    ItemState::Plain => builder.add(internal_key, value),
                    ItemState::Compressed(compressed) => {
                        builder.add_compressed(internal_key, value, compressed)
                    }
                    ItemState::Encoded(whole) => {
                        let payload = value;
                        builder.add_encoded(internal_key, &Encoded { payload, ..whole })
                    }
                },
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for ParallelCompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ParallelCompression({} threads)",
            self.desk.settings.threads
        )
    }
}

#[cfg(test)]
mod tests;
