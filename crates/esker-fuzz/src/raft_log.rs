//! Any payloads as records of a raft log, and any bytes as an entry of a partition's log.
//!
//! The first byte chooses: 0 takes the rest as a command; others write it into a segment of a raft
//! log whose frames are right, cut into records at each byte 0xff, the first byte's lowest bit
//! saying whether the first record is a checkpoint's place. Opening such a log ends without a
//! panic; what it keeps can be read, and opening it again finds the same and blames nobody anew.

use std::path::Path;

use esker::ErrorKind;
use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimWorld;
use esker::internals::store::wal::head::SegmentHead;
use esker::internals::store::wal::writer::WalWriter;
use esker_server::disk_log::{DiskLog, DiskLogOptions, Opened};
use esker_server::partition::command::Command;

const DIR: &str = "/raft";

/// An empty checkpoint: kind, version, and the number of its own segment.
const CHECKPOINT: [u8; 10] = [2, 1, 1, 0, 0, 0, 0, 0, 0, 0];

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((0, entry)) => {
            let _any = Command::read(entry);
        }
        Some((choice, payloads)) => open_twice(choice & 1 == 1, payloads),
        None => {}
    }
}

/// What it starts from.
pub fn starts() -> Vec<Vec<u8>> {
    // Group 7 begins with one voter, votes, appends an entry; then the same as a command.
    let begin = b"\x01\x42\x00\x00\x00\x01\x07\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\
        \x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\
        \x01\0\0\0\0\0\0\0\x01";
    let name = b"RPC_RRDB_RRDB_REMOVE";
    let remove = b"\x0c\0\x01\0\0\0\x04\0\x01ab\0";
    let mut command = vec![0, 1];
    command.extend_from_slice(&[1, 2, 3, 4, 5, 6, 7, 0, 60, 0, 0, 0, 3]);
    command.push(name.len() as u8);
    command.extend_from_slice(name);
    command.extend_from_slice(&(remove.len() as u32).to_le_bytes());
    command.extend_from_slice(remove);
    vec![[&[3][..], begin].concat(), command]
}

fn open_twice(has_checkpoint: bool, payloads: &[u8]) {
    let world = SimWorld::new(1);
    write(&world, has_checkpoint, payloads);
    let Some((log, _)) = open(&world) else {
        return;
    };
    let found = known(&log);
    drop(log);
    let (log, again) = open(&world).expect("it was opened a moment ago");
    assert!(again.loss.is_none_or(|loss| loss.groups.is_empty()));
    assert!(known(&log) == found);
}

fn write(world: &SimWorld, has_checkpoint: bool, payloads: &[u8]) {
    world
        .fs
        .create_dir_all(Path::new(DIR))
        .expect("memory does not fail");
    let path = Path::new(DIR).join("000001.wal");
    let file = world
        .fs
        .open_log(&path, 1 << 20)
        .expect("memory does not fail");
    let mut segment = WalWriter::new(file, FileNumber(1));
    let head = SegmentHead { previous: None }.encode();
    let front = has_checkpoint.then_some(&CHECKPOINT[..]);
    let payloads = payloads.split(|&byte| byte == 0xff);
    let records = [&head[..]].into_iter().chain(front).chain(payloads);
    for record in records.filter(|record| !record.is_empty()) {
        if segment.fits(record.len()) {
            segment.append(record).expect("memory does not fail");
        }
    }
}

// `None` where another version of Esker wrote it.
fn open(world: &SimWorld) -> Option<(DiskLog, Opened)> {
    match DiskLog::open(&world.env(), Path::new(DIR), DiskLogOptions::default()) {
        Ok(opened) => Some(opened),
        Err(error) => {
            assert!(error.kind() == ErrorKind::Unsupported, "{error}");
            None
        }
    }
}

// What a log says of each group, its entries among it.
fn known(log: &DiskLog) -> Vec<String> {
    let index = log.reader().index().clone();
    let groups = index.groups().map(|(group, known)| {
        let state = known.state();
        let (low, high) = (state.compacted.index + 1, state.last.index + 1);
        let entries = match low < high {
            true => log.reader().read(group, low, high, u64::MAX),
            false => Ok(Ok(Vec::new())),
        };
        let entries = entries.expect("what is not lost is there");
        format!(
            "{group} {state:?} {:?}",
            entries.map(|entries| entries.len())
        )
    });
    groups.collect()
}
