//! The grammar of file names in a database directory.
//!
//! | name | what it is |
//! |---|---|
//! | `000123.sst` | a sorted file |
//! | `000123.wal` | a segment of the write-ahead log |
//! | `000123.vlog` | a segment of the value log |
//! | `000123.tmp` | a file that is not finished; removed at open |
//! | `MANIFEST-000005` | a log of edits |
//! | `CURRENT` | which manifest counts |
//! | `CURRENT.tmp` | the next `CURRENT`, before its rename |
//! | `CHECKPOINT.tmp` | here a checkpoint is being made, and is not finished |
//! | `LOCK` | who has the directory |
//! | `lost` | a folder of what was taken out, under the names it had |
//! | `lost/torn` | a folder of segments of the log of which something was cut off |
//!
//! Numbers have at least six digits, padded with zeros, so that names sort as numbers do for the
//! first million files. Valid if and only if it is one of these names, and its number is decimal,
//! below 2^64, and has six digits or more without a zero in front. So every file has exactly one
//! name, and a stranger's is never taken for ours. In `lost` a name that was taken there already
//! has `.1`, `.2` and so on behind it, and one whose file is not there as a whole yet `.tmp`.

use std::fmt;

use crate::base::types::ids::FileNumber;

/// Name of the folder, inside the database's directory, for what is taken out of a database and not
/// removed.
pub const LOST_DIR: &str = "lost";

/// Name of the folder, inside that one, for what a recovery cuts off the log.
pub const TORN_DIR: &str = "torn";

/// The name in [`LOST_DIR`] of a file called `name`, where as many of that name are there already.
pub fn lost_name(name: &str, taken_count: usize) -> String {
    match taken_count {
        0 => name.to_owned(),
        _ => format!("{name}.{taken_count}"),
    }
}

/// The name in [`LOST_DIR`] of a file called `name` until all of it is there.
pub fn lost_draft_name(name: &str) -> String {
    format!("{name}.tmp")
}

/// Digits that every number has at least; shorter ones are padded with zeros.
const DIGITS_MIN: usize = 6;

/// Name of a file in the database directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// A sorted file.
    Sst(FileNumber),
    /// A segment of the write-ahead log.
    Wal(FileNumber),
    /// A segment of the value log.
    Vlog(FileNumber),
    /// A numbered file that is not finished: whoever opens the directory removes it.
    Temporary(FileNumber),
    /// A log of edits to the set of files.
    Manifest(FileNumber),
    /// The file that says which manifest counts.
    Current,
    /// The next `CURRENT`, before it is renamed.
    CurrentTemporary,
    /// A sign that the directory is a checkpoint which is not finished.
    CheckpointTemporary,
    /// The file that says which process has the directory.
    Lock,
}

impl FileName {
    /// The file with that name, or `None` when the name is not one of ours.
    pub fn parse(name: &str) -> Option<FileName> {
        match name {
            "CURRENT" => return Some(FileName::Current),
            "CURRENT.tmp" => return Some(FileName::CurrentTemporary),
            "CHECKPOINT.tmp" => return Some(FileName::CheckpointTemporary),
            "LOCK" => return Some(FileName::Lock),
            _ => {}
        }
        if let Some(digits) = name.strip_prefix("MANIFEST-") {
            return parse_number(digits).map(FileName::Manifest);
        }
        let (digits, ending) = name.split_once('.')?;
        let number = parse_number(digits)?;
        match ending {
            "sst" => Some(FileName::Sst(number)),
            "wal" => Some(FileName::Wal(number)),
            "vlog" => Some(FileName::Vlog(number)),
            "tmp" => Some(FileName::Temporary(number)),
            _ => None,
        }
    }

    /// The number in the name, if it has one.
    pub fn number(self) -> Option<FileNumber> {
        match self {
            FileName::Sst(number)
            | FileName::Wal(number)
            | FileName::Vlog(number)
            | FileName::Temporary(number)
            | FileName::Manifest(number) => Some(number),
            FileName::Current
            | FileName::CurrentTemporary
            | FileName::CheckpointTemporary
            | FileName::Lock => None,
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileName::Sst(number) => write!(f, "{number}.sst"),
            FileName::Wal(number) => write!(f, "{number}.wal"),
            FileName::Vlog(number) => write!(f, "{number}.vlog"),
            FileName::Temporary(number) => write!(f, "{number}.tmp"),
            FileName::Manifest(number) => write!(f, "MANIFEST-{number}"),
            FileName::Current => f.write_str("CURRENT"),
            FileName::CurrentTemporary => f.write_str("CURRENT.tmp"),
            FileName::CheckpointTemporary => f.write_str("CHECKPOINT.tmp"),
            FileName::Lock => f.write_str("LOCK"),
        }
    }
}

fn parse_number(digits: &str) -> Option<FileNumber> {
    let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded_right =
        digits.len() == DIGITS_MIN || (digits.len() > DIGITS_MIN && !digits.starts_with('0'));
    if !is_digits || !is_padded_right {
        return None;
    }
    digits.parse().ok().map(FileNumber)
}

#[cfg(test)]
mod tests;
