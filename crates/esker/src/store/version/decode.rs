//! The bytes of a manifest record back to changes, checking them.

use std::sync::Arc;

use crate::base::codec::reader::ByteReader;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::limits::{KEY_BYTES_MAX, KEYSPACE_NAME_BYTES_MAX, MARK_BYTES_MAX};
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::Adoption;
use crate::store::sst::passing::Passing;
use crate::store::version::edit::{Change, Edit, SettingsText};
use crate::store::version::file::FileRecord;
use crate::store::version::format::*;
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// An edit read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedEdit {
    /// The changes that this program knows.
    pub changes: Edit,
    /// How many optional changes it does not know, and skipped.
    pub skipped_count: usize,
}

/// Reads a snapshot record.
///
/// Errors: `Corruption` for bytes that are none, `Unsupported` for those of a newer format.
pub fn decode_snapshot(record: &[u8]) -> Result<(SnapshotHead, DecodedEdit)> {
    let mut bytes = ByteReader::new(record);
    if bytes.bytes(SNAPSHOT_MAGIC.len()) != Some(&SNAPSHOT_MAGIC) {
        return Err(Error::corruption("does not begin as a manifest does"));
    }
    let short = || Error::corruption("a manifest snapshot ends within its head");
    let format_version = bytes.u32().ok_or_else(short)?;
    check_format(format_version)?;
    let manifest = FileNumber(bytes.u64().ok_or_else(short)?);
    let id = bytes.bytes(DATABASE_ID_BYTES).ok_or_else(short)?;
    let head = SnapshotHead {
        format_version,
        manifest,
        database_id: *id.first_chunk().ok_or_else(short)?,
        created_unix_s: bytes.u64().ok_or_else(short)?,
    };
    Ok((head, decode_edit(bytes.rest())?))
}

/// Reads an edit record.
///
/// Errors: `Corruption` for bytes that are none, `Unsupported` for a change that this program
/// must know and does not.
pub fn decode_edit(record: &[u8]) -> Result<DecodedEdit> {
    let mut bytes = ByteReader::new(record);
    let mut changes = Vec::new();
    let mut skipped_count = 0;
    while let Some(tag) = bytes.byte() {
        let body = bytes
            .prefixed()
            .ok_or_else(|| Error::corruption("a change of the manifest is cut off"))?;
        let mut body = ByteReader::new(body);
        match take_change(tag, &mut body) {
            Taken::Known(Some(change)) if body.is_empty() => changes.push(change),
            Taken::Known(_) => {
                return Err(Error::corruption(format!(
                    "a change of the manifest with tag {tag:#04x} is not what such a change is"
                )));
            }
            Taken::Unknown if tag >= OPTIONAL_TAG => skipped_count += 1,
            Taken::Unknown => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!(
                        "written by a newer Esker: a change with the unknown tag {tag:#04x}; \
                         open the database with a newer program"
                    ),
                ));
            }
        }
    }
    Ok(DecodedEdit {
        changes,
        skipped_count,
    })
}

enum Taken {
    /// `None` when the body is not what the tag says.
    Known(Option<Change>),
    Unknown,
}

fn take_change(tag: u8, body: &mut ByteReader<'_>) -> Taken {
    Taken::Known(match tag {
        TAG_ADD_FILE => take_add_file(body),
        TAG_REMOVE_FILE => take_remove_file(body),
        TAG_CREATE_KEYSPACE => take_create_keyspace(body),
        TAG_DROP_KEYSPACE => take_keyspace(body).map(|id| Change::DropKeyspace { id }),
        TAG_CHANGE_SETTINGS => take_change_settings(body),
        TAG_SET_FLUSHED => take_flushed(body),
        TAG_SET_MARK => take_mark(body),
        TAG_SET_CLOCK => take_clock(body),
        TAG_SET_FIRST_LOG => take_file_number(body).map(|number| Change::SetFirstLog { number }),
        TAG_SET_NEXT_FILE => take_file_number(body).map(|number| Change::SetNextFile { number }),
        TAG_SET_LAST_SEQNO => take_seqno(body).map(|seqno| Change::SetLastSeqno { seqno }),
        TAG_SET_NEXT_KEYSPACE => take_keyspace(body).map(|id| Change::SetNextKeyspace { id }),
        TAG_SET_FORMAT => body
            .varint_u32()
            .map(|version| Change::SetFormat { version }),
        _ => return Taken::Unknown,
    })
}

fn take_add_file(body: &mut ByteReader<'_>) -> Option<Change> {
    let keyspace = take_keyspace(body)?;
    let level = take_level(body)?;
    let run = body.varint()?;
    let is_run_named = level == Level::ZERO || run == 0;
    let record = Arc::new(take_record(body)?);
    is_run_named.then_some(Change::AddFile {
        keyspace,
        level,
        run,
        record,
    })
}

fn take_remove_file(body: &mut ByteReader<'_>) -> Option<Change> {
    Some(Change::RemoveFile {
        keyspace: take_keyspace(body)?,
        level: take_level(body)?,
        number: take_file_number(body)?,
    })
}

fn take_create_keyspace(body: &mut ByteReader<'_>) -> Option<Change> {
    let id = take_keyspace(body)?;
    let name = take_text(body)?;
    let is_name_fit = !name.is_empty() && name.len() <= KEYSPACE_NAME_BYTES_MAX;
    let comparator_name = take_text(body)?;
    let merge_name = take_merge(body)?;
    let settings = take_settings(body)?;
    is_name_fit.then_some(Change::CreateKeyspace {
        id,
        name,
        comparator_name,
        merge_name,
        settings,
    })
}

fn take_change_settings(body: &mut ByteReader<'_>) -> Option<Change> {
    let id = take_keyspace(body)?;
    let merge_name = take_merge(body)?;
    Some(Change::ChangeSettings {
        id,
        settings: take_settings(body)?,
        merge_name,
    })
}

fn take_flushed(body: &mut ByteReader<'_>) -> Option<Change> {
    Some(Change::SetFlushed {
        keyspace: take_keyspace(body)?,
        seqno: take_seqno(body)?,
    })
}

fn take_mark(body: &mut ByteReader<'_>) -> Option<Change> {
    let keyspace = take_keyspace(body)?;
    let mark = body
        .prefixed()
        .filter(|mark| mark.len() <= MARK_BYTES_MAX)?;
    Some(Change::SetMark {
        keyspace,
        mark: Bytes::copy_of(mark),
    })
}

fn take_clock(body: &mut ByteReader<'_>) -> Option<Change> {
    Some(Change::SetClock {
        keyspace: take_keyspace(body)?,
        unix_ms: body.varint()?,
    })
}

fn take_record(body: &mut ByteReader<'_>) -> Option<FileRecord> {
    let number = take_file_number(body)?;
    let size_bytes = body.varint()?;
    let flags = body.byte()?;
    Some(FileRecord {
        number,
        size_bytes,
        smallest: take_key(body)?,
        largest: take_key(body)?,
        is_largest_exclusive: flags & FLAG_LARGEST_EXCLUSIVE != 0,
        smallest_seqno: take_seqno(body)?,
        largest_seqno: take_seqno(body)?,
        entry_count: body.varint()?,
        delete_count: body.varint()?,
        range_delete_count: body.varint()?,
        newest_expiry_s: match flags & FLAG_EXPIRES {
            0 => None,
            _ => Some(body.u32()?),
        },
        values: match flags & FLAG_VALUES {
            0 => ValueLiveBytes::default(),
            _ => ValueLiveBytes::take(body).filter(|values| !values.is_empty())?,
        },
        is_searchable: flags & FLAG_SEARCHABLE != 0,
        raw_bytes: match flags & FLAG_RAW_BYTES {
            0 => 0,
            _ => body.varint().filter(|bytes| *bytes > 0)?,
        },
        passing: match flags & FLAG_PASSING {
            0 => None,
            _ => Some(Passing::take(body)?),
        },
        adoption: match flags & FLAG_ADOPTED {
            0 => None,
            _ => Some(Adoption {
                number: take_file_number(body)?,
                smallest_seqno: take_seqno(body)?,
            }),
        },
        has_millis: flags & FLAG_MILLIS != 0,
    })
}

fn take_keyspace(body: &mut ByteReader<'_>) -> Option<KeyspaceId> {
    body.varint_u32().map(KeyspaceId)
}

fn take_level(body: &mut ByteReader<'_>) -> Option<Level> {
    Level::new(usize::from(body.byte()?))
}

fn take_file_number(body: &mut ByteReader<'_>) -> Option<FileNumber> {
    body.varint().map(FileNumber)
}

fn take_seqno(body: &mut ByteReader<'_>) -> Option<SeqNo> {
    SeqNo::checked(body.varint()?)
}

fn take_key(body: &mut ByteReader<'_>) -> Option<Bytes> {
    let key = body.prefixed()?;
    (key.len() <= KEY_BYTES_MAX).then(|| Bytes::copy_of(key))
}

fn take_text(body: &mut ByteReader<'_>) -> Option<String> {
    String::from_utf8(body.prefixed()?.to_vec()).ok()
}

fn take_merge(body: &mut ByteReader<'_>) -> Option<Option<String>> {
    match body.byte()? {
        0 => Some(None),
        1 => take_text(body).map(Some),
        _ => None,
    }
}

fn take_settings(body: &mut ByteReader<'_>) -> Option<SettingsText> {
    let mut settings = SettingsText::new();
    for _ in 0..body.varint()? {
        let name = take_text(body)?;
        let is_ascending = settings
            .last_key_value()
            .is_none_or(|(last, _)| *last < name);
        settings.insert(name, take_text(body)?);
        if !is_ascending {
            return None;
        }
    }
    Some(settings)
}
