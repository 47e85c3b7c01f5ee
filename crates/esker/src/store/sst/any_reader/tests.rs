//! Tests of `any_reader`.

use crate::base::types::expiry::Expiry;
use std::cmp::Ordering;
use std::sync::{Mutex, OnceLock};

use esker_phrase::{Effort, Encoder, corpus};

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::{Compression, QUICKEST_FIRST, SstOptions};
use crate::base::types::comparator::CustomComparator;
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::env::random::Random;
use crate::store::sst::adoption::Renumbering;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::{BuildSettings, FinishedSst};
use crate::store::sst::memory_file::{MemoryBytes, MemoryFile};

/// Internal keys and values in order: the model of a file.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

const NUMBER: FileNumber = FileNumber(42);

// By length first, then backwards: nothing that a shortcut for bytes would get right.
struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.len().cmp(&right.len()).then_with(|| right.cmp(left))
    }
}

fn settings(comparator: &Comparator, sst: SstOptions) -> BuildSettings {
    BuildSettings {
        number: NUMBER,
        comparator: comparator.clone(),
        compression: sst.compression.of_blocks(),
        sst,
        keyspace: KeyspaceId(3),
        created_unix_s: 1_790_000_000,
    }
}

fn random_settings(random: &mut Random) -> SstOptions {
    let pick = |random: &mut Random, count: usize| random.below(count as u64) as usize;
    SstOptions {
        block_size_bytes: [64, 200, 1000, 4096, 65_536][pick(random, 5)],
        restart_interval: [1, 2, 7, 16, 32][pick(random, 5)],
        filter_bits_per_key: [0.0, 4.5, 10.0][pick(random, 3)],
        compression: Compression::Blocks(any_compression(random)),
        block_hash_index: random.one_in(2),
        index_partition_bytes: [1, 100, 1 << 20][pick(random, 3)],
        ..SstOptions::default()
    }
}

// The same draw in every build.
fn any_compression(random: &mut Random) -> CompressionType {
    let (_, drawn) = CompressionType::NAMES[random.below(4) as usize];
    CompressionType::first_built(&[drawn])
}

fn random_key(random: &mut Random) -> Vec<u8> {
    let len = match random.below(12) {
        0 => 0,
        1 => random.below(300) as usize,
        2..6 => random.below(6) as usize,
        _ => 8 + random.below(8) as usize,
    };
    let letter = |random: &mut Random| [0, b'a', b'b', b'c', 0xff][random.below(5) as usize];
    (0..len).map(|_| letter(random)).collect()
}

fn random_value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(30) {
        0..10 => 0,
        10..29 => random.below(40) as usize,
        _ => random.below(3000) as usize,
    };
    match random.below(3) {
        0 => random.bytes(len),
        1 => vec![b'v'; len],
        _ => corpus::prose(&mut corpus::Dice::new(random.next_u64()), len),
    }
}

fn random_rows(random: &mut Random, comparator: &Comparator) -> Rows {
    let mut rows = Rows::new();
    for _ in 0..1 + random.below(150) {
        let user_key = random_key(random);
        let versions = match random.below(20) {
            0 => random.below(60),
            1..6 => random.below(4),
            _ => 1,
        };
        for _ in 0..versions.max(1) {
            let kinds = [
                Kind::Put,
                Kind::Put,
                Kind::Delete,
                Kind::Merge,
                Kind::PutExpiring,
                Kind::PutExpiringMillis,
            ];
            let kind = kinds[random.below(6) as usize];
            let trailer = Trailer::new(SeqNo::new(random.below(1000)), kind);
            let mut value = random_value(random);
            if kind == Kind::PutExpiring {
                value.splice(..0, random.bytes(4));
            } else if kind == Kind::PutExpiringMillis {
                let unix_ms = 1000 * random.below(1 << 30) + 1 + random.below(999);
                value = Expiry::from_unix_ms(unix_ms).join(&value);
            }
            rows.push((key::encode(&user_key, trailer), value));
        }
    }
    rows.sort_by(|l, r| key::compare(comparator, &l.0, &r.0));
    rows.dedup_by(|l, r| l.0 == r.0);
    rows
}

// How a builder of a kind of file begins.
type Begin = fn(MemoryFile, BuildSettings) -> AnyBuilder;

const BLOCKS: Begin = |file, settings| AnyBuilder::block_based(Box::new(file), settings);
const SEARCHABLE: Begin =
    |file, settings| AnyBuilder::searchable(Box::new(file), settings, None).unwrap();
const PHRASES: Begin = |file, settings| {
    static ENCODER: OnceLock<Encoder> = OnceLock::new();
    let encoder = ENCODER.get_or_init(|| {
        let [dictionary, _] = corpus::dictionaries();
        Encoder::new(&dictionary, Effort::Fast)
    });
    AnyBuilder::searchable(Box::new(file), settings, Some(encoder.clone())).unwrap()
};
const EVERY_KIND: [Begin; 3] = [BLOCKS, SEARCHABLE, PHRASES];

fn build(begin: Begin, rows: &Rows, settings: BuildSettings) -> (Vec<u8>, FinishedSst) {
    let file = MemoryFile::default();
    let mut builder = begin(file.clone(), settings);
    for (internal, value) in rows {
        builder.add(internal, value).unwrap();
    }
    let finished = builder.finish().unwrap();
    assert_eq!(finished.props.entry_count, rows.len() as u64);
    let bytes = file.bytes();
    assert_eq!(finished.size_bytes, bytes.len() as u64);
    (bytes, finished)
}

fn open(bytes: Vec<u8>, number: FileNumber, comparator: &Comparator) -> Result<Arc<AnyReader>> {
    let cache = Arc::new(BlockCache::new(1 << 20));
    AnyReader::open(
        Arc::new(MemoryBytes(bytes)),
        number,
        comparator.clone(),
        cache,
    )
    .map(Arc::new)
}

// The same file twice: read by calls, and read through a map.
fn open_both(bytes: &[u8], comparator: &Comparator) -> Result<[Arc<AnyReader>; 2]> {
    let by_calls = open(bytes.to_vec(), NUMBER, comparator)?;
    let mut mapped = open(bytes.to_vec(), NUMBER, comparator)?;
    Arc::get_mut(&mut mapped).unwrap().map(Unchanging::word());
    Ok([by_calls, mapped])
}

fn walk_forward(reader: &Arc<AnyReader>) -> Result<Rows> {
    let mut cursor = reader.cursor(ReadOptions::default());
    let mut rows = Rows::new();
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        rows.push((cursor.key().to_vec(), cursor.value().unwrap().to_vec()));
        is_on = cursor.next()?;
    }
    Ok(rows)
}

fn check_walks(reader: &Arc<AnyReader>, rows: &Rows, comparator: &Comparator, random: &mut Random) {
    let options = ReadOptions {
        fill_cache: random.one_in(2),
        ..ReadOptions::default()
    };
    let mut cursor = reader.cursor(options);
    let mut place: Option<usize> = None;
    for _ in 0..300 {
        let is_on = match (random.below(12), place) {
            (0, _) => {
                place = Some(0);
                cursor.seek_to_first().unwrap()
            }
            (1, _) => {
                place = Some(rows.len() - 1);
                cursor.seek_to_last().unwrap()
            }
            (2..7, Some(at)) => {
                place = (at + 1 < rows.len()).then_some(at + 1);
                cursor.next().unwrap()
            }
            (7..10, Some(at)) => {
                place = at.checked_sub(1);
                cursor.prev().unwrap()
            }
            (action, _) => {
                let user_key = match random.one_in(3) {
                    true => random_key(random),
                    false => {
                        key::user_key(&rows[random.below(rows.len() as u64) as usize].0).to_vec()
                    }
                };
                let trailer = Trailer::new(SeqNo::new(random.below(1000)), Kind::Put);
                let target = key::encode(&user_key, trailer);
                if action % 2 == 0 {
                    let at = rows.partition_point(|row| {
                        key::compare(comparator, &row.0, &target) == Ordering::Less
                    });
                    place = (at < rows.len()).then_some(at);
                    cursor.seek(&target).unwrap()
                } else {
                    let behind = rows.partition_point(|row| {
                        key::compare(comparator, &row.0, &target) != Ordering::Greater
                    });
                    place = behind.checked_sub(1);
                    cursor.seek_for_prev(&target).unwrap()
                }
            }
        };
        assert_eq!(is_on, place.is_some());
        assert_eq!(cursor.is_valid(), place.is_some());
        if let Some(at) = place {
            assert_eq!(cursor.key(), rows[at].0);
            assert_eq!(cursor.value().unwrap(), rows[at].1);
            assert_eq!(cursor.value_bytes().unwrap(), rows[at].1);
        }
    }
}

// A get that first says what it will read.
fn get_announced(
    reader: &AnyReader,
    user_key: &[u8],
    at: SeqNo,
    announcer: &mut Announcer,
) -> Option<Found> {
    let (hash, options) = (hash64(user_key), ReadOptions::default());
    let mut announce = |is_index_announced| {
        let announced =
            reader.announce(user_key, hash, at, &options, is_index_announced, announcer);
        announced.unwrap()
    };
    let announced = match announce(false) {
        Announced::Index => announce(true),
        announced => announced,
    };
    match announced {
        Announced::Absent => None,
        Announced::Place(entry) => reader
            .get_at_place(entry, user_key, hash, at, &options)
            .unwrap(),
        Announced::Index => panic!("the index was to be read"),
    }
}

fn check_gets(reader: &Arc<AnyReader>, rows: &Rows, random: &mut Random) {
    for _ in 0..200 {
        let user_key = match random.one_in(3) {
            true => random_key(random),
            false => key::user_key(&rows[random.below(rows.len() as u64) as usize].0).to_vec(),
        };
        let at = SeqNo::new(random.below(1100));
        let walked = rows.iter().find(|(internal, _)| {
            let (own_key, trailer) = key::split(internal);
            own_key == user_key && trailer.seqno().is_visible_at(at)
        });
        let found = reader.get(&user_key, at, &ReadOptions::default()).unwrap();
        let announced = get_announced(reader, &user_key, at, &mut Announcer::default());
        for found in [found, announced] {
            let found =
                found.map(|found| (key::encode(&user_key, found.trailer), found.value.to_vec()));
            assert_eq!(found.as_ref(), walked);
        }
    }
}

#[test]
fn a_file_reads_as_the_model_does() {
    // Random entries under random settings, read in every way, in two orders of keys.
    let mut random = Random::new(20_261_121);
    for round in 0..240 {
        let comparator = match round % 4 {
            0 => Comparator::Custom(Arc::new(Backwards)),
            _ => Comparator::Bytewise,
        };
        let begin = EVERY_KIND[round / 4 % 3];
        let rows = random_rows(&mut random, &comparator);
        let sst = random_settings(&mut random);
        let (bytes, finished) = build(begin, &rows, settings(&comparator, sst));
        for reader in open_both(&bytes, &comparator).unwrap() {
            assert_eq!(reader.props(), &finished.props);
            assert_eq!(walk_forward(&reader).unwrap(), rows);
            check_walks(&reader, &rows, &comparator, &mut random);
            check_gets(&reader, &rows, &mut random);
            reader.verify().unwrap();
            assert!(reader.pinned_bytes() > 0);
        }
    }
}

#[test]
fn an_adopted_file_reads_as_if_it_had_been_written_with_its_numbers_here() {
    // Written under another number and with other sequence numbers; read in every way.
    let mut random = Random::new(20_261_125);
    for round in 0..120 {
        let comparator = match round % 4 {
            0 => Comparator::Custom(Arc::new(Backwards)),
            _ => Comparator::Bytewise,
        };
        let rows = random_rows(&mut random, &comparator);
        let (below, above) = (1 + random.below(3), random.below(500));
        let moved = |rows: &Rows, by: u64| -> Rows {
            let moved = rows.iter().map(|(internal, value)| {
                let (user_key, trailer) = key::split(internal);
                let trailer = Trailer::new(trailer.seqno().plus(by), trailer.kind());
                (key::encode(user_key, trailer), value.clone())
            });
            moved.collect()
        };
        let (stored, shown) = (moved(&rows, below), moved(&rows, above));
        let sst = random_settings(&mut random);
        let begin = EVERY_KIND[round / 4 % 3];
        let (bytes, finished) = build(begin, &stored, settings(&comparator, sst));
        let smallest = finished.props.smallest_seqno;
        let binding = FileBinding {
            number: FileNumber(7),
            bound: NUMBER,
            renumbering: Some(Renumbering {
                stored: smallest,
                shown: SeqNo::new(smallest.get() - below + above),
            }),
        };
        let reader = AnyReader::open(
            Arc::new(MemoryBytes(bytes.clone())),
            binding,
            comparator.clone(),
            Arc::new(BlockCache::new(1 << 20)),
        );
        let mut reader = reader.unwrap();
        if round % 2 == 0 {
            reader.map(Unchanging::word());
        }
        let reader = Arc::new(reader);
        assert_eq!(walk_forward(&reader).unwrap(), shown);
        check_walks(&reader, &shown, &comparator, &mut random);
        check_gets(&reader, &shown, &mut random);
        check_chunks(&reader, &shown);
        reader.verify().unwrap();
        let props = reader.props();
        let numbers = shown.iter().map(|row| key::split(&row.0).1.seqno());
        assert_eq!(Some(props.smallest_seqno), numbers.clone().min());
        assert_eq!(Some(props.largest_seqno), numbers.max());
        // Under its new name alone nobody takes it for a file of the database.
        let error = open(bytes, FileNumber(7), &comparator).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
    }
}

// What cursors hand out by the chunk is what they pass one by one.
fn check_chunks(reader: &Arc<AnyReader>, rows: &Rows) {
    let mut cursor = reader.cursor(ReadOptions::default());
    let (mut chunk, mut place) = (EntryChunk::default(), 0);
    let mut is_on = cursor.seek_to_first().unwrap();
    while is_on {
        assert_eq!(cursor.key(), rows[place].0);
        if cursor.fill(Way::Forward, Fill::Next(8), &mut chunk) {
            loop {
                place += 1;
                assert_eq!(
                    (chunk.key(), chunk.value()),
                    (&rows[place].0[..], &rows[place].1[..])
                );
                if !chunk.step() {
                    break;
                }
            }
            assert_eq!(cursor.key(), rows[place].0);
        }
        is_on = cursor.next().unwrap();
        place += 1;
    }
    assert_eq!(place, rows.len());
}

#[test]
fn range_deletes_of_an_adopted_file_have_its_numbers_here() {
    let comparator = Comparator::Bytewise;
    for begin in EVERY_KIND {
        let file = MemoryFile::default();
        let mut builder = begin(file.clone(), settings(&comparator, SstOptions::default()));
        builder.add_range_delete(&range(b"m", b"z", 8));
        builder.add_range_delete(&range(b"a", b"c", 9));
        builder.finish().unwrap();
        let binding = FileBinding {
            number: FileNumber(7),
            bound: NUMBER,
            renumbering: Some(Renumbering {
                stored: SeqNo::new(8),
                shown: SeqNo::new(108),
            }),
        };
        let bytes = Arc::new(MemoryBytes(file.bytes()));
        let cache = Arc::new(BlockCache::new(1 << 20));
        let reader = AnyReader::open(bytes, binding, comparator.clone(), cache).unwrap();
        let shown = [range(b"a", b"c", 109), range(b"m", b"z", 108)];
        assert_eq!(reader.range_deletes()[..], shown);
        assert_eq!(reader.props().largest_seqno, SeqNo::new(109));
        reader.verify().unwrap();
    }
}

#[test]
fn long_scans_read_ahead() {
    // A file of some megabytes, larger than several windows, scanned past the cache, both ways.
    let mut random = Random::new(9);
    let rows: Rows = (0..20_000u32)
        .map(|number| {
            let trailer = Trailer::new(SeqNo::new(1), Kind::Put);
            (
                key::encode(&number.to_be_bytes(), trailer),
                random.bytes(100),
            )
        })
        .collect();
    let comparator = Comparator::Bytewise;
    for begin in EVERY_KIND {
        let (bytes, _) = build(begin, &rows, settings(&comparator, SstOptions::default()));
        for reader in open_both(&bytes, &comparator).unwrap() {
            assert_eq!(walk_forward(&reader).unwrap(), rows);
            let mut cursor = reader.cursor(ReadOptions {
                fill_cache: false,
                ..ReadOptions::default()
            });
            let mut is_on = cursor.seek_to_last().unwrap();
            for (internal, value) in rows.iter().rev() {
                assert!(is_on && cursor.key() == internal && cursor.value().unwrap() == value);
                is_on = cursor.prev().unwrap();
            }
            assert!(!is_on);
        }
    }
}

#[test]
fn props_tell_what_is_inside() {
    // One entry of each kind, each with something of its own to count.
    let comparator = Comparator::Bytewise;
    let entry = |key: &[u8], seqno, kind, value: &[u8]| {
        let trailer = Trailer::new(SeqNo::new(seqno), kind);
        (key::encode(key, trailer), value.to_vec())
    };
    let rows = vec![
        entry(b"a", 9, Kind::Put, b"1"),
        entry(b"a", 4, Kind::Delete, b""),
        entry(b"b", 5, Kind::Merge, b"22"),
        entry(b"c", 6, Kind::PutExpiring, &[7, 0, 0, 0, b'v']),
    ];
    for begin in EVERY_KIND {
        let (_, finished) = build(begin, &rows, settings(&comparator, SstOptions::default()));
        let props = finished.props;
        assert_eq!((props.entry_count, props.key_count), (4, 3));
        assert_eq!((props.delete_count, props.merge_count), (1, 1));
        assert_eq!((props.raw_key_bytes, props.raw_value_bytes), (36, 8));
        assert_eq!(
            (&props.smallest[..], &props.largest[..]),
            (&b"a"[..], &b"c"[..])
        );
        assert_eq!(props.smallest_seqno, SeqNo::new(4));
        assert_eq!(props.largest_seqno, SeqNo::new(9));
        assert_eq!(props.newest_expiry_s, None);
        let expiring = rows[3..].to_vec();
        let (_, finished) = build(
            begin,
            &expiring,
            settings(&comparator, SstOptions::default()),
        );
        assert_eq!(finished.props.newest_expiry_s, Some(7));
        assert!(!finished.props.has_millis);
        // Between two seconds it is told by the later one.
        let end = Expiry::from_unix_ms(8_001);
        let mut between = expiring;
        between.push(entry(b"d", 7, end.put_kind(), &end.join(b"v")));
        let (_, finished) = build(
            begin,
            &between,
            settings(&comparator, SstOptions::default()),
        );
        assert_eq!(finished.props.newest_expiry_s, Some(9));
        assert!(finished.props.has_millis);
    }
}

fn range(start: &[u8], end: &[u8], seqno: u64) -> RangeDelete {
    RangeDelete {
        start: Bytes::copy_of(start),
        end: Bytes::copy_of(end),
        seqno: SeqNo::new(seqno),
    }
}

#[test]
fn a_file_may_hold_range_deletes_only() {
    // A flush of a memtable in which nothing happened but one delete_range.
    let comparator = Comparator::Bytewise;
    for begin in EVERY_KIND {
        let file = MemoryFile::default();
        let mut builder = begin(file.clone(), settings(&comparator, SstOptions::default()));
        builder.add_range_delete(&range(b"m", b"z", 8));
        builder.add_range_delete(&range(b"a", b"c", 9));
        let finished = builder.finish().unwrap();
        assert_eq!(finished.props.largest_seqno, SeqNo::new(9));
        let reader = open(file.bytes(), NUMBER, &comparator).unwrap();
        assert_eq!(
            reader.range_deletes()[..],
            [range(b"a", b"c", 9), range(b"m", b"z", 8)]
        );
        assert_eq!(walk_forward(&reader).unwrap(), Rows::new());
        let options = ReadOptions::default();
        assert_eq!(reader.get(b"b", SeqNo::MAX, &options).unwrap(), None);
        let mut cursor = reader.cursor(options);
        assert!(!cursor.seek_to_last().unwrap());
        let target = key::encode(b"b", Trailer::seek(SeqNo::MAX));
        assert!(!cursor.seek(&target).unwrap() && !cursor.seek_for_prev(&target).unwrap());
        reader.verify().unwrap();
    }
}

#[test]
fn an_empty_file_is_refused() {
    // It would have no place in a level: no smallest key, no largest.
    for begin in EVERY_KIND {
        let settings = settings(&Comparator::Bytewise, SstOptions::default());
        let builder = begin(MemoryFile::default(), settings);
        assert_eq!(builder.finish().unwrap_err().kind(), ErrorKind::Invalid);
    }
}

fn build_out_of_comparator(begin: Begin) {
    let trailer = Trailer::new(SeqNo::new(1), Kind::Put);
    let rows = vec![
        (key::encode(b"b", trailer), Vec::new()),
        (key::encode(b"a", trailer), Vec::new()),
    ];
    build(
        begin,
        &rows,
        settings(&Comparator::Bytewise, SstOptions::default()),
    );
}

#[test]
#[should_panic(expected = "order of keys")]
fn entries_out_of_comparator_are_our_own_fault() {
    // A bug above must not become a file that cannot be searched.
    build_out_of_comparator(BLOCKS);
}

#[test]
#[should_panic(expected = "order of keys")]
fn records_out_of_comparator_are_our_own_fault() {
    // The same, in the other kind of file.
    build_out_of_comparator(SEARCHABLE);
}

// A file with every kind of block in few bytes, and what it holds.
fn small_file(begin: Begin, compression: CompressionType) -> (Vec<u8>, Rows) {
    let rows: Rows = (0..24u64)
        .map(|number| {
            let trailer = Trailer::new(SeqNo::new(number), Kind::Put);
            let internal = key::encode(format!("key{:03}", number / 2 * 2).as_bytes(), trailer);
            // Long enough that some compress, and short enough that others do not.
            (internal, vec![b'v'; number as usize * 3])
        })
        .collect();
    let comparator = Comparator::Bytewise;
    let mut rows = rows;
    rows.sort_by(|l, r| key::compare(&comparator, &l.0, &r.0));
    let sst = SstOptions {
        block_size_bytes: 150,
        restart_interval: 3,
        compression: Compression::Blocks(compression),
        index_partition_bytes: 40,
        ..SstOptions::default()
    };
    let file = MemoryFile::default();
    let mut builder = begin(file.clone(), settings(&comparator, sst));
    builder.add_range_delete(&range(b"a", b"c", 9));
    rows.iter()
        .for_each(|(key, value)| builder.add(key, value).unwrap());
    assert!(builder.finish().unwrap().props.data_block_count > 1);
    (file.bytes(), rows)
}

// Reads everything there is, by calls and through a map; the right answers, or an error.
fn read_all(bytes: &[u8], rows: &Rows) -> Result<()> {
    let [by_calls, mapped] = open_both(bytes, &Comparator::Bytewise)?;
    let (said, said_of_map) = (read_one(by_calls, rows), read_one(mapped, rows));
    assert_eq!(said.is_err(), said_of_map.is_err());
    said
}

fn read_one(reader: Arc<AnyReader>, rows: &Rows) -> Result<()> {
    let mut failed = None;
    for (internal, value) in rows {
        let (user_key, trailer) = key::split(internal);
        match reader.get(user_key, trailer.seqno(), &ReadOptions::default()) {
            Ok(found) => {
                let found = found.expect("a key that is there");
                assert_eq!((found.trailer, &found.value[..]), (trailer, &value[..]));
            }
            Err(error) => failed = Some(error),
        }
    }
    match walk_forward(&reader) {
        Ok(walked) => assert_eq!(&walked, rows),
        Err(error) => failed = Some(error),
    }
    let verified = reader.verify();
    assert!(failed.is_none() || verified.is_err());
    assert_eq!(reader.range_deletes()[..], [range(b"a", b"c", 9)]);
    verified
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    // Every single bit of a small file is flipped in turn: an error, never a wrong answer.
    let cases = [
        (BLOCKS, CompressionType::None),
        (BLOCKS, CompressionType::Lz4),
        (SEARCHABLE, CompressionType::None),
        (SEARCHABLE, CompressionType::Zstd),
    ];
    for (begin, compression) in cases.into_iter().filter(|(_, way)| way.is_built()) {
        let (good, rows) = small_file(begin, compression);
        read_all(&good, &rows).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let error = read_all(&bad, &rows).expect_err("a flipped bit");
            assert!(error.file().is_some(), "{bit}: {error}");
        }
    }
}

#[test]
fn a_cut_file_does_not_open() {
    // However much of its end is missing.
    for begin in EVERY_KIND {
        let (good, _) = small_file(begin, CompressionType::first_built(&QUICKEST_FIRST));
        for len in 0..good.len() {
            let error = open(good[..len].to_vec(), NUMBER, &Comparator::Bytewise).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption, "{len}");
            assert_eq!(error.file(), Some("000042.sst"), "{len}");
        }
    }
}

#[test]
fn a_file_under_another_number_does_not_open() {
    // Two files changed places.
    for begin in EVERY_KIND {
        let (good, _) = small_file(begin, CompressionType::first_built(&QUICKEST_FIRST));
        let error = open(good, FileNumber(43), &Comparator::Bytewise).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(error.message().contains("000042"), "{error}");
    }
}

#[test]
fn another_comparator_is_refused_by_name() {
    // The keyspace was opened with a comparator it was not written with.
    for begin in EVERY_KIND {
        let (good, _) = small_file(begin, CompressionType::first_built(&QUICKEST_FIRST));
        let error = open(good, NUMBER, &Comparator::Custom(Arc::new(Backwards))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("backwards"), "{error}");
        assert!(error.message().contains("bytewise"), "{error}");
    }
}

#[test]
fn a_misplaced_block_is_noticed() {
    // Two blocks of the same length change places; each is whole, and its checksum its own.
    let trailer = Trailer::new(SeqNo::new(1), Kind::Put);
    let rows: Rows = (0..40u32)
        .map(|number| (key::encode(&number.to_be_bytes(), trailer), vec![7; 50]))
        .collect();
    let sst = SstOptions {
        block_size_bytes: 500,
        compression: Compression::Blocks(CompressionType::None),
        block_hash_index: false,
        ..SstOptions::default()
    };
    let comparator = Comparator::Bytewise;
    let (mut bytes, _) = build(BLOCKS, &rows, settings(&comparator, sst));
    let reader = open(bytes.clone(), NUMBER, &comparator).unwrap();
    let AnyReader::BlockBased(blocks) = &*reader else {
        panic!("a file made of blocks");
    };
    let leaf = blocks.index().leaf(blocks.sst().source(), 0, true).unwrap();
    let (first, second) = (leaf.handle(0), leaf.handle(1));
    assert_eq!(first.compressed_len, second.compressed_len);
    let len = first.stored_len() as usize;
    let (left, right) = bytes.split_at_mut(len);
    left.swap_with_slice(&mut right[..len]);
    let reader = open(bytes, NUMBER, &comparator).unwrap();
    let error = reader.get(&0u32.to_be_bytes(), SeqNo::MAX, &ReadOptions::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Corruption);
    // The other keys stay readable.
    let found = reader.get(&39u32.to_be_bytes(), SeqNo::MAX, &ReadOptions::default());
    assert!(found.unwrap().is_some());
}

#[test]
fn a_rank_never_falls_from_key_to_key() {
    // Whatever the keys, values, order, kind of file and partitions: where a place lies behind
    // another, so does its rank, and all of the file is behind the last key. Of a searchable file
    // the entries before a place are known to one.
    let mut random = Random::new(0x7a4e);
    for round in 0..60 {
        let comparator = match round % 3 {
            0 => Comparator::Custom(Arc::new(Backwards)),
            _ => Comparator::Bytewise,
        };
        let rows = random_rows(&mut random, &comparator);
        let begin = EVERY_KIND[round % 3];
        let settings = settings(&comparator, random_settings(&mut random));
        let (bytes, finished) = build(begin, &rows, settings);
        let reader = open(bytes, NUMBER, &comparator).unwrap();
        let mut asked: Vec<Vec<u8>> = (0..40).map(|_| random_key(&mut random)).collect();
        asked.extend(
            rows.iter()
                .map(|(internal, _)| key::user_key(internal).to_vec()),
        );
        asked.sort_by(|left, right| comparator.compare(left, right));
        asked.dedup();
        let mut last = Rank::default();
        for user_key in &asked {
            for gap in [Gap::Before(user_key), Gap::Behind(user_key)] {
                let rank = reader.rank(gap, true).unwrap();
                assert!(rank.entry_count >= last.entry_count, "{gap:?}");
                assert!(rank.size_bytes >= last.size_bytes, "{gap:?}");
                assert!(rank.entry_count <= rows.len() as u64);
                assert!(rank.size_bytes <= finished.size_bytes);
                last = rank;
                let is_before = |internal: &[u8]| {
                    let side = comparator.compare(key::user_key(internal), user_key);
                    side.is_lt() || side.is_eq() && matches!(gap, Gap::Behind(_))
                };
                let truth = rows.partition_point(|(internal, _)| is_before(internal)) as u64;
                if reader.is_searchable() {
                    assert!(
                        rank.entry_count.abs_diff(truth) <= 1,
                        "{gap:?}: {rank:?} {truth}"
                    );
                }
            }
        }
        let behind_all = [0xff; 400];
        if comparator.is_bytewise() {
            let rank = reader.rank(Gap::Behind(&behind_all), true).unwrap();
            let all = (rows.len() as u64, finished.size_bytes);
            assert_eq!((rank.entry_count, rank.size_bytes), all);
        }
    }
}

#[test]
fn a_rank_in_blocks_is_within_a_block_of_the_truth() {
    // Entries of one size that do not compress, twenty and some to a block, in one level of index
    // and in partitions: the rank of each key is wrong by less than the entries of a block.
    let mut random = Random::new(0x7a4f);
    for index_partition_bytes in [100, 1 << 20] {
        let sst = SstOptions {
            block_size_bytes: 4096,
            index_partition_bytes,
            compression: Compression::Blocks(CompressionType::None),
            ..SstOptions::default()
        };
        let entry = |number: u64| {
            let user_key = format!("{number:08}").into_bytes();
            key::encode(&user_key, Trailer::new(SeqNo::new(number), Kind::Put))
        };
        let rows: Rows = (0..3000)
            .map(|number| (entry(2 * number), random.bytes(170)))
            .collect();
        let (bytes, finished) = build(BLOCKS, &rows, settings(&Comparator::Bytewise, sst));
        let reader = open(bytes, NUMBER, &Comparator::Bytewise).unwrap();
        for number in 0..6000_u64 {
            let user_key = format!("{number:08}").into_bytes();
            let rank = reader.rank(Gap::Before(&user_key), true).unwrap();
            let truth = number.div_ceil(2);
            assert!(
                rank.entry_count.abs_diff(truth) <= 24,
                "{rank:?} for {truth}"
            );
            let share = rank.size_bytes as f64 / finished.size_bytes as f64;
            assert!((share - truth as f64 / 3000.0).abs() <= 24.0 / 3000.0);
        }
    }
}

/// A file that notes what is announced of it, and refuses to be read anywhere else.
struct Noting {
    bytes: MemoryBytes,
    /// `None` as long as everything may be read.
    announced: Mutex<Option<Vec<(u64, u64)>>>,
    reads: Mutex<u64>,
}

impl ReadFile for Arc<Noting> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = offset + buffer.len() as u64;
        if let Some(announced) = &*self.announced.lock().unwrap() {
            let is_within = |(from, to): &(u64, u64)| *from <= offset && end <= *to;
            let known = announced.iter().any(is_within);
            assert!(known, "{offset} to {end} is read and was not announced");
            *self.reads.lock().unwrap() += 1;
        }
        self.bytes.read_at(offset, buffer)
    }

    fn size_bytes(&self) -> u64 {
        self.bytes.size_bytes()
    }

    fn prefetch(&self, offset: u64, len: u64) {
        if let Some(announced) = &mut *self.announced.lock().unwrap() {
            // Neighbours are one range: what is read may begin in one and end in the next.
            match announced.last_mut().filter(|last| last.1 == offset) {
                Some(last) => last.1 = offset + len,
                None => announced.push((offset, offset + len)),
            }
        }
    }
}

#[test]
fn nothing_is_read_before_all_of_it_was_announced() {
    // The medium can only work on what it knows of. Of a file whose index has parts, those come
    // first, all of them, and then all blocks.
    let mut random = Random::new(7);
    let rows: Rows = (0..500_u32)
        .map(|number| {
            let trailer = Trailer::new(SeqNo::new(1), Kind::Put);
            (
                key::encode(&number.to_be_bytes(), trailer),
                random.bytes(50),
            )
        })
        .collect();
    let comparator = Comparator::Bytewise;
    for begin in EVERY_KIND {
        let sst = SstOptions {
            block_size_bytes: 200,
            index_partition_bytes: 300,
            ..SstOptions::default()
        };
        let (bytes, _) = build(begin, &rows, settings(&comparator, sst));
        let file = Arc::new(Noting {
            bytes: MemoryBytes(bytes),
            announced: Mutex::new(None),
            reads: Mutex::new(0),
        });
        let cache = Arc::new(BlockCache::new(1 << 20));
        let opened = Arc::new(Arc::clone(&file));
        let reader = AnyReader::open(opened, NUMBER, comparator.clone(), cache).unwrap();
        *file.announced.lock().unwrap() = Some(Vec::new());
        let reads = || std::mem::take(&mut *file.reads.lock().unwrap());

        let options = ReadOptions::default();
        let mut announcer = Announcer::default();
        let mut announce = |user_key: &[u8], is_index_announced| {
            let hash = hash64(user_key);
            let at = SeqNo::MAX;
            let announced = reader.announce(
                user_key,
                hash,
                at,
                &options,
                is_index_announced,
                &mut announcer,
            );
            announced.unwrap()
        };
        let user_keys: Vec<&[u8]> = rows
            .iter()
            .map(|row| key::user_key(&row.0))
            .step_by(7)
            .collect();
        for user_key in &user_keys {
            assert!(matches!(announce(user_key, false), Announced::Index));
        }
        assert_eq!(reads(), 0, "announced, not read");
        let places: Vec<AnyEntryPlace> = user_keys
            .iter()
            .map(|user_key| match announce(user_key, true) {
                Announced::Place(entry) => entry,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(
            (2..user_keys.len() as u64).contains(&reads()),
            "each part of the index once"
        );
        for (user_key, entry) in user_keys.iter().zip(places) {
            let hash = hash64(user_key);
            let found = reader.get_at_place(entry, user_key, hash, SeqNo::MAX, &options);
            assert_eq!(found.unwrap().unwrap().value.len(), 50);
        }
        assert!(reads() > 10, "each block");
    }
}
