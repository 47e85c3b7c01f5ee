//! Numbers to keys, as each dialect spells them.

use crate::flags::flag::Dialect;

/// How keys are spelled.
#[derive(Clone, Copy, Debug)]
pub struct KeyShape {
    /// Whose spelling.
    pub dialect: Dialect,
    /// Bytes of a key; LevelDB has always 16 digits or more.
    pub size: usize,
    /// LevelDB: bytes `a` in front. RocksDB today: bytes of the prefix.
    pub prefix_size: usize,
    /// RocksDB today: keys that share a prefix; 0 is no prefix.
    pub keys_per_prefix: u64,
    /// Keys of the key space.
    pub num: u64,
}

/// Digits of LevelDB's keys.
const DIGITS: usize = 16;

impl KeyShape {
    /// Writes the key of `number` into `key`, in place of what was there.
    pub fn write(&self, number: u64, key: &mut Vec<u8>) {
        key.clear();
        match self.dialect {
            Dialect::LevelDb => {
                key.resize(self.prefix_size, b'a');
                decimal(number, DIGITS, key);
            }
            Dialect::RocksDb2013 => decimal(number, self.size, key),
            Dialect::RocksDb => self.binary(number, key),
        }
    }

    // Prefix, then the number, highest byte first, then zeros in ASCII up to the size.
    fn binary(&self, number: u64, key: &mut Vec<u8>) {
        if let Some(prefixes) = self.num.checked_div(self.keys_per_prefix) {
            let prefix = (number % prefixes.max(1)).to_be_bytes();
            let fill = self.prefix_size.min(8);
            key.extend_from_slice(&prefix[8 - fill..]);
            key.resize(self.prefix_size.min(self.size), b'0');
        }
        let room = self.size.saturating_sub(key.len()).min(8);
        key.extend_from_slice(&number.to_be_bytes()[8 - room..]);
        key.resize(self.size, b'0');
    }
}

/// Appends `number` in decimal, with zeros in front up to `width`.
fn decimal(number: u64, width: usize, key: &mut Vec<u8>) {
    // 20 digits hold every number.
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    while rest > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).expect("one digit");
        rest /= 10;
    }
    let digits = &digits[at..];
    key.resize(key.len() + width.saturating_sub(digits.len()), b'0');
    key.extend_from_slice(digits);
}

#[cfg(test)]
mod tests;
