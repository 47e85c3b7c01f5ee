//! What lies in a manifest: each edit with its changes, line by line.

use std::path::Path;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::bundle::Env;
use crate::store::names::FileName;
use crate::store::version::decode::{decode_edit, decode_snapshot};
use crate::store::version::edit::Edit;
use crate::store::wal::{Gap, Salvaged, WalReader};

/// What lies in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestContents {
    /// Its number.
    pub number: FileNumber,
    /// What its snapshot says of the database; `None` when the snapshot is damaged.
    pub head: Option<ManifestHead>,
    /// The snapshot, then each edit, in their order.
    pub edits: Vec<EditContents>,
    /// Parts that are no intact records.
    pub gaps: Vec<Gap>,
}

/// What a manifest's snapshot says of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestHead {
    /// The format in which the database is written.
    pub format_version: u32,
    /// By what the database is known.
    pub database_id: [u8; 16],
    /// When the database was created, in unix seconds.
    pub created_unix_s: u64,
}

/// One edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditContents {
    /// Where its record starts.
    pub offset: u64,
    /// Its changes, in order; each shows itself as one line.
    pub changes: Edit,
    /// Changes that a newer Esker wrote and marked as optional.
    pub skipped_count: usize,
    /// Why it cannot be read, if so.
    pub damage: Option<String>,
}

/// What lies in the manifest at `path`. Errors: `Invalid` when the name is not that of a
/// manifest; what reading gives.
pub fn manifest(path: impl AsRef<Path>) -> Result<ManifestContents> {
    manifest_in(&Env::real(1), path.as_ref())
}

/// As [`manifest`], in any world.
pub fn manifest_in(env: &Env, path: &Path) -> Result<ManifestContents> {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name @ FileName::Manifest(number)) = name.and_then(FileName::parse) else {
        let place = path.display();
        return Err(Error::invalid(format!(
            "{place} is not named as a manifest is, such as MANIFEST-000012; its number is part \
             of every checksum"
        )));
    };
    let mut walk = WalReader::salvage(env.fs.open_read(path)?, name);
    let mut contents = ManifestContents {
        number,
        head: None,
        edits: Vec::new(),
        gaps: Vec::new(),
    };
    let mut is_first = true;
    while let Some(found) = walk.next()? {
        match found {
            Salvaged::Gap(gap) => contents.gaps.push(gap),
            Salvaged::Record { payload: [], .. } => continue,
            Salvaged::Record { offset, payload } => contents.take(is_first, offset, payload),
        }
        is_first = false;
    }
    Ok(contents)
}

impl ManifestContents {
    fn take(&mut self, is_first: bool, offset: u64, payload: &[u8]) {
        let decoded = match is_first {
            false => decode_edit(payload),
            true => decode_snapshot(payload).map(|(head, edit)| {
                self.head = Some(ManifestHead {
                    format_version: head.format_version,
                    database_id: head.database_id,
                    created_unix_s: head.created_unix_s,
                });
                edit
            }),
        };
        self.edits.push(match decoded {
            Ok(edit) => EditContents {
                offset,
                changes: edit.changes,
                skipped_count: edit.skipped_count,
                damage: None,
            },
            Err(error) => EditContents {
                offset,
                changes: Edit::new(),
                skipped_count: 0,
                damage: Some(error.to_string()),
            },
        });
    }
}
