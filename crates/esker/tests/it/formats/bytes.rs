//! Numbers, checksums and strings as docs/formats.md tells them.

/// Bytes of which one part after the other is taken from the front. What is not there ends the
/// test.
#[derive(Clone, Copy)]
pub struct Front<'a>(pub &'a [u8]);

impl<'a> Front<'a> {
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }

    pub fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take(2).try_into().unwrap())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    /// Seven bits a byte, the lowest first; the high bit says that another byte follows.
    pub fn varint(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = self.u8();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                assert!(byte != 0 || shift == 0, "a varint has its shortest form");
                break;
            }
        }
        number
    }

    pub fn len(&mut self) -> usize {
        usize::try_from(self.varint()).unwrap()
    }

    /// A string with its length in front.
    pub fn prefixed(&mut self) -> &'a [u8] {
        let len = self.len();
        self.take(len)
    }

    pub fn text(&mut self) -> String {
        String::from_utf8(self.prefixed().to_vec()).unwrap()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The CRC32C of the pieces, one behind the other, bit by bit: the reflected polynomial is
/// 0x82f63b78.
pub fn crc32c(pieces: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for byte in pieces.iter().copied().flatten() {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
        }
    }
    !crc
}

pub fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

pub fn hash64(key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key)
}

pub fn size(number: u32) -> usize {
    usize::try_from(number).unwrap()
}
