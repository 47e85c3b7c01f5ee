//! How much memory the parts of a compaction take, and how they make do with less.

use crate::base::hooks::event_reasons::CompactionKind;
use crate::base::options::call::ReadOptions;
use crate::flow::compact::plan::Plan;
use crate::flow::output::{KEY_BUILD_BYTES, OUTPUT_BYTES, OutputSettings, Phrasing};
use crate::flow::parallel_compression;
use crate::flow::read::sources::LOOKAHEAD_BYTES_MAX;

/// Bytes that the inputs of one part read ahead together: eight of them in the largest pieces.
/// More runs share it, because forty times 256 KiB would be a sixth of a small memory limit.
const WINDOWS_BYTES: u64 = 2 << 20;

/// Smallest piece read at once: below it the calls cost more than the copies.
const WINDOW_BYTES_MIN: u64 = 32 << 10;

/// The part of what is left for threads that compress, and then for keys: half, so that the inputs
/// have some.
const SHARE_DIVISOR: u64 = 2;

/// Bytes for keys that every output may take: files of ten thousand keys, however little is left.
const KEYS_BYTES_MIN: u64 = 256 << 10;

/// What one part of a compaction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Largest piece that is read of an input at once.
    pub window_bytes: usize,
    /// Bytes of memory in all. An estimate from above.
    pub part_bytes: u64,
}

impl Buffers {
    /// Those of each part of `plan` that is to take no more than `bytes_max`, if it can: then
    /// `settings` get smaller files and fewer threads, and inputs are read in smaller pieces.
    pub fn within(bytes_max: u64, plan: &Plan, settings: &mut OutputSettings) -> Buffers {
        let run_count = plan
            .inputs
            .iter()
            .map(|input| input.runs.len())
            .sum::<usize>();
        let run_count = run_count.max(1) as u64;
        let window_bytes_max = (WINDOWS_BYTES / run_count)
            .clamp(WINDOW_BYTES_MIN, ReadOptions::READAHEAD_BYTES as u64);
        if plan.kind != CompactionKind::Merge {
            return Buffers {
                window_bytes: usize::try_from(window_bytes_max).expect("256 KiB at the most"),
                part_bytes: 0,
            };
        }
        // Two blocks of each input's cursor, what it has in the lookahead, and a window.
        let block_bytes = settings.sst.block_size_bytes as u64;
        let cursor_bytes = 2 * block_bytes + LOOKAHEAD_BYTES_MAX as u64 + WINDOW_BYTES_MIN;
        let mut taken = OUTPUT_BYTES + run_count * cursor_bytes;
        if let Some(phrasing) = &mut settings.phrasing {
            taken += phrasing.encoder_bytes();
            taken += fit_threads(phrasing, bytes_max.saturating_sub(taken) / SHARE_DIVISOR);
        }
        taken += fit_keys(
            plan,
            settings,
            bytes_max.saturating_sub(taken) / SHARE_DIVISOR,
        );
        let more = bytes_max.saturating_sub(taken) / run_count;
        let window_bytes = (WINDOW_BYTES_MIN + more).min(window_bytes_max);
        Buffers {
            window_bytes: usize::try_from(window_bytes).expect("256 KiB at the most"),
            part_bytes: taken + run_count * (window_bytes - WINDOW_BYTES_MIN),
        }
    }
}

// As many threads as there is memory for; what they take.
fn fit_threads(phrasing: &mut Phrasing, bytes_max: u64) -> u64 {
    while phrasing.threads > 1 && parallel_compression::buffer_bytes(phrasing.threads) > bytes_max {
        phrasing.threads -= 1;
    }
    parallel_compression::buffer_bytes(phrasing.threads)
}

// Files of no more keys than there is memory for: a builder keeps the hash of every key, and the
// index, of the one file it writes. What they take.
fn fit_keys(plan: &Plan, settings: &mut OutputSettings, bytes_max: u64) -> u64 {
    let entry_count: u64 = plan.files().map(|(_, file)| file.entry_count).sum();
    let all_bytes = entry_count * KEY_BUILD_BYTES;
    let share = settings.file_size_bytes() as f64 / plan.size_bytes().max(1) as f64;
    let wanted = (all_bytes as f64 * share.min(1.0)) as u64;
    let allowed = bytes_max.max(KEYS_BYTES_MIN);
    if wanted <= allowed {
        return wanted;
    }
    let smaller = settings.sst.file_size_bytes as f64 * allowed as f64
        / (all_bytes as f64 * share.max(f64::MIN_POSITIVE));
    settings.sst.file_size_bytes = (smaller as u64).max(1);
    allowed
}

#[cfg(test)]
mod tests;
