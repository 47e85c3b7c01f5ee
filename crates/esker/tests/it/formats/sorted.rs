//! What sorted files of both kinds have: blocks, footers, index blocks, properties, range deletes.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::{Front, crc32c, masked, size};
use super::passing::{self, Passing};
use super::values::shares;
use super::{Range, Row, block_based, searchable};

/// A sorted file, read.
#[derive(Default)]
pub struct SortedFile {
    pub version: u32,
    /// By tag.
    pub props: BTreeMap<u64, Vec<u8>>,
    pub rows: Vec<Row>,
    pub ranges: Vec<Range>,
    /// What was met in it: compressions of blocks, levels of the index, hash indexes, methods and
    /// alphabets of records, methods of phrases.
    pub met: BTreeSet<String>,
}

/// Where a block lies, and its bytes compressed and plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub offset: usize,
    pub compressed_len: usize,
    pub plain_len: usize,
}

/// Bytes of a file of which each part is to be taken once.
pub struct Parts<'a> {
    bytes: &'a [u8],
    number: u64,
    taken: BTreeMap<usize, usize>,
}

impl Handle {
    pub fn take(front: &mut Front<'_>) -> Handle {
        Handle {
            offset: usize::try_from(front.u64()).unwrap(),
            compressed_len: size(front.u32()),
            plain_len: size(front.u32()),
        }
    }

    pub fn is_none(self) -> bool {
        (self.offset, self.compressed_len, self.plain_len) == (0, 0, 0)
    }

    pub fn end(self) -> usize {
        self.offset + self.compressed_len + 5
    }
}

impl<'a> Parts<'a> {
    /// Bytes of the part, which nobody took before.
    pub fn take(&mut self, start: usize, end: usize) -> &'a [u8] {
        assert!(start < end && self.taken.insert(start, end).is_none());
        &self.bytes[start..end]
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// The plain bytes of a block, and how it is compressed.
    pub fn block(&mut self, handle: Handle) -> (Vec<u8>, u8) {
        let stored = self.take(handle.offset, handle.end());
        let (compressed, trailer) = stored.split_at(handle.compressed_len);
        let checksum = u32::from_le_bytes(trailer[1..].try_into().unwrap());
        let offset = u64::try_from(handle.offset).unwrap().to_le_bytes();
        let covered = [
            &stored[..=handle.compressed_len],
            &self.number.to_le_bytes(),
            &offset,
        ];
        assert_eq!(checksum, masked(crc32c(&covered)));
        let plain = match trailer[0] {
            0 => compressed.to_vec(),
            1 => lz4_flex::block::decompress(compressed, handle.plain_len).unwrap(),
            2 => zstd::bulk::decompress(compressed, handle.plain_len).unwrap(),
            3 => snap::raw::Decoder::new()
                .decompress_vec(compressed)
                .unwrap(),
            other => panic!("compression {other}"),
        };
        assert_eq!(plain.len(), handle.plain_len);
        (plain, trailer[0])
    }
}

/// Reads the sorted file with that number.
pub fn read(bytes: &[u8], number: u64) -> SortedFile {
    let footer_at = bytes.len() - 96;
    let footer = &bytes[footer_at..];
    let mut tail = Front(&footer[80..]);
    let version = tail.u32();
    let offset = u64::try_from(footer_at).unwrap().to_le_bytes();
    assert_eq!(tail.u32(), masked(crc32c(&[&footer[..84], &offset])));
    assert_eq!(tail.take(8), b"eskersst");
    assert_eq!(footer[64..72], number.to_le_bytes());
    assert_eq!(footer[76..80], [0; 4]);
    let mut parts = Parts {
        bytes,
        number,
        taken: BTreeMap::new(),
    };
    let mut front = Front(footer);
    let [index, second, props, ranges] = [(); 4].map(|()| Handle::take(&mut front));
    let word = Front(&footer[72..]).u32();
    let mut file = SortedFile {
        version,
        props: read_props(&mut parts, props),
        ..SortedFile::default()
    };
    let second = (!second.is_none()).then_some(second);
    match version {
        1 => block_based::read(&mut file, &mut parts, index, second, word),
        3 => searchable::read(&mut file, &mut parts, index, second, word),
        _ => panic!("version {version}"),
    }
    if !ranges.is_none() {
        file.ranges = read_ranges(&parts.block(ranges).0);
    }
    // All parts lie one behind the other, and then comes the footer.
    let mut end = 0;
    for (start, next) in &parts.taken {
        assert_eq!(*start, end);
        end = *next;
    }
    assert_eq!(end, footer_at);
    check_comparator(&file.rows);
    check_props(&file);
    file
}

fn check_comparator(rows: &[Row]) {
    for pair in rows.windows(2) {
        assert!(pair[0].place() < pair[1].place(), "the order of entries");
    }
}

/// Separators and the blocks in front of them, of an index block.
pub fn read_index(plain: &[u8]) -> Vec<((Vec<u8>, u64), Handle)> {
    let mut front = Front(plain);
    let mut offset = front.len();
    let mut key: Vec<u8> = Vec::new();
    let mut all = Vec::new();
    while !front.is_empty() {
        key.truncate(front.len());
        key.extend_from_slice(front.prefixed());
        let trailer = front.varint();
        let handle = Handle {
            offset,
            compressed_len: front.len(),
            plain_len: front.len(),
        };
        offset = handle.end();
        all.push(((key.clone(), trailer), handle));
    }
    all
}

/// A separator is not before the last entry of its block, and before the first of the next.
pub fn check_separator((key, trailer): &(Vec<u8>, u64), block: &[Row], next: Option<&Row>) {
    let last = block.last().unwrap();
    assert!(last.place() <= (&key[..], u64::MAX - trailer));
    if let Some(next) = next {
        assert!((&key[..], u64::MAX - trailer) < next.place());
    }
}

fn read_props(parts: &mut Parts<'_>, handle: Handle) -> BTreeMap<u64, Vec<u8>> {
    let (plain, _) = parts.block(handle);
    let mut front = Front(&plain);
    let mut props = BTreeMap::new();
    while !front.is_empty() {
        let tag = front.varint();
        assert!(props.keys().next_back().is_none_or(|last| *last < tag));
        props.insert(tag, front.prefixed().to_vec());
    }
    props
}

fn read_ranges(plain: &[u8]) -> Vec<Range> {
    let mut front = Front(plain);
    let mut ranges: Vec<Range> = Vec::new();
    while !front.is_empty() {
        let range = Range {
            start: front.prefixed().to_vec(),
            end: front.prefixed().to_vec(),
            seqno: front.varint(),
        };
        assert!(range.start < range.end);
        let is_behind = |last: &Range| {
            last.start < range.start || (last.start == range.start && last.seqno >= range.seqno)
        };
        assert!(ranges.last().is_none_or(is_behind));
        ranges.push(range);
    }
    ranges
}

impl SortedFile {
    /// The number that a property is.
    pub fn number(&self, tag: u64) -> u64 {
        let mut front = Front(&self.props[&tag]);
        let number = front.varint();
        assert!(front.is_empty());
        number
    }

    pub fn count(&self, kinds: &[u8]) -> u64 {
        let of_kind = |row: &&Row| kinds.contains(&row.kind);
        u64::try_from(self.rows.iter().filter(of_kind).count()).unwrap()
    }

    /// Bytes of user keys and values.
    pub fn raw_bytes(&self) -> u64 {
        let bytes = |row: &Row| row.key.len() + row.value.len();
        u64::try_from(self.rows.iter().map(bytes).sum::<usize>()).unwrap()
    }

    /// What it says of what passes by itself, if it does.
    pub fn passing(&self) -> Option<Passing> {
        let mut front = Front(self.props.get(&24)?);
        let passing = Passing::take(&mut front);
        assert!(front.is_empty());
        Some(passing)
    }

    pub fn seqnos(&self) -> impl Iterator<Item = u64> {
        let rows = self.rows.iter().map(|row| row.seqno);
        rows.chain(self.ranges.iter().map(|range| range.seqno))
    }
}

// What counts the entries; what counts blocks was held against them where they were read.
fn check_props(file: &SortedFile) {
    let rows = &file.rows;
    let total =
        |len: fn(&Row) -> usize| u64::try_from(rows.iter().map(len).sum::<usize>()).unwrap();
    let count = |count: usize| u64::try_from(count).unwrap();
    let keys: BTreeSet<&[u8]> = rows.iter().map(|row| &row.key[..]).collect();
    assert_eq!(file.number(2), count(rows.len()));
    assert_eq!(file.number(3), file.count(&[0]));
    assert_eq!(file.number(4), file.count(&[2]));
    assert_eq!(file.number(5), count(file.ranges.len()));
    assert_eq!(file.number(6), count(keys.len()));
    assert_eq!(file.number(7), total(|row| row.key.len() + 8));
    assert_eq!(file.number(8), total(|row| row.value.len()));
    assert_eq!(file.props[&9], *keys.first().copied().unwrap_or_default());
    assert_eq!(file.props[&10], *keys.last().copied().unwrap_or_default());
    assert_eq!(Some(file.number(11)), file.seqnos().min());
    assert_eq!(Some(file.number(12)), file.seqnos().max());
    let expiries: Vec<u32> = rows.iter().filter_map(Row::expiry).collect();
    let is_all = expiries.len() == rows.len() && file.ranges.is_empty();
    let newest = expiries.into_iter().max().filter(|_| is_all);
    assert_eq!(file.props.contains_key(&13), newest.is_some());
    if let Some(newest) = newest {
        assert_eq!(file.number(13), u64::from(newest));
    }
    let has_millis = rows.iter().any(|row| matches!(row.kind, 8 | 9));
    assert_eq!(file.props.contains_key(&25), has_millis);
    assert!(!has_millis || file.number(25) == 1);
    assert_eq!(file.props[&17], b"bytewise");
    assert!(file.number(18) < 4);
    let mut pointed: BTreeMap<u64, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_separated()) {
        let (segment, record_bytes) = pointed_by(row);
        *pointed.entry(segment).or_default() += record_bytes;
    }
    let said = file.props.get(&20).map(|bytes| {
        let mut front = Front(bytes);
        let said = shares(&mut front);
        assert!(front.is_empty());
        said
    });
    assert_eq!(said.unwrap_or_default(), pointed);
    if let Some(said) = file.passing() {
        passing::check(&said, file);
    }
}

/// The segment that an entry points into, and the bytes of the record there.
pub fn pointed_by(row: &Row) -> (u64, u64) {
    let mut pointer = Front(row.rest());
    let segment = pointer.u64();
    pointer.u32();
    let key_len = u64::try_from(row.key.len()).unwrap();
    (segment, 18 + key_len + u64::from(pointer.u32()))
}

/// The lineage of a file that was made of others: where its keys begin and end, and its sources.
pub type Lineage = (Option<Vec<u8>>, Option<Vec<u8>>, Vec<u64>);

/// Reads a lineage.
pub fn lineage(bytes: &[u8]) -> Lineage {
    let mut front = Front(bytes);
    let flags = front.varint();
    assert!(flags < 4);
    let lower = (flags & 1 != 0).then(|| front.prefixed().to_vec());
    let upper = (flags & 2 != 0).then(|| front.prefixed().to_vec());
    let mut sources: Vec<u64> = Vec::new();
    for index in 0..front.varint() {
        let step = front.varint();
        assert!(index == 0 || step > 0);
        sources.push(sources.last().unwrap_or(&0) + step);
    }
    assert!(front.is_empty());
    (lower, upper, sources)
}
