//! Entries back from the segments, for groups that are asked for what left their cache.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker::internals::base::types::error::{Error, Result};
use esker_raft::entry::{Entry, size_bytes};
use esker_raft::{GroupId, LogRead, LogState, ReadError, Record, ReplicaId};

use crate::disk_log::format::Parts;
use crate::disk_log::index::Index;
use crate::disk_log::positions::Place;
use crate::disk_log::segment_files::SegmentFiles;

/// Reads the log. Cheap to clone; any thread may call anything. No lock is held over a read.
#[derive(Clone)]
pub struct LogReader {
    shared: Arc<Shared>,
}

struct Shared {
    index: Mutex<Index>,
    files: SegmentFiles,
    fault: Mutex<Option<Error>>,
}

impl LogReader {
    /// A reader of what `index` says, out of `files`.
    pub fn new(index: Index, files: SegmentFiles) -> LogReader {
        LogReader {
            shared: Arc::new(Shared {
                index: Mutex::new(index),
                files,
                fault: Mutex::default(),
            }),
        }
    }

    /// What the log knows of its groups. To be held shortly.
    pub fn index(&self) -> MutexGuard<'_, Index> {
        // A change is a few words of one group, and a panic within one is the end of the process's
        // log.
        let index = &self.shared.index;
        index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The segments.
    pub fn files(&self) -> &SegmentFiles {
        &self.shared.files
    }

    /// What a group's log holds.
    pub fn state(&self, group: GroupId) -> Option<LogState> {
        self.index().group(group).map(|known| known.state())
    }

    /// The largest replica id of a group that was destroyed here.
    pub fn destroyed(&self, group: GroupId) -> Option<ReplicaId> {
        self.index().destroyed(group)
    }

    /// Why entries could not be read, if that ever was so: the group that asked for them was told
    /// so, and its replica is to be given up.
    pub fn fault(&self) -> Option<Error> {
        self.fault_cell().as_ref().map(Error::again)
    }

    fn fault_cell(&self) -> MutexGuard<'_, Option<Error>> {
        let fault = &self.shared.fault;
        fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries of `[low, high)`, or as many of the first as `bytes_max` allows, one at least.
    ///
    /// Errors: the inner one says that they are not there; the outer ones are `Corruption`, and
    /// those of reading files.
    pub fn read(
        &self,
        group: GroupId,
        low: u64,
        high: u64,
        bytes_max: u64,
    ) -> Result<std::result::Result<Vec<Entry>, ReadError>> {
        let mut found = Vec::new();
        let mut left_bytes = bytes_max;
        let mut next = low;
        while next < high {
            // Looked up for each record: what is compacted or taken away meanwhile is told so.
            let (place, last) = match self.find(group, next) {
                Ok(found) => found,
                // What was found before is right, and whoever wants more asks again.
                Err(_) if !found.is_empty() => break,
                Err(error) => return Ok(Err(error)),
            };
            let wanted = next..high.min(last + 1);
            let Some(entries) = self.entries_in(group, place)? else {
                // Its file has been used for another segment since it was looked up.
                if self.find(group, next) == Ok((place, last)) {
                    return Err(lost(group, next, place));
                }
                continue;
            };
            let mut entries = entries
                .into_iter()
                .filter(|entry| wanted.contains(&entry.index));
            for expected in wanted.clone() {
                let entry = entries.next().filter(|entry| entry.index == expected);
                let entry = entry.ok_or_else(|| lost(group, expected, place))?;
                let size = size_bytes(&entry) as u64;
                if size > left_bytes && !found.is_empty() {
                    return Ok(Ok(found));
                }
                left_bytes = left_bytes.saturating_sub(size);
                found.push(entry);
            }
            next = wanted.end;
        }
        Ok(Ok(found))
    }

    fn find(&self, group: GroupId, index: u64) -> std::result::Result<(Place, u64), ReadError> {
        let all = self.index();
        let known = all.group(group).ok_or(ReadError::Unavailable)?;
        if index <= known.compacted.index {
            return Err(ReadError::Compacted);
        }
        known.positions.find(index).ok_or(ReadError::Unavailable)
    }

    // The entries of a group in the record that lies there, or `None` when no record does. Where
    // the record has several of its appends, an entry of a later one takes the place of an earlier
    // one.
    fn entries_in(&self, group: GroupId, place: Place) -> Result<Option<Vec<Entry>>> {
        let Some(payload) = self.shared.files.record(place)? else {
            return Ok(None);
        };
        let (_, mut parts) = Parts::of(&payload)?;
        let mut found: Vec<Entry> = Vec::new();
        while !parts.is_at_end() {
            if let Some(Record::Append { entries, .. }) = parts.record_of(group)? {
                let first = entries.first().map_or(0, |entry| entry.index);
                found.retain(|entry| entry.index < first);
                found.extend(entries);
            }
        }
        Ok(Some(found))
    }
}

fn lost(group: GroupId, index: u64, place: Place) -> Error {
    let message = format!("the raft log has lost entry {index} of {group}");
    let name = esker::internals::store::names::FileName::Wal(place.segment);
    Error::corruption(message)
        .in_file(name)
        .at_offset(place.offset)
}

impl LogRead for LogReader {
    fn entries(
        &self,
        group: GroupId,
        low: u64,
        high: u64,
        bytes_max: u64,
    ) -> std::result::Result<Vec<Entry>, ReadError> {
        self.read(group, low, high, bytes_max)
            .unwrap_or_else(|error| {
                self.fault_cell().get_or_insert(error);
                Err(ReadError::Damaged)
            })
    }

    fn term(&self, group: GroupId, index: u64) -> std::result::Result<u64, ReadError> {
        let all = self.index();
        let known = all.group(group).ok_or(ReadError::Unavailable)?;
        match index {
            at if at == known.compacted.index => Ok(known.compacted.term),
            at if at < known.compacted.index => Err(ReadError::Compacted),
            at if at == known.last.index => Ok(known.last.term),
            at => known.positions.term(at).ok_or(ReadError::Unavailable),
        }
    }
}
