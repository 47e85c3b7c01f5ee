//! Which segments of a directory make up the log, and where each of them ends.
//!
//! Each segment begins with a head that names the one before and says where that one ended. So the
//! log is what the heads say, and nothing else is part of it: neither what lies in a segment behind
//! the end that a later head gives it, nor whatever segments lie between the two, however whole.
//! A recovery relies on that: before anything else is written it begins a segment whose head names
//! the last record that counts, and makes it durable (`Committer::end_recovered`). So what one
//! recovery has cut off stays off in every later life.
//! Segments without a head lie anywhere between: those that were prepared ahead and never used, and
//! those of which a power cut left nothing.

use std::path::Path;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::wal::head::SegmentHead;
use crate::store::wal::reader::{Tail, WalReader};

/// How a segment begins.
#[derive(Debug)]
pub enum Front {
    /// With its head.
    Head(SegmentHead),
    /// With nothing of this log, or with what nothing proves to have been durable.
    Nothing(Tail),
    /// With bytes that were durable once and are not what was written.
    Damaged(Error),
}

/// A segment of the directory and its place in the log.
#[derive(Debug)]
pub struct Link {
    /// Its number.
    pub number: FileNumber,
    /// How it begins.
    pub front: Front,
    /// Whether no later head passes over it.
    pub is_part: bool,
    /// Where the next one says that it ends, however much lies behind.
    pub end: Option<u64>,
}

impl Link {
    /// Whether anything of the log is in it.
    pub fn is_begun(&self) -> bool {
        !matches!(self.front, Front::Nothing(_))
    }

    /// A reader of what is part of the log.
    pub fn reader(&self, fs: &dyn Fs, dir: &Path) -> Result<WalReader> {
        let reader = open(fs, dir, self.number)?;
        Ok(match self.end {
            Some(end) => reader.until(end),
            None => reader,
        })
    }
}

/// The segments with those numbers, which are in order, as links of the log.
///
/// They are looked at newest first: whatever lies before a segment that has begun is complete. So a
/// reader beside a writer reads up to the newest one that has begun when it looks; one that begins
/// later would make the end it has seen of the one before look like a loss.
///
/// Errors: what reading the files gives; damage is told by the link.
pub fn chain(fs: &dyn Fs, dir: &Path, segments: &[FileNumber]) -> Result<Vec<Link>> {
    let mut links = Vec::with_capacity(segments.len());
    // Of the head behind: which segment it names, and where that ended. No head is behind the last.
    let mut named: Option<(FileNumber, u64)> = None;
    for &number in segments.iter().rev() {
        let front = front_of(fs, dir, number)?;
        let is_part = named.is_none_or(|(previous, _)| number <= previous);
        let end = named.filter(|(previous, _)| *previous == number);
        if is_part && let Front::Head(head) = &front {
            // The first segment names none: nothing before it is part of the log.
            named = Some(head.previous.unwrap_or((FileNumber(0), 0)));
        }
        links.push(Link {
            number,
            front,
            is_part,
            end: end.map(|(_, end)| end),
        });
    }
    links.reverse();
    Ok(links)
}

/// The first segment of a log, for whoever is not told where it begins: the oldest one to which the
/// heads lead from the newest without a break. `None` where no segment has begun.
///
/// What is needed of a log is there without a break. Of what is not needed any more some segments
/// lie about until they are used again, and the newest of them go first: so there may be a break
/// before, and none of what lies before that is needed.
pub fn first_unbroken(links: &[Link]) -> Option<FileNumber> {
    let mut first = None;
    // What the head behind names; `None` where that says nothing, and the next one is taken.
    let mut named: Option<FileNumber> = None;
    for link in links.iter().rev().filter(|link| link.is_part) {
        if named.is_some_and(|named| link.number < named) {
            break;
        }
        match &link.front {
            // Prepared ahead, and never used.
            Front::Nothing(_) if named.is_none() => {}
            Front::Nothing(_) | Front::Damaged(_) => {
                first = Some(link.number);
                named = None;
            }
            Front::Head(head) => {
                first = Some(link.number);
                match head.previous {
                    Some((previous, _)) => named = Some(previous),
                    None => break,
                }
            }
        }
    }
    first
}

/// `Corruption` where the segment before the one with this head is needed and missing: a segment's
/// directory entry is durable before its successor is begun, so no crash takes one out of the
/// middle.
pub fn check_present(
    head: SegmentHead,
    segments: &[FileNumber],
    first_log: FileNumber,
) -> Result<()> {
    match head.previous {
        Some((previous, _)) if previous >= first_log && !segments.contains(&previous) => {
            let message = "a segment of the log is missing; `esker repair --dry-run` tells what \
                           would be lost";
            Err(Error::corruption(message).in_file(FileName::Wal(previous)))
        }
        _ => Ok(()),
    }
}

/// Where the log was lost, if the segment before the one with this head does not reach as far
/// as the head says.
pub fn lost_before(
    head: SegmentHead,
    end: Option<(FileNumber, u64)>,
    first_log: FileNumber,
) -> Option<(FileNumber, u64)> {
    let (previous, previous_end) = head.previous?;
    match end {
        // The segments before the first needed one hold only entries that are in sorted files.
        None if previous < first_log => None,
        // Not even its head is left of the segment before.
        None => Some((previous, 0)),
        Some((number, end)) if number == previous && end >= previous_end => None,
        Some(lost) => Some(lost),
    }
}

fn open(fs: &dyn Fs, dir: &Path, number: FileNumber) -> Result<WalReader> {
    let name = FileName::Wal(number).to_string();
    Ok(WalReader::new(fs.open_read(&dir.join(name))?, number))
}

fn front_of(fs: &dyn Fs, dir: &Path, number: FileNumber) -> Result<Front> {
    let mut reader = open(fs, dir, number)?;
    let head = match reader.next() {
        Ok(None) => return Ok(Front::Nothing(reader.tail())),
        Ok(Some(record)) => SegmentHead::decode(record),
        Err(error) => Err(error),
    };
    match head {
        Ok(head) => Ok(Front::Head(head)),
        Err(error) if error.kind() == ErrorKind::Corruption => {
            Ok(Front::Damaged(error.in_file(FileName::Wal(number))))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
