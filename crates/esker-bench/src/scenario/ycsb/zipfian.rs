//! YCSB's zipfian numbers: those of the paper, those strewn over a range, those near the newest.

use crate::make::random::Random;
use crate::scenario::ycsb::names::fnv64;

/// YCSB's exponent.
pub const THETA: f64 = 0.99;

/// Items that the strewn ranks are drawn from, whatever the range they are strewn over.
pub const ITEM_COUNT: u64 = 10_000_000_000;

/// The zeta of so many items as YCSB has it in its source: summing it would take minutes.
pub const ZETA_OF_ITEM_COUNT: f64 = 26.469_028_201_783_02;

/// The sum of `i^-theta` for `i` above `from` and up to `to`, added to `sum`, term by term in
/// YCSB's order: another order gives other last digits.
pub fn zeta(from: u64, to: u64, theta: f64, sum: f64) -> f64 {
    (from..to).fold(sum, |sum, item| sum + 1.0 / ((item + 1) as f64).powf(theta))
}

/// Ranks from 0 up, the lowest ones most popular.
///
/// Source: Gray and others, "Quickly generating billion-record synthetic databases", 1994.
#[derive(Clone, Debug)]
pub struct Zipfian {
    items: u64,
    theta: f64,
    alpha: f64,
    zeta_of_two: f64,
    zeta_count: u64,
    zeta: f64,
    eta: f64,
}

impl Zipfian {
    /// Ranks below `items`, which is not 0. Sums up as many terms.
    pub fn new(items: u64) -> Zipfian {
        Zipfian::with_zeta(items, zeta(0, items, THETA, 0.0))
    }

    /// Ranks below `items`, whose zeta is known.
    pub fn with_zeta(items: u64, known: f64) -> Zipfian {
        assert!(items > 0, "no items, no ranks");
        let mut zipfian = Zipfian {
            items,
            theta: THETA,
            alpha: 1.0 / (1.0 - THETA),
            zeta_of_two: zeta(0, 2, THETA, 0.0),
            zeta_count: items,
            zeta: known,
            eta: 0.0,
        };
        zipfian.eta = zipfian.fresh_eta();
        zipfian
    }

    // From the first number of items also when there are more by now: YCSB does so, and the
    // sequence is to be its own.
    fn fresh_eta(&self) -> f64 {
        (1.0 - (2.0 / self.items as f64).powf(1.0 - self.theta))
            / (1.0 - self.zeta_of_two / self.zeta)
    }

    /// Draws a rank among the items it was made for.
    pub fn draw(&mut self, random: &mut Random) -> u64 {
        self.draw_among(self.items, random)
    }

    /// Draws a rank below `count`. The sum grows with it by the new terms; it never shrinks.
    pub fn draw_among(&mut self, count: u64, random: &mut Random) -> u64 {
        if count > self.zeta_count {
            self.zeta = zeta(self.zeta_count, count, self.theta, self.zeta);
            self.zeta_count = count;
            self.eta = self.fresh_eta();
        }
        self.rank(count, random.unit())
    }

    /// The rank that the number `unit`, from 0 up to 1, stands for.
    pub fn rank(&self, count: u64, unit: f64) -> u64 {
        let scaled = unit * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < 1.0 + 0.5_f64.powf(self.theta) {
            return 1;
        }
        let curve = (self.eta * unit - self.eta + 1.0).powf(self.alpha);
        // The cast of a float keeps to the range of the integer.
        (count as f64 * curve) as u64
    }
}

/// Numbers of a range, strewn: a rank among ten thousand million items, hashed into the range.
///
/// The most popular number gets 1 in 26.5 draws however small the range is, which is flatter than
/// a true zipfian: of a million items its first gets 1 in 15.
#[derive(Clone, Debug)]
pub struct Scrambled {
    count: u64,
    ranks: Zipfian,
}

impl Scrambled {
    /// Numbers below `count`, which is not 0.
    pub fn new(count: u64) -> Scrambled {
        assert!(count > 0, "an empty range has no numbers");
        Scrambled {
            count,
            // YCSB counts its items from 0 to ITEM_COUNT, both included.
            ranks: Zipfian::with_zeta(ITEM_COUNT + 1, ZETA_OF_ITEM_COUNT),
        }
    }

    /// Draws a number.
    pub fn draw(&mut self, random: &mut Random) -> u64 {
        self.number_of(self.ranks.rank(ITEM_COUNT + 1, random.unit()))
    }

    /// Where a rank is strewn to.
    pub fn number_of(&self, rank: u64) -> u64 {
        // The one hash without a positive twin would have a remainder below 0.
        fnv64(rank).unsigned_abs() % self.count
    }
}

#[cfg(test)]
mod tests;
