//! Bodies back to texts.
//!
//! Everything is checked, and what is checked is cheap: windows beyond a body show zeros, each
//! phrase is at least a byte, and a text's length is known, so a loop over any bytes ends as soon
//! as one over good bytes; at the end the streams must have filled the body. Inside the fast
//! loops there is no other branch than "is there room for the next phrases".

use crate::base::phrase::bits::{WINDOW_BITS_MIN, meet, window_backward, window_forward};
use crate::base::phrase::code::{CLASS, INSIDE, ORDER0, Ranking, shape};
use crate::base::phrase::format::{Parts, SPLIT_BYTES_MIN};
use crate::base::phrase::prefix::Shape;
use crate::base::phrase::text::{PHRASE_BYTES_MAX, SLOT_BYTES};

/// Bytes that a text's buffer has behind the text: a phrase is stored as a whole slot.
pub const SLACK_BYTES: usize = SLOT_BYTES;

/// The slot of codes that are none: a byte, so that loops end, and a mark that ends in an error.
const NO_SLOT: [u8; SLOT_BYTES] = {
    let mut slot = [0; SLOT_BYTES];
    slot[PHRASE_BYTES_MAX] = 1 | IS_NONE;
    slot
};

/// Said beside the length in a slot of a code that is none.
const IS_NONE: u8 = 0x80;

/// Bytes that phrases of two turns from both ends can touch: each end two phrases, the second
/// stored as a whole slot.
const TWO_TURNS_BYTES: usize = 2 * (PHRASE_BYTES_MAX + SLOT_BYTES);

// What a loop takes out of one window is there.
const _: () = assert!(2 * (ORDER0.top_bits + ORDER0.suffix_bits_max) <= WINDOW_BITS_MIN);
const _: () = assert!(2 * (INSIDE.top_bits + INSIDE.suffix_bits_max) <= WINDOW_BITS_MIN);
const _: () = assert!(4 * CLASS.top_bits <= WINDOW_BITS_MIN);

/// The tables that decode.
#[derive(Debug)]
pub struct Decoder {
    /// By rank, and [`NO_SLOT`] behind them.
    slots: Vec<[u8; SLOT_BYTES]>,
    /// For each class its table: rank (20 bits), bits of the suffix (6), bits of the code (6).
    tops: Vec<u32>,
    /// For each context its table: class (12 bits), bits of the code (4). Empty with one class.
    contexts: Vec<u16>,
}

impl Decoder {
    /// The tables of `parts`.
    pub fn new(parts: &Parts, ranking: &Ranking) -> Decoder {
        let slot = |id: &u32| parts.phrase(*id as usize).slot();
        let mut slots: Vec<_> = ranking.ids.iter().map(slot).collect();
        let none = u32::try_from(slots.len()).expect("18 bits");
        slots.push(NO_SLOT);
        let top_bits = shape(parts).top_bits;
        let mut tops = Vec::new();
        for (first, lengths) in &ranking.insides {
            tops.extend(lengths.table().into_iter().map(|entry| match entry {
                Some((rank, len)) => {
                    let len = u32::from(len);
                    (first + rank) << 12 | len.saturating_sub(top_bits) << 6 | len
                }
                None => none << 12,
            }));
        }
        let class_none = u16::try_from(parts.class_count).expect("at most 64");
        let mut contexts = Vec::new();
        for (classes, lengths) in &ranking.rows {
            contexts.extend(lengths.table().into_iter().map(|entry| match entry {
                Some((rank, len)) => u16::from(classes[rank as usize]) << 4 | u16::from(len),
                // A class that is none: its phrases are beyond the tables.
                None => (class_none << 4) | 1,
            }));
        }
        Decoder {
            slots,
            tops,
            contexts,
        }
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> usize {
        self.slots.len() * SLOT_BYTES + self.tops.len() * 4 + self.contexts.len() * 2
    }

    /// Decodes a body into `out`, which is [`SLACK_BYTES`] longer than the text. `None` when it
    /// is not the body of a text of that length.
    pub fn decode(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        let raw_len = out.len().checked_sub(SLACK_BYTES)?;
        match (self.contexts.is_empty(), raw_len < SPLIT_BYTES_MIN) {
            (true, true) => self.one_plain(body, out),
            (true, false) => self.two_plain(body, &mut out[..raw_len]),
            (false, true) => self.one_with_classes(body, out),
            (false, false) => self.two_with_classes(body, out),
        }
    }

    // One class, one stream.
    fn one_plain(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        let raw_len = out.len() - SLACK_BYTES;
        let (mut at, mut bit, mut seen) = (0, 0, 0);
        while at < raw_len {
            let mut window = window_forward(body, bit);
            let slot = self.take(ORDER0, 0, &mut window, &mut bit);
            store(out, at, slot);
            seen |= slot[PHRASE_BYTES_MAX];
            at += len_of(slot);
        }
        (at == raw_len && seen & IS_NONE == 0 && meet(body, bit, 0)).then_some(())
    }

    // One class, two streams; `out` is as long as the text.
    fn two_plain(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        let (mut front, mut back) = (0, out.len());
        let (mut front_bit, mut back_bit, mut seen) = (0, 0, 0);
        while back - front >= TWO_TURNS_BYTES {
            let mut ahead = window_forward(body, front_bit);
            let mut behind = window_backward(body, back_bit);
            for _ in 0..2 {
                let slot = self.take(ORDER0, 0, &mut ahead, &mut front_bit);
                store(out, front, slot);
                seen |= slot[PHRASE_BYTES_MAX];
                front += len_of(slot);
                let slot = self.take(ORDER0, 0, &mut behind, &mut back_bit);
                store_before(out, back, slot);
                seen |= slot[PHRASE_BYTES_MAX];
                back -= len_of(slot);
            }
        }
        // The middle: both ends apart from one another, so that whole slots can be stored.
        let middle = &mut out[front..back];
        let mut left = [0; TWO_TURNS_BYTES + SLOT_BYTES];
        let mut right = [0; TWO_TURNS_BYTES + SLOT_BYTES];
        let (mut front, mut back) = (0, middle.len());
        while front < back {
            let mut ahead = window_forward(body, front_bit);
            let slot = self.take(ORDER0, 0, &mut ahead, &mut front_bit);
            store(&mut left, front, slot);
            seen |= slot[PHRASE_BYTES_MAX];
            front += len_of(slot);
            if front >= back {
                break;
            }
            let mut behind = window_backward(body, back_bit);
            let slot = self.take(ORDER0, 0, &mut behind, &mut back_bit);
            store_before(&mut right, back + SLOT_BYTES, slot);
            seen |= slot[PHRASE_BYTES_MAX];
            back = back.checked_sub(len_of(slot))?;
        }
        if front != back || seen & IS_NONE != 0 || !meet(body, front_bit, back_bit) {
            return None;
        }
        let (before, behind) = middle.split_at_mut(front);
        before.copy_from_slice(&left[..front]);
        behind.copy_from_slice(&right[back + SLOT_BYTES..][..behind.len()]);
        Some(())
    }

    // Several classes, one stream.
    fn one_with_classes(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        let raw_len = out.len() - SLACK_BYTES;
        let (mut at, mut bit, mut seen) = (0, 0, 0);
        let mut context = self.first_context();
        while at < raw_len {
            let mut window = window_forward(body, bit);
            context = self.take_class(context, &mut window, &mut bit);
            let slot = self.take(INSIDE, context, &mut window, &mut bit);
            store(out, at, slot);
            seen |= slot[PHRASE_BYTES_MAX];
            at += len_of(slot);
        }
        (at == raw_len && seen & IS_NONE == 0 && meet(body, bit, 0)).then_some(())
    }

    // Several classes, two streams.
    fn two_with_classes(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        let raw_len = out.len() - SLACK_BYTES;
        let (mut at, mut class_bit, mut inside_bit, mut seen) = (0, 0, 0, 0);
        let mut context = self.first_context();
        while at + 4 * PHRASE_BYTES_MAX <= raw_len {
            let mut classes = window_forward(body, class_bit);
            for _ in 0..2 {
                let mut insides = window_backward(body, inside_bit);
                for _ in 0..2 {
                    context = self.take_class(context, &mut classes, &mut class_bit);
                    let slot = self.take(INSIDE, context, &mut insides, &mut inside_bit);
                    store(out, at, slot);
                    seen |= slot[PHRASE_BYTES_MAX];
                    at += len_of(slot);
                }
            }
        }
        while at < raw_len {
            let mut classes = window_forward(body, class_bit);
            let mut insides = window_backward(body, inside_bit);
            context = self.take_class(context, &mut classes, &mut class_bit);
            let slot = self.take(INSIDE, context, &mut insides, &mut inside_bit);
            store(out, at, slot);
            seen |= slot[PHRASE_BYTES_MAX];
            at += len_of(slot);
        }
        let is_whole = at == raw_len && seen & IS_NONE == 0 && meet(body, class_bit, inside_bit);
        is_whole.then_some(())
    }

    fn first_context(&self) -> usize {
        (self.contexts.len() >> CLASS.top_bits).saturating_sub(1)
    }

    // Takes the code of a phrase off the window.
    #[inline(always)]
    fn take(
        &self,
        shape: Shape,
        class: usize,
        window: &mut u64,
        bit: &mut usize,
    ) -> &[u8; SLOT_BYTES] {
        let at = (class << shape.top_bits) + (*window as usize & ((1 << shape.top_bits) - 1));
        let entry = self.tops.get(at).copied().unwrap_or(u32::MAX);
        let suffix = (*window as u32 >> shape.top_bits) & ((1 << (entry >> 6 & 31)) - 1);
        let rank = (entry >> 12) + suffix;
        *window >>= entry & 63;
        *bit += (entry & 63) as usize;
        self.slots.get(rank as usize).unwrap_or(&NO_SLOT)
    }

    // Takes the code of a class off the window.
    #[inline(always)]
    fn take_class(&self, context: usize, window: &mut u64, bit: &mut usize) -> usize {
        let at = (context << CLASS.top_bits) + (*window as usize & ((1 << CLASS.top_bits) - 1));
        let entry = self.contexts.get(at).copied().unwrap_or(u16::MAX);
        *window >>= entry & 15;
        *bit += usize::from(entry & 15);
        usize::from(entry >> 4)
    }
}

#[inline(always)]
fn len_of(slot: &[u8; SLOT_BYTES]) -> usize {
    usize::from(slot[PHRASE_BYTES_MAX] & 15)
}

// A slot at `at`, which has room for one.
#[inline(always)]
fn store(out: &mut [u8], at: usize, slot: &[u8; SLOT_BYTES]) {
    out[at..at + SLOT_BYTES].copy_from_slice(slot);
}

// A slot's text up to `end`; what lies before the text is overwritten.
#[inline(always)]
fn store_before(out: &mut [u8], end: usize, slot: &[u8; SLOT_BYTES]) {
    let shift = 8 * (SLOT_BYTES - len_of(slot));
    let moved = u128::from_le_bytes(*slot) << shift;
    out[end - SLOT_BYTES..end].copy_from_slice(&moved.to_le_bytes());
}

#[cfg(test)]
mod tests;
