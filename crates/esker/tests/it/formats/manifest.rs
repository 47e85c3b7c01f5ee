//! CURRENT, and the manifest that it names.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::{Front, crc32c};
use super::log::records;
use super::passing::Passing;
use super::values::shares;

/// What a manifest comes to.
#[derive(Default)]
pub struct State {
    /// The format of the database.
    pub format: u32,
    pub database_id: Vec<u8>,
    pub first_log: u64,
    pub next_file: u64,
    pub last_seqno: u64,
    pub next_keyspace: u64,
    pub keyspaces: BTreeMap<u64, KeyspaceState>,
    /// Every tag that stood in it.
    pub tags: BTreeSet<u8>,
}

/// What it says of one keyspace.
#[derive(Default)]
pub struct KeyspaceState {
    pub name: String,
    pub comparator: String,
    pub merge: Option<String>,
    pub settings: BTreeMap<String, String>,
    pub flushed: u64,
    /// No bytes where it has none.
    pub mark: Vec<u8>,
    pub clock_ms: u64,
    pub files: BTreeMap<u64, FileRow>,
}

/// What it says of one file.
#[derive(Clone, Debug)]
pub struct FileRow {
    pub level: u8,
    pub size_bytes: u64,
    pub flags: u8,
    pub smallest: Vec<u8>,
    pub largest: Vec<u8>,
    pub smallest_seqno: u64,
    pub largest_seqno: u64,
    pub entries: u64,
    pub deletes: u64,
    pub range_deletes: u64,
    pub newest_expiry: Option<u32>,
    pub shares: BTreeMap<u64, u64>,
    pub raw_bytes: u64,
    pub passing: Option<Passing>,
}

/// Name and number of the manifest that CURRENT names, and how far it was durable where that is
/// known.
pub fn current(text: &[u8]) -> (String, u64, Option<usize>) {
    let text = std::str::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert!(lines.len() <= 2, "CURRENT has two lines: {text:?}");
    let first = lines[0];
    let (name, _) = first.split_once(' ').unwrap();
    let sum = crc32c(&[name.as_bytes()]);
    assert_eq!(first, format!("{name} {sum:08x}\n"));
    let mark = lines.get(1).map(|second| {
        let digits = &second[..10];
        let sum = crc32c(&[format!("{name} {digits}").as_bytes()]);
        assert_eq!(*second, format!("{digits} {sum:08x}\n"));
        digits.parse().unwrap()
    });
    let number = name.strip_prefix("MANIFEST-").unwrap();
    assert!(number.len() >= 6);
    (name.to_owned(), number.parse().unwrap(), mark)
}

/// Reads the manifest with that number, which was durable up to `mark`.
pub fn read(bytes: &[u8], number: u64, mark: Option<usize>) -> State {
    let mut state = State::default();
    let all = records(bytes, number);
    // The mark in CURRENT is the end of an edit, and the record behind it says the same.
    if let Some(mark) = mark {
        let marked = all.iter().position(|record| record.end == mark).unwrap();
        let behind = &all[marked + 1..];
        assert!(behind.iter().all(|record| record.payload.is_empty()));
        assert_eq!(all.last().unwrap().marks, [mark]);
    }
    for (index, record) in all.iter().filter(|one| !one.payload.is_empty()).enumerate() {
        let mut front = Front(&record.payload);
        if index == 0 {
            assert_eq!(front.take(8), b"eskermf\n");
            state.format = front.u32();
            assert!((1..=2).contains(&state.format));
            assert_eq!(front.u64(), number);
            state.database_id = front.take(16).to_vec();
            front.u64();
        }
        state.edit(front);
    }
    state
}

impl State {
    // Of the changes to files, removals come first.
    fn edit(&mut self, mut front: Front<'_>) {
        let mut added = Vec::new();
        while !front.is_empty() {
            let tag = front.u8();
            let mut body = Front(front.prefixed());
            self.tags.insert(tag);
            match tag {
                0x01 => added.push(add_file(&mut body)),
                0x02 => {
                    let (keyspace, level, number) = (body.varint(), body.u8(), body.varint());
                    let keyspace = self.keyspaces.get_mut(&keyspace).unwrap();
                    assert_eq!(keyspace.files.remove(&number).unwrap().level, level);
                }
                0x03 => {
                    let id = body.varint();
                    let keyspace = KeyspaceState {
                        name: body.text(),
                        comparator: body.text(),
                        merge: merge(&mut body),
                        settings: settings(&mut body),
                        ..KeyspaceState::default()
                    };
                    self.next_keyspace = self.next_keyspace.max(id + 1);
                    assert!(self.keyspaces.insert(id, keyspace).is_none());
                }
                0x04 => drop(self.keyspaces.remove(&body.varint()).unwrap()),
                0x05 => {
                    let keyspace = self.keyspaces.get_mut(&body.varint()).unwrap();
                    keyspace.merge = merge(&mut body);
                    keyspace.settings = settings(&mut body);
                }
                0x06 => self.first_log = self.first_log.max(body.varint()),
                0x07 => self.next_file = self.next_file.max(body.varint()),
                0x08 => self.last_seqno = self.last_seqno.max(body.varint()),
                0x09 => self.next_keyspace = self.next_keyspace.max(body.varint()),
                0x0a => {
                    let raised = u32::try_from(body.varint()).unwrap();
                    assert!((self.format..=4).contains(&raised));
                    self.format = raised;
                }
                0x0b => {
                    let keyspace = self.keyspaces.get_mut(&body.varint()).unwrap();
                    keyspace.flushed = keyspace.flushed.max(body.varint());
                }
                0x0c => {
                    let keyspace = self.keyspaces.get_mut(&body.varint()).unwrap();
                    assert!(self.format >= 2 && keyspace.settings["unlogged"] == "true");
                    keyspace.mark = body.prefixed().to_vec();
                    assert!(keyspace.mark.len() <= 512);
                }
                0x0d => {
                    let keyspace = self.keyspaces.get_mut(&body.varint()).unwrap();
                    assert!(self.format >= 4 && keyspace.settings["own_clock"] == "true");
                    assert_eq!(keyspace.settings["unlogged"], "true");
                    keyspace.clock_ms = keyspace.clock_ms.max(body.varint());
                }
                _ => panic!("tag {tag:#x}"),
            }
            assert!(body.is_empty(), "the body of {tag:#x} ends where it says");
        }
        for (keyspace, number, file) in added {
            self.next_file = self.next_file.max(number + 1);
            let files = &mut self.keyspaces.get_mut(&keyspace).unwrap().files;
            assert!(files.insert(number, file).is_none());
        }
    }
}

fn add_file(body: &mut Front<'_>) -> (u64, u64, FileRow) {
    let (keyspace, level, run) = (body.varint(), body.u8(), body.varint());
    assert!(level < 7 && (level == 0 || run == 0));
    let (number, size_bytes, flags) = (body.varint(), body.varint(), body.u8());
    let file = FileRow {
        level,
        size_bytes,
        flags,
        smallest: body.prefixed().to_vec(),
        largest: body.prefixed().to_vec(),
        smallest_seqno: body.varint(),
        largest_seqno: body.varint(),
        entries: body.varint(),
        deletes: body.varint(),
        range_deletes: body.varint(),
        newest_expiry: (flags & 2 != 0).then(|| body.u32()),
        shares: match flags & 4 {
            0 => BTreeMap::new(),
            _ => shares(body),
        },
        raw_bytes: match flags & 16 {
            0 => 0,
            _ => body.varint(),
        },
        passing: (flags & 32 != 0).then(|| Passing::take(body)),
    };
    if flags & 64 != 0 {
        let (number_inside, smallest_inside) = (body.varint(), body.varint());
        assert!(number_inside != number && smallest_inside > 0);
    }
    (keyspace, number, file)
}

fn merge(body: &mut Front<'_>) -> Option<String> {
    match body.u8() {
        0 => None,
        1 => Some(body.text()),
        other => panic!("{other} is neither no operator nor one"),
    }
}

fn settings(body: &mut Front<'_>) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for _ in 0..body.varint() {
        let name = body.text();
        assert!(settings.keys().next_back().is_none_or(|last| *last < name));
        settings.insert(name, body.text());
    }
    settings
}
