//! Segments of the shared log: they go when nobody needs them, and whoever reads is not harmed.

use std::path::Path;

use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::internals::store::wal::head::SegmentHead;
use esker::internals::store::wal::writer::WalWriter;
use esker_raft::{GroupId, LogRead, ReadError, Record, ReplicaId};
use esker_server::disk_log::{DiskLog, DiskLogOptions, Pin};

use crate::log_model::{begin, entry};

const OPTIONS: DiskLogOptions = DiskLogOptions {
    segment_bytes: 64 << 10,
};

const QUIET: GroupId = GroupId(1);
const BUSY: GroupId = GroupId(2);

fn open(world: &SimWorld) -> DiskLog {
    let (log, opened) = DiskLog::open(&world.env(), Path::new("/raft"), OPTIONS).unwrap();
    assert!(opened.loss.is_none());
    log
}

fn append(log: &mut DiskLog, group: GroupId, index: u64) {
    let entries = vec![entry(index, 1, &[index as u8; 1000])];
    log.append(&[Record::Append { group, entries }]).unwrap();
}

fn compact(log: &mut DiskLog, group: GroupId, index: u64) {
    let term = 1;
    log.append(&[Record::Compact { group, index, term }])
        .unwrap();
}

#[test]
fn a_quiet_group_keeps_segments_until_it_is_compacted_or_written_anew() {
    for is_rewritten in [false, true] {
        let world = SimWorld::new(1);
        let mut log = open(&world);
        log.append(&[
            begin(QUIET, ReplicaId(1), 1, 1),
            begin(BUSY, ReplicaId(1), 1, 1),
        ])
        .unwrap();
        append(&mut log, QUIET, 2);
        append(&mut log, QUIET, 3);
        for index in 2..500 {
            append(&mut log, BUSY, index);
            compact(&mut log, BUSY, index);
        }
        log.sync().unwrap();
        assert_eq!(log.release().unwrap(), 0);
        let kept_bytes = log.size_bytes();
        assert!(kept_bytes > 400_000);
        let pin = Pin {
            group: QUIET,
            index: 3,
        };
        assert_eq!(log.pins(), [pin]);
        match is_rewritten {
            true => log.rewrite(QUIET).unwrap(),
            false => compact(&mut log, QUIET, 3),
        }
        // What is not durable lets go of nothing.
        assert_eq!(log.release().unwrap(), 0);
        log.sync().unwrap();
        assert!(log.release().unwrap() > 4);
        assert!(log.size_bytes() < kept_bytes / 3);
        assert!(log.pins().is_empty());
        drop(log);
        let log = open(&world);
        let state = log.reader().state(QUIET).unwrap();
        assert_eq!(state.last.index, 3);
        let entries = log.reader().entries(QUIET, 2, 4, u64::MAX);
        match is_rewritten {
            true => assert_eq!(entries.unwrap()[1].data, vec![3; 1000]),
            false => assert_eq!(entries, Err(ReadError::Compacted)),
        }
    }
}

#[test]
fn a_long_log_keeps_its_length_and_what_every_group_promised() {
    // The vote of a group that says nothing for long outlives the segment that it was cast in.
    let world = SimWorld::new(1);
    let mut log = open(&world);
    let hard = esker_raft::HardState {
        term: 7,
        vote: 3,
        commit: 1,
    };
    let vote = Record::Hard {
        group: QUIET,
        state: hard,
    };
    let gone = Record::Destroy {
        group: GroupId(3),
        replica: ReplicaId(5),
    };
    log.append(&[begin(QUIET, ReplicaId(1), 1, 1), vote, gone])
        .unwrap();
    log.append(&[begin(BUSY, ReplicaId(1), 1, 1)]).unwrap();
    for index in 2..3000 {
        append(&mut log, BUSY, index);
        if index % 50 == 0 {
            compact(&mut log, BUSY, index - 20);
            log.sync().unwrap();
            log.release().unwrap();
            assert!(log.size_bytes() <= 4 * OPTIONS.segment_bytes);
        }
    }
    log.sync().unwrap();
    drop(log);
    let log = open(&world);
    assert_eq!(log.reader().state(QUIET).unwrap().hard, hard);
    assert_eq!(log.reader().destroyed(GroupId(3)), Some(ReplicaId(5)));
    let entries = log.reader().entries(BUSY, 2990, 3000, 5000).unwrap();
    assert_eq!(entries.len(), 4, "as many as 5000 bytes hold");
    assert_eq!(log.reader().entries(BUSY, 2990, 3000, 0).unwrap().len(), 1);
}

#[test]
fn an_opening_removes_nothing_before_its_own_segment_is_durable() {
    for seed in 0..40 {
        let world = SimWorld::new(seed);
        let mut log = open(&world);
        let hard = esker_raft::HardState {
            term: 7,
            vote: 3,
            commit: 1,
        };
        let vote = Record::Hard {
            group: BUSY,
            state: hard,
        };
        log.append(&[begin(BUSY, ReplicaId(1), 1, 1), vote])
            .unwrap();
        for index in 2..200 {
            append(&mut log, BUSY, index);
        }
        compact(&mut log, BUSY, 199);
        log.sync().unwrap();
        drop(log);
        // Nobody needs an entry, so all segments of before go.
        drop(open(&world));
        let world = world.after_crash(CrashMode::Sectors, seed);
        let state = open(&world).reader().state(BUSY);
        assert_eq!(state.unwrap().hard, hard, "seed {seed}");
    }
}

#[test]
fn records_that_cannot_follow_are_refused_and_leave_nothing() {
    let world = SimWorld::new(1);
    let mut log = open(&world);
    log.append(&[begin(BUSY, ReplicaId(1), 5, 1)]).unwrap();
    let good = Record::Append {
        group: BUSY,
        entries: vec![entry(6, 1, b"in its place")],
    };
    let gap = Record::Append {
        group: BUSY,
        entries: vec![entry(9, 1, b"behind a gap")],
    };
    let refused = log.append(&[good.clone(), gap]).unwrap_err();
    assert!(refused.to_string().contains("raft log"), "{refused}");
    assert_eq!(log.reader().state(BUSY).unwrap().last.index, 5);
    log.append(&[good]).unwrap();
    log.sync().unwrap();
    drop(log);
    assert_eq!(open(&world).reader().state(BUSY).unwrap().last.index, 6);
}

#[test]
fn very_many_entries_of_one_append_come_back() {
    // As a follower has them that catches up; written anew too.
    let world = SimWorld::new(1);
    let mut log = open(&world);
    log.append(&[begin(QUIET, ReplicaId(1), 1, 1)]).unwrap();
    let entries: Vec<_> = (2..100_002).map(|index| entry(index, 1, b"x")).collect();
    let group = QUIET;
    log.append(&[Record::Append { group, entries }]).unwrap();
    log.rewrite(QUIET).unwrap();
    log.sync().unwrap();
    log.release().unwrap();
    drop(log);
    let log = open(&world);
    let found = log.reader().entries(QUIET, 2, 100_002, u64::MAX).unwrap();
    assert_eq!(found.len(), 100_000);
    assert!((2..).zip(&found).all(|(index, entry)| entry.index == index));
}

#[test]
fn a_log_of_another_version_is_not_opened_and_not_changed() {
    let world = SimWorld::new(1);
    let mut log = open(&world);
    log.append(&[begin(BUSY, ReplicaId(1), 5, 1)]).unwrap();
    log.sync().unwrap();
    drop(log);
    // What a later version wrote, with all its checksums: a segment behind this one.
    let number = FileNumber(7);
    let path = Path::new("/raft/000007.wal");
    let mut later = WalWriter::new(world.fs.open_log(path, 4096).unwrap(), number);
    let previous = None;
    later.append(&SegmentHead { previous }.encode()).unwrap();
    later.append(&[2, 9, 1, 2, 3]).unwrap();
    later.append(&[77]).unwrap();
    let names = world.fs.list(Path::new("/raft")).unwrap();
    let refused = DiskLog::open(&world.env(), Path::new("/raft"), OPTIONS);
    let error = refused.err().unwrap();
    assert_eq!(error.kind(), esker::ErrorKind::Unsupported, "{error}");
    assert_eq!(world.fs.list(Path::new("/raft")).unwrap(), names);
}
