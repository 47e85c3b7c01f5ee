//! Tests of `output`.

use std::path::Path;

use esker_phrase::corpus;

use super::*;
use crate::base::types::cursor::Cursor;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::clock::Clock;
use crate::env::fs::Fs;
use crate::env::random::Random;
use crate::env::real::pool::RealPool;
use crate::env::sim::crash::CrashMode;
use crate::env::sim::fault::FaultFs;
use crate::env::sim::fault_plan::{Calls, Fault, Plan};
use crate::env::sim::world::SimWorld;
use crate::flow::model::{Entries, for_seeds, key_of};
use crate::flow::read::range_tombstones::{Piece, RangeTombstones};
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::searchable::dictionary::encoding_of;
use crate::store::version::run::Run;

const KEY_COUNT: u64 = 40;
const DIR: &str = "/db";

fn settings(world: &SimWorld, file_size_bytes: u64) -> OutputSettings {
    world.fs.create_dir_all(Path::new(DIR)).unwrap();
    OutputSettings {
        env: world.env(),
        dir: DIR.into(),
        numbers: Arc::new(FileNumbers::new(FileNumber(7))),
        keyspace: KeyspaceId(3),
        comparator: Comparator::Bytewise,
        sst: SstOptions {
            block_size_bytes: 64,
            file_size_bytes,
            ..SstOptions::default()
        },
        compression: CompressionType::None,
        phrasing: None,
        values: Arc::new(OpenValues::new(world.env().fs, DIR, 1)),
        relocator: None,
        background_rate: Arc::default(),
        keyspace_name: Bytes::default(),
        database_id: None,
        sources: Arc::default(),
        snapshots: Arc::default(),
    }
}

/// Range deletes without overlap, as rewrites hand them over: each piece in two stripes or one.
fn pieces_of(entries: &Entries) -> Vec<RangeDelete> {
    let tombstones = RangeTombstones::new(&Comparator::Bytewise, &entries.range_deletes);
    let snapshot = SeqNo::new(entries.newest().get() / 2);
    let pieces = tombstones.pieces(&[snapshot]);
    pieces.iter().flat_map(Piece::deletes).collect()
}

/// Writes a run of all of `entries`.
fn write(settings: &OutputSettings, entries: &Entries) -> Result<Vec<FileRecord>> {
    fill(Output::new(settings.clone(), pieces_of(entries)), entries)
}

/// Has all of `entries` written by `output`.
fn fill(mut output: Output, entries: &Entries) -> Result<Vec<FileRecord>> {
    let mut cursor = entries.cursor();
    let mut is_valid = cursor.seek_to_first().unwrap();
    while is_valid {
        output.add(cursor.key(), cursor.value().unwrap())?;
        is_valid = cursor.next()?;
    }
    output.finish()
}

/// What lies in one file.
fn read(settings: &OutputSettings, record: &FileRecord) -> Entries {
    let path = settings.dir.join(FileName::Sst(record.number).to_string());
    assert_eq!(settings.env.fs.file_size(&path).unwrap(), record.size_bytes);
    let file = settings.env.fs.open_read(&path).unwrap();
    let cache = Arc::new(ShardedCache::new(1 << 20));
    let reader = AnyReader::open(file, record.number, Comparator::Bytewise, cache).unwrap();
    reader.verify().unwrap();
    let reader = Arc::new(reader);
    let mut found = Entries {
        range_deletes: reader.range_deletes().to_vec(),
        ..Entries::default()
    };
    let mut cursor = reader.cursor(Default::default());
    let mut is_valid = cursor.seek_to_first().unwrap();
    while is_valid {
        let (user_key, trailer) = key::split(cursor.key());
        let point = (user_key.to_vec(), trailer, cursor.value().unwrap().to_vec());
        found.points.push(point);
        is_valid = cursor.next().unwrap();
    }
    found
}

/// Checks that the record says of its file what is so, neither more nor less.
fn check_record(record: &FileRecord, found: &Entries) {
    record.check(&Comparator::Bytewise).unwrap();
    let point_keys = || found.points.iter().map(|(key, ..)| &key[..]);
    let starts = found.range_deletes.iter().map(|delete| &delete.start[..]);
    let ends = found.range_deletes.iter().map(|delete| &delete.end[..]);
    assert_eq!(point_keys().chain(starts).min(), Some(&record.smallest[..]));
    let last_end = ends.max();
    assert_eq!(point_keys().max().max(last_end), Some(&record.largest[..]));
    let is_exclusive = last_end > point_keys().max();
    assert_eq!(record.is_largest_exclusive, is_exclusive);
    assert_eq!(record.entry_count, found.points.len() as u64);
    let deletes = found
        .points
        .iter()
        .filter(|(_, trailer, _)| trailer.kind() == Kind::Delete);
    assert_eq!(record.delete_count, deletes.count() as u64);
    assert_eq!(record.range_delete_count, found.range_deletes.len() as u64);
    let points = found.points.iter().map(|(_, trailer, _)| trailer.seqno());
    let seqnos = points.chain(found.range_deletes.iter().map(|delete| delete.seqno));
    assert_eq!(seqnos.clone().min(), Some(record.smallest_seqno));
    assert_eq!(seqnos.max(), Some(record.largest_seqno));
}

/// For each key and between the keys: the numbers of the range deletes over it, ascending.
fn covers(range_deletes: &[RangeDelete]) -> Vec<Vec<SeqNo>> {
    let keys =
        (0..=KEY_COUNT).flat_map(|number| [key_of(number), [&key_of(number)[..], b"x"].concat()]);
    let cover = |key: Vec<u8>| {
        let mut seqnos: Vec<SeqNo> = (range_deletes.iter())
            .filter(|delete| delete.start[..] <= key[..] && key[..] < delete.end[..])
            .map(|delete| delete.seqno)
            .collect();
        seqnos.sort_unstable();
        seqnos
    };
    keys.map(cover).collect()
}

#[test]
fn a_run_holds_what_went_in_and_nothing_overlaps() {
    // Random entries and range deletes, files of a few blocks: the files together hold exactly
    // what went in, range deletes without gap or overlap, and each record is true.
    for_seeds(100, |seed, random| {
        let world = SimWorld::new(seed);
        let settings = settings(&world, 100 + random.below(1000));
        let write_count = random.below(200);
        let mut entries = Entries::random(random, write_count, KEY_COUNT);
        if random.one_in(8) {
            entries.points.clear();
        }
        let records = write(&settings, &entries).unwrap();
        let files: Vec<Entries> = records
            .iter()
            .map(|record| read(&settings, record))
            .collect();
        for (record, found) in records.iter().zip(&files) {
            check_record(record, found);
        }
        let all = files
            .iter()
            .fold(Entries::default(), |all, file| all.and(file));
        let mut sorted = entries.points.clone();
        sorted.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.cmp(&left.1)));
        assert_eq!(all.points, sorted);
        let pieces = pieces_of(&entries);
        assert_eq!(covers(&all.range_deletes), covers(&pieces));
        for pair in files.windows(2) {
            assert!(pair[0].points.last().unwrap().0 < pair[1].points[0].0);
        }
        assert_eq!(
            records.is_empty(),
            all.points.is_empty() && pieces.is_empty()
        );
        let records = records.into_iter().map(Arc::new).collect();
        Run::new(0, &Comparator::Bytewise, records).unwrap();
    });
}

#[test]
fn files_are_cut_soon_after_they_are_full() {
    // 2 000 entries of about 120 bytes and files of 16 KiB: no file is smaller but the last, and
    // none is much larger.
    let world = SimWorld::new(0);
    let settings = settings(&world, 16 << 10);
    let mut entries = Entries::default();
    for number in 0..2_000 {
        let key = format!("{number:08}").into_bytes();
        entries.write(SeqNo::new(number + 1), (Kind::Put, key, vec![b'v'; 100]));
    }
    let records = write(&settings, &entries).unwrap();
    let (_, whole) = records.split_last().unwrap();
    assert!(whole.len() > 10);
    for record in whole {
        assert!(
            (15 << 10..18 << 10).contains(&record.size_bytes),
            "{}",
            record.size_bytes
        );
    }
}

#[test]
fn the_entries_of_one_key_stay_in_one_file() {
    // One key with a thousand versions and one with a huge value, amid small ones: a file may
    // grow beyond its limit, but no key lies in two.
    let world = SimWorld::new(0);
    let settings = settings(&world, 512);
    let mut entries = Entries::default();
    for number in 1..=1_000 {
        entries.write(
            SeqNo::new(number),
            (Kind::Put, key_of(5), b"value".to_vec()),
        );
    }
    for number in 0..10 {
        let value = vec![b'x'; if number == 3 { 300_000 } else { 100 }];
        entries.write(
            SeqNo::new(2_000 + number),
            (Kind::Put, key_of(number), value),
        );
    }
    let records = write(&settings, &entries).unwrap();
    let largest = records.iter().map(|record| record.entry_count).max();
    assert!(largest >= Some(1_001));
    let files: Vec<Entries> = records
        .iter()
        .map(|record| read(&settings, record))
        .collect();
    for pair in files.windows(2) {
        assert!(pair[0].points.last().unwrap().0 < pair[1].points[0].0);
    }
}

#[test]
fn a_run_of_range_deletes_alone_is_one_file() {
    // No points at all: the file begins and ends with its range deletes.
    let world = SimWorld::new(0);
    let settings = settings(&world, 100);
    let mut entries = Entries::default();
    entries.write(SeqNo::new(4), (Kind::RangeDelete, key_of(1), key_of(3)));
    entries.write(SeqNo::new(9), (Kind::RangeDelete, key_of(5), key_of(8)));
    let records = write(&settings, &entries).unwrap();
    let [record] = &records[..] else {
        panic!("{} files", records.len())
    };
    check_record(record, &read(&settings, record));
    assert_eq!(
        (&record.smallest[..], &record.largest[..]),
        (&key_of(1)[..], &key_of(8)[..])
    );
    assert!(record.is_largest_exclusive);
    assert!(write(&settings, &Entries::default()).unwrap().is_empty());
}

#[test]
fn a_finished_run_outlives_a_power_cut() {
    // The power fails right after the run is finished: every file is there, whole.
    for_seeds(20, |seed, random| {
        let world = SimWorld::new(seed);
        let before = settings(&world, 300);
        world.fs.sync_dir(Path::new("/")).unwrap();
        let entries = Entries::random(random, 100, KEY_COUNT);
        let records = write(&before, &entries).unwrap();
        let after = world.after_crash(CrashMode::LoseUnsynced, seed);
        let after = OutputSettings {
            env: after.env(),
            ..before
        };
        for record in &records {
            check_record(record, &read(&after, record));
        }
    });
}

#[test]
fn a_rate_holds_for_all_runs_together() {
    // Two runs of some 100 KiB each at 10 000 bytes a second: no faster, and hardly slower.
    let world = SimWorld::new(1);
    let settings = settings(&world, 4000);
    settings.background_rate.set_rate(10_000);
    let entries = Entries::random(&mut Random::new(1), 3000, 100_000);
    let began = world.clock.monotonic();
    let mut bytes = 0;
    for _ in 0..2 {
        let records = write(&settings, &entries).unwrap();
        bytes += records.iter().map(|record| record.size_bytes).sum::<u64>();
    }
    let took_s = (world.clock.monotonic() - began).as_secs_f64();
    let rate = bytes as f64 / took_s;
    assert!(bytes > 100_000, "{bytes}");
    assert!((9_000.0..=12_000.0).contains(&rate), "{rate}");
}

#[test]
fn every_failed_call_is_reported() {
    // Each call that changes the disk fails in turn, once: the run is never handed out as whole.
    let entries = Entries::random(&mut Random::new(1), 60, KEY_COUNT);
    let plain = SimWorld::new(0);
    let fs = FaultFs::over_sim(&plain.fs, 0);
    let faulty = |fs: &FaultFs| OutputSettings {
        env: plain.env_with(Arc::new(fs.clone())),
        ..settings(&plain, 400)
    };
    assert!(write(&faulty(&fs), &entries).unwrap().len() > 2);
    let call_count = fs.counts().mutating();
    for skip in 0..call_count {
        let fs = FaultFs::over_sim(&plain.fs, 0);
        fs.set_plans(vec![Plan::once(Fault::Io, Calls::Mutating, skip)]);
        assert!(write(&faulty(&fs), &entries).is_err(), "call {skip}");
    }
}

/// How values become phrases of one of the dictionaries of tests.
fn phrasing(index: usize) -> Phrasing {
    Phrasing {
        dictionary: Arc::clone(&corpus::dictionaries()[index]),
        effort: Effort::Best,
        threads: 1,
    }
}

/// Writes everything in a run again, as it is stored where that can be; what was compressed anew.
fn rewrite(
    settings: &OutputSettings,
    records: &[FileRecord],
) -> (Vec<FileRecord>, Option<CompressionTally>) {
    let mut output = Output::new(settings.clone(), Vec::new());
    let verbatim = settings.verbatim();
    for record in records {
        let path = settings.dir.join(FileName::Sst(record.number).to_string());
        let file = settings.env.fs.open_read(&path).unwrap();
        let cache = Arc::new(ShardedCache::new(1 << 20));
        let reader = AnyReader::open(file, record.number, Comparator::Bytewise, cache).unwrap();
        let mut cursor = Arc::new(reader).cursor(Default::default());
        let mut is_on = cursor.seek_to_first().unwrap();
        while is_on {
            let encoded = cursor.encoded().filter(|encoded| {
                verbatim.dictionary.map(encoding_of) == Some(encoded.encoding)
                    && encoded.plain_len <= verbatim.plain_len_max
            });
            let value = match encoded {
                Some(encoded) => Carried::Encoded(encoded),
                None => Carried::Raw(cursor.value().unwrap()),
            };
            output.carry(cursor.key(), value).unwrap();
            is_on = cursor.next().unwrap();
        }
    }
    let written = output.finish_with_values().unwrap();
    (written.files, written.compressed)
}

#[test]
fn a_file_that_counts_its_bytes_wrong_is_no_panic() {
    // Its properties pass their checksum, and say that many entries have no bytes at all.
    let world = SimWorld::new(0);
    let settings = settings(&world, 4_000);
    let entries = Entries::random(&mut Random::new(1), 60, KEY_COUNT);
    let record = write(&settings, &entries).unwrap().remove(0);
    let path = settings.dir.join(FileName::Sst(record.number).to_string());
    let file = settings.env.fs.open_read(&path).unwrap();
    let cache = Arc::new(ShardedCache::new(1 << 20));
    let reader = AnyReader::open(file, record.number, Comparator::Bytewise, cache).unwrap();
    let mut finished = reader.finished();
    (finished.props.raw_key_bytes, finished.props.raw_value_bytes) = (0, 0);
    let found = record_of(record.number, finished, &[], &Comparator::Bytewise);
    assert_eq!(found.raw_bytes, 0);
}

#[test]
fn files_are_the_same_however_many_threads_compress() {
    // Byte for byte: new values and such as were phrases already, on one thread and with others of
    // a real pool, and of a pool whose jobs nobody runs; and no file is left of one that is given
    // up halfway.
    let mut dice = corpus::Dice::new(8);
    let value = |number: u64| match number % 7 {
        0 => dice.bytes(300),
        1 => b"again and again ".repeat(60),
        _ => corpus::prose(&mut dice, 900),
    };
    let values: Vec<_> = (0..1500).map(value).collect();
    let key = |number: usize| {
        let trailer = Trailer::new(SeqNo::new(number as u64 + 1), Kind::Put);
        key::encode(format!("key{number:06}").as_bytes(), trailer)
    };
    let build = |threads: usize, pool: Option<usize>| {
        let world = SimWorld::new(0);
        let mut settings = settings(&world, 100_000);
        // In a build without Zstd values that are no phrases stay as they are.
        settings.compression = CompressionType::first_built(&[CompressionType::Zstd]);
        settings.phrasing = Some(Phrasing {
            threads,
            ..phrasing(1)
        });
        if let Some(pool) = pool {
            settings.env.pool = Arc::new(RealPool::new(pool));
        }
        let mut output = Output::new(settings.clone(), Vec::new());
        for (number, value) in values.iter().enumerate() {
            output.add(&key(number), value).unwrap();
        }
        let records = output.finish().unwrap();
        // Of the first all values are copied, of the others none.
        let compressed_already = &records[..1];
        let again = rewrite(&settings, compressed_already).0;
        let mut half = Output::new(settings.clone(), Vec::new());
        for (number, value) in values.iter().enumerate().take(700) {
            half.add(&key(number), value).unwrap();
        }
        drop(half);
        let left = settings.env.fs.list(Path::new(DIR)).unwrap().len();
        assert_eq!(left, records.len() + again.len());
        let bytes = |record: &FileRecord| {
            let name = FileName::Sst(record.number).to_string();
            let file = settings.env.fs.open_read(&settings.dir.join(name)).unwrap();
            let mut bytes = vec![0; record.size_bytes as usize];
            file.read_at(0, &mut bytes).unwrap();
            bytes
        };
        records.iter().chain(&again).map(bytes).collect::<Vec<_>>()
    };
    let alone = build(1, None);
    assert!(alone.len() > 2);
    assert!(build(4, None) == alone);
    assert!(build(2, Some(1)) == alone);
    assert!(build(3, Some(3)) == alone);
}

#[test]
fn phrases_are_copied_from_file_to_file() {
    // With the same dictionary nothing is compressed anew; with another one everything is, and
    // without one the files are of blocks. What is in them is the same each time.
    let world = SimWorld::new(0);
    let mut settings = settings(&world, 4_000);
    settings.phrasing = Some(phrasing(0));
    let mut entries = Entries::default();
    for (number, text) in corpus::records(11, 300).into_iter().enumerate() {
        let key = format!("key{number:05}").into_bytes();
        let trailer = Trailer::new(SeqNo::new(number as u64 + 1), Kind::Put);
        entries.points.push((key, trailer, text));
    }
    let first = write(&settings, &entries).unwrap();
    let texts: usize = entries.points.iter().map(|(.., text)| text.len()).sum();
    let keys: usize = entries.points.iter().map(|(key, ..)| key.len()).sum();
    let raw: u64 = first.iter().map(|file| file.raw_bytes).sum();
    assert_eq!(raw, (texts + keys) as u64);
    assert!(first.len() > 1 && first.iter().all(|file| file.is_searchable));
    let contents = |files: &[FileRecord]| -> Vec<_> {
        files
            .iter()
            .flat_map(|file| read(&settings, file).points)
            .collect()
    };
    assert_eq!(contents(&first), entries.points);
    let (copied, compressed) = rewrite(&settings, &first);
    let compressed = compressed.unwrap();
    assert_eq!(compressed.dictionary, phrasing(0).dictionary.id());
    assert!(compressed.plain_bytes * 50 < texts as u64, "{compressed:?}");
    assert_eq!(contents(&copied), entries.points);
    let other = OutputSettings {
        phrasing: Some(phrasing(1)),
        ..settings.clone()
    };
    let (anew, compressed) = rewrite(&other, &copied);
    let compressed = compressed.unwrap();
    assert_eq!(compressed.dictionary, phrasing(1).dictionary.id());
    assert_eq!(compressed.plain_bytes, texts as u64);
    assert_eq!(contents(&anew), entries.points);
    let blocks = OutputSettings {
        phrasing: None,
        ..settings.clone()
    };
    let (blocks, compressed) = rewrite(&blocks, &anew);
    assert!(compressed.is_none() && blocks.iter().all(|file| !file.is_searchable));
    assert_eq!(contents(&blocks), entries.points);
}

#[test]
fn files_that_are_half_full_end_at_boundaries() {
    let world = SimWorld::new(0);
    let mut entries = Entries::default();
    for number in 0..40 {
        let trailer = Trailer::new(SeqNo::new(number + 1), Kind::Put);
        entries.points.push((key_of(number), trailer, vec![7; 100]));
    }
    // About twenty entries fill a file.
    let mut output = Output::new(settings(&world, 2_400), Vec::new());
    let boundary = |number| Bytes::from(key_of(number));
    output.end_at(GrandparentBoundaries::at(
        [3, 14, 20, 39].map(boundary).to_vec(),
    ));
    let files = fill(output, &entries).unwrap();
    let starts: Vec<_> = files.iter().map(|file| file.smallest.to_vec()).collect();
    // Neither at 3, where there is little yet, nor at 20, so soon behind 14.
    let full = starts.get(2).expect("the second file was full");
    assert!(*full > key_of(30) && *full < key_of(39), "{starts:?}");
    assert_eq!(starts, [key_of(0), key_of(14), full.clone()]);
}
