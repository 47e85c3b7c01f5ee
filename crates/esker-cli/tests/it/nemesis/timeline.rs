//! When writes of a partition were acknowledged, and for how long none were.

use std::ops::Range;
use std::time::Duration;

/// Moments at which one client heard that a write was done, and when the last one had begun.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    acknowledged: Vec<Duration>,
    last_began: Duration,
}

impl Timeline {
    pub fn note(&mut self, began: Duration, ended: Duration) {
        self.acknowledged.push(ended);
        self.last_began = began;
    }

    /// Whether a write was done that was asked for later than that.
    pub fn is_behind(&self, moment: Duration) -> bool {
        self.last_began > moment
    }

    /// The longest time without an acknowledgement that has something of `from..until`.
    pub fn gap(&self, from: Duration, until: Duration) -> Range<Duration> {
        let first = self
            .acknowledged
            .partition_point(|it| *it <= from)
            .saturating_sub(1);
        let last = self.acknowledged.partition_point(|it| *it < until);
        let last = (last + 1).min(self.acknowledged.len());
        let window = &self.acknowledged[first..last];
        let gaps = window.windows(2).map(|pair| pair[0]..pair[1]);
        let longest = gaps.max_by_key(|gap| gap.end - gap.start);
        longest.unwrap_or(from..until.max(from))
    }
}

/// Gaps in their order, and what is said of them.
pub struct Gaps(Vec<Duration>);

impl Gaps {
    pub fn of(gaps: &[Range<Duration>]) -> Gaps {
        let mut all: Vec<Duration> = gaps.iter().map(|gap| gap.end - gap.start).collect();
        all.sort_unstable();
        Gaps(all)
    }

    /// The gap that so many per mille are no longer than.
    pub fn per_mille(&self, part: usize) -> Duration {
        let at = (self.0.len() * part).div_ceil(1000).max(1) - 1;
        self.0.get(at).copied().unwrap_or_default()
    }

    /// In one line, for people.
    pub fn line(&self) -> String {
        let ms = |part| self.per_mille(part).as_millis();
        format!(
            "{} gaps of partitions whose leader was hurt: p50 {} ms, p90 {} ms, p99 {} ms, worst \
             {} ms",
            self.0.len(),
            ms(500),
            ms(900),
            ms(990),
            ms(1000)
        )
    }
}

#[test]
fn a_gap_is_the_longest_silence_that_touches_its_window() {
    let ms = Duration::from_millis;
    let mut line = Timeline::default();
    for moment in [10, 20, 30, 130, 140, 900] {
        line.note(ms(moment - 5), ms(moment));
    }
    assert_eq!(line.gap(ms(35), ms(136)), ms(30)..ms(130));
    assert_eq!(line.gap(ms(12), ms(15)), ms(10)..ms(20));
    assert_eq!(line.gap(ms(100), ms(200)), ms(140)..ms(900));
    assert_eq!(line.gap(ms(950), ms(990)), ms(950)..ms(990));
    assert!(line.is_behind(ms(894)) && !line.is_behind(ms(895)));
    let gaps: Vec<_> = (1..=100).map(|long| ms(7)..ms(7 + long)).collect();
    let gaps = Gaps::of(&gaps);
    assert_eq!(
        [500, 990, 1000].map(|part| gaps.per_mille(part)),
        [50, 99, 100].map(ms)
    );
}
