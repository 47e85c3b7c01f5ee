//! Latencies in buckets: cheap to record, exact to 1.6 percent.
//!
//! Buckets are log-linear, as in HdrHistogram: below 64 ns each nanosecond has its own; above,
//! every power of two is cut into 32 of equal width, so a bucket is at most 1/32 of its lower
//! end wide and its middle is off by at most 1/64.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::stats::thread_slot::{SLOT_COUNT, raise, slot_of_thread};

/// Binary digits kept of a value: 5 give the 1.6 percent; 4 would give 3.1, above our aim of 3.
const PRECISION_BITS: u32 = 5;

/// Buckets in each power of two.
const BUCKETS_PER_OCTAVE: usize = 1 << PRECISION_BITS;

/// Longest latency told apart, in nanoseconds: 2^40 is 18 minutes; longer ones share the last
/// bucket, and only the maximum knows better.
const TRACKED_NS_MAX: u64 = (1 << 40) - 1;

const BUCKET_COUNT: usize = bucket_of(TRACKED_NS_MAX) + 1;

const _: () = assert!(BUCKET_COUNT == 1152);

const fn bucket_of(ns: u64) -> usize {
    let ns = if ns < TRACKED_NS_MAX {
        ns
    } else {
        TRACKED_NS_MAX
    };
    if ns < BUCKETS_PER_OCTAVE as u64 {
        return ns as usize;
    }
    let shift = ns.ilog2() - PRECISION_BITS;
    shift as usize * BUCKETS_PER_OCTAVE + (ns >> shift) as usize
}

/// The middle of a bucket, in nanoseconds: what every value in it is taken for.
fn middle_of(bucket: usize) -> u64 {
    debug_assert!(bucket < BUCKET_COUNT);
    if bucket < 2 * BUCKETS_PER_OCTAVE {
        return bucket as u64;
    }
    let shift = bucket / BUCKETS_PER_OCTAVE - 1;
    let lower = ((bucket - shift * BUCKETS_PER_OCTAVE) as u64) << shift;
    lower + (1 << shift) / 2
}

/// A latency histogram that any number of threads may record into at once.
///
/// Units: nanoseconds. Size: 9 KiB for each slot from which something was recorded.
pub struct Histogram {
    shards: [OnceLock<Box<Shard>>; SLOT_COUNT],
}

#[repr(align(128))]
struct Shard {
    max: AtomicU64,
    buckets: [AtomicU64; BUCKET_COUNT],
}

impl Shard {
    fn empty() -> Box<Shard> {
        Box::new(Shard {
            max: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; BUCKET_COUNT],
        })
    }
}

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Histogram {
        Histogram {
            shards: [const { OnceLock::new() }; SLOT_COUNT],
        }
    }

    /// Counts one latency of `ns` nanoseconds.
    ///
    /// Only its bucket is raised: the number of values and their sum are worked out from the
    /// buckets when somebody asks.
    #[inline]
    pub fn record(&self, ns: u64) {
        let slot = slot_of_thread();
        let shard = self.shards[slot].get_or_init(Shard::empty);
        raise(&shard.buckets[bucket_of(ns)], slot, 1);
        // Relaxed throughout: buckets order nothing but themselves.
        if shard.max.load(Ordering::Relaxed) < ns {
            shard.max.fetch_max(ns, Ordering::Relaxed);
        }
    }

    /// What was recorded so far, as plain numbers.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let mut snapshot = HistogramSnapshot::default();
        for shard in self.shards.iter().filter_map(OnceLock::get) {
            for (count, bucket) in snapshot.counts.iter_mut().zip(&shard.buckets) {
                *count += bucket.load(Ordering::Relaxed);
            }
            snapshot.max_ns = snapshot.max_ns.max(shard.max.load(Ordering::Relaxed));
        }
        snapshot
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// What a histogram held at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    counts: Box<[u64]>,
    max_ns: u64,
}

impl Default for HistogramSnapshot {
    fn default() -> HistogramSnapshot {
        HistogramSnapshot {
            counts: vec![0; BUCKET_COUNT].into(),
            max_ns: 0,
        }
    }
}

impl HistogramSnapshot {
    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all latencies in nanoseconds, to 1.6 percent; it stops at 2^64 - 1.
    pub fn sum_ns(&self) -> u64 {
        let sum: u128 = self
            .occupied()
            .map(|(bucket, count)| u128::from(self.value_of(bucket)) * u128::from(count))
            .sum();
        u64::try_from(sum).unwrap_or(u64::MAX)
    }

    /// The mean in nanoseconds, to 1.6 percent; 0 when nothing was recorded.
    pub fn mean_ns(&self) -> u64 {
        self.sum_ns().checked_div(self.count()).unwrap_or(0)
    }

    /// The longest latency in nanoseconds, exactly; 0 when nothing was recorded.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The shortest latency in nanoseconds, to 1.6 percent; 0 when nothing was recorded.
    pub fn min_ns(&self) -> u64 {
        self.occupied()
            .next()
            .map_or(0, |(bucket, _)| self.value_of(bucket))
    }

    /// The latency in nanoseconds that `percent` of all latencies do not exceed, to 1.6 percent;
    /// 0 when nothing was recorded.
    ///
    /// `percent` is from 0 (the shortest) to 100 (the longest); what lies outside counts as the
    /// nearer end. Source: the nearest-rank definition of percentiles.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        let count = self.count();
        let share = (percent / 100.0).clamp(0.0, 1.0);
        // The cast saturates; a product above 2^53 loses less than a bucket does.
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        if rank == count {
            return self.max_ns;
        }
        let mut seen = 0;
        for (bucket, in_bucket) in self.occupied() {
            seen += in_bucket;
            if rank <= seen {
                return self.value_of(bucket);
            }
        }
        self.max_ns
    }

    /// Adds what another histogram held.
    pub fn merge(&mut self, other: &HistogramSnapshot) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    fn occupied(&self) -> impl Iterator<Item = (usize, u64)> {
        let numbered = self.counts.iter().copied().enumerate();
        numbered.filter(|(_, count)| *count > 0)
    }

    // No value exceeds the maximum, though the middle of the maximum's bucket may.
    fn value_of(&self, bucket: usize) -> u64 {
        middle_of(bucket).min(self.max_ns)
    }
}

#[cfg(test)]
mod tests;
