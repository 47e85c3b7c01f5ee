//! Packs the values of one output on several threads, and gives them back in order.
//!
//! Packing takes ten times as long as all else that a searchable file costs, and each value is
//! packed by itself. So entries are gathered into trays, threads of the pool that have nothing
//! else to do pack some of them, and the output's own thread those that nobody took. It takes
//! them back in the order of keys, so what it writes is the same whoever packed what.
//!
//! Nobody waits for a job that has not begun: where all threads of the pool have other work, the
//! output's own thread packs everything. A job packs one tray; if there are more it queues
//! itself anew, behind what else is to be done.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_phrase::Encoder;

use crate::base::codec::compress::Compression;
use crate::base::options::sst::SstOptions;
use crate::base::types::cursor::Phrased;
use crate::base::types::entry::EXPIRY_BYTES;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::env::pool::{Pool, Priority};
use crate::env::signal::Signal;
use crate::store::sst::any_builder::{AnyBuilder, packer};
use crate::store::sst::searchable::records::{PackedValue, ValuePacker};

/// Keys and values of a tray, in bytes: five to ten milliseconds of packing. So long a
/// compaction may wait for a thread, and giving a tray away takes a thousandth of that.
pub const TRAY_BYTES: usize = 128 << 10;

/// Trays under way for each thread: one that it packs, and one for it to take next.
const TRAYS_PER_THREAD: usize = 2;

/// How long is waited for a thread that packs the oldest tray before it is looked at again: it
/// says when it is done, so this only bounds what a mistake would cost.
const WAIT: Duration = Duration::from_secs(1);

/// Bytes of memory that encoding a record and a Zstd frame take.
const PACKER_BYTES: u64 = 2 << 20;

/// Bytes of memory that a crew of so many threads takes: trays plain and packed, and a packer
/// for each thread.
pub fn buffer_bytes(threads: usize) -> u64 {
    if threads < 2 {
        return 0;
    }
    let tray_bytes = 2 * TRAYS_PER_THREAD * TRAY_BYTES;
    threads as u64 * (tray_bytes as u64 + PACKER_BYTES)
}

/// What a crew packs with.
#[derive(Clone)]
pub struct CrewSettings {
    /// Encodes phrases.
    pub encoder: Encoder,
    /// How blocks of the files are packed.
    pub compression: Compression,
    /// How the files are written.
    pub sst: SstOptions,
    /// Threads that may pack, the output's own among them.
    pub threads: usize,
    /// Keys and values of a tray, in bytes: [`TRAY_BYTES`], and in tests less.
    pub tray_bytes: usize,
}

/// The threads that pack for one output. Belongs to the output's thread.
///
/// Shape: entries of up to two trays for each thread, plain and packed. Dropping it gives up
/// what was not taken back; a tray that a thread packs just then is packed to its end.
pub struct Crew {
    pool: Arc<dyn Pool>,
    desk: Arc<Desk>,
    filling: Tray,
    /// Memory of trays that were written.
    spare: Vec<Tray>,
}

/// Where trays lie between threads.
struct Desk {
    settings: CrewSettings,
    state: Mutex<State>,
    /// Raised when somebody has packed a tray.
    packed_one: Signal,
}

#[derive(Default)]
struct State {
    /// The oldest first.
    trays: VecDeque<Stage>,
    /// How many were before the oldest.
    taken_count: u64,
    plain_bytes: usize,
    /// Jobs that were spawned and have not ended.
    job_count: usize,
    /// Packers that nobody uses just now.
    packers: Vec<ValuePacker>,
}

enum Stage {
    Waiting(Tray),
    /// Some thread packs it.
    Begun,
    Packed(Result<Tray>),
    /// The thread that packed it panicked.
    Lost,
}

/// What the output's thread does next.
enum Step {
    Nothing,
    Take(Result<Tray>),
    Pack(u64, Tray),
    Wait,
}

/// Entries one behind the other, and their values packed.
#[derive(Default)]
pub struct Tray {
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
    Packed(PackedValue),
    /// Of such a value unpacked.
    Phrased(Phrased<'static>),
}

impl Crew {
    /// A crew of nobody but the caller, who hires others of `pool` when there is work for them.
    pub fn new(pool: Arc<dyn Pool>, settings: CrewSettings) -> Crew {
        let desk = Desk {
            settings,
            state: Mutex::default(),
            packed_one: Signal::default(),
        };
        Crew {
            pool,
            desk: Arc::new(desk),
            filling: Tray::default(),
            spare: Vec::new(),
        }
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.filling.items.is_empty() && self.desk.state().trays.is_empty()
    }

    /// Appends an entry; whether it is time to take.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> bool {
        self.filling.push(internal_key, value, ItemState::Plain);
        self.is_full()
    }

    /// As [`Crew::add`], of a put whose value is phrases already.
    pub fn add_phrased(&mut self, internal_key: &[u8], value: &Phrased<'_>) -> bool {
        let whole = Phrased {
            payload: &[],
            ..*value
        };
        let state = ItemState::Phrased(whole);
        self.filling.push(internal_key, value.payload, state);
        self.is_full()
    }

    fn is_full(&self) -> bool {
        self.filling.plain_bytes() >= self.desk.settings.tray_bytes
    }

    /// The oldest tray, packed, if so many are under way that one must be, or if it is packed
    /// already; with `is_last` until there is none. Packs what nobody else has begun.
    ///
    /// # Panics
    /// When a thread that packed for this one did.
    pub fn take(&mut self, is_last: bool) -> Result<Option<Tray>> {
        if (is_last || self.is_full()) && !self.filling.items.is_empty() {
            let next = self.spare.pop().unwrap_or_default();
            let tray = std::mem::replace(&mut self.filling, next);
            if self.desk.put(tray) {
                hire(&self.desk, &self.pool);
            }
        }
        loop {
            // Before anything is looked at, so that no tray is missed.
            let seen = self.desk.packed_one.raised_count();
            match self.desk.step(is_last) {
                Step::Nothing => return Ok(None),
                Step::Take(tray) => return tray.map(Some),
                Step::Pack(number, tray) => self.desk.pack(number, tray),
                Step::Wait => {
                    self.pool.wait(&self.desk.packed_one, seen, WAIT);
                }
            }
        }
    }

    /// Takes the memory of a tray that was written.
    pub fn take_back(&mut self, mut tray: Tray) {
        // A value of many MiB must not keep its memory.
        if self.spare.is_empty() && tray.values.capacity() <= 2 * self.desk.settings.tray_bytes {
            tray.clear();
            self.spare.push(tray);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        state.taken_count += state.trays.len() as u64;
        state.trays.clear();
        state.packers.clear();
    }
}

// Has a thread of the pool pack a tray; whoever calls it counted the job.
fn hire(desk: &Arc<Desk>, pool: &Arc<dyn Pool>) {
    let (desk, own_pool) = (Arc::clone(desk), Arc::clone(pool));
    let job = move || {
        if desk.help() {
            hire(&desk, &own_pool);
        }
    };
    pool.spawn(Priority::Low, "pack values", Box::new(job));
}

impl Desk {
    // Lays a tray behind the others; whether a thread is to be hired for it, which is counted.
    fn put(&self, tray: Tray) -> bool {
        let mut state = self.state();
        state.plain_bytes += tray.plain_bytes();
        state.trays.push_back(Stage::Waiting(tray));
        let is_short = state.job_count + 1 < self.settings.threads;
        state.job_count += usize::from(is_short);
        is_short
    }

    // One job's work: packs the oldest tray that waits, if there is one. Whether there are more,
    // and another job is to be spawned in its place.
    fn help(&self) -> bool {
        let waiting = self.state().first_waiting();
        if let Some((number, tray)) = waiting {
            self.pack(number, tray);
        }
        let mut state = self.state();
        let goes_on = state.is_waiting();
        state.job_count -= usize::from(!goes_on);
        goes_on
    }

    fn step(&self, is_last: bool) -> Step {
        let settings = &self.settings;
        let bytes_max = settings.threads * TRAYS_PER_THREAD * settings.tray_bytes;
        let mut state = self.state();
        match state.trays.front() {
            None => return Step::Nothing,
            Some(Stage::Packed(_)) => return Step::Take(state.take_packed()),
            Some(Stage::Lost) => panic!("a thread panicked that packed values"),
            Some(_) if !is_last && state.plain_bytes < bytes_max => return Step::Nothing,
            Some(_) => {}
        }
        match state.first_waiting() {
            Some((number, tray)) => Step::Pack(number, tray),
            None => Step::Wait,
        }
    }

    // Packs a tray and lays it back.
    fn pack(&self, number: u64, mut tray: Tray) {
        let laid_back = LaidBack {
            desk: self,
            number,
            stage: Some(Stage::Lost),
        };
        let own = self.state().packers.pop();
        let own = own.map_or_else(|| self.packer(), Ok);
        let packed = own.and_then(|mut packer| {
            tray.pack(&mut packer)?;
            Ok((packer, tray))
        });
        let mut state = self.state();
        let stage = match packed {
            Ok((packer, tray)) => {
                state.packers.push(packer);
                Stage::Packed(Ok(tray))
            }
            Err(error) => Stage::Packed(Err(error)),
        };
        drop(state);
        laid_back.with(stage);
    }

    fn packer(&self) -> Result<ValuePacker> {
        let settings = &self.settings;
        packer(
            settings.encoder.clone(),
            settings.compression,
            &settings.sst,
        )
    }

    // Never held while something is packed, so what it guards is whole even after a panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_waiting(&self) -> bool {
        let mut trays = self.trays.iter();
        trays.any(|stage| matches!(stage, Stage::Waiting(_)))
    }

    // The oldest tray that nobody packs, which the caller now does, and its number.
    fn first_waiting(&mut self) -> Option<(u64, Tray)> {
        for (number, stage) in (self.taken_count..).zip(&mut self.trays) {
            if matches!(stage, Stage::Waiting(_))
                && let Stage::Waiting(tray) = std::mem::replace(stage, Stage::Begun)
            {
                return Some((number, tray));
            }
        }
        None
    }

    // The oldest tray, which is packed.
    fn take_packed(&mut self) -> Result<Tray> {
        let oldest = self.trays.pop_front();
        let Some(Stage::Packed(tray)) = oldest else {
            panic!("the oldest tray is packed");
        };
        self.taken_count += 1;
        let tray = tray?;
        self.plain_bytes -= tray.plain_bytes();
        Ok(tray)
    }
}

/// Lays a tray back into its place, unless it was given up, and says so; one that nobody packed
/// to its end, as lost.
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
        let slot = place.and_then(|place| state.trays.get_mut(place));
        if let (Some(slot), Some(stage)) = (slot, self.stage.take()) {
            *slot = stage;
        }
        drop(state);
        self.desk.packed_one.raise();
    }
}

impl Tray {
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

    fn pack(&mut self, packer: &mut ValuePacker) -> Result<()> {
        let (mut key_start, mut value_start) = (0, 0);
        for item in &mut self.items {
            let internal_key = &self.keys[key_start..item.key_end];
            let value = &self.values[value_start..item.value_end];
            (key_start, value_start) = (item.key_end, item.value_end);
            let kind = key::split(internal_key).1.kind();
            // The builder tells what is wrong with one that expires and does not say when.
            let is_whole = !kind.is_expiring() || value.len() >= EXPIRY_BYTES;
            if matches!(item.state, ItemState::Plain) && is_whole {
                item.state = ItemState::Packed(packer.pack(kind, value)?);
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
                    ItemState::Packed(packed) => builder.add_packed(internal_key, value, packed),
                    ItemState::Phrased(whole) => {
                        let payload = value;
                        builder.add_phrased(internal_key, &Phrased { payload, ..whole })
                    }
                },
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Crew({} threads)", self.desk.settings.threads)
    }
}

#[cfg(test)]
mod tests;
