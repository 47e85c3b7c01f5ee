//! Bodies back to texts.
//!
//! Everything is checked, and what is checked is cheap: windows beyond a body show zeros, each
//! phrase is at least a byte, and a text's length is known, so a loop over any bytes ends as soon
//! as one over good bytes; at the end the streams must have filled the body. Inside the fast
//! loops there is no other branch than "is there room for the next phrases".

use crate::bits::{WINDOW_BITS_MIN, meet, window_backward, window_forward};
use crate::code::{CLASS, INSIDE, ORDER0, Ranking};
use crate::format::{BYTE_COUNT, PHRASE_COUNT_MAX, Parts, SPLIT_BYTES_MIN};
use crate::parse::FIRST_CONTEXT;
use crate::prefix::Lengths;
use crate::shifting::{Shifting, shifting};
use crate::text::{PHRASE_BYTES_MAX, SLOT_BYTES};

/// Bytes that a text's buffer has behind the text: a phrase is stored as a whole slot, and four of
/// them at a time.
pub const SLACK_BYTES: usize = 3 * SLOT_BYTES;

/// A phrase as it is stored, its length in the last byte: at most 15.
type Slot = [u8; SLOT_BYTES];

/// Most bytes of three phrases: where more are left, a fourth begins before the text's end.
const THREE_BYTES: usize = 3 * PHRASE_BYTES_MAX;

/// Where four phrases are stored, the last as a whole slot behind up to 63 bytes.
const FOUR_ROOM: usize = 64 + SLOT_BYTES;

/// Where two are stored, the second behind up to 15 bytes.
const TWO_ROOM: usize = 16 + SLOT_BYTES;

/// Bytes that phrases of two turns from both ends can touch: each end two phrases, the second
/// stored as a whole slot.
const TWO_TURNS_BYTES: usize = 2 * (PHRASE_BYTES_MAX + SLOT_BYTES);

// What a loop takes out of one window is there.
const _: () = assert!(2 * (ORDER0.top_bits + ORDER0.suffix_bits_max) <= WINDOW_BITS_MIN);
const _: () = assert!(2 * (INSIDE.top_bits + INSIDE.suffix_bits_max) <= WINDOW_BITS_MIN);
const _: () = assert!(4 * CLASS.top_bits <= WINDOW_BITS_MIN);
const _: () = assert!(FOUR_ROOM <= THREE_BYTES + 1 + SLACK_BYTES && THREE_BYTES < 64);
const _: () = assert!(TWO_ROOM <= PHRASE_BYTES_MAX + 1 + SLACK_BYTES && PHRASE_BYTES_MAX < 16);

/// What a group of codes of phrases decodes to: the rank of the first, and the bits of a code in
/// the lowest five. Together in one word, so that all tables leave the cache to the phrases.
#[derive(Clone, Copy, Debug)]
struct Group(u32);

/// What a code of a class decodes to: the class, and the bits of the code in the lowest eight.
#[derive(Clone, Copy, Debug)]
struct ClassCode(u16);

impl Group {
    const LEN_BITS: u32 = 5;

    /// Codes that are none: a rank that no phrase has, and bits, so that every loop ends.
    const NONE: Group = Group(u32::MAX << Group::LEN_BITS | 1);

    fn new(rank: u32, len: u8) -> Group {
        Group(rank << Group::LEN_BITS | u32::from(len))
    }

    #[inline(always)]
    fn len(self) -> u32 {
        self.0 & ((1 << Group::LEN_BITS) - 1)
    }

    #[inline(always)]
    fn rank(self) -> u32 {
        self.0 >> Group::LEN_BITS
    }
}

impl ClassCode {
    /// A code that is none: of the class that there never is.
    const NONE: ClassCode = ClassCode((FIRST_CONTEXT as u16) << 8 | 1);

    fn new(class: u8, len: u8) -> ClassCode {
        ClassCode(u16::from_le_bytes([len, class]))
    }

    #[inline(always)]
    fn len(self) -> u32 {
        u32::from(self.0 & 0xff)
    }

    #[inline(always)]
    fn class(self) -> usize {
        usize::from(self.0 >> 8)
    }
}

// Ranks and the longest codes have their place in a word.
const _: () = assert!((PHRASE_COUNT_MAX + BYTE_COUNT) >> (32 - Group::LEN_BITS) == 0);
const _: () = assert!(ORDER0.top_bits + ORDER0.suffix_bits_max < 1 << Group::LEN_BITS);
const _: () = assert!(INSIDE.top_bits + INSIDE.suffix_bits_max < 1 << Group::LEN_BITS);

/// The groups of one class, by the top bits of a window.
type Inside = [Group; 1 << INSIDE.top_bits];

/// The codes of classes behind one class.
type Row = [ClassCode; 1 << CLASS.top_bits];

/// The tables that decode.
#[derive(Debug)]
pub struct Decoder {
    /// By rank.
    slots: Vec<Slot>,
    tables: Tables,
}

#[derive(Debug)]
enum Tables {
    /// One class.
    Plain(Box<[Group; 1 << ORDER0.top_bits]>),
    /// Several.
    Classes(Box<Classes>),
}

/// By class; in the last place, and where there is no class, one without phrases. The last is for
/// a text's first phrase too.
type Classes = [Class; FIRST_CONTEXT + 1];

/// What is needed of a class: side by side, so that one address leads to both.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// The phrases inside it.
    inside: Inside,
    /// The classes behind it.
    row: Row,
}

impl Decoder {
    /// The tables of `parts`.
    pub fn new(parts: &Parts, ranking: &Ranking) -> Decoder {
        let slot = |id: &u32| parts.phrase(*id as usize).slot();
        let slots: Vec<_> = ranking.ids.iter().map(slot).collect();
        let groups = |(first, lengths): &(u32, Lengths)| {
            let group = |entry: Option<(u32, u8)>| {
                entry.map_or(Group::NONE, |(rank, len)| Group::new(first + rank, len))
            };
            lengths.table().into_iter().map(group).collect::<Vec<_>>()
        };
        let sized = "a table has an entry for each value of its bits";
        let tables = if parts.class_count == 1 {
            let table = groups(&ranking.insides[0]).into_boxed_slice();
            Tables::Plain(table.try_into().expect(sized))
        } else {
            // As many as there can be, so that there is no other end to look for.
            let none = Class {
                inside: [Group::NONE; 1 << INSIDE.top_bits],
                row: [ClassCode::NONE; 1 << CLASS.top_bits],
            };
            let mut classes = vec![none; FIRST_CONTEXT + 1];
            for (class, groups) in classes.iter_mut().zip(ranking.insides.iter().map(groups)) {
                class.inside = groups.try_into().expect(sized);
            }
            let row = |(classes, lengths): &(Vec<u8>, Lengths)| -> Row {
                let code = |entry: Option<(u32, u8)>| {
                    entry.map_or(ClassCode::NONE, |(place, len)| {
                        ClassCode::new(classes[place as usize], len)
                    })
                };
                let row: Vec<_> = lengths.table().into_iter().map(code).collect();
                row.try_into().expect(sized)
            };
            let mut rows: Vec<Row> = ranking.rows.iter().map(row).collect();
            // A text's first phrase, the last row of any number of classes.
            let first = rows.pop().expect("there is one more than classes");
            for (class, row) in classes.iter_mut().zip(rows) {
                class.row = row;
            }
            classes[FIRST_CONTEXT].row = first;
            let boxed = classes.into_boxed_slice().try_into();
            Tables::Classes(boxed.expect("as many as were made"))
        };
        Decoder { slots, tables }
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> usize {
        let tables = match &self.tables {
            Tables::Plain(table) => size_of_val(&**table),
            Tables::Classes(classes) => size_of_val(&**classes),
        };
        size_of_val(self.slots.as_slice()) + tables
    }

    /// Decodes a body into `out`, which is [`SLACK_BYTES`] longer than the text. `None` when it
    /// is not the body of a text of that length.
    pub fn decode(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        let raw_len = out.len().checked_sub(SLACK_BYTES)?;
        let is_split = raw_len >= SPLIT_BYTES_MIN;
        match &self.tables {
            Tables::Plain(table) if is_split => self.two_plain(table, body, &mut out[..raw_len]),
            Tables::Plain(table) => self.one_plain(table, body, out),
            Tables::Classes(classes) if is_split => {
                let reading = Reading {
                    slots: &self.slots,
                    tables: classes,
                    body,
                    classes: Stream::default(),
                    phrases: Stream::default(),
                    class: &classes[FIRST_CONTEXT],
                };
                shifting(TwoWithClasses { reading, out })
            }
            Tables::Classes(classes) => self.one_with_classes(classes, body, out),
        }
    }

    // One class, one stream.
    fn one_plain(
        &self,
        table: &[Group; 1 << ORDER0.top_bits],
        body: &[u8],
        out: &mut [u8],
    ) -> Option<()> {
        let raw_len = out.len() - SLACK_BYTES;
        let mut ahead = Stream::default();
        let mut at = 0;
        while at < raw_len {
            ahead.look(window_forward(body, ahead.bit));
            let slot = self.phrase(ahead.take(ORDER0.top_bits, table))?;
            store(out, at, slot);
            at += len_of(slot);
        }
        (at == raw_len && meet(body, ahead.bit, 0)).then_some(())
    }

    // One class, two streams; `out` is as long as the text.
    fn two_plain(
        &self,
        table: &[Group; 1 << ORDER0.top_bits],
        body: &[u8],
        out: &mut [u8],
    ) -> Option<()> {
        let (mut front, mut back) = (0, out.len());
        let (mut ahead, mut behind) = (Stream::default(), Stream::default());
        while back - front >= TWO_TURNS_BYTES {
            ahead.look(window_forward(body, ahead.bit));
            behind.look(window_backward(body, behind.bit));
            let (mut from_front, mut from_back) = (0, 0);
            for _ in 0..2 {
                let slot = self.phrase(ahead.take(ORDER0.top_bits, table))?;
                store(out, front + from_front, slot);
                from_front += len_of(slot);
                let slot = self.phrase(behind.take(ORDER0.top_bits, table))?;
                store_before(out, back - from_back, slot);
                from_back += len_of(slot);
            }
            front += from_front;
            back -= from_back;
        }
        // The middle: both ends apart from one another, so that whole slots can be stored.
        let middle = &mut out[front..back];
        let mut left = [0; TWO_TURNS_BYTES + SLOT_BYTES];
        let mut right = [0; TWO_TURNS_BYTES + SLOT_BYTES];
        let (mut front, mut back) = (0, middle.len());
        while front < back {
            ahead.look(window_forward(body, ahead.bit));
            let slot = self.phrase(ahead.take(ORDER0.top_bits, table))?;
            store(&mut left, front, slot);
            front += len_of(slot);
            if front >= back {
                break;
            }
            behind.look(window_backward(body, behind.bit));
            let slot = self.phrase(behind.take(ORDER0.top_bits, table))?;
            store_before(&mut right, back + SLOT_BYTES, slot);
            back = back.checked_sub(len_of(slot))?;
        }
        if front != back || !meet(body, ahead.bit, behind.bit) {
            return None;
        }
        let (before, after) = middle.split_at_mut(front);
        before.copy_from_slice(&left[..front]);
        after.copy_from_slice(&right[back + SLOT_BYTES..][..after.len()]);
        Some(())
    }

    // Several classes, one stream.
    fn one_with_classes(&self, classes: &Classes, body: &[u8], out: &mut [u8]) -> Option<()> {
        let raw_len = out.len() - SLACK_BYTES;
        let mut ahead = Stream::default();
        let mut class = &classes[FIRST_CONTEXT];
        let mut at = 0;
        while at < raw_len {
            ahead.look(window_forward(body, ahead.bit));
            class = classes.get(ahead.take_class(&class.row))?;
            let slot = self.phrase(ahead.take(INSIDE.top_bits, &class.inside))?;
            store(out, at, slot);
            at += len_of(slot);
        }
        (at == raw_len && meet(body, ahead.bit, 0)).then_some(())
    }

    #[inline(always)]
    fn phrase(&self, rank: usize) -> Option<&Slot> {
        self.slots.get(rank)
    }
}

/// Several classes, two streams: what nearly every text is decoded with.
struct TwoWithClasses<'a> {
    reading: Reading<'a>,
    out: &'a mut [u8],
}

/// How far two streams are read.
struct Reading<'a> {
    slots: &'a [Slot],
    tables: &'a Classes,
    body: &'a [u8],
    classes: Stream,
    phrases: Stream,
    /// Class of the phrase before.
    class: &'a Class,
}

impl Shifting for TwoWithClasses<'_> {
    type Done = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        let TwoWithClasses { mut reading, out } = self;
        let raw_len = out.len() - SLACK_BYTES;
        let mut at = 0;
        while at + THREE_BYTES < raw_len {
            let room: &mut [u8; FOUR_ROOM] = out[at..].first_chunk_mut()?;
            reading.look_at_classes();
            let mut len = reading.two(room, 0)?;
            len += reading.two(room, len)?;
            at += len;
        }
        while at + PHRASE_BYTES_MAX < raw_len {
            let room: &mut [u8; TWO_ROOM] = out[at..].first_chunk_mut()?;
            reading.look_at_classes();
            let len = reading.two(room, 0)?;
            at += len;
        }
        while at < raw_len {
            reading.look_at_classes();
            reading.look_at_phrases();
            let slot = reading.phrase()?;
            store(out, at, slot);
            at += len_of(slot);
        }
        (at == raw_len && reading.is_whole()).then_some(())
    }
}

impl<'a> Reading<'a> {
    #[inline(always)]
    fn look_at_classes(&mut self) {
        self.classes
            .look(window_forward(self.body, self.classes.bit));
    }

    #[inline(always)]
    fn look_at_phrases(&mut self) {
        self.phrases
            .look(window_backward(self.body, self.phrases.bit));
    }

    // Two phrases to `at` in `room`, with the window of classes as it is; their bytes.
    #[inline(always)]
    fn two<const ROOM: usize>(&mut self, room: &mut [u8; ROOM], at: usize) -> Option<usize> {
        const { assert!((ROOM - SLOT_BYTES).is_power_of_two()) }
        self.look_at_phrases();
        let mut len = 0;
        for _ in 0..2 {
            let slot = self.phrase()?;
            // The mask tells the compiler that there is room; what is stored before has less.
            store(room, (at + len) & (ROOM - SLOT_BYTES - 1), slot);
            len += len_of(slot);
        }
        Some(len)
    }

    // The next phrase, out of both windows.
    #[inline(always)]
    fn phrase(&mut self) -> Option<&'a Slot> {
        self.class = self.tables.get(self.classes.take_class(&self.class.row))?;
        let rank = self.phrases.take(INSIDE.top_bits, &self.class.inside);
        self.slots.get(rank)
    }

    #[inline(always)]
    fn is_whole(&self) -> bool {
        meet(self.body, self.classes.bit, self.phrases.bit)
    }
}

/// A stream of bits being read.
#[derive(Default)]
struct Stream {
    window: u64,
    /// Bits taken.
    bit: usize,
}

impl Stream {
    #[inline(always)]
    fn look(&mut self, window: u64) {
        self.window = window;
    }

    // Takes the code of a phrase off the window: its rank.
    #[inline(always)]
    fn take<const ENTRIES: usize>(&mut self, top_bits: u32, table: &[Group; ENTRIES]) -> usize {
        let group = table[self.window as usize & (ENTRIES - 1)];
        let code = self.window & ((1 << group.len()) - 1);
        self.skip(group.len());
        group.rank() as usize + (code >> top_bits) as usize
    }

    // Takes the code of a class off the window.
    #[inline(always)]
    fn take_class(&mut self, row: &Row) -> usize {
        let code = row[self.window as usize & (row.len() - 1)];
        self.skip(code.len());
        code.class()
    }

    #[inline(always)]
    fn skip(&mut self, len: u32) {
        self.window >>= len & 63;
        self.bit += len as usize;
    }
}

#[inline(always)]
fn len_of(slot: &Slot) -> usize {
    usize::from(slot[PHRASE_BYTES_MAX])
}

// A slot at `at`, which has room for one.
#[inline(always)]
fn store(out: &mut [u8], at: usize, slot: &Slot) {
    out[at..at + SLOT_BYTES].copy_from_slice(slot);
}

// A slot's text up to `end`; what lies before the text is overwritten.
#[inline(always)]
fn store_before(out: &mut [u8], end: usize, slot: &Slot) {
    let shift = 8 * (SLOT_BYTES - (len_of(slot) & PHRASE_BYTES_MAX));
    let moved = u128::from_le_bytes(*slot) << (shift & 127);
    out[end - SLOT_BYTES..end].copy_from_slice(&moved.to_le_bytes());
}

#[cfg(test)]
mod tests;
