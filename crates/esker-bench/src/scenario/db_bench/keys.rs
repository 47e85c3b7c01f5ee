//! Numbers to keys, as each dialect spells them.

use crate::flags::flag::Dialect;

/// How keys are spelled.
#[derive(Clone, Copy, Debug)]
pub struct KeyShape {
    /// Whose spelling.
    pub dialect: Dialect,
    /// Bytes of a key; LevelDB has always 16 digits or more.
    pub size: usize,
}

/// Digits of LevelDB's keys.
const DIGITS: usize = 16;

impl KeyShape {
    /// Writes the key of `number` into `key`, in place of what was there.
    pub fn write(&self, number: u64, key: &mut Vec<u8>) {
        key.clear();
        match self.dialect {
            Dialect::LevelDb => decimal(number, DIGITS, key),
            Dialect::RocksDb2013 => decimal(number, self.size, key),
            // The number, highest byte first, then zeros in ASCII up to the size.
            Dialect::RocksDb => {
                let room = self.size.min(8);
                key.extend_from_slice(&number.to_be_bytes()[8 - room..]);
                key.resize(self.size, b'0');
            }
        }
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
