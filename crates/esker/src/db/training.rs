//! Trains a keyspace's phrase dictionary in the background.

use std::sync::Arc;

use esker_phrase::{Dictionary, Sample, Trainer, Wish};

use crate::base::stats::memory_budget::{MemoryOwner, Reservation};
use crate::base::stats::statistics::Ticker;
use crate::base::types::error::Result;
use crate::base::types::ids::Level;
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::db::write_control;
use crate::flow::dictionary_policy::wish;
use crate::flow::read::view::View;
use crate::flow::sampling::{pick, raw_bytes};

/// Most bytes of values that a dictionary is trained from: twice as many as 8 MiB save another
/// 2 % of a review and take twice the time, half a minute; beyond, time grows and little else.
const SAMPLE_BYTES_MAX: u64 = 16 << 20;

/// Part of a keyspace's bytes that is enough to tell what the rest is like.
const SAMPLE_SHARE: u64 = 4;

/// Bytes of memory that training takes for each byte of a sample: itself, counts of phrases and of
/// pairs of them, and the candidates among these. Measured over texts of a skewed vocabulary: 18.4
/// for 512 KiB, 16.8 for 1 MiB, 12.3 for 4 MiB, of which the first rounds take a smaller part.
const MEMORY_PER_SAMPLE_BYTE: u64 = 13;

/// The same for the first bytes, and how many they are.
const MEMORY_PER_FIRST_BYTE: u64 = 18;
const FIRST_BYTES: u64 = 800 << 10;

/// Least bytes that a sample may have, however small the keyspace and the memory are.
const SAMPLE_BYTES_MIN: u64 = 16 << 10;

/// Least bytes of an average value: what is left of shorter ones is mostly what each record has
/// beside its value.
const VALUE_BYTES_MIN: u64 = 16;

/// Least bytes that must become one: below it the time is not worth the space.
const RATIO_MIN: f64 = 1.15;

/// Whether a dictionary should be trained for the keyspace now.
pub fn is_due(parts: &KeyspaceParts) -> bool {
    parts.wants_searchable()
        && parts.dictionary_policy.wants_training(
            raw_bytes(&parts.current.view()),
            parts.options().sst.dictionary_min_bytes,
        )
}

/// Whether a dictionary would be of use while much is written: for what lies below level 0, which
/// merges rewrite and nothing else. It takes a processor for many seconds.
pub fn has_use_under_load(parts: &KeyspaceParts) -> bool {
    let view = parts.current.view();
    let deepest = view.parts().levels.deepest();
    deepest.is_some_and(|level| level != Level::ZERO)
}

/// Trains a dictionary from values of the keyspace's files, and takes it into use if it pays.
pub fn train(core: &Core, parts: &KeyspaceParts) -> Result<()> {
    if parts.dictionary_policy.dictionary().is_none() && resume(parts) {
        return Ok(());
    }
    let view = parts.current.view();
    let raw_bytes = raw_bytes(&view);
    let is_stopped = || core.gate.is_closed();
    let sample_bytes = sample_bytes(core, raw_bytes);
    let charge = core
        .memory_budget
        .hold(MemoryOwner::Training, memory_of(sample_bytes));
    // The cache gives way before it is taken, and whole pages of it.
    write_control::set_cache(core);
    core.env.pages.trim_heap(0);
    let _held = Held { core, charge };
    let bytes_max = usize::try_from(sample_bytes).expect("16 MiB at the most");
    let picked = pick(&view, bytes_max, seed_of(&view), &is_stopped)?;
    let Some(picked) = picked else {
        return Ok(());
    };
    // The files are not needed any more, and may be removed meanwhile.
    drop(view);
    if picked.value_bytes < picked.value_count.max(1) * VALUE_BYTES_MIN {
        parts.dictionary_policy.give_up(raw_bytes);
        return Ok(());
    }
    let wish = wish(raw_bytes);
    let Some(dictionary) = learn(&picked.sample, wish, &is_stopped) else {
        return Ok(());
    };
    core.statistics.add(Ticker::DictionariesTrained, 1);
    if dictionary.estimate(&picked.trial) < RATIO_MIN {
        parts.dictionary_policy.give_up(raw_bytes);
    } else {
        parts.dictionary_policy.adopt(dictionary, wish.phrase_count);
    }
    Ok(())
}

// `None` when `is_stopped` said so.
fn learn(sample: &Sample, wish: Wish, is_stopped: &dyn Fn() -> bool) -> Option<Arc<Dictionary>> {
    let mut trainer = Trainer::new(sample, wish);
    loop {
        if is_stopped() {
            return None;
        }
        if let Some(dictionary) = trainer.step() {
            return Some(Arc::new(dictionary));
        }
    }
}

/// The memory of a training: given back, to the system too, however it ends.
struct Held<'a> {
    core: &'a Core,
    charge: Reservation,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.core.env.pages.trim_heap(self.charge.bytes());
        self.charge.resize(0);
    }
}

fn sample_bytes(core: &Core, raw_bytes: u64) -> u64 {
    let most = SAMPLE_BYTES_MAX.min(sample_for(core.memory_budget.training_share()));
    (raw_bytes / SAMPLE_SHARE).min(most).max(SAMPLE_BYTES_MIN)
}

// Bytes of memory that training from so large a sample takes.
fn memory_of(sample_bytes: u64) -> u64 {
    let first = sample_bytes.min(FIRST_BYTES);
    first * MEMORY_PER_FIRST_BYTE + (sample_bytes - first) * MEMORY_PER_SAMPLE_BYTE
}

// The largest sample from which training takes no more than so many bytes.
fn sample_for(memory_bytes: u64) -> u64 {
    let beyond = memory_bytes.saturating_sub(FIRST_BYTES * MEMORY_PER_FIRST_BYTE);
    match beyond {
        0 => memory_bytes / MEMORY_PER_FIRST_BYTE,
        _ => FIRST_BYTES + beyond / MEMORY_PER_SAMPLE_BYTE,
    }
}

// Another one for other files, and the same for the same.
fn seed_of(view: &View) -> u64 {
    let files = view.parts().levels.files();
    files.map(|(_, file)| file.number.0).max().unwrap_or(0)
}

/// Takes the dictionary of the newest searchable file into use, if there is one that can be read;
/// says whether.
pub fn resume(parts: &KeyspaceParts) -> bool {
    let view = parts.current.view();
    let files = view.parts().levels.files();
    let searchable = files.filter(|(_, file)| file.is_searchable);
    let Some((_, newest)) = searchable.max_by_key(|(_, file)| file.number) else {
        return false;
    };
    // Whoever reads a damaged file is told; here it only means that another one is trained.
    let reader = view.open(newest).ok();
    let dictionary = reader.as_ref().and_then(|reader| reader.dictionary());
    if let Some(dictionary) = dictionary {
        let wished = dictionary.phrase_count();
        parts
            .dictionary_policy
            .adopt(Arc::clone(dictionary), wished);
    }
    dictionary.is_some()
}

/// Waits until no dictionary is being trained for the keyspace.
pub fn wait(core: &Core, parts: &KeyspaceParts) -> Result<()> {
    core.work.wait_for(&*core.env.pool, || {
        core.gate.check_upkeep()?;
        Ok((!parts.dictionary_policy.is_training()).then_some(()))
    })
}

#[cfg(test)]
mod tests;
