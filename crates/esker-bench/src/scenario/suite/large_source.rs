//! Keys and values of 100 KB.

use crate::fail::{Failure, Outcome};
use crate::make::slices::{Slices, noise};
use crate::run::lane::Lane;
use crate::target::store::{Opened, WriteHow};

/// Bytes of a value: the document's 100 KB.
pub const VALUE_BYTES: usize = 102_400;

/// Bytes of noise that values are cut from: many times what a buffer of a compressor sees.
const NOISE_BYTES: usize = 8 << 20;

/// Keys and values of kvs's own test programs, but for the values, which were all the same letter.
pub struct Values {
    noise: Slices,
}

impl Values {
    /// All of them.
    pub fn make() -> Values {
        Values {
            noise: Slices::new(noise(301, NOISE_BYTES + VALUE_BYTES)),
        }
    }

    /// The value of that number.
    fn value(&self, number: u64) -> &[u8] {
        self.noise.slice_of(number, VALUE_BYTES)
    }

    /// Puts value `value` under key `number`; the bytes of both.
    pub fn put(&self, play: &Opened, number: u64, value: u64, key: &mut Vec<u8>) -> Outcome<u64> {
        write_key(number, key);
        let value = self.value(value);
        play.store.put(key, value, WriteHow::default())?;
        Ok((key.len() + value.len()) as u64)
    }

    /// Puts each value under the key of its number, in order, for as long as the lane goes.
    pub fn fill(&self, play: &Opened, lane: &mut Lane<'_>) -> Outcome {
        let mut key = Vec::new();
        while lane.go() {
            let bytes = self.put(play, lane.done(), lane.done(), &mut key)?;
            lane.add_bytes(bytes);
            lane.finish(0, 1);
        }
        Ok(())
    }

    /// Gets the value of a key that has the value of the same number; its bytes and the key's.
    pub fn get(&self, play: &Opened, number: u64, key: &mut Vec<u8>) -> Outcome<u64> {
        self.get_as(play, number, number, key)
    }

    /// Gets the value of key `number`, which must be there, and be value `value`.
    pub fn get_as(
        &self,
        play: &Opened,
        number: u64,
        value: u64,
        key: &mut Vec<u8>,
    ) -> Outcome<u64> {
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
fn write_key(number: u64, key: &mut Vec<u8>) {
    key.clear();
    key.extend(number.to_string().bytes().rev());
}
