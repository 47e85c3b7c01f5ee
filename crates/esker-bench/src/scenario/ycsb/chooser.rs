//! Which record comes next: YCSB's choices over the records that are acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::make::random::Random;
use crate::make::zipf::Zipf;
use crate::scenario::ycsb::generators::{Exponential, Hotspot};
use crate::scenario::ycsb::workload::{Choice, Workload};
use crate::scenario::ycsb::zipfian::{Scrambled, Zipfian};

/// Chooses records for one thread. Clones choose alike from the same random numbers.
#[derive(Clone, Debug)]
pub struct RecordChooser {
    first: u64,
    count: u64,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    Uniform,
    Sequential,
    Scrambled(Scrambled),
    Latest(Zipfian),
    Hotspot(Hotspot),
    Exponential(Exponential),
    Zipf(Zipf),
}

impl RecordChooser {
    /// The chooser of a workload. For `latest` it sums up as many terms as there are records: it
    /// is made once and cloned.
    pub fn new(workload: &Workload) -> RecordChooser {
        let (first, count) = (workload.insert_start, workload.insert_count);
        let last = first + count - 1;
        let way = match workload.choice {
            Choice::Uniform => Way::Uniform,
            Choice::Sequential => Way::Sequential,
            Choice::Zipfian => {
                // Room for the records that the run will insert, twice over: a range that grew
                // meanwhile would change which records are popular. Those that are not there yet
                // are drawn again.
                let inserts = workload.operation_count as f64 * workload.insert_share * 2.0;
                // The cast of a float keeps to the range of the integer.
                Way::Scrambled(Scrambled::new(first, first + count + inserts as u64))
            }
            // As many items as lie before the last record.
            Choice::Latest => Way::Latest(Zipfian::new((workload.record_count - 1).max(1))),
            Choice::Hotspot { items, draws } => {
                Way::Hotspot(Hotspot::new(first, last, items, draws))
            }
            Choice::Exponential { percent, share } => {
                let range = workload.record_count as f64 * share;
                Way::Exponential(Exponential::new(percent, range))
            }
            Choice::Zipf(theta) => Way::Zipf(Zipf::new(count, theta)),
        };
        RecordChooser { first, count, way }
    }

    /// A chooser for a phase that chooses nothing: it costs nothing to make.
    pub fn uniform(workload: &Workload) -> RecordChooser {
        RecordChooser {
            first: workload.insert_start,
            count: workload.insert_count,
            way: Way::Uniform,
        }
    }

    /// The number of the next record. All below `there` are there; `turn` is what all threads
    /// count on together.
    pub fn choose(&mut self, there: u64, turn: &AtomicU64, random: &mut Random) -> u64 {
        loop {
            let number = match &mut self.way {
                Way::Uniform => Some(self.first + random.below(self.count)),
                Way::Sequential => {
                    // Relaxed: each thread needs a number of its own, in whatever order.
                    let turn = turn.fetch_add(1, Ordering::Relaxed);
                    Some(self.first + turn % self.count)
                }
                Way::Scrambled(scrambled) => Some(scrambled.draw(random)),
                // The last record is `there - 1`, and the zipfian is over as many.
                Way::Latest(zipfian) => {
                    let last = there - 1;
                    last.checked_sub(zipfian.draw_among(last.max(1), random))
                }
                Way::Hotspot(hotspot) => Some(hotspot.draw(random)),
                Way::Exponential(exponential) => (there - 1).checked_sub(exponential.draw(random)),
                Way::Zipf(zipf) => Some(self.first + zipf.draw(random)),
            };
            if let Some(number) = number.filter(|number| *number < there) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests;
