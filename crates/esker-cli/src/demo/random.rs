//! Random numbers from a seed, even and zipfian: the same seed gives the same demo.

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and one mix for each number.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// The golden ratio's fraction in 64 bits: the step of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// Numbers that follow from `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0);
        // The upper half of the product: as even as 64 bits over the bound allow.
        let product = u128::from(self.next()) * u128::from(bound);
        u64::try_from(product >> 64).expect("the upper half of a product has 64 bits")
    }

    /// The next number from 0 up to 1.
    fn fraction(&mut self) -> f64 {
        // 53 bits: as many as a double holds.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The mixing step of SplitMix64: every bit of the result depends on every bit of the input.
pub fn mix(number: u64) -> u64 {
    let mut mixed = number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Places below a bound where few come often and most seldom: the place on rank r comes with a
/// share of 1 over r to the power 0.99, as in YCSB (Gray et al. 1994).
#[derive(Clone, Debug)]
pub struct Zipf {
    count: u64,
    alpha: f64,
    zeta: f64,
    eta: f64,
}

/// YCSB's exponent.
const THETA: f64 = 0.99;

impl Zipf {
    /// Over `count` places, at least one.
    pub fn new(count: u64) -> Zipf {
        assert!(count > 0);
        let term = |rank: u64| (rank as f64).powf(-THETA);
        let zeta: f64 = (1..=count).map(term).sum();
        let two = 1.0 + term(2);
        let eta = (1.0 - (2.0 / count as f64).powf(1.0 - THETA)) / (1.0 - two / zeta);
        Zipf {
            count,
            alpha: 1.0 / (1.0 - THETA),
            zeta,
            eta,
        }
    }

    /// The next place. Ranks are scattered, so that frequent places are not neighbours.
    pub fn next(&self, random: &mut Random) -> u64 {
        let rank = self.rank(random.fraction());
        mix(rank) % self.count
    }

    fn rank(&self, fraction: f64) -> u64 {
        let scaled = fraction * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < 1.0 + 0.5_f64.powf(THETA) {
            return 1.min(self.count - 1);
        }
        let base = self.eta * fraction - self.eta + 1.0;
        // A place below the count, cut to whole: that is what is meant.
        let rank = (self.count as f64 * base.powf(self.alpha)) as u64;
        rank.min(self.count - 1)
    }
}

#[cfg(test)]
mod tests;
