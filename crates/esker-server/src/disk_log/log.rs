//! The live end of the log: one thread appends, syncs and lets go.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::base::types::error::{Error, ErrorKind, Result};
use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::{Fs, LogFile, LogSync};
use esker::internals::flow::write::segments::Segments;
use esker::internals::store::names::FileName;
use esker::internals::store::version::numbers::FileNumbers;
use esker::internals::store::wal::head::{SEGMENT_HEAD_BYTES, SegmentHead};
use esker::internals::store::wal::writer::WalWriter;
use esker_raft::{GroupId, Record};

use crate::disk_log::format::{RECORD_BYTES, RECORDS, put_records, set_oldest};
use crate::disk_log::positions::Place;
use crate::disk_log::reader::LogReader;
use crate::disk_log::replay::{Opened, replay};
use crate::disk_log::segment_files::SegmentFiles;

/// Bytes of the live entries of a group that are written anew at the most: as one record, or a
/// crash between two would cut the log.
const REWRITE_BYTES_MAX: u64 = 64 << 20;

/// How a log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLogOptions {
    /// Bytes of a segment: what is given back at a time. The first ones are smaller.
    pub segment_bytes: u64,
}

impl Default for DiskLogOptions {
    fn default() -> DiskLogOptions {
        DiskLogOptions {
            segment_bytes: 64 << 20,
        }
    }
}

/// A group that keeps the oldest segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The group.
    pub group: GroupId,
    /// Its last entry there: once it is compacted up to this one, the group keeps the segment no
    /// more.
    pub index: u64,
}

/// The log of all groups on one disk, to be written by one thread; [`LogReader`] is for all others.
///
/// After an error that is no lack of space or files the log takes nothing more: what stands on the
/// medium is not known, and a failed sync is never tried again.
pub struct DiskLog {
    reader: LogReader,
    segments: Arc<Segments>,
    /// Segments that are part of the log, oldest first, with the bytes of each; the last one is
    /// live.
    used: VecDeque<(FileNumber, u64)>,
    live: WalWriter,
    syncer: Arc<dyn LogSync>,
    is_synced: bool,
    /// Where the live segment ended at the last sync. Behind it a mark may lie, which was not
    /// synced.
    synced_end: u64,
    fault: Option<Error>,
}

impl DiskLog {
    /// Opens the log in `dir`, which is made if need be. Everything that is read is durable when
    /// this returns, and what was lost of it is told; replicas that lost something are destroyed in
    /// it.
    ///
    /// Nobody else may have the directory open.
    ///
    /// Errors: those of files. Nothing is changed then but for a segment that holds nothing new.
    pub fn open(env: &Env, dir: &Path, options: DiskLogOptions) -> Result<(DiskLog, Opened)> {
        let fs = Arc::clone(&env.fs);
        fs.create_dir_all(dir)?;
        let mut replayed = replay(&*fs, dir)?;
        let every = replayed.segments.iter().map(|(number, _)| *number);
        let every: Vec<FileNumber> = every.chain(replayed.unused.iter().copied()).collect();
        let next = every.iter().map(|number| number.0 + 1).max().unwrap_or(1);
        // A killed process may have left them in the page cache only. Each before its successor.
        for (number, _) in &replayed.segments {
            fs.sync_file(&dir.join(FileName::Wal(*number).to_string()))?;
        }
        let nowhere = Place {
            segment: FileNumber(0),
            offset: 0,
        };
        let lost = replayed.opened.loss.iter().flat_map(|loss| &loss.groups);
        for &(group, replica) in lost {
            let record = Record::Destroy { group, replica };
            replayed.index.follow(&record, nowhere)?;
        }
        // What is no part of the log gives room for what is to come; what cannot be removed now is
        // found by the next opening.
        let _left = remove_all(&*fs, dir, &replayed.unused);
        let numbers = Arc::new(FileNumbers::new(FileNumber(next)));
        let segments = Segments::new(Arc::clone(&fs), dir, numbers, options.segment_bytes);
        let previous = replayed.segments.last().copied();
        // All that was read is durable: what no group needs of it is let go of at once.
        let needed = replayed.index.oldest_needed();
        let is_needed = |number: FileNumber| needed.is_some_and(|needed| number >= needed);
        let (kept, gone): (Vec<_>, Vec<_>) =
            (replayed.segments.iter().map(|(number, _)| *number)).partition(|it| is_needed(*it));
        let front = Front {
            checkpoint: replayed.index.checkpoint(),
            previous,
            oldest: kept.first().copied(),
        };
        let file = segments.take(front.size_bytes())?;
        let (live, bytes) = begin(file, front)?;
        let mut used = VecDeque::new();
        for number in kept {
            let path = dir.join(FileName::Wal(number).to_string());
            used.push_back((number, fs.file_size(&path)?));
        }
        used.push_back((live.number(), bytes));
        let files = SegmentFiles::new(Arc::clone(&fs), dir);
        let mut log = DiskLog {
            reader: LogReader::new(replayed.index, files),
            segments: Arc::new(segments),
            used,
            syncer: live.syncer(),
            live,
            is_synced: false,
            synced_end: 0,
            fault: None,
        };
        log.sync()?;
        log.mark()?;
        let mut opened = replayed.opened;
        if opened.loss.is_some() && !gone.is_empty() {
            // Nobody may need what those have promised who lost a part of it; but most of it is
            // here, and a person may.
            opened.aside = Some(put_aside(&*fs, dir, &gone)?);
        } else {
            // As above.
            let _left = remove_all(&*fs, dir, &gone);
        }
        Ok((log, opened))
    }

    /// Reads entries, from any thread.
    pub fn reader(&self) -> &LogReader {
        &self.reader
    }

    /// Makes segments ahead, on another thread: [`Segments::prepare`] is to be called there after a
    /// segment was begun, else the next one is made by who appends.
    pub fn segments(&self) -> &Arc<Segments> {
        &self.segments
    }

    /// Bytes of all segments.
    pub fn size_bytes(&self) -> u64 {
        self.used.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Appends records; says whether a segment was begun for them. They survive a killed process
    /// when this returns, and a power cut after the next [`DiskLog::sync`].
    ///
    /// Errors: `OutOfSpace` or `OutOfFiles` when no segment could be had: nothing was written, and
    /// the same may be tried again. `Corruption` of records that cannot come behind what is there,
    /// which is a fault of the caller's: nothing was written. After any other nothing more is
    /// taken.
    pub fn append(&mut self, records: &[Record]) -> Result<bool> {
        self.check()?;
        self.reader.index().may_follow(records)?;
        let payloads = payloads(records);
        self.append_payloads(&payloads, records)
    }

    fn append_payloads(
        &mut self,
        payloads: &[(Vec<u8>, usize)],
        records: &[Record],
    ) -> Result<bool> {
        let room: u64 = payloads
            .iter()
            .map(|(payload, _)| WalWriter::framed_len(payload.len()))
            .sum();
        let has_begun = self.make_room(room)?;
        let mut records = records.iter();
        for (payload, count) in payloads {
            let place = Place {
                segment: self.live.number(),
                offset: self.live.next_offset(),
            };
            self.is_synced = false;
            let appended = self.live.append(payload);
            appended.map_err(|error| self.fail(error))?;
            let mut index = self.reader.index();
            let mut followed = Ok(());
            for record in records.by_ref().take(*count) {
                followed = followed.and_then(|()| index.follow(record, place));
            }
            drop(index);
            followed.map_err(|error| self.fail(error))?;
        }
        Ok(has_begun)
    }

    // Begins a segment when the live one has no room for so many bytes; says whether it did.
    fn make_room(&mut self, room_bytes: u64) -> Result<bool> {
        // Beside the mark behind the last sync.
        let mark_bytes = WalWriter::framed_len(0);
        if self.live.fits_beside(0, room_bytes) {
            return Ok(false);
        }
        // So what a segment's head says of the one before is durable, and a loss is no torn end.
        self.sync()?;
        let front = Front {
            checkpoint: self.reader.index().checkpoint(),
            previous: Some((self.live.number(), self.synced_end)),
            oldest: self.used.front().map(|(number, _)| *number),
        };
        let needed_bytes = front.size_bytes() + room_bytes + mark_bytes;
        let file = match self.segments.take(needed_bytes) {
            Err(error) if error.is_shortage() => return Err(error),
            taken => taken.map_err(|error| self.fail(error))?,
        };
        // What a head says of the segment before holds from now on: there is no way back.
        let (live, bytes) = begin(file, front).map_err(|error| self.fail(error))?;
        self.used.push_back((live.number(), bytes));
        self.syncer = live.syncer();
        self.live = live;
        self.is_synced = false;
        Ok(true)
    }

    /// Makes durable all that was appended.
    ///
    /// Errors: the first that there was; nothing more is taken from then on.
    pub fn sync(&mut self) -> Result<()> {
        self.check()?;
        if self.is_synced {
            return Ok(());
        }
        let end = self.live.end_offset();
        let synced = self.syncer.sync();
        synced.map_err(|error| self.fail(error))?;
        self.is_synced = true;
        self.synced_end = end;
        self.live.set_synced(end);
        Ok(())
    }

    /// Whether a [`DiskLog::mark`] would add nothing: the log itself says how far it was synced, or
    /// will with the next sync, or it has no room to.
    pub fn is_marked(&self) -> bool {
        let ends_with_sync = self.is_synced && self.live.end_offset() == self.synced_end;
        !ends_with_sync || !self.live.fits(0)
    }

    /// Writes down how far the log was synced, unless that stands there: with it damage to what was
    /// synced does not pass for a torn end. The next record says it as well, so this is for a log
    /// that rests. It needs no sync itself.
    ///
    /// Errors: as [`DiskLog::append`].
    pub fn mark(&mut self) -> Result<()> {
        self.check()?;
        if !self.is_marked() {
            let marked = self.live.append_mark();
            marked.map_err(|error| self.fail(error))?;
        }
        Ok(())
    }

    /// Gives back the segments at the beginning that no group needs; says how many. Only what is
    /// durable lets go of anything: call this after a sync.
    ///
    /// Errors: those of removing files; what was not removed is next time.
    pub fn release(&mut self) -> Result<usize> {
        self.check()?;
        if !self.is_synced {
            return Ok(0);
        }
        let live = self.live.number();
        let needed = self
            .reader
            .index()
            .oldest_needed()
            .unwrap_or(live)
            .min(live);
        let mut count = 0;
        while let Some(&(number, bytes)) = self.used.front().filter(|(number, _)| *number < needed)
        {
            self.used.pop_front();
            let is_idle = self.reader.files().close(number);
            // A file that somebody still reads keeps its bytes, and is not used for another
            // segment.
            let retired = if is_idle {
                self.segments.retire(number, bytes)
            } else {
                self.segments.remove(number)
            };
            if let Err(error) = retired {
                self.used.push_front((number, bytes));
                return Err(error);
            }
            count += 1;
        }
        Ok(count)
    }

    /// Who keeps the oldest segment: none while it is the live one.
    pub fn pins(&self) -> Vec<Pin> {
        let Some(&(oldest, _)) = self
            .used
            .front()
            .filter(|(number, _)| *number < self.live.number())
        else {
            return Vec::new();
        };
        let index = self.reader.index();
        let pins = index.groups().filter_map(|(group, known)| {
            let index = known.positions.last_in(oldest)?;
            Some(Pin { group, index })
        });
        pins.collect()
    }

    /// Writes the live entries of a group anew, at the end of the log, so that they keep no old
    /// segment: the last resort for a group that cannot be compacted.
    ///
    /// Errors: as [`DiskLog::append`]; `TooLarge` when there are more than 64 MiB of them; those of
    /// reading them.
    pub fn rewrite(&mut self, group: GroupId) -> Result<()> {
        self.check()?;
        let Some(state) = self.reader.state(group) else {
            return Ok(());
        };
        let (low, high) = (state.compacted.index + 1, state.last.index + 1);
        if low == high {
            return Ok(());
        }
        let read = self.reader.read(group, low, high, REWRITE_BYTES_MAX)?;
        let message = match read {
            Ok(entries) if entries.last().map(|entry| entry.index + 1) == Some(high) => {
                let records = [Record::Append { group, entries }];
                let mut payload = vec![RECORDS];
                put_records(&mut payload, &records[0]);
                self.append_payloads(&[(payload, 1)], &records)?;
                return Ok(());
            }
            Ok(_) => format!("the live entries of {group} are too many to be written anew"),
            Err(_) => format!("the live entries of {group} are not there"),
        };
        Err(Error::new(ErrorKind::TooLarge, message))
    }

    fn check(&self) -> Result<()> {
        match &self.fault {
            Some(fault) => Err(fault.again()),
            None => Ok(()),
        }
    }

    fn fail(&mut self, error: Error) -> Error {
        let message = "writing to the raft log failed; the process must end and open it again";
        let fault = Error::new(ErrorKind::Faulted, message).caused_by(error);
        let told = fault.again();
        self.fault = Some(fault);
        told
    }
}

// Records in as many payloads as keep each of them short; and how many records each has.
fn payloads(records: &[Record]) -> Vec<(Vec<u8>, usize)> {
    let mut all: Vec<(Vec<u8>, usize)> = Vec::new();
    for record in records {
        match all
            .last_mut()
            .filter(|(payload, _)| payload.len() < RECORD_BYTES)
        {
            Some((payload, count)) => {
                put_records(payload, record);
                *count += 1;
            }
            None => {
                let mut payload = vec![RECORDS];
                put_records(&mut payload, record);
                all.push((payload, 1));
            }
        }
    }
    all
}

/// What a segment begins with.
struct Front {
    /// Without the number of the oldest segment.
    checkpoint: Vec<u8>,
    /// The segment before, and where it ended.
    previous: Option<(FileNumber, u64)>,
    /// The oldest segment of the log, if this one is not.
    oldest: Option<FileNumber>,
}

impl Front {
    fn size_bytes(&self) -> u64 {
        WalWriter::framed_len(SEGMENT_HEAD_BYTES) + WalWriter::framed_len(self.checkpoint.len())
    }
}

// Writes what a segment begins with; gives its bytes too.
fn begin(
    (number, mut file): (FileNumber, Box<dyn LogFile>),
    mut front: Front,
) -> Result<(WalWriter, u64)> {
    file.expect_syncs();
    set_oldest(&mut front.checkpoint, front.oldest.unwrap_or(number));
    let bytes = file.capacity_bytes();
    let mut live = WalWriter::new(file, number);
    let previous = front.previous;
    live.append(&SegmentHead { previous }.encode())?;
    live.append(&front.checkpoint)?;
    Ok((live, bytes))
}

// Moves segments to a folder of their own, named after the last of them; says which.
fn put_aside(fs: &dyn Fs, dir: &Path, segments: &[FileNumber]) -> Result<PathBuf> {
    let last = segments.last().map_or(0, |number| number.0);
    let folder = dir.join(format!("lost.{last}"));
    fs.create_folder(&folder)?;
    for number in segments {
        let name = FileName::Wal(*number).to_string();
        fs.rename(&dir.join(&name), &folder.join(&name))?;
    }
    fs.sync_dir(&folder)?;
    fs.sync_dir(dir)?;
    Ok(folder)
}

// Removes segments, however many of them cannot be; the first error.
fn remove_all(fs: &dyn Fs, dir: &Path, segments: &[FileNumber]) -> Result<()> {
    let path = |number: &FileNumber| dir.join(FileName::Wal(*number).to_string());
    let removed = segments.iter().map(|number| fs.remove_file(&path(number)));
    removed.fold(Ok(()), Result::and)
}
