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
use crate::store::batch::reader::BatchReader;
use crate::store::batch::writer::LargeBytes;

const SEGMENT_BYTES: u64 = 10_000;

fn value_log(fs: Arc<dyn Fs>) -> Arc<ValueLog> {
    fs.create_dir_all("/db".as_ref()).unwrap();
    let parts = ValueLogParts {
        values: Arc::new(OpenValues::new(Arc::clone(&fs), "/db", 10)),
        fs,
        dir: "/db".into(),
        numbers: Arc::new(FileNumbers::new(FileNumber(1))),
        segment_bytes: SEGMENT_BYTES,
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
