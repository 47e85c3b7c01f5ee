//! A log's fragments and records, the head of a segment, batches, and what is of two phases.

use std::collections::BTreeMap;

use super::Row;
use super::bytes::{Front, crc32c, masked, size};

const BLOCK_BYTES: usize = 32 << 10;

const HEADER_BYTES: usize = 15;

/// A record of a log.
pub struct Record {
    pub start: usize,
    pub end: usize,
    /// The durable marks of its fragments.
    pub marks: Vec<usize>,
    pub fragment_count: usize,
    pub payload: Vec<u8>,
}

/// The records of the log with that number, up to where none is.
pub fn records(bytes: &[u8], number: u64) -> Vec<Record> {
    let mut records = Vec::new();
    let mut begun: Option<Record> = None;
    let mut at = 0;
    while at < bytes.len() {
        let left_in_block = BLOCK_BYTES - at % BLOCK_BYTES;
        if left_in_block < HEADER_BYTES {
            let skipped = &bytes[at..(at + left_in_block).min(bytes.len())];
            assert!(skipped.iter().all(|byte| *byte == 0));
            at += left_in_block;
            continue;
        }
        let Some((kind, mark, payload)) = fragment(bytes, at, number) else {
            break;
        };
        assert_eq!(begun.is_none(), kind == 1 || kind == 2, "{kind} at {at}");
        let mut record = begun.take().unwrap_or(Record {
            start: at,
            end: 0,
            marks: Vec::new(),
            fragment_count: 0,
            payload: Vec::new(),
        });
        at += HEADER_BYTES + payload.len();
        record.end = at;
        record.marks.push(mark);
        record.fragment_count += 1;
        record.payload.extend_from_slice(payload);
        match kind {
            1 | 4 => records.push(record),
            _ => begun = Some(record),
        }
    }
    assert!(begun.is_none(), "the last record of log {number} is whole");
    // Where the log goes on there are zeros, in a new file up to its end.
    assert!(bytes[at.min(bytes.len())..].iter().all(|byte| *byte == 0));
    records
}

// Kind, mark and payload of the fragment at an offset.
fn fragment(bytes: &[u8], at: usize, number: u64) -> Option<(u8, usize, &[u8])> {
    let mut front = Front(bytes.get(at..)?);
    if front.0.len() < HEADER_BYTES {
        return None;
    }
    let checksum = front.u32();
    let covered = front.0;
    let len = usize::from(front.u16());
    let kind = front.u8();
    let log = front.u32();
    let mark = size(front.u32());
    if !(1..=4).contains(&kind) {
        return None;
    }
    assert!(at % BLOCK_BYTES + HEADER_BYTES + len <= BLOCK_BYTES);
    let payload = front.take(len);
    let offset = u64::try_from(at).unwrap().to_le_bytes();
    let covered = &covered[..HEADER_BYTES - 4];
    assert_eq!(checksum, masked(crc32c(&[&offset, covered, payload])));
    assert_eq!(u64::from(log), number & 0xffff_ffff);
    assert!(mark <= at);
    Some((kind, mark, payload))
}

/// The segment before and where it ended, as the first record of a segment says.
pub fn head(record: &[u8]) -> (u64, usize) {
    assert_eq!(record.len(), 16);
    let mut front = Front(record);
    let (number, end) = (front.u64(), usize::try_from(front.u64()).unwrap());
    assert!(number != 0 || end == 0);
    (number, end)
}

/// What is prepared at one place of a log: by its id where that lies, and its entries.
#[derive(Default)]
pub struct Prepared(BTreeMap<Vec<u8>, OnePrepared>);

struct OnePrepared {
    /// Its segment, and the offset there.
    place: (u64, usize),
    count: u32,
    entries: Vec<u8>,
}

impl Prepared {
    /// The ids of what is prepared.
    pub fn ids(&self) -> Vec<Vec<u8>> {
        self.0.keys().cloned().collect()
    }

    /// The entries that a record at that place writes, each with its keyspace.
    pub fn read(&mut self, place: (u64, usize), record: &[u8]) -> Vec<(u64, Row)> {
        let mut front = Front(record);
        let number = front.u64();
        let (kind, number) = (number >> 56, number & 0x00ff_ffff_ffff_ffff);
        let count = front.u32();
        match kind {
            0 => entries(front, number, count),
            1 => {
                assert_eq!(number, 0);
                let origin = (front.u64(), front.u64());
                let _prepared_unix_s = front.u64();
                let id = id(&mut front);
                for _ in 0..front.varint() {
                    let _keyspace = front.varint();
                    for _ in 0..2 {
                        match front.u8() {
                            0 => {}
                            1 | 2 => drop(front.prefixed()),
                            bound => panic!("bound {bound}"),
                        }
                    }
                }
                let one = OnePrepared {
                    place,
                    count,
                    entries: front.0.to_vec(),
                };
                let before = self.0.insert(id, one);
                assert!(before.is_none() || origin.0 > 0, "prepared twice");
                Vec::new()
            }
            2 => {
                let (offset, crc, id) = (front.u64(), front.u32(), id(&mut front));
                assert!(front.is_empty());
                let one = self.0.remove(&id).unwrap();
                assert_eq!(one.place, (place.0, usize::try_from(offset).unwrap()));
                assert_eq!((one.count, crc32c(&[&one.entries])), (count, crc));
                entries(Front(&one.entries), number, count)
            }
            3 => {
                self.0.remove(&id(&mut front));
                entries(front, number, count)
            }
            4 => {
                assert_eq!((number, count), (0, 0));
                self.0.remove(&id(&mut front));
                assert!(front.is_empty());
                Vec::new()
            }
            _ => panic!("a record of kind {kind}"),
        }
    }
}

fn id(front: &mut Front<'_>) -> Vec<u8> {
    let len = usize::from(front.u8()) + 1;
    front.take(len).to_vec()
}

fn entries(mut front: Front<'_>, first: u64, count: u32) -> Vec<(u64, Row)> {
    let mut rows = Vec::new();
    for index in 0..count {
        let kind = front.u8();
        let keyspace = front.varint();
        let key = front.prefixed().to_vec();
        let value = match kind {
            0 => Vec::new(),
            1 | 2 | 3 | 4 | 6 | 7 => front.prefixed().to_vec(),
            _ => panic!("kind {kind}"),
        };
        let seqno = first + u64::from(index);
        assert!(seqno < 1 << 56);
        let row = Row {
            key,
            seqno,
            kind,
            value,
        };
        rows.push((keyspace, row));
    }
    assert!(front.is_empty(), "the entries fill the batch");
    rows
}
