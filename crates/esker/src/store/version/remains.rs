//! What can still be read of a damaged manifest: for repair, which needs names and settings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::version::apply::apply;
use crate::store::version::decode::{decode_edit, decode_snapshot};
use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;
use crate::store::version::state::{Identity, Orders, Version};
use crate::store::wal::{Salvaged, WalReader};

/// What can still be read of a damaged manifest.
#[derive(Clone, Debug)]
pub struct Remains {
    /// The manifest.
    pub manifest: FileNumber,
    /// Keyspaces with names and settings, counters, identity; without any files.
    pub version: Version,
    /// Every file that was added and not removed again, and whose it is.
    pub files: BTreeMap<FileNumber, (KeyspaceId, Arc<FileRecord>)>,
    /// Files that were removed, or went with their keyspace.
    pub obsolete: BTreeSet<FileNumber>,
    /// Keyspaces that were dropped since the snapshot.
    dropped: BTreeSet<KeyspaceId>,
    /// Every keyspace with a smaller number that was there is in the snapshot.
    snapshot_end: KeyspaceId,
}

/// Reads whatever is intact of the manifest with that number, also behind damage. `None` when its
/// snapshot is not: then nothing is known of what the edits changed.
///
/// Errors: `Unsupported` when a newer Esker wrote it, or an order is missing; what reading gives.
pub fn read_remains(
    fs: &dyn Fs,
    dir: &Path,
    number: FileNumber,
    comparators: &Orders,
) -> Result<Option<Remains>> {
    let name = FileName::Manifest(number);
    let file = fs.open_read(&dir.join(name.to_string()))?;
    let mut walk = WalReader::salvage(file, name);
    let mut remains: Option<Remains> = None;
    while let Some(found) = walk.next()? {
        let Salvaged::Record { payload, .. } = found else {
            continue;
        };
        if payload.is_empty() {
            continue;
        }
        match &mut remains {
            None => match begin(number, payload, comparators) {
                Ok(begun) => remains = Some(begun),
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    return Err(error.in_file(name));
                }
                Err(_) => return Ok(None),
            },
            Some(remains) => {
                let taken = decode_edit(payload).and_then(|edit| remains.take(edit.changes));
                match taken {
                    Err(error) if error.kind() == ErrorKind::Unsupported => {
                        return Err(error.in_file(name));
                    }
                    // What is no edit says nothing.
                    Ok(()) | Err(_) => {}
                }
            }
        }
    }
    Ok(remains)
}

fn begin(number: FileNumber, record: &[u8], comparators: &Orders) -> Result<Remains> {
    let (head, edit) = decode_snapshot(record)?;
    let identity = Identity {
        database_id: head.database_id,
        created_unix_s: head.created_unix_s,
    };
    let empty = Version::empty(identity, comparators.clone());
    let mut remains = Remains {
        manifest: number,
        version: Version {
            format_version: head.format_version,
            ..empty
        },
        files: BTreeMap::new(),
        obsolete: BTreeSet::new(),
        dropped: BTreeSet::new(),
        snapshot_end: KeyspaceId(0),
    };
    let (files, others) = split(edit.changes);
    remains.version = apply(&remains.version, &others)?;
    remains.snapshot_end = remains.version.next_keyspace;
    remains.take_files(&files);
    Ok(remains)
}

impl Remains {
    /// Whether the keyspace with that number was dropped. Of one that is not known nothing says so
    /// where its creation may be what is lost.
    pub fn is_dropped(&self, id: KeyspaceId) -> bool {
        let is_known = self.version.keyspace(id).is_some();
        !is_known && (id < self.snapshot_end || self.dropped.contains(&id))
    }

    /// Notes that a keyspace has that name, or had it. Two never have one name at a time, and
    /// numbers are given out in order: so of two the older one was dropped.
    pub fn note_name(&mut self, id: KeyspaceId, name: &str) {
        let mut known = self.version.keyspaces.iter();
        let holder = known.find_map(|(id, state)| (*state.name == *name).then_some(*id));
        drop(known);
        if let Some(holder) = holder.filter(|holder| *holder != id) {
            self.drop_keyspace(holder.min(id));
        }
    }

    // Change by change: one that does not fit what was read rests on an edit that was lost, and
    // says nothing against the others.
    fn take(&mut self, changes: Edit) -> Result<()> {
        let (files, others) = split(changes);
        self.take_files(&files);
        for change in others {
            match &change {
                Change::CreateKeyspace { id, name, .. } => self.note_name(*id, name),
                Change::DropKeyspace { id } => self.drop_keyspace(*id),
                _ => {}
            }
            match apply(&self.version, &[change]) {
                Ok(next) => self.version = next,
                Err(error) if error.kind() == ErrorKind::Unsupported => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn drop_keyspace(&mut self, id: KeyspaceId) {
        self.dropped.insert(id);
        // Of one that is not known there is nothing to drop.
        if let Ok(next) = apply(&self.version, &[Change::DropKeyspace { id }]) {
            self.version = next;
        }
        let obsolete = &mut self.obsolete;
        self.files.retain(|number, (keyspace, _)| {
            let is_gone = *keyspace == id;
            if is_gone {
                obsolete.insert(*number);
            }
            !is_gone
        });
    }

    // Removals first, as in an edit: a file that moves is removed and added by the same one.
    fn take_files(&mut self, changes: &[Change]) {
        for change in changes {
            if let Change::RemoveFile { number, .. } = change {
                self.files.remove(number);
                self.obsolete.insert(*number);
            }
        }
        for change in changes {
            if let Change::AddFile {
                keyspace, record, ..
            } = change
            {
                let number = record.number;
                self.files.insert(number, (*keyspace, Arc::clone(record)));
                self.obsolete.remove(&number);
            }
        }
    }
}

// Changes of files, and all others.
fn split(changes: Edit) -> (Edit, Edit) {
    changes
        .into_iter()
        .partition(|change| matches!(change, Change::AddFile { .. } | Change::RemoveFile { .. }))
}
