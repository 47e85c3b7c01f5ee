//! Bloom filter bits, blocked by cache lines.
//!
//! A plain Bloom filter touches as many cache lines as it has probes. Here a key's probes all
//! lie in one 64-byte line, chosen by the high half of its hash; the low half chooses the bits.
//! A lookup costs one cache miss; the price is a false-positive rate of about 1 % instead of
//! 0.82 % at 10 bits per key, because some lines are fuller than others.
//! Source: Putze, Sanders, Singler 2007, "Cache-, Hash- and Space-Efficient Bloom Filters".

/// Bytes of a line: the unit in which the processor fetches memory.
pub const LINE_BYTES: usize = 64;

/// Most probes: beyond 24 bits per key more of them gain nothing inside one line.
pub const PROBE_COUNT_MAX: u32 = 16;

/// Spreads the low half of the hash over the next probe; 2^32 divided by the golden ratio.
const GOLDEN: u32 = 0x9e37_79b9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
struct Line([u64; 8]);

const _: () = assert!(std::mem::size_of::<Line>() == LINE_BYTES);

/// Bits of a filter in memory, each line at the start of a cache line.
#[derive(Debug, PartialEq, Eq)]
pub struct Bloom {
    lines: Vec<Line>,
    probe_count: u32,
}

/// Probes that give the fewest false positives for that many bits per key, measured for lines of
/// 512 bits: slightly fewer than the 0.69 per bit of the plain filter, because crowded lines
/// dominate the error.
pub fn best_probe_count(bits_per_key: f64) -> u32 {
    let best = (bits_per_key * 0.6).round();
    // The clamp makes the number small and positive, also where it was not a number.
    best.clamp(1.0, f64::from(PROBE_COUNT_MAX)) as u32
}

/// Lines needed for `key_count` keys.
pub fn line_count(key_count: usize, bits_per_key: f64) -> usize {
    let bits = key_count as f64 * bits_per_key.clamp(1.0, 64.0);
    // Saturates, and 2^32 lines is the most that the choice of a line can tell apart.
    ((bits / (LINE_BYTES * 8) as f64).ceil() as usize).clamp(1, u32::MAX as usize)
}

/// Keys for which that many lines are surely what [`line_count`] says, if that is so for any.
pub fn key_count_max(line_count: usize, bits_per_key: f64) -> usize {
    let bits = line_count as f64 * (LINE_BYTES * 8) as f64;
    // One less than what may have been rounded up.
    ((bits / bits_per_key.clamp(1.0, 64.0)) as usize).saturating_sub(1)
}

impl Bloom {
    /// An empty filter.
    ///
    /// # Panics
    /// When the counts are not those of [`line_count`] and [`best_probe_count`].
    pub fn new(line_count: usize, probe_count: u32) -> Bloom {
        assert!(line_count > 0 && line_count <= u32::MAX as usize);
        assert!((1..=PROBE_COUNT_MAX).contains(&probe_count));
        Bloom {
            lines: vec![Line([0; 8]); line_count],
            probe_count,
        }
    }

    /// The filter with the bits that [`Bloom::write_into`] wrote, or `None` when these are not
    /// whole lines. For bytes from disk.
    pub fn read(bytes: &[u8], probe_count: u32) -> Option<Bloom> {
        let (chunks, rest) = bytes.as_chunks::<LINE_BYTES>();
        let is_sound = rest.is_empty()
            && !chunks.is_empty()
            && chunks.len() <= u32::MAX as usize
            && (1..=PROBE_COUNT_MAX).contains(&probe_count);
        let line = |chunk: &[u8; LINE_BYTES]| {
            let mut line = Line([0; 8]);
            let (words, _) = chunk.as_chunks::<8>();
            for (word, bytes) in line.0.iter_mut().zip(words) {
                *word = u64::from_le_bytes(*bytes);
            }
            line
        };
        is_sound.then(|| Bloom {
            lines: chunks.iter().map(line).collect(),
            probe_count,
        })
    }

    /// Appends the bits, line by line, words little-endian.
    pub fn write_into(&self, out: &mut Vec<u8>) {
        for line in &self.lines {
            for word in line.0 {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }
    }

    /// Probes per key.
    pub fn probe_count(&self) -> u32 {
        self.probe_count
    }

    /// Bytes of memory that the bits take.
    pub fn size_bytes(&self) -> usize {
        self.lines.len() * LINE_BYTES
    }

    /// Adds the key with that hash.
    pub fn add(&mut self, hash: u64) {
        let index = self.line_index(hash);
        let mut bits = hash as u32;
        for _ in 0..self.probe_count {
            let bit = bits >> (32 - 9);
            self.lines[index].0[(bit >> 6) as usize] |= 1 << (bit & 63);
            bits = bits.wrapping_mul(GOLDEN);
        }
    }

    /// Whether the key with that hash may have been added; `false` is certain.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        let line = &self.lines[self.line_index(hash)].0;
        let mut bits = hash as u32;
        for _ in 0..self.probe_count {
            let bit = bits >> (32 - 9);
            if line[(bit >> 6) as usize] & (1 << (bit & 63)) == 0 {
                return false;
            }
            bits = bits.wrapping_mul(GOLDEN);
        }
        true
    }

    // A product of two numbers below 2^32, shifted back: always below the number of lines.
    #[inline]
    fn line_index(&self, hash: u64) -> usize {
        (((hash >> 32) * self.lines.len() as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests;
