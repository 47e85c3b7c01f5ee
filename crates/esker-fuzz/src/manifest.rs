//! Any bytes as a manifest's records, and any damage to a manifest that was written.
//!
//! The first byte chooses: 0 reads the rest as an edit and as a snapshot, and logs what can be
//! logged of it; others write a small manifest and then damage it: offset (u16) and new byte,
//! three by three.

use std::path::Path;
use std::sync::Arc;

use esker::internals::base::types::bytes::Bytes;
use esker::internals::base::types::error::ErrorKind;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimFs;
use esker::internals::store::version::apply::apply;
use esker::internals::store::version::decode::{decode_edit, decode_snapshot};
use esker::internals::store::version::edit::{Change, Edit, SettingsText};
use esker::internals::store::version::encode::{encode_edit, encode_snapshot};
use esker::internals::store::version::manifest::Manifest;
use esker::internals::store::version::recovery::read_manifest;
use esker::internals::store::version::state::{Identity, Orders, Version};

const DIR: &str = "/db";

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((0, rest)) => read(rest),
        Some((_, damage)) => write_damage_read(damage),
        None => {}
    }
}

fn empty() -> Version {
    let identity = Identity {
        database_id: [7; 16],
        created_unix_s: 1,
    };
    Version::empty(identity, Orders::default())
}

fn read(bytes: &[u8]) {
    if let Ok((head, edit)) = decode_snapshot(bytes)
        && edit.skipped_count == 0
    {
        assert!(encode_snapshot(&head, &edit.changes) == bytes);
    }
    let Ok(edit) = decode_edit(bytes) else { return };
    if edit.skipped_count == 0 {
        assert!(encode_edit(&edit.changes) == bytes);
    }
    // What can be applied is a version, and its snapshot makes the same one again.
    if let Ok(version) = apply(&empty(), &edit.changes) {
        let again = apply(&empty(), &version.to_edit()).expect("a snapshot applies");
        assert!(again.to_edit() == version.to_edit());
    }
}

fn write_damage_read(damage: &[u8]) {
    let fs: Arc<dyn Fs> = Arc::new(SimFs::new(1));
    let dir = Path::new(DIR);
    fs.create_dir_all(dir).expect("memory does not fail");
    let mut manifest = Manifest::create(Arc::clone(&fs), dir, empty()).expect("a new directory");
    let mut prefixes = vec![manifest.version().to_edit()];
    for edit in edits() {
        let version = manifest.append(&edit).expect("memory does not fail");
        prefixes.push(version.to_edit());
    }
    let path = dir.join("MANIFEST-000001");
    let mut log = fs.open_log(&path, 0).expect("the manifest is there");
    for change in damage.chunks_exact(3) {
        let offset = u16::from_le_bytes([change[0], change[1]]) % 1_024;
        log.write_at(u64::from(offset), &change[2..])
            .expect("within the file");
    }
    match read_manifest(&*fs, dir, &Orders::default()) {
        Ok((version, _)) => assert!(prefixes.contains(&version.to_edit())),
        Err(error) => assert!(error.kind() == ErrorKind::Corruption),
    }
}

fn edits() -> Vec<Edit> {
    let create = |id: u32| Change::CreateKeyspace {
        id: KeyspaceId(id),
        name: format!("keyspace {id}"),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: SettingsText::new(),
    };
    let flushed = |id: u32, seqno: u64| Change::SetFlushed {
        keyspace: KeyspaceId(id),
        seqno: SeqNo::new(seqno),
    };
    let first_log = |number: u64| Change::SetFirstLog {
        number: FileNumber(number),
    };
    let unlogged = Change::CreateKeyspace {
        id: KeyspaceId(2),
        name: "unlogged".into(),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: SettingsText::from([("unlogged".into(), "true".into())]),
    };
    let mark = |text: &str| Change::SetMark {
        keyspace: KeyspaceId(2),
        mark: Bytes::copy_of(text.as_bytes()),
    };
    vec![
        vec![create(0)],
        vec![flushed(0, 9), first_log(5)],
        vec![create(1), flushed(1, 12)],
        vec![Change::SetFormat { version: 2 }],
        vec![unlogged, mark("index 1")],
        vec![flushed(2, 15), mark("index 2")],
        vec![Change::DropKeyspace { id: KeyspaceId(0) }],
    ]
}
