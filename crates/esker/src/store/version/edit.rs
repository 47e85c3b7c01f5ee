//! A change to the set of files, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::Adoption;
use crate::store::version::file::FileRecord;
use crate::store::version::run::RunId;

/// Changes that are made together: all of them, or none.
///
/// Changes act in their order, with one exception: of all that an edit does to the files of a
/// keyspace, removals take effect before additions.
pub type Edit = Vec<Change>;

/// Settings of a keyspace as the manifest keeps them: names and values as text.
pub type SettingsText = BTreeMap<String, String>;

/// One change to a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file comes. Numbers that it shows to be in use count as given out.
    AddFile {
        /// Whose file it is.
        keyspace: KeyspaceId,
        /// Where it comes.
        level: Level,
        /// In level 0, the run it belongs to; 0 elsewhere.
        run: RunId,
        /// The file.
        record: Arc<FileRecord>,
    },
    /// A file goes.
    RemoveFile {
        /// Whose file it is.
        keyspace: KeyspaceId,
        /// Where it was.
        level: Level,
        /// The file.
        number: FileNumber,
    },
    /// A keyspace begins, without files.
    CreateKeyspace {
        /// Its number, never used before.
        id: KeyspaceId,
        /// Its name, not used by another keyspace.
        name: String,
        /// Name of the order of its keys.
        comparator_name: String,
        /// Name of its merge operator, if it has one.
        merge_name: Option<String>,
        /// Its settings.
        settings: SettingsText,
    },
    /// A keyspace ends, and its files with it.
    DropKeyspace {
        /// Its number.
        id: KeyspaceId,
    },
    /// A keyspace has these settings and this merge operator from here on, and no others.
    ChangeSettings {
        /// Its number.
        id: KeyspaceId,
        /// All its settings.
        settings: SettingsText,
        /// Name of its merge operator, if it has one.
        merge_name: Option<String>,
    },
    /// No entry of the keyspace up to this number lies outside sorted files: a log is replayed
    /// without them, so that nothing is applied twice. The number counts as used. Never goes
    /// back: a smaller number changes nothing.
    SetFlushed {
        /// Whose entries.
        keyspace: KeyspaceId,
        /// The number.
        seqno: SeqNo,
    },
    /// What an unlogged keyspace's files hold is what was written up to this mark of the user's.
    /// Without bytes, there is no mark any more.
    SetMark {
        /// Whose mark.
        keyspace: KeyspaceId,
        /// At most [`MARK_BYTES_MAX`](crate::base::types::limits::MARK_BYTES_MAX) bytes.
        mark: Bytes,
    },
    /// What time it is for what ends in the files of a keyspace with a clock of its own. Never goes
    /// back: an earlier time changes nothing.
    SetClock {
        /// Whose clock.
        keyspace: KeyspaceId,
        /// Unix milliseconds.
        unix_ms: u64,
    },
    /// Logs with smaller numbers hold nothing that is not in sorted files, of any keyspace, and
    /// smaller file numbers count as given out. Never goes back.
    SetFirstLog {
        /// The first log that may hold something.
        number: FileNumber,
    },
    /// The next file number to give out. Never goes back: a smaller number changes nothing.
    SetNextFile {
        /// The number.
        number: FileNumber,
    },
    /// Every write so far has a sequence number up to this one. Never goes back.
    SetLastSeqno {
        /// The number.
        seqno: SeqNo,
    },
    /// The next keyspace number to give out. Never goes back.
    SetNextKeyspace {
        /// The number.
        id: KeyspaceId,
    },
    /// The database is written in this format from here on. Going back is refused.
    SetFormat {
        /// The format's version.
        version: u32,
    },
}

/// One line for people: what the manifest dump of the tools shows.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::AddFile {
                keyspace,
                level,
                run,
                record,
            } => {
                write!(f, "add file {} keyspace {keyspace} {level}", record.number)?;
                if *level == Level::ZERO {
                    write!(f, " run {run}")?;
                }
                write_record(f, record)
            }
            Change::RemoveFile {
                keyspace,
                level,
                number,
            } => write!(f, "remove file {number} keyspace {keyspace} {level}"),
            Change::CreateKeyspace {
                id,
                name,
                comparator_name,
                merge_name,
                settings,
            } => {
                write!(
                    f,
                    "create keyspace {id} {name:?} comparator {comparator_name}"
                )?;
                write_settings(f, merge_name.as_deref(), settings)
            }
            Change::DropKeyspace { id } => write!(f, "drop keyspace {id}"),
            Change::ChangeSettings {
                id,
                settings,
                merge_name,
            } => {
                write!(f, "change settings keyspace {id}")?;
                write_settings(f, merge_name.as_deref(), settings)
            }
            Change::SetFlushed { keyspace, seqno } => {
                write!(f, "flushed {seqno} keyspace {keyspace}")
            }
            Change::SetMark { keyspace, mark } => {
                write!(f, "mark \"{}\" keyspace {keyspace}", mark.escape_ascii())
            }
            Change::SetClock { keyspace, unix_ms } => {
                write!(f, "clock {unix_ms} keyspace {keyspace}")
            }
            Change::SetFirstLog { number } => write!(f, "first log {number}"),
            Change::SetNextFile { number } => write!(f, "next file {number}"),
            Change::SetLastSeqno { seqno } => write!(f, "last seqno {seqno}"),
            Change::SetNextKeyspace { id } => write!(f, "next keyspace {id}"),
            Change::SetFormat { version } => write!(f, "format {version}"),
        }
    }
}

fn write_record(f: &mut fmt::Formatter<'_>, record: &FileRecord) -> fmt::Result {
    write!(
        f,
        " \"{}\"..\"{}\"{} seqnos {}..{} bytes {} entries {} deletes {} range-deletes {}",
        record.smallest.escape_ascii(),
        record.largest.escape_ascii(),
        if record.is_largest_exclusive {
            " (exclusive)"
        } else {
            ""
        },
        record.smallest_seqno,
        record.largest_seqno,
        record.size_bytes,
        record.entry_count,
        record.delete_count,
        record.range_delete_count,
    )?;
    if let Some(newest) = record.newest_expiry_s {
        write!(f, " expires {newest}")?;
    }
    if record.has_millis {
        write!(f, " with milliseconds")?;
    }
    for (segment, bytes) in record.values.iter() {
        write!(f, " values {segment}:{bytes}")?;
    }
    if let Some(adoption) = record.adoption {
        let Adoption {
            number,
            smallest_seqno,
        } = adoption;
        write!(f, " adopted file {number} from seqno {smallest_seqno}")?;
    }
    Ok(())
}

fn write_settings(
    f: &mut fmt::Formatter<'_>,
    merge_name: Option<&str>,
    settings: &SettingsText,
) -> fmt::Result {
    if let Some(merge_name) = merge_name {
        write!(f, " merge {merge_name}")?;
    }
    for (name, value) in settings {
        write!(f, " {name}={value}")?;
    }
    Ok(())
}
