//! Binary logarithms that are the same on every machine.
//!
//! A dictionary follows from its sample alone; the logarithms of a system's library differ in
//! their last digit from one system to the next, so they are made here of integers and of the
//! four operations that every machine rounds alike.

/// Parts of a bit in which prices are counted: an eighth is finer than what the whole bits of a
/// code do to them, and a price then fits a byte.
pub const PRICE_PER_BIT: u32 = 8;

/// Logarithms of the numbers below this are kept by [`Entropy`].
const KEPT: usize = 1 << 15;

/// The logarithm of `number`, in 65 536ths, rounded down; 0 for 0.
pub fn log2_fixed(number: u64) -> u64 {
    let number = number.max(1);
    let whole = number.ilog2();
    // The number as a fraction from 1 to 2, with 31 bits behind the point.
    let mut fraction = if whole > 31 {
        number >> (whole - 31)
    } else {
        number << (31 - whole)
    };
    let mut log = u64::from(whole);
    // Squaring doubles a logarithm: whether the square is beyond 2 is its next bit.
    for _ in 0..16 {
        fraction = (fraction * fraction) >> 31;
        let is_beyond = fraction >> 32;
        log = (log << 1) | is_beyond;
        fraction >>= is_beyond;
    }
    log
}

/// What something that happens `count` times of `total` costs in an ideal code, in eighths of a
/// bit; at least 1, at most 255.
pub fn price(count: u64, total: u64) -> u8 {
    let bits = log2_fixed(total.max(1)).saturating_sub(log2_fixed(count));
    let eighths = (bits * u64::from(PRICE_PER_BIT) + (1 << 15)) >> 16;
    u8::try_from(eighths.clamp(1, 255)).expect("clamped")
}

/// The function n · log2 n, as entropies add it up.
#[derive(Debug)]
pub struct Entropy {
    logs: Vec<f64>,
}

impl Default for Entropy {
    fn default() -> Entropy {
        let log = |number: usize| log2_fixed(number as u64) as f64 / 65_536.0;
        Entropy {
            logs: (0..KEPT).map(log).collect(),
        }
    }
}

impl Entropy {
    /// n · log2 n; 0 for 0.
    #[inline]
    pub fn of(&self, number: u64) -> f64 {
        match usize::try_from(number)
            .ok()
            .and_then(|at| self.logs.get(at))
        {
            Some(log) => number as f64 * log,
            None => number as f64 * self.far(number),
        }
    }

    // Beyond what is kept: halved until it is kept, and a straight line to the next number.
    fn far(&self, number: u64) -> f64 {
        let halvings = number.ilog2() - (KEPT.ilog2() - 1);
        let at = (number >> halvings) as usize;
        let rest = (number & ((1 << halvings) - 1)) as f64 / (1u64 << halvings) as f64;
        let log = |at: usize| self.logs.get(at).copied().unwrap_or(KEPT.ilog2().into());
        let (low, high) = (log(at), log(at + 1));
        f64::from(halvings) + low + (high - low) * rest
    }
}

#[cfg(test)]
mod tests;
