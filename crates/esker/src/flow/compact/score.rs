//! How badly a keyspace needs compaction: targets per level, scores, and debt in bytes.
//!
//! Targets follow from the bottom up (RocksDB's dynamic level sizes): the deepest filled level is
//! what it is, every level above may hold one `level_growth`-th of the one below, until a target
//! is no larger than `base_level_bytes`. That level is the *base*: level 0 is merged straight
//! into it, and levels between stay empty. So the tree's shape, and with it space and write
//! amplification, is the same at every size.

use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::ids::Level;
use crate::base::types::limits::LEVEL_COUNT;
use crate::store::version::levels::Levels;
use crate::store::version::run::Run;

/// How large each level may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets {
    /// The level that level 0 is merged into.
    pub base: Level,
    /// Bytes per level; those above the base are 0.
    pub bytes: [u64; LEVEL_COUNT],
}

/// The targets for levels of these sizes.
pub fn targets(levels: &Levels, options: &CompactionOptions) -> Targets {
    let bottom = LEVEL_COUNT - 1;
    let size = |depth: usize| Level::new(depth).map_or(0, |level| levels.size_bytes(level));
    let deepest = (1..LEVEL_COUNT)
        .rev()
        .find(|&depth| size(depth) > 0)
        .unwrap_or(bottom);
    // A filled level above the bottom keeps its place: data only ever moves down.
    let first_filled = (1..LEVEL_COUNT)
        .find(|&depth| size(depth) > 0)
        .unwrap_or(bottom);
    let mut bytes = [0; LEVEL_COUNT];
    let mut depth = deepest;
    let mut target = size(deepest).max(options.base_level_bytes);
    bytes[depth] = target;
    while depth > 1 && (target > options.base_level_bytes || depth > first_filled) {
        depth -= 1;
        target = (target / options.level_growth).max(options.base_level_bytes / 2);
        bytes[depth] = target;
    }
    Targets {
        base: Level::new(depth).expect("depth is below LEVEL_COUNT"),
        bytes,
    }
}

/// How much each level is beyond its target; a level above 1.0 should be compacted. Indexed by
/// depth. The bottom has no score: nothing lies below it.
pub fn scores(
    levels: &Levels,
    targets: &Targets,
    options: &CompactionOptions,
) -> [f64; LEVEL_COUNT] {
    let mut scores = [0.0; LEVEL_COUNT];
    scores[0] = l0_score(levels.l0(), options);
    for level in Level::all().skip(1).take(LEVEL_COUNT - 2) {
        let target = targets.bytes[level.index()].max(1);
        scores[level.index()] = levels.size_bytes(level) as f64 / target as f64;
    }
    let is_deepest = |depth: usize| targets.bytes[depth + 1..].iter().all(|bytes| *bytes == 0);
    for (depth, score) in scores.iter_mut().enumerate().skip(1) {
        if is_deepest(depth) {
            *score = score.min(1.0);
        }
    }
    scores
}

/// How much these runs of level 0 call for a merge, as in [`scores`].
pub fn l0_score(runs: &[Run], options: &CompactionOptions) -> f64 {
    let by_runs = runs.len() as f64 / options.l0_trigger as f64;
    // Few but large runs are worth merging too: they lie in the way of every read.
    let by_bytes = match runs.len() {
        0 | 1 => 0.0,
        _ => Run::total_bytes(runs) as f64 / options.base_level_bytes as f64,
    };
    by_runs.max(by_bytes)
}

/// Bytes that compaction should already have moved: what level 0 holds beyond its trigger, and
/// what each level holds beyond its target.
pub fn debt_bytes(levels: &Levels, targets: &Targets, options: &CompactionOptions) -> u64 {
    let run_count = levels.l0().len();
    let l0_bytes = levels.size_bytes(Level::ZERO);
    let l0_debt = if run_count <= options.l0_trigger {
        0
    } else {
        l0_bytes / run_count as u64 * (run_count - options.l0_trigger) as u64
    };
    let deeper = Level::all().skip(1).take(LEVEL_COUNT - 2).filter(|level| {
        targets.bytes[level.index() + 1..]
            .iter()
            .any(|bytes| *bytes > 0)
    });
    let sum: u64 = deeper
        .map(|level| {
            levels
                .size_bytes(level)
                .saturating_sub(targets.bytes[level.index()])
        })
        .sum();
    l0_debt + sum
}

#[cfg(test)]
mod tests;
