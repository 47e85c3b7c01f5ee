//! A version's changes to the bytes of a manifest record.

use crate::base::codec::fixed::{put_u32, put_u64};
use crate::base::codec::reader::put_prefixed;
use crate::base::codec::varint::put_varint;
use crate::base::types::ids::{KeyspaceId, Level};
use crate::store::version::edit::{Change, SettingsText};
use crate::store::version::file::FileRecord;
use crate::store::version::format::*;

/// The bytes of a snapshot record.
pub fn encode_snapshot(head: &SnapshotHead, changes: &[Change]) -> Vec<u8> {
    let mut out = SNAPSHOT_MAGIC.to_vec();
    put_u32(&mut out, head.format_version);
    put_u64(&mut out, head.manifest.0);
    out.extend_from_slice(&head.database_id);
    put_u64(&mut out, head.created_unix_s);
    assert!(out.len() == SNAPSHOT_HEAD_BYTES);
    put_changes(&mut out, changes);
    out
}

/// The bytes of an edit record.
pub fn encode_edit(changes: &[Change]) -> Vec<u8> {
    let mut out = Vec::new();
    put_changes(&mut out, changes);
    out
}

fn put_changes(out: &mut Vec<u8>, changes: &[Change]) {
    let mut body = Vec::new();
    for change in changes {
        body.clear();
        out.push(put_body(&mut body, change));
        put_prefixed(out, &body);
    }
}

// Appends the body and returns the tag.
fn put_body(out: &mut Vec<u8>, change: &Change) -> u8 {
    match change {
        Change::AddFile {
            keyspace,
            level,
            run,
            record,
        } => {
            put_place(out, *keyspace, *level);
            put_varint(out, *run);
            put_record(out, record);
            TAG_ADD_FILE
        }
        Change::RemoveFile {
            keyspace,
            level,
            number,
        } => {
            put_place(out, *keyspace, *level);
            put_varint(out, number.0);
            TAG_REMOVE_FILE
        }
        Change::CreateKeyspace {
            id,
            name,
            comparator_name,
            merge_name,
            settings,
        } => {
            put_varint(out, u64::from(id.0));
            put_prefixed(out, name.as_bytes());
            put_prefixed(out, comparator_name.as_bytes());
            put_merge(out, merge_name.as_deref());
            put_settings(out, settings);
            TAG_CREATE_KEYSPACE
        }
        Change::DropKeyspace { id } => {
            put_varint(out, u64::from(id.0));
            TAG_DROP_KEYSPACE
        }
        Change::ChangeSettings {
            id,
            settings,
            merge_name,
        } => {
            put_varint(out, u64::from(id.0));
            put_merge(out, merge_name.as_deref());
            put_settings(out, settings);
            TAG_CHANGE_SETTINGS
        }
        Change::SetFlushed { keyspace, seqno } => {
            put_varint(out, u64::from(keyspace.0));
            put_varint(out, seqno.get());
            TAG_SET_FLUSHED
        }
        Change::SetMark { keyspace, mark } => {
            put_varint(out, u64::from(keyspace.0));
            put_prefixed(out, mark);
            TAG_SET_MARK
        }
        Change::SetClock { keyspace, unix_ms } => {
            put_varint(out, u64::from(keyspace.0));
            put_varint(out, *unix_ms);
            TAG_SET_CLOCK
        }
        Change::SetFirstLog { number } => put_number(out, number.0, TAG_SET_FIRST_LOG),
        Change::SetNextFile { number } => put_number(out, number.0, TAG_SET_NEXT_FILE),
        Change::SetLastSeqno { seqno } => put_number(out, seqno.get(), TAG_SET_LAST_SEQNO),
        Change::SetNextKeyspace { id } => put_number(out, u64::from(id.0), TAG_SET_NEXT_KEYSPACE),
        Change::SetFormat { version } => put_number(out, u64::from(*version), TAG_SET_FORMAT),
    }
}

fn put_number(out: &mut Vec<u8>, number: u64, tag: u8) -> u8 {
    put_varint(out, number);
    tag
}

fn put_place(out: &mut Vec<u8>, keyspace: KeyspaceId, level: Level) {
    put_varint(out, u64::from(keyspace.0));
    out.push(u8::try_from(level.index()).expect("there are fewer than 256 levels"));
}

fn put_record(out: &mut Vec<u8>, record: &FileRecord) {
    put_varint(out, record.number.0);
    put_varint(out, record.size_bytes);
    let mut flags = 0;
    if record.is_largest_exclusive {
        flags |= FLAG_LARGEST_EXCLUSIVE;
    }
    if record.newest_expiry_s.is_some() {
        flags |= FLAG_EXPIRES;
    }
    if !record.values.is_empty() {
        flags |= FLAG_VALUES;
    }
    if record.is_searchable {
        flags |= FLAG_SEARCHABLE;
    }
    if record.raw_bytes > 0 {
        flags |= FLAG_RAW_BYTES;
    }
    if record.passing.is_some() {
        flags |= FLAG_PASSING;
    }
    if record.adoption.is_some() {
        flags |= FLAG_ADOPTED;
    }
    if record.has_millis {
        flags |= FLAG_MILLIS;
    }
    out.push(flags);
    put_prefixed(out, &record.smallest);
    put_prefixed(out, &record.largest);
    put_varint(out, record.smallest_seqno.get());
    put_varint(out, record.largest_seqno.get());
    put_varint(out, record.entry_count);
    put_varint(out, record.delete_count);
    put_varint(out, record.range_delete_count);
    if let Some(newest) = record.newest_expiry_s {
        put_u32(out, newest);
    }
    if !record.values.is_empty() {
        record.values.put(out);
    }
    if record.raw_bytes > 0 {
        put_varint(out, record.raw_bytes);
    }
    if let Some(passing) = &record.passing {
        passing.put(out);
    }
    if let Some(adoption) = &record.adoption {
        put_varint(out, adoption.number.0);
        put_varint(out, adoption.smallest_seqno.get());
    }
}

fn put_merge(out: &mut Vec<u8>, merge_name: Option<&str>) {
    out.push(u8::from(merge_name.is_some()));
    if let Some(name) = merge_name {
        put_prefixed(out, name.as_bytes());
    }
}

fn put_settings(out: &mut Vec<u8>, settings: &SettingsText) {
    put_varint(out, settings.len() as u64);
    for (name, value) in settings {
        put_prefixed(out, name.as_bytes());
        put_prefixed(out, value.as_bytes());
    }
}
