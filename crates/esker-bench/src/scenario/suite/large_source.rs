//! Keys and values of 100 KB.

use crate::fail::{Failure, Outcome};
use crate::make::random::{Random, scramble};
use crate::scenario::suite::stage::Play;

/// Bytes of a value: the document's 100 KB.
pub const VALUE_BYTES: usize = 102_400;

/// Bytes of noise that values are cut from: many times what a buffer of a compressor sees.
const NOISE_BYTES: usize = 8 << 20;

/// Keys and values of kvs's own test programs, but for the values, which were all the same letter.
pub struct Values {
    noise: Vec<u8>,
}

impl Values {
    /// All of them.
    pub fn make() -> Values {
        let mut noise = vec![0; NOISE_BYTES + VALUE_BYTES];
        Random::new(301).fill(&mut noise);
        Values { noise }
    }

    /// The value of that number.
    pub fn value(&self, number: u64) -> &[u8] {
        let start = usize::try_from(scramble(number) % NOISE_BYTES as u64);
        let start = start.expect("inside the noise");
        &self.noise[start..start + VALUE_BYTES]
    }

    /// Gets the value of a key that has the value of the same number; its bytes and the key's.
    pub fn get(&self, play: &Play, number: u64, key: &mut Vec<u8>) -> Outcome<u64> {
        self.get_as(play, number, number, key)
    }

    /// Gets the value of key `number`, which must be there, and be value `value`.
    pub fn get_as(&self, play: &Play, number: u64, value: u64, key: &mut Vec<u8>) -> Outcome<u64> {
        write_key(number, key);
        let mut is_right = false;
        play.store.get(key, &mut |found| {
            is_right = found == self.value(value);
        })?;
        match is_right {
            true => Ok((key.len() + VALUE_BYTES) as u64),
            false => Err(Failure::failed(format!(
                "the value of key {number} is not what was put"
            ))),
        }
    }
}

/// The decimal digits of a number, the last first: 10 is `01`.
pub fn write_key(number: u64, key: &mut Vec<u8>) {
    key.clear();
    key.extend(number.to_string().bytes().rev());
}
