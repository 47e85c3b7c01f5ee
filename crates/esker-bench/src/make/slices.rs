//! Pools of bytes that values are cut from: those that db_bench's dialects prescribe, and others.

use std::sync::Arc;

use crate::make::dice::ParkMiller;
use crate::make::random::{Random, scramble};

/// The seed of the values in every dialect.
const SEED: u32 = 301;

/// Least bytes of the pool, as LevelDB has it: more than its window of compression.
const POOL_BYTES: usize = 1 << 20;

/// Least bytes of a pool that no dialect prescribes.
const NEUTRAL_BYTES: usize = 4 << 20;

/// Bytes of a piece within which random bytes are repeated.
const PIECE_BYTES: usize = 100;

/// Which bytes values are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Space to tilde: LevelDB, and RocksDB of 2013.
    Printable,
    /// 0 to 126: RocksDB today.
    Binary,
}

/// The pool that values are cut from; all threads of a dialect have the same.
pub fn pool(alphabet: Alphabet, ratio: f64, longest: usize) -> Arc<[u8]> {
    let mut park = ParkMiller::new(SEED);
    pieces(ratio, POOL_BYTES.max(longest + 1), |piece| {
        piece.fill_with(|| draw(&mut park, alphabet));
    })
}

/// A pool of all bytes there are, of which about `1 - ratio` can be packed away; as long as many
/// windows of any compressor that packs blocks of up to 64 KiB.
pub fn neutral(seed: u64, ratio: f64, longest: usize) -> Arc<[u8]> {
    let mut random = Random::new(seed);
    let wanted = NEUTRAL_BYTES.max(longest + PIECE_BYTES);
    pieces(ratio, wanted, |piece| random.fill(piece))
}

/// Pieces of which the first share is fresh, and repeated up to their end: compressors find that.
fn pieces(ratio: f64, wanted: usize, mut make: impl FnMut(&mut [u8])) -> Arc<[u8]> {
    // Truncated, as the original does; at least one byte is random.
    let fresh = ((PIECE_BYTES as f64 * ratio) as usize).clamp(1, PIECE_BYTES);
    let mut pool = Vec::with_capacity(wanted + PIECE_BYTES);
    let mut piece = [0; PIECE_BYTES];
    while pool.len() < wanted {
        make(&mut piece[..fresh]);
        pool.extend(piece[..fresh].iter().cycle().take(PIECE_BYTES));
    }
    pool.into()
}

/// A pool of bytes that nothing can pack.
pub fn noise(seed: u64, bytes: usize) -> Arc<[u8]> {
    let mut noise = vec![0; bytes];
    Random::new(seed).fill(&mut noise);
    noise.into()
}

fn draw(park: &mut ParkMiller, alphabet: Alphabet) -> u8 {
    let number = match alphabet {
        Alphabet::Printable => u32::from(b' ') + park.uniform(95),
        Alphabet::Binary => park.uniform(127),
    };
    u8::try_from(number).expect("below 127")
}

/// Hands out consecutive slices of a pool, from its start again when the rest is too short.
#[derive(Clone, Debug)]
pub struct Slices {
    pool: Arc<[u8]>,
    at: usize,
}

impl Slices {
    /// From the start of `pool`.
    pub fn new(pool: Arc<[u8]>) -> Slices {
        Slices { pool, at: 0 }
    }

    /// The next `len` bytes; fewer than the pool has.
    pub fn next_slice(&mut self, len: usize) -> &[u8] {
        assert!(
            len < self.pool.len(),
            "the pool was made for shorter values"
        );
        if self.at + len > self.pool.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += len;
        &self.pool[start..start + len]
    }

    /// The `len` bytes that belong to a number: the same for the same number.
    pub fn slice_of(&self, number: u64, len: usize) -> &[u8] {
        assert!(len < self.pool.len());
        let room = (self.pool.len() - len) as u64;
        let start = usize::try_from(scramble(number) % room).expect("inside the pool");
        &self.pool[start..start + len]
    }
}

#[cfg(test)]
mod tests;
