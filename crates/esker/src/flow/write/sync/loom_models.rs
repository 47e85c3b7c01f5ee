//! Every interleaving of writers that share syncs, over a disk that loses what a failed one held.

use std::sync::Arc;

use loom::sync::Mutex;
use loom::thread::{self, JoinHandle};

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::LogSync;
use crate::flow::write::patient::Patient;
use crate::flow::write::sync::{LogPosition, SyncGroup};

/// One segment on a disk that behaves as Linux does: a sync that fails is told to one caller
/// only, and what it should have written is clean in the cache and lost, so that the next sync
/// succeeds without it.
#[derive(Debug)]
struct Segment(Mutex<Medium>);

#[derive(Debug, Default)]
struct Medium {
    written: u64,
    durable: u64,
    /// What a failed sync lost: offsets above the first and up to the second.
    lost: (u64, u64),
    is_failing: bool,
}

impl Segment {
    fn new(is_failing: bool) -> Arc<Segment> {
        Arc::new(Segment(Mutex::new(Medium {
            is_failing,
            ..Medium::default()
        })))
    }

    fn write(&self, end: u64) {
        self.0.lock().expect("no panic").written = end;
    }

    fn holds(&self, offset: u64) -> bool {
        let medium = self.0.lock().expect("no panic");
        let is_lost = medium.lost.0 < offset && offset <= medium.lost.1;
        medium.durable >= offset && !is_lost
    }
}

impl LogSync for Segment {
    fn sync(&self) -> Result<()> {
        // Whatever happens between the two locks happens while the sync runs.
        let covered = self.0.lock().expect("no panic").written;
        let mut medium = self.0.lock().expect("no panic");
        let failed = std::mem::take(&mut medium.is_failing);
        if failed {
            medium.lost = (medium.durable, covered);
        }
        medium.durable = medium.durable.max(covered);
        match failed {
            true => Err(Error::invalid("the disk is gone")),
            false => Ok(()),
        }
    }
}

/// A log of at most two segments, and who writes it.
struct Log {
    group: SyncGroup,
    segments: [Arc<Segment>; 2],
    /// Where the log ends; held by who writes, as the lock of `commit` is.
    end: Mutex<(usize, u64)>,
}

fn at(segment: usize, offset: u64) -> LogPosition {
    LogPosition {
        segment: FileNumber(segment as u64 + 1),
        offset,
    }
}

impl Log {
    /// With one segment, empty; its first sync fails if told so.
    fn new(is_failing: bool) -> Arc<Log> {
        let segments = [Segment::new(is_failing), Segment::new(false)];
        let group = SyncGroup::default();
        group.add_segment(FileNumber(1), segments[0].clone());
        Arc::new(Log {
            group,
            segments,
            end: Mutex::new((0, 0)),
        })
    }

    /// Writes ten bytes, in a new segment if told so; says where they end.
    fn write(&self, rotates: bool) -> (usize, u64) {
        let mut end = self.end.lock().expect("no panic");
        if rotates {
            *end = (1, 0);
            self.group
                .add_segment(FileNumber(2), self.segments[1].clone());
        }
        end.1 += 10;
        self.segments[end.0].write(end.1);
        self.group.wrote(at(end.0, end.1));
        *end
    }

    /// Writes, syncs, and looks at the disk if that went well; says whether it did.
    fn write_and_sync(&self, rotates: bool) -> bool {
        let (segment, offset) = self.write(rotates);
        let synced = self.group.sync_through(at(segment, offset), &Patient);
        if synced.is_ok() {
            assert!(self.segments[segment].holds(offset));
        }
        synced.is_ok()
    }
}

fn spawn<T: 'static>(log: &Arc<Log>, work: impl FnOnce(&Log) -> T + 'static) -> JoinHandle<T> {
    let log = Arc::clone(log);
    thread::spawn(move || work(&log))
}

#[test]
fn nobody_is_told_before_a_sync_that_began_after_the_write() {
    // Two writers; a sync that runs already when the second writes does not count for it.
    loom::model(|| {
        let log = Log::new(false);
        let other = spawn(&log, |log| log.write_and_sync(false));
        assert!(log.write_and_sync(false));
        assert!(other.join().expect("its claims hold"));
        assert!(log.group.durable_in(FileNumber(1)) == Some(20));
    });
}

#[test]
fn nobody_waits_for_ever() {
    // Three writers: two may wait for the third, and one of those must take over.
    loom::model(|| {
        let log = Log::new(false);
        let others = [(); 2].map(|()| spawn(&log, |log| log.write_and_sync(false)));
        assert!(log.write_and_sync(false));
        for other in others {
            assert!(other.join().expect("its claims hold"));
        }
    });
}

#[test]
fn a_failed_sync_reaches_everybody_it_concerned() {
    // The first sync fails and loses what it covered; the next one would succeed. No writer
    // whose bytes were lost may hear that all is well, and nobody may later.
    loom::model(|| {
        let log = Log::new(true);
        let other = spawn(&log, |log| log.write_and_sync(false));
        let own = log.write_and_sync(false);
        assert!(!own && !other.join().expect("its claims hold"));
        assert!(log.group.sync_all(&Patient).is_err());
    });
}

#[test]
fn a_later_segment_vouches_for_the_earlier_ones() {
    // One writer begins a new segment while the other syncs: what it is told covers both.
    loom::model(|| {
        let log = Log::new(false);
        log.write(false);
        let other = spawn(&log, |log| log.write_and_sync(false));
        assert!(log.write_and_sync(true));
        assert!(log.segments[0].holds(10));
        assert!(other.join().expect("its claims hold"));
    });
}

#[test]
fn the_background_and_a_writer_hear_of_the_same_failure() {
    // The background syncs the ended segment while a writer syncs the log. Only one of the two
    // is told by the disk, and the bytes are lost for both.
    loom::model(|| {
        let log = Log::new(true);
        log.write(false);
        let (segment, offset) = log.write(true);
        let background = spawn(&log, |log| log.group.sync_finished(&Patient).is_ok());
        let synced = log.group.sync_through(at(segment, offset), &Patient);
        assert!(synced.is_err());
        assert!(!background.join().expect("its claims hold"));
        assert!(log.group.durable_in(FileNumber(2)).is_none());
    });
}

#[test]
fn the_background_never_forgets_an_ended_segment() {
    // Whoever comes first, the ended segment is durable when either is done.
    loom::model(|| {
        let log = Log::new(false);
        log.write(false);
        let (segment, offset) = log.write(true);
        let background = spawn(&log, |log| {
            let finished = log.group.sync_finished(&Patient);
            assert!(finished.is_ok() && log.segments[0].holds(10));
            assert!(log.group.durable_in(FileNumber(2)).is_some());
        });
        let synced = log.group.sync_through(at(segment, offset), &Patient);
        assert!(synced.is_ok() && log.segments[0].holds(10) && log.segments[1].holds(10));
        background.join().expect("its claims hold");
    });
}
