//! What of the unsynced state survives a power cut.

use crate::env::random::Random;

/// How a power cut treats what was not synced. What was synced survives every one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashMode {
    /// Nothing unsynced survives.
    LoseUnsynced,
    /// Everything survives: the disk was just fast enough.
    KeepAll,
    /// Everything before some moment survives and nothing after it; the call in flight at that
    /// moment is torn between sectors. What an ordered file system does.
    Prefix,
    /// Each 512-byte sector, file size and directory change survives or not on its own; a
    /// sector may also be caught between two writes. Writes reordered and torn.
    Sectors,
    /// As `Sectors`, by pages of 4 KiB: what the page cache of a common disk does.
    Pages,
}

impl CrashMode {
    /// Every mode, for sweeps.
    pub const ALL: [CrashMode; 5] = [
        CrashMode::LoseUnsynced,
        CrashMode::KeepAll,
        CrashMode::Prefix,
        CrashMode::Sectors,
        CrashMode::Pages,
    ];
}

/// The dice of one power cut.
///
/// Every change carries the number of the call that made it. A question to the dice is "up to
/// which call does this piece survive?"; the answer is a limit, inclusive.
#[derive(Debug)]
pub struct Survival {
    mode: CrashMode,
    random: Random,
    // Prefix: the call in flight when the power went.
    last_call: u64,
    // Sectors, Pages: how many pieces of eight survive whole. Differs between cuts, so that
    // nearly full and nearly empty survivals are met as well as mixed ones.
    whole_of_eight: u64,
}

impl Survival {
    /// The dice for a power cut after `call_count` calls.
    pub fn new(mode: CrashMode, seed: u64, call_count: u64) -> Survival {
        let mut random = Random::new(seed);
        let last_call = random.below(call_count + 1) + 1;
        let whole_of_eight = 1 + random.below(7);
        Survival {
            mode,
            random,
            last_call,
            whole_of_eight,
        }
    }

    /// Whether the sectors of one page share one answer.
    pub fn is_by_page(&self) -> bool {
        self.mode == CrashMode::Pages
    }

    /// Up to which call a piece survives that was changed by the `calls`, ascending.
    pub fn limit(&mut self, calls: &[u64]) -> u64 {
        match self.mode {
            CrashMode::LoseUnsynced => 0,
            CrashMode::KeepAll => u64::MAX,
            CrashMode::Prefix => self.last_call - self.random.below(2),
            CrashMode::Sectors | CrashMode::Pages => {
                if self.random.below(8) < self.whole_of_eight {
                    return u64::MAX;
                }
                // Nothing, or caught after one of the calls.
                let choice = self.random.below(calls.len() as u64 + 1);
                match usize::try_from(choice) {
                    Ok(choice) if choice > 0 => calls[choice - 1],
                    _ => 0,
                }
            }
        }
    }

    /// Up to which call *all* directory changes survive, before each is asked for on its own:
    /// journals mostly keep their order, so half of the mixed cuts do so too.
    pub fn ordered_limit(&mut self, calls: &[u64]) -> Option<u64> {
        match self.mode {
            CrashMode::Sectors | CrashMode::Pages if self.random.one_in(2) => None,
            _ => Some(self.limit(calls)),
        }
    }
}
