//! Every phrase that a text begins with, one load for each byte of it.
//!
//! A double-array trie. Each node has a base; its child for byte `b` is entry `base ^ b`, if that
//! entry carries the label `b`. No two nodes share a base, so the label alone proves whose child
//! an entry is. Children lie in the 256 entries around the base, hence all tests for a place are
//! a few operations on 256 bits. An entry has 8 bytes.
//!
//! Source: J. Aoe, "An efficient digital search algorithm by using a double-array structure";
//! bases that differ as in Darts-clone.

use crate::text::{PHRASE_BYTES_MAX, Phrase};

/// Bits of a phrase's number in a [`Mark`].
pub const ID_BITS: u32 = 18;

/// Entries that one block has, and children that one node can have.
const BLOCK: usize = 256;

/// Blocks in which a place for children is looked for, as in Darts-clone: a bound for the time of
/// a place.
const OPEN_BLOCKS: usize = 16;

/// Bits of a base in an entry; the label takes the other eight.
const BASE_BITS: u32 = 24;

/// The base of the root: base 0 stands for "no children", and its block has no entries.
const ROOT_BASE: u32 = BLOCK as u32;

/// What the trie says of a phrase, in one word: its number, its class, its price inside the
/// class in eighths of a bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark(u32);

impl Mark {
    /// No phrase ends here.
    pub const NONE: Mark = Mark(0);

    /// A phrase.
    ///
    /// # Panics
    /// When the number has more than 18 bits, the class more than 6, or the price is 0.
    pub fn new(id: u32, class: u8, price: u8) -> Mark {
        assert!(id < 1 << ID_BITS && class < 64 && price > 0);
        Mark((id << 14) | (u32::from(class) << 8) | u32::from(price))
    }

    /// The mark of those bits.
    #[inline(always)]
    pub fn from_bits(bits: u32) -> Mark {
        Mark(bits)
    }

    /// The bits.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The phrase's number.
    #[inline(always)]
    pub fn id(self) -> u32 {
        self.0 >> 14
    }

    /// The phrase's class.
    #[inline(always)]
    pub fn class(self) -> usize {
        (self.0 >> 8) as usize & 63
    }

    /// The phrase's price inside its class, in eighths of a bit.
    #[inline(always)]
    pub fn price(self) -> u32 {
        self.0 & 255
    }
}

/// The phrases of a dictionary, to be found at the front of a text.
#[derive(Debug)]
pub struct Trie {
    /// Low half: base and label; high half: the mark.
    entries: Vec<u64>,
}

impl Trie {
    /// A trie of phrases, which rise.
    ///
    /// # Panics
    /// When they do not.
    pub fn new(phrases: &[(Phrase, Mark)]) -> Trie {
        assert!(phrases.is_sorted_by(|left, right| left.0 < right.0));
        let mut packer = Packer::default();
        packer.open_block();
        packer.open_block();
        // Ranges of phrases below a node, the length of what they share, and the node's base.
        let mut waiting = vec![(phrases, 0, None)];
        let mut children = Vec::new();
        while let Some((below, depth, entry)) = waiting.pop() {
            let byte = |phrase: &(Phrase, Mark)| phrase.0.text()[depth];
            children.clear();
            children.extend(below.chunk_by(|left, right| byte(left) == byte(right)));
            let labels: Vec<u8> = children.iter().map(|range| byte(&range[0])).collect();
            let Some(base) = packer.place(entry, &labels) else {
                // No room: these phrases are not found, and texts take others.
                continue;
            };
            for (range, label) in children.iter().zip(labels) {
                let child = base as usize ^ usize::from(label);
                let (first, rest) = range.split_first().expect("chunks are not empty");
                let ends = first.0.len() == depth + 1;
                if ends {
                    packer.entries[child] |= u64::from(first.1.bits()) << 32;
                }
                let below = if ends { rest } else { range };
                if !below.is_empty() {
                    waiting.push((below, depth + 1, Some(child)));
                }
            }
        }
        packer.finish()
    }

    /// Calls `found` with the length and the mark of every phrase at the front of `text`, the
    /// shortest first.
    #[inline(always)]
    pub fn each_prefix(&self, text: &[u8], mut found: impl FnMut(usize, Mark)) {
        self.each_node(text, |len, mark| {
            if mark != Mark::NONE {
                found(len, mark);
            }
        });
    }

    /// As [`Trie::each_prefix`], and with [`Mark::NONE`] for every other front that some phrase
    /// begins with: whether a node is a phrase is hard to foresee, and a caller can do better than
    /// a branch.
    #[inline(always)]
    pub fn each_node(&self, text: &[u8], mut found: impl FnMut(usize, Mark)) {
        let mut base = ROOT_BASE;
        for (index, &byte) in text.iter().take(PHRASE_BYTES_MAX).enumerate() {
            let Some(&entry) = self.entries.get((base ^ u32::from(byte)) as usize) else {
                break;
            };
            if entry as u8 != byte {
                break;
            }
            found(index + 1, Mark((entry >> 32) as u32));
            base = entry as u32 >> 8;
        }
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub fn size_bytes(&self) -> usize {
        self.entries.len() * size_of::<u64>()
    }
}

/// Finds places for children.
#[derive(Default)]
struct Packer {
    entries: Vec<u64>,
    blocks: Vec<OpenBlock>,
}

/// One bit for each of 256 things.
type Bits = [u64; 4];

/// A block that may have room.
struct OpenBlock {
    number: usize,
    free: Bits,
    unused_bases: Bits,
}

impl Packer {
    /// Places children with these labels, and tells the node at `entry` their base.
    fn place(&mut self, entry: Option<usize>, labels: &[u8]) -> Option<u32> {
        let base = match entry {
            None => ROOT_BASE,
            Some(_) => self.find(labels)?,
        };
        let number = base as usize / BLOCK;
        let low = base as u8;
        let block = self.blocks.iter_mut().find(|block| block.number == number);
        let block = block.expect("a base is taken in an open block");
        clear(&mut block.unused_bases, low);
        for label in labels {
            clear(&mut block.free, low ^ label);
            self.entries[number * BLOCK + usize::from(low ^ label)] = u64::from(*label);
        }
        if let Some(entry) = entry {
            self.entries[entry] |= u64::from(base) << 8;
        }
        Some(base)
    }

    // A base around which the entries of all labels are free.
    fn find(&mut self, labels: &[u8]) -> Option<u32> {
        for block in &self.blocks {
            let free: u32 = block.free.iter().map(|word| word.count_ones()).sum();
            // A last free entry keeps a base to mark it with, see `close`.
            if free as usize <= labels.len() {
                continue;
            }
            let mut bases = block.unused_bases;
            for label in labels {
                let places = permuted(block.free, *label);
                bases
                    .iter_mut()
                    .zip(places)
                    .for_each(|(bases, place)| *bases &= place);
                if bases == [0; 4] {
                    break;
                }
            }
            if let Some(low) = lowest(&bases) {
                return Some((block.number * BLOCK) as u32 | low);
            }
        }
        let number = self.open_block()?;
        // The first free entry is the first label's.
        Some((number * BLOCK) as u32 | u32::from(*labels.first()?))
    }

    // Begins a block; `None` when bases cannot name it.
    fn open_block(&mut self) -> Option<usize> {
        let number = self.entries.len() / BLOCK;
        if (number + 1) * BLOCK > 1 << BASE_BITS {
            return None;
        }
        if self.blocks.len() == OPEN_BLOCKS {
            let full = self.blocks.remove(0);
            self.close(&full);
        }
        self.entries.resize(self.entries.len() + BLOCK, 0);
        self.blocks.push(OpenBlock {
            number,
            free: if number == 0 { [0; 4] } else { [u64::MAX; 4] },
            unused_bases: [u64::MAX; 4],
        });
        Some(number)
    }

    // Free entries get labels with which no node reaches them: those of a base in no use. While
    // an entry is free there is one, because each base in use has an entry that is not.
    fn close(&mut self, block: &OpenBlock) {
        let Some(unused) = lowest(&block.unused_bases) else {
            return;
        };
        for low in 0..=u8::MAX {
            let is_free = block.free[usize::from(low >> 6)] >> (low & 63) & 1 == 1;
            if is_free || block.number == 0 {
                let label = if block.number == 0 {
                    !low
                } else {
                    low ^ unused as u8
                };
                self.entries[block.number * BLOCK + usize::from(low)] = u64::from(label);
            }
        }
    }

    fn finish(mut self) -> Trie {
        for block in std::mem::take(&mut self.blocks) {
            self.close(&block);
        }
        Trie {
            entries: self.entries,
        }
    }
}

fn clear(bits: &mut Bits, index: u8) {
    bits[usize::from(index >> 6)] &= !(1 << (index & 63));
}

fn lowest(bits: &Bits) -> Option<u32> {
    let words = (0..).zip(bits);
    let mut found = words.filter(|(_, word)| **word != 0);
    found
        .next()
        .map(|(at, word)| at * 64 + word.trailing_zeros())
}

// Bit `i` of the result is bit `i ^ flip` of `bits`.
fn permuted(bits: Bits, flip: u8) -> Bits {
    const MASKS: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0f0f_0f0f_0f0f_0f0f,
        0x00ff_00ff_00ff_00ff,
        0x0000_ffff_0000_ffff,
        0x0000_0000_ffff_ffff,
    ];
    let high = usize::from(flip >> 6);
    let mut result: Bits = std::array::from_fn(|at| bits[at ^ high]);
    for (step, mask) in MASKS.iter().enumerate() {
        if flip >> step & 1 == 1 {
            let distance = 1 << step;
            for word in &mut result {
                *word = ((*word & mask) << distance) | ((*word >> distance) & mask);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests;
