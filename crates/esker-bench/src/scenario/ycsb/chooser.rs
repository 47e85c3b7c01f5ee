//! Which record comes next: YCSB's choices over the records that are acknowledged.

use crate::make::random::Random;
use crate::scenario::ycsb::workload::{Choice, Workload};
use crate::scenario::ycsb::zipfian::{Scrambled, Zipfian};

/// Chooses records for one thread. Clones choose alike from the same random numbers.
#[derive(Clone, Debug)]
pub enum RecordChooser {
    /// Each of so many alike.
    Uniform(u64),
    /// Popular ones strewn.
    Scrambled(Scrambled),
    /// The latest are the most popular.
    Latest(Zipfian),
}

impl RecordChooser {
    /// The chooser of a workload. For `latest` it sums up as many terms as there are records: it
    /// is made once and cloned.
    pub fn new(workload: &Workload) -> RecordChooser {
        let count = workload.record_count;
        match workload.choice {
            Choice::Uniform => RecordChooser::uniform(workload),
            Choice::Zipfian => {
                // Room for the records that the run will insert, twice over: a range that grew
                // meanwhile would change which records are popular. Those that are not there yet
                // are drawn again.
                let inserts = workload.operation_count as f64 * workload.insert_share * 2.0;
                // The cast of a float keeps to the range of the integer.
                RecordChooser::Scrambled(Scrambled::new(count + inserts as u64 + 1))
            }
            // As many items as lie before the last record.
            Choice::Latest => RecordChooser::Latest(Zipfian::new((count - 1).max(1))),
        }
    }

    /// A chooser for a phase that chooses nothing: it costs nothing to make.
    pub fn uniform(workload: &Workload) -> RecordChooser {
        RecordChooser::Uniform(workload.record_count)
    }

    /// The number of the next record. All below `there` are there.
    pub fn choose(&mut self, there: u64, random: &mut Random) -> u64 {
        loop {
            let number = match self {
                RecordChooser::Uniform(count) => Some(random.below(*count)),
                RecordChooser::Scrambled(scrambled) => Some(scrambled.draw(random)),
                // The last record is `there - 1`, and the zipfian is over as many.
                RecordChooser::Latest(zipfian) => {
                    let last = there - 1;
                    last.checked_sub(zipfian.draw_among(last.max(1), random))
                }
            };
            if let Some(number) = number.filter(|number| *number < there) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests;
