//! Files whose values are compressed each by itself: key pages, records, tails.

use std::collections::BTreeSet;

use super::Row;
use super::bytes::{Front, crc32c, hash64, masked};
use super::phrases::Dictionary;
use super::sorted::{Handle, Parts, SortedFile, check_separator, read_index};

/// What a key page says of one entry.
struct Mark {
    prefix: Vec<u8>,
    fingerprint: u8,
    trailer: u64,
    record_offset: usize,
    record_len: usize,
}

/// Reads what is not the same in both kinds of sorted files.
pub fn read(
    file: &mut SortedFile,
    parts: &mut Parts<'_>,
    index: Handle,
    dictionary: Option<Handle>,
    value_bytes_max: u32,
) {
    let (plain, _) = parts.block(index);
    let dictionary = dictionary.map(|handle| {
        let (plain, compression) = parts.block(handle);
        assert_eq!(compression, 0);
        Dictionary::read(&plain)
    });
    if let Some(dictionary) = &dictionary {
        file.met
            .insert(format!("{} classes", dictionary.class_count().min(2)));
    }
    let mut index_bytes = index.compressed_len + 5;
    let mut pages = Vec::new();
    let mut prefixes = Vec::new();
    for (separator, handle) in read_index(&plain) {
        index_bytes += handle.compressed_len + 5;
        let (page, compression) = parts.block(handle);
        assert_eq!(compression, 0);
        let mut rows = Vec::new();
        for mark in read_page(&page, u64::try_from(prefixes.len()).unwrap()) {
            let start = mark.record_offset;
            let bytes = parts.take(start, start + mark.record_len);
            let record = Record {
                mark: &mark,
                number: parts.number(),
                value_bytes_max: usize::try_from(value_bytes_max).unwrap(),
            };
            rows.push(record.read(bytes, dictionary.as_ref(), &mut file.met));
            prefixes.push(mark.prefix);
        }
        pages.push((separator, rows));
    }
    for (index, (separator, rows)) in pages.iter().enumerate() {
        let next = pages.get(index + 1).map(|(_, rows)| &rows[0]);
        check_separator(separator, rows, next);
    }
    assert_eq!(file.number(14), u64::try_from(pages.len()).unwrap());
    assert_eq!(file.number(15), u64::try_from(index_bytes).unwrap());
    assert_eq!(file.number(16), 0);
    file.rows = pages.into_iter().flat_map(|(_, rows)| rows).collect();
    check_prefixes(&file.rows, &prefixes);
}

// One byte longer than what is like a neighbour, or the whole key; of several entries of a key
// each has it whole.
fn check_prefixes(rows: &[Row], prefixes: &[Vec<u8>]) {
    for (index, prefix) in prefixes.iter().enumerate() {
        let key = &rows[index].key;
        let neighbours = [index.checked_sub(1), Some(index + 1)]
            .into_iter()
            .flatten();
        let least = neighbours.filter_map(|index| rows.get(index)).map(|other| {
            let alike = other
                .key
                .iter()
                .zip(key)
                .take_while(|(left, right)| left == right);
            alike.count() + 1
        });
        let least = least.max().unwrap_or(1).min(key.len());
        assert!(prefix.len() >= least && key.starts_with(prefix));
    }
}

fn read_page(page: &[u8], entries_before: u64) -> Vec<Mark> {
    let tail = page.len() - 12;
    let mut front = Front(&page[tail..]);
    assert_eq!(front.u64(), entries_before);
    let group_count = usize::try_from(front.u32()).unwrap();
    assert!(group_count > 0);
    let groups_end = tail - 4 * group_count;
    let mut offsets = Front(&page[groups_end..tail]);
    let mut starts: Vec<usize> = Vec::new();
    for _ in 0..group_count {
        starts.push(usize::try_from(offsets.u32()).unwrap());
    }
    starts.push(groups_end);
    assert_eq!(starts[0], 0);
    let groups = starts.windows(2).map(|ends| &page[ends[0]..ends[1]]);
    groups.flat_map(read_group).collect()
}

fn read_group(bytes: &[u8]) -> Vec<Mark> {
    let mut front = Front(bytes);
    let count = usize::from(front.u8());
    assert!(count > 0);
    let mut fronts = Front(front.prefixed());
    let fingerprints = front.take(count);
    let mut offset = front.len();
    let lens = read_numbers(&mut front, count);
    let kind = front.u8();
    let kinds = match kind {
        255 => front.take(count).to_vec(),
        _ => vec![kind; count],
    };
    let seqnos = read_numbers(&mut front, count);
    assert!(front.is_empty());
    let mut marks: Vec<Mark> = Vec::new();
    for index in 0..count {
        let before = marks.last().map_or(&[][..], |mark| &mark.prefix);
        let prefix = read_prefix(&mut fronts, before);
        let record_len = usize::try_from(lens[index]).unwrap();
        marks.push(Mark {
            prefix,
            fingerprint: fingerprints[index],
            trailer: seqnos[index] << 8 | u64::from(kinds[index]),
            record_offset: offset,
            record_len,
        });
        offset += record_len;
    }
    assert!(fronts.is_empty());
    marks
}

fn read_prefix(fronts: &mut Front<'_>, before: &[u8]) -> Vec<u8> {
    let halves = usize::from(fronts.u8());
    let mut lens = [halves >> 4, halves & 15];
    for len in &mut lens {
        if *len == 15 {
            *len += fronts.len();
        }
    }
    let [shared, new] = lens;
    let prefix = [&before[..shared], fronts.take(new)].concat();
    let alike = before
        .iter()
        .zip(&prefix)
        .take_while(|(left, right)| left == right);
    assert_eq!(shared, alike.count());
    prefix
}

// The smallest number, and by how much each is larger, compressed.
fn read_numbers(front: &mut Front<'_>, count: usize) -> Vec<u64> {
    let least = front.varint();
    let width = usize::from(front.u8());
    assert!(width <= 56);
    let bytes = front.take((count * width).div_ceil(8));
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    let number = |index: usize| {
        (0..width).fold(least, |number, place| {
            number + (bit(index * width + place) << place)
        })
    };
    (0..count).map(number).collect()
}

struct Record<'a> {
    mark: &'a Mark,
    number: u64,
    value_bytes_max: usize,
}

impl Record<'_> {
    fn read(
        &self,
        bytes: &[u8],
        dictionary: Option<&Dictionary>,
        met: &mut BTreeSet<String>,
    ) -> Row {
        let (body, checksum) = bytes.split_at(bytes.len() - 4);
        let Mark {
            prefix, trailer, ..
        } = self.mark;
        let covered = [
            &self.number.to_le_bytes(),
            &prefix[..],
            &trailer.to_le_bytes(),
            body,
        ];
        assert_eq!(Front(checksum).u32(), masked(crc32c(&covered)));
        let mut front = Front(body);
        let tail = read_tail(&mut front, met);
        let key = [&prefix[..], &tail].concat();
        assert_eq!(u64::from(self.mark.fingerprint), hash64(&key) >> 56);
        let expiry = match trailer & 0xff {
            4 | 7 => front.take(4),
            8 | 9 => front.take(6),
            _ => &[],
        };
        let number = front.len();
        let (len, compressed) = (number / 4, front.0);
        met.insert(format!("method {}", number % 4));
        let value = match number % 4 {
            0 => compressed.to_vec(),
            1 => dictionary.unwrap().text(compressed, len),
            2 => zstd::bulk::decompress(compressed, len).unwrap(),
            other => panic!("method {other}"),
        };
        assert!(value.len() == len && len <= self.value_bytes_max);
        Row::of_trailer(key, *trailer, &[expiry, &value].concat())
    }
}

fn read_tail(front: &mut Front<'_>, met: &mut BTreeSet<String>) -> Vec<u8> {
    let number = front.len();
    let (len, alphabet) = (number / 4, number % 4);
    met.insert(format!("alphabet {alphabet}"));
    let characters: &[u8] = match alphabet {
        0 => return front.take(len).to_vec(),
        1 => b"0123456789abcdef",
        2 => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-/:_",
        _ => b"0123456789abcdefghijklmnopqrstuvwxyz-./_",
    };
    let mut codes = Vec::new();
    if alphabet == 1 {
        for byte in front.take(len.div_ceil(2)) {
            codes.extend([byte & 15, byte >> 4].map(u16::from));
        }
    } else {
        let mut put = |word: u16, count: usize| {
            let three = [word % 40, word / 40 % 40, word / 1600];
            codes.extend_from_slice(&three[..count]);
        };
        for _ in 0..len / 3 {
            put(front.u16(), 3);
        }
        match len % 3 {
            0 => {}
            1 => put(u16::from(front.u8()), 1),
            _ => put(front.u16(), 2),
        }
    }
    // What is left over of a last byte is zero.
    assert!(codes.split_off(len).iter().all(|code| *code == 0));
    codes
        .iter()
        .map(|code| characters[usize::from(*code)])
        .collect()
}
