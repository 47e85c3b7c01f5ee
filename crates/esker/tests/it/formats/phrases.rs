//! Phrase dictionaries, and texts that were made of their phrases.

use super::bytes::{Front, crc32c, masked, size};

/// A dictionary: its phrases by number, and what their codes follow from.
pub struct Dictionary {
    phrases: Vec<Vec<u8>>,
    class_count: usize,
    /// For each class the numbers of its phrases, from the shortest code on, with its length.
    insides: Vec<Vec<(usize, u32)>>,
    /// For each class before, and then for the first phrase, the classes in the same way.
    rows: Vec<Vec<(usize, u32)>>,
}

/// Bits in a row, of a body that is read from its front or from its back.
struct Bits<'a> {
    bytes: &'a [u8],
    is_backward: bool,
    at: usize,
}

impl Bits<'_> {
    fn next(&mut self, count: u32) -> u32 {
        (0..count).fold(0, |number, place| {
            let index = self.at / 8;
            let index = match self.is_backward {
                true => self.bytes.len() - 1 - index,
                false => index,
            };
            let bit = u32::from(self.bytes[index] >> (self.at % 8) & 1);
            self.at += 1;
            number | bit << place
        })
    }

    // What has the next code, of those that are listed from the shortest code on.
    fn code(&mut self, listed: &[(usize, u32)], top_bits: u32) -> usize {
        // As if all top bits were there: behind a short code they belong to what follows.
        let start = self.at;
        let mut entry = 0;
        let mut first = 0;
        let mut read = 0;
        let mut index = 0;
        while index < listed.len() {
            let len = listed[index].1;
            while read < len.min(top_bits) {
                entry |= self.next(1) << (top_bits - 1 - read);
                read += 1;
            }
            let (taken, together) = match len.checked_sub(top_bits) {
                None => (1 << (top_bits - len), 1),
                Some(suffix) => (1, 1usize << suffix),
            };
            if entry < first + taken {
                assert_eq!(self.at, start + usize::try_from(read).unwrap());
                let suffix = self.next(len.saturating_sub(top_bits));
                return listed[index + usize::try_from(suffix).unwrap()].0;
            }
            first += taken;
            index += together;
        }
        panic!("a code that none has");
    }
}

impl Dictionary {
    pub fn read(bytes: &[u8]) -> Dictionary {
        let (covered, checksum) = bytes.split_at(bytes.len() - 4);
        assert_eq!(Front(checksum).u32(), masked(crc32c(&[covered])));
        let mut front = Front(covered);
        assert_eq!(front.take(8), b"eskrphrs");
        assert_eq!(front.u32(), 1);
        let (count, class_count) = (size(front.u32()), size(front.u32()));
        let spelling_len = size(front.u32());
        let mut spellings = Front(front.take(spelling_len));
        let mut phrases: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut before: Vec<u8> = Vec::new();
        for _ in 0..count {
            let lens = usize::from(spellings.u8());
            let shared = before[..lens >> 4].to_vec();
            let text = [&shared, spellings.take(lens & 15)].concat();
            assert!(text > before && (2..=15).contains(&text.len()));
            before.clone_from(&text);
            phrases.push(text);
        }
        assert!(spellings.is_empty());
        let lengths = front.take(256 + count);
        let (mut classes, mut contexts) = (vec![0; 256 + count], &[][..]);
        if class_count > 1 {
            classes = front.take(256 + count).to_vec();
            contexts = front.take(class_count * (class_count + 1));
        }
        assert!(front.is_empty());
        let of_class = |class: usize| {
            let all = lengths.iter().zip(&classes).enumerate();
            let own = all.filter(|(_, (_, own))| usize::from(**own) == class);
            listed(own.map(|(number, (len, _))| (number, u32::from(*len))))
        };
        let of_row = |row: &[u8]| listed(row.iter().map(|len| u32::from(*len)).enumerate());
        Dictionary {
            insides: (0..class_count).map(of_class).collect(),
            rows: contexts.chunks(class_count).map(of_row).collect(),
            phrases,
            class_count,
        }
    }

    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The text of so many bytes that the body is phrases of.
    pub fn text(&self, body: &[u8], len: usize) -> Vec<u8> {
        let stream = |is_backward| Bits {
            bytes: body,
            is_backward,
            at: 0,
        };
        let (mut first, mut second) = (stream(false), stream(true));
        let is_split = len >= 128;
        let (mut text, mut behind): (Vec<u8>, Vec<&[u8]>) = (Vec::new(), Vec::new());
        let mut behind_len = 0;
        let mut context = self.class_count;
        while text.len() + behind_len < len {
            if self.class_count == 1 {
                text.extend_from_slice(self.phrase(&mut first, 0, 10));
                if is_split && text.len() + behind_len < len {
                    let phrase = self.phrase(&mut second, 0, 10);
                    behind_len += phrase.len();
                    behind.push(phrase);
                }
                continue;
            }
            context = first.code(&self.rows[context], 9);
            let stream = if is_split { &mut second } else { &mut first };
            text.extend_from_slice(self.phrase(stream, context, 8));
        }
        behind
            .iter()
            .rev()
            .for_each(|phrase| text.extend_from_slice(phrase));
        assert_eq!(text.len(), len);
        // Less than a byte of zeros is left behind each stream.
        assert_eq!(first.at.div_ceil(8) + second.at.div_ceil(8), body.len());
        for stream in [&mut first, &mut second] {
            let left = stream.at.next_multiple_of(8) - stream.at;
            assert_eq!(stream.next(u32::try_from(left).unwrap()), 0);
        }
        text
    }

    fn phrase(&self, stream: &mut Bits<'_>, class: usize, top_bits: u32) -> &[u8] {
        &self.phrases[stream.code(&self.insides[class], top_bits)]
    }
}

// From the shortest code on; what has the same length, in the order of numbers.
fn listed(all: impl Iterator<Item = (usize, u32)>) -> Vec<(usize, u32)> {
    let mut listed: Vec<(usize, u32)> = all.collect();
    listed.sort_by_key(|(number, len)| (*len, *number));
    listed
}
