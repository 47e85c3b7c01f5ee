//! The one source of chance in a run.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(mix(seed, 0x5eed))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        finish(self.0)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// True `per_mille` times of a thousand.
    pub fn hits(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of `items`, if there is one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let index = usize::try_from(self.below(items.len() as u64)).expect("an index");
        items.get(index).copied()
    }
}

fn finish(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// `hash` after `value`.
pub fn mix(hash: u64, value: u64) -> u64 {
    finish(hash.rotate_left(17) ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// `hash` after `bytes`.
pub fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    mix(
        hash,
        u64::from(crc32c::crc32c(bytes)) << 32 | bytes.len() as u64,
    )
}
