//! Tests of the live end of the value log.

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::expiry::Expiry;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use crate::env::sim::{CrashMode, FaultFs, SimFs};
use crate::flow::values::own_sizes::OwnSizes;
use crate::flow::values::value_sync::ValuesOf;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::writer::LargeBytes;
use crate::store::vlog::live_bytes::ValueLiveBytes;

const SEGMENT_BYTES: u64 = 10_000;

fn value_log(fs: Arc<dyn Fs>) -> Arc<ValueLog> {
    value_log_of(fs, SEGMENT_BYTES)
}

fn value_log_of(fs: Arc<dyn Fs>, segment_bytes: u64) -> Arc<ValueLog> {
    fs.create_dir_all("/db".as_ref()).unwrap();
    let parts = ValueLogParts {
        values: Arc::new(OpenValues::new(Arc::clone(&fs), "/db", 20)),
        fs,
        dir: "/db".into(),
        numbers: Arc::new(FileNumbers::new(FileNumber(1))),
        segment_bytes,
        disk_limit: 0,
        database_id: [3; 16],
        events: EventQueue::default(),
    };
    Arc::new(ValueLog::new(parts, 12_000))
}

fn batch(values: &[&'static [u8]]) -> Batch<'static> {
    let mut batch = Batch::new();
    for (index, value) in values.iter().enumerate() {
        let key = format!("key{index}");
        let expiry = (index % 2 == 1).then_some(Expiry::from_unix_s(77));
        let value = LargeBytes::Lent(value);
        batch
            .put_separated(KeyspaceId(0), key.as_bytes(), expiry, value)
            .unwrap();
        batch.put(KeyspaceId(0), b"small", b"here").unwrap();
    }
    batch
}

fn pointers(batch: &Batch<'_>) -> Vec<ValuePointer> {
    let reader = BatchReader::new(batch.bytes()).unwrap();
    let entries = reader.entries().map(Result::unwrap);
    let pointers = entries.map(|entry| ValuePointer::of(&entry.in_keyspace()));
    pointers.filter_map(Result::unwrap).collect()
}

#[test]
fn a_batch_brings_its_values_and_learns_where_they_lie() {
    // Large and small ones in one batch; rotation in the middle of it; one beyond any segment.
    let log = value_log(Arc::new(SimFs::new(1)));
    let values: [&'static [u8]; 5] = [
        &[1; 4_000],
        &[2; 4_000],
        &[3; 4_000],
        &[4; 30_000],
        &[5; 10],
    ];
    let mut batch = batch(&values);
    let pending = log.write_batch(&mut batch).unwrap();
    let pointers = pointers(&batch);
    assert_eq!(pointers.len(), 5);
    for (pointer, value) in pointers.iter().zip(values) {
        assert_eq!(log.values().value(pointer).unwrap(), *value);
    }
    let segments: Vec<_> = pointers.iter().map(|pointer| pointer.segment.0).collect();
    assert_eq!(segments, [1, 1, 2, 3, 2]);
    let sizes = log.segments();
    assert_eq!(sizes.len(), 3);
    assert!(sizes.iter().all(|size| !size.is_sealed));
    drop(pending);
    let sealed: Vec<_> = log.segments().iter().map(|size| size.is_sealed).collect();
    assert_eq!(sealed, [true, false, true]);
    let disk = SEGMENT_HEAD_BYTES + 2 * (18 + 4 + 4_000);
    assert_eq!(log.segments()[0].size_bytes, disk);
}

#[test]
fn a_segment_lives_as_long_as_somebody_names_it() {
    // A write under way, then a memtable, then a version; and none of them.
    let log = value_log(Arc::new(SimFs::new(1)));
    let mut batch = batch(&[&[1; 4_000]]);
    let pending = log.write_batch(&mut batch).unwrap();
    log.seal_live();
    let none = BTreeSet::new;
    assert!(log.take_dead(none).is_empty());
    let mut table = Memtable::create(Comparator::Bytewise, None);
    let pointer = pointers(&batch)[0];
    let trailer = Trailer::new(SeqNo::new(1), Kind::PutSeparated);
    table.insert(trailer, b"key0", &pointer.encode());
    log.name(table.table());
    log.name(table.table());
    drop(pending);
    assert!(log.take_dead(none).is_empty());
    assert_eq!(log.named(), BTreeSet::from([pointer.segment]));
    let reader = Arc::clone(table.table());
    drop(table);
    assert!(log.take_dead(none).is_empty());
    drop(reader);
    assert!(
        log.take_dead(|| BTreeSet::from([pointer.segment]))
            .is_empty()
    );
    assert_eq!(log.take_dead(none), [pointer.segment]);
    assert!(log.take_dead(none).is_empty());
}

#[test]
fn a_segment_that_somebody_pointed_to_once_more_meanwhile_stays() {
    let log = value_log(Arc::new(SimFs::new(9)));
    let mut batch = batch(&[&[1; 4_000]]);
    drop(log.write_batch(&mut batch).unwrap());
    log.seal_live();
    let number = pointers(&batch)[0].segment;
    let dead = log.take_dead(|| {
        // The files were asked before his memtable was flushed, and by now it is gone.
        drop(log.hold(number).unwrap());
        BTreeSet::new()
    });
    assert!(dead.is_empty());
    assert_eq!(log.take_dead(BTreeSet::new), [number]);
}

#[test]
fn what_was_synced_survives_with_its_name() {
    // Whatever else a power cut takes; also of several segments.
    for mode in CrashMode::ALL {
        let fs = SimFs::new(4);
        let log = value_log(Arc::new(fs.clone()));
        let mut first = batch(&[&[1; 6_000], &[2; 6_000]]);
        drop(log.write_batch(&mut first).unwrap());
        assert!(log.unsynced_bytes() > 12_000 && log.is_flush_due());
        log.sync().unwrap();
        assert!(log.unsynced_bytes() == 0 && !log.is_flush_due());
        let mut second = batch(&[&[9; 3_000]]);
        drop(log.write_batch(&mut second).unwrap());
        let image = fs.crash(mode, 1);
        let values = OpenValues::new(Arc::new(image), "/db", 10);
        for (pointer, byte) in pointers(&first).iter().zip([1, 2]) {
            assert_eq!(values.value(pointer).unwrap(), [byte; 6_000][..]);
        }
    }
}

#[test]
fn a_full_segment_gives_its_end_back_when_it_is_synced() {
    // Not by the writer who begins the next one; and the live one when it is sealed.
    let fs = SimFs::new(6);
    let log = value_log(Arc::new(fs.clone()));
    let mut batch = batch(&[&[1; 6_000], &[2; 6_000]]);
    drop(log.write_batch(&mut batch).unwrap());
    let sizes = || ["/db/000001.vlog", "/db/000002.vlog"].map(|path| fs.file_size(path.as_ref()));
    let sizes = || sizes().map(Result::unwrap);
    assert_eq!(sizes(), [SEGMENT_BYTES; 2]);
    log.sync().unwrap();
    let used = log.segments()[0].size_bytes;
    assert!((6_000..7_000).contains(&used));
    assert_eq!(sizes(), [used, SEGMENT_BYTES]);
    log.seal_live();
    assert_eq!(sizes(), [used, used]);
}

#[test]
fn a_failed_write_is_a_fault_and_a_failed_segment_is_not() {
    // Without room for a segment nothing was written; a write that failed may be there in part.
    let sim = SimFs::new(5);
    let faults = FaultFs::over_sim(&sim, 5);
    let log = value_log(Arc::new(faults.clone()));
    faults.set_plans(vec![Plan::once(Fault::NoSpace, Calls::Mutating, 0)]);
    let mut batch = batch(&[&[1; 6_000]]);
    let error = log.write_batch(&mut batch).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::OutOfSpace);
    assert!(
        error.message().contains("`value_log.segment_size`"),
        "{error}"
    );
    drop(log.write_batch(&mut batch).unwrap());
    log.seal_live();
    let small = Plan::once(Fault::Io, Calls::Of(CallClass::Write), 1);
    faults.set_plans(vec![small]);
    let error = log.write_batch(&mut batch).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Faulted);
}

fn write_one(log: &Arc<ValueLog>, keyspace: u32, value: &'static [u8]) -> FileNumber {
    let mut batch = Batch::new();
    let value = LargeBytes::Lent(value);
    batch
        .put_separated(KeyspaceId(keyspace), b"key", None, value)
        .unwrap();
    drop(log.write_batch(&mut batch).unwrap());
    pointers(&batch)[0].segment
}

#[test]
fn a_keyspace_that_lies_apart_has_segments_of_its_own() {
    // Until it is dropped: then its last one ends, and is dead.
    let log = value_log(Arc::new(SimFs::new(7)));
    log.keep_apart(KeyspaceId(1), 0);
    log.keep_apart(KeyspaceId(2), 0);
    let first = [0, 1, 2].map(|keyspace| write_one(&log, keyspace, &[1; 3_000]));
    assert_eq!(BTreeSet::from(first).len(), 3);
    let second = [0, 1, 2].map(|keyspace| write_one(&log, keyspace, &[1; 3_000]));
    assert_eq!(first, second);
    // One of its own, too, for what is larger than any segment.
    let giant = write_one(&log, 1, &[2; 30_000]);
    assert!(log.take_dead(BTreeSet::new) == [giant]);
    log.forget(KeyspaceId(1));
    assert!(log.take_dead(BTreeSet::new) == [first[1]]);
    assert_eq!(write_one(&log, 1, &[1; 100]), first[0]);
    log.seal_live_of(&BTreeSet::from([KeyspaceId(7)]));
    assert!(log.take_dead(BTreeSet::new) == [first[0]]);
    assert_eq!(write_one(&log, 2, &[1; 100]), first[2]);
    log.seal_live();
    assert!(log.take_dead(BTreeSet::new) == [first[2]]);
}

#[test]
fn own_segments_are_synced_for_their_keyspace_or_once_they_have_ended() {
    let fs = SimFs::new(8);
    let log = value_log(Arc::new(fs.clone()));
    log.keep_apart(KeyspaceId(1), 0);
    log.keep_apart(KeyspaceId(2), 0);
    let [own, other] = [1, 2].map(|keyspace| write_one(&log, keyspace, &[5; 3_000]));
    assert_eq!(log.unsynced_bytes(), 0);
    let survives = |number: FileNumber| {
        let image = fs.crash_image(CrashMode::ALL[0], 1);
        let values = OpenValues::new(Arc::new(image), "/db", 10);
        let offset = u32::try_from(SEGMENT_HEAD_BYTES).unwrap() + 18 + 3;
        let (len, crc) = (3_000, crc32c(&[5; 3_000]));
        let pointer = ValuePointer {
            segment: number,
            offset,
            len,
            crc,
        };
        values.value(&pointer).is_ok()
    };
    log.sync().unwrap();
    assert!(!survives(own) && !survives(other));
    let keyspaces = BTreeSet::from([KeyspaceId(1)]);
    let of_one = ValuesOf::new(Arc::clone(&log), &keyspaces);
    of_one.sync().unwrap();
    assert!(survives(own) && !survives(other));
    log.seal_live();
    log.sync().unwrap();
    assert!(survives(own) && survives(other));
}

#[test]
fn own_segments_grow_with_what_their_keyspace_holds() {
    // So a thousand small replicas take little, and the segments of a large one are few.
    let bytes_with = |held_bytes: u64, disk_limit: u64| {
        let mut segments = Segments::default();
        (1..=64).for_each(|id| segments.keep_apart(KeyspaceId(id), held_bytes));
        let sizes = OwnSizes {
            segment_bytes: 64 << 20,
            disk_limit,
        };
        let next = segments.next_segment(KeyspaceId(1), 5_000, &sizes);
        assert_eq!(next.owner, Some(KeyspaceId(1)));
        next.capacity_bytes
    };
    let [none, some, much] = [0, 40 << 20, 4 << 30].map(|held| bytes_with(held, 0));
    assert_eq!([none, some, much], [256 << 10, 10 << 20, 64 << 20]);
    // Together they are a sixteenth of what the database may take.
    assert_eq!(bytes_with(40 << 20, 2 << 30), 2 << 20);
}

#[test]
fn of_what_is_gone_from_its_files_nothing_stays_allocated() {
    let log = value_log_of(Arc::new(SimFs::new(13)), 256 << 10);
    log.keep_apart(KeyspaceId(1), 800_000);
    let first = write_one(&log, 1, &[1; 100]);
    assert!(log.unused_bytes() > 190_000);
    assert!((170_000..190_000).contains(&log.spare_bytes()));
    let elsewhere = |bytes| -> ValueLiveBytes { [(FileNumber(77), bytes)].into_iter().collect() };
    log.set_held(KeyspaceId(1), &elsewhere(801_000), 0);
    assert_eq!(write_one(&log, 1, &[1; 100]), first);
    log.set_held(KeyspaceId(1), &elsewhere(100_000), 0);
    assert_eq!(log.unused_bytes(), 0);
    assert!(write_one(&log, 1, &[1; 100]) > first);
    assert!((20_000..25_000).contains(&log.unused_bytes()));
}

#[test]
fn of_what_is_dead_in_it_a_live_own_segment_keeps_no_more_than_a_new_one_had() {
    // 150 000 of its 200 000 bytes are used: by files, by memtables, or by nobody.
    let log = value_log_of(Arc::new(SimFs::new(17)), 256 << 10);
    let is_kept = |in_it: u64, elsewhere: u64, named_bytes: u64| {
        log.keep_apart(KeyspaceId(1), 800_000);
        let number = write_one(&log, 1, &[1; 150_000]);
        let segments = [(number, in_it), (FileNumber(1 << 30), elsewhere)];
        let live = segments.into_iter().filter(|(_, bytes)| *bytes > 0);
        let live: ValueLiveBytes = live.collect();
        log.set_held(KeyspaceId(1), &live, named_bytes);
        let is_kept = write_one(&log, 1, &[1; 100]) == number;
        log.forget(KeyspaceId(1));
        is_kept
    };
    assert!(is_kept(150_000, 250_000, 0));
    assert!(is_kept(0, 400_000, 150_000));
    assert!(!is_kept(0, 400_000, 0));
    assert!(!is_kept(0, 0, 0));
    // With as much elsewhere as before it may.
    assert!(is_kept(0, 801_000, 0));
}

#[test]
fn who_was_written_to_longest_ago_makes_room_for_another_own_segment() {
    // Each keeps a file open: ten may be, here.
    let log = value_log(Arc::new(SimFs::new(10)));
    for keyspace in 1..=12 {
        log.keep_apart(KeyspaceId(keyspace), 0);
    }
    let first: Vec<_> = (1..=10).map(|it| write_one(&log, it, &[1; 100])).collect();
    assert_eq!(write_one(&log, 1, &[1; 100]), first[0]);
    let next = write_one(&log, 11, &[1; 100]);
    assert!(!first.contains(&next));
    assert_eq!(log.take_dead(BTreeSet::new), [first[1]]);
    assert_eq!(write_one(&log, 1, &[1; 100]), first[0]);
    assert_eq!(write_one(&log, 11, &[1; 100]), next);
    assert!(write_one(&log, 2, &[1; 100]) > next);
    assert_eq!(log.take_dead(BTreeSet::new), [first[2]]);
}

#[test]
fn one_sync_makes_few_own_segments_durable() {
    // Whoever waits for the next one waits for no more; and who asked goes on until all are.
    let log = value_log(Arc::new(SimFs::new(11)));
    for keyspace in 1..=9 {
        log.keep_apart(KeyspaceId(keyspace), 0);
        write_one(&log, keyspace, &[1; 100]);
    }
    let keyspaces: BTreeSet<_> = (1..=9).map(KeyspaceId).collect();
    let values = ValuesOf::new(Arc::clone(&log), &keyspaces);
    assert_eq!(sync_all(&values), 3);
}

// How many syncs it takes.
fn sync_all(values: &ValuesOf) -> usize {
    let mut sync_count = 0;
    while values.is_more() {
        values.sync().unwrap();
        sync_count += 1;
    }
    sync_count
}

#[test]
fn one_sync_makes_no_more_of_own_segments_durable_than_starts_a_flush() {
    // 12 000 bytes, here: of two that have 9 000 each it takes one, and of one that has more it.
    let log = value_log(Arc::new(SimFs::new(15)));
    let all = (1..=5).map(KeyspaceId).collect();
    for keyspace in 1..=5 {
        log.keep_apart(KeyspaceId(keyspace), 0);
        let value: &[u8] = if keyspace < 4 { &[1; 9_000] } else { &[1; 100] };
        write_one(&log, keyspace, value);
    }
    let values = ValuesOf::new(Arc::clone(&log), &all);
    assert_eq!(sync_all(&values), 3);
    write_one(&log, 1, &[2; 30_000]);
    assert_eq!(sync_all(&ValuesOf::new(Arc::clone(&log), &all)), 1);
    // Nor of those that have ended, for who waits for the log.
    for keyspace in 1..=3 {
        write_one(&log, keyspace, &[3; 9_000]);
    }
    log.seal_live();
    log.sync().unwrap();
    let dirty_count = || {
        let state = log.state();
        let segments = state.segments.values();
        segments.filter(|segment| segment.is_dirty).count()
    };
    assert_eq!(dirty_count(), 2);
    assert_eq!(sync_all(&ValuesOf::ended(Arc::clone(&log))), 2);
    assert_eq!(dirty_count(), 0);
}

#[test]
fn own_segments_that_have_ended_are_trimmed_a_few_by_a_sync_and_closed_by_it() {
    let log = value_log(Arc::new(SimFs::new(16)));
    for keyspace in 1..=90 {
        log.keep_apart(KeyspaceId(keyspace), 0);
        assert_eq!(log.is_flush_due(), keyspace > 20);
        write_one(&log, keyspace, &[1; 100]);
    }
    let untrimmed_count = || log.state().ended.len();
    let open_count = || {
        let state = log.state();
        let segments = state.segments.values();
        segments.filter(|segment| segment.syncer.is_some()).count()
    };
    assert_eq!((untrimmed_count(), open_count()), (80, 90));
    log.sync().unwrap();
    assert_eq!((untrimmed_count(), open_count()), (76, 86));
    log.trim_ended();
    assert_eq!(sync_all(&ValuesOf::ended(Arc::clone(&log))), 19);
    assert_eq!((untrimmed_count(), open_count()), (0, 10));
    assert!(!log.is_flush_due() && !log.has_ended());
}

#[test]
fn what_syncs_of_the_log_have_closed_is_not_there_to_be_closed() {
    // Who may open no more files has live ones ended then.
    let log = value_log(Arc::new(SimFs::new(18)));
    for keyspace in 1..=12 {
        log.keep_apart(KeyspaceId(keyspace), 0);
        write_one(&log, keyspace, &[1; 100]);
    }
    assert!(log.has_ended());
    log.sync().unwrap();
    assert!(!log.has_ended());
    log.seal_all_own();
    assert!(log.has_ended());
}

#[test]
fn who_is_written_to_meanwhile_keeps_no_sync_from_its_end() {
    let log = value_log(Arc::new(SimFs::new(14)));
    let all = 1..=9;
    all.clone().for_each(|it| log.keep_apart(KeyspaceId(it), 0));
    all.clone().for_each(|it| {
        write_one(&log, it, &[1; 100]);
    });
    let keyspaces = all.clone().map(KeyspaceId).collect();
    let values = ValuesOf::new(Arc::clone(&log), &keyspaces);
    let mut sync_count = 0;
    while values.is_more() {
        assert!(sync_count < 3, "it goes round");
        values.sync().unwrap();
        sync_count += 1;
        all.clone().for_each(|it| {
            write_one(&log, it, &[1; 100]);
        });
    }
}

#[test]
fn where_there_is_no_space_for_a_share_a_segment_is_as_large_as_its_values() {
    let sim = SimFs::new(12);
    let faults = FaultFs::over_sim(&sim, 12);
    let log = value_log(Arc::new(faults.clone()));
    log.keep_apart(KeyspaceId(1), 0);
    faults.set_plans(vec![Plan::once(Fault::NoSpace, Calls::Mutating, 0)]);
    write_one(&log, 1, &[1; 100]);
    assert_eq!(log.unused_bytes(), 0);
}
