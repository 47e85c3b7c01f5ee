//! One version: every keyspace, its settings and its files, at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::base::options::keyspace::{self, KeyspaceOptions, OWN_CLOCK, TTL, UNLOGGED};
use crate::base::options::pairs::from_pairs;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::store::names::FileName;
use crate::store::version::edit::{Change, Edit, SettingsText};
use crate::store::version::format::{DATABASE_ID_BYTES, FORMAT_VERSION};
use crate::store::version::keyspace_map::KeyspaceMap;
use crate::store::version::levels::Levels;
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// By what a database is known, whatever becomes of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Random bytes.
    pub database_id: [u8; DATABASE_ID_BYTES],
    /// When the database was created, in unix seconds.
    pub created_unix_s: u64,
}

/// The orders of keys that this program has, by name; bytewise always among them.
#[derive(Clone, Debug, Default)]
pub struct Orders(Arc<Vec<Comparator>>);

impl Orders {
    /// The bytewise order and these.
    pub fn new(custom: Vec<Comparator>) -> Orders {
        Orders(Arc::new(custom))
    }

    /// The order with that name. `Unsupported` when this program does not have it.
    pub fn find(&self, name: &str) -> Result<Comparator> {
        if Comparator::Bytewise.name() == name {
            return Ok(Comparator::Bytewise);
        }
        let found = self.0.iter().find(|comparator| comparator.name() == name);
        found.cloned().ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!(
                    "its keys are in the order of comparator \"{name}\", which this program \
                     does not have; \
                     give the comparator when opening the database"
                ),
            )
        })
    }
}

/// What a version says of one keyspace. Shared by all versions that do not differ in it.
#[derive(Clone, Debug)]
pub struct KeyspaceState {
    /// Its number.
    pub id: KeyspaceId,
    /// Its name.
    pub name: Arc<str>,
    /// The order of its keys; its name stands in the manifest.
    pub comparator: Comparator,
    /// Name of its merge operator, if it has one.
    pub merge_name: Option<Arc<str>>,
    /// Its settings, as text.
    pub settings: Arc<SettingsText>,
    /// No entry of it up to this number lies outside its files.
    pub flushed: SeqNo,
    /// Up to which mark of the user's everything is in its files; only of an unlogged keyspace.
    pub mark: Option<Bytes>,
    /// What time it is for what ends in its files, in unix milliseconds; only of a keyspace with a
    /// clock of its own.
    pub clock_ms: Option<u64>,
    /// Its files.
    pub levels: Arc<Levels>,
}

impl KeyspaceState {
    /// Name of the order of its keys.
    pub fn comparator_name(&self) -> &str {
        self.comparator.name()
    }

    /// Its settings as they were asked for, with its order: what was left to the engine still is.
    /// The merge operator is not among them, of which only the name is kept.
    pub fn asked(&self) -> Result<KeyspaceOptions> {
        let pairs = self.settings.iter();
        let settings = from_pairs(pairs.map(|(name, text)| (&name[..], &text[..])))?;
        Ok(KeyspaceOptions {
            comparator: self.comparator.clone(),
            is_unlogged: self.is_unlogged(),
            has_own_clock: self.clock_ms.is_some(),
            ..settings
        })
    }

    /// Whether nothing of it is ever in the log.
    pub fn is_unlogged(&self) -> bool {
        is_unlogged(&self.settings)
    }

    // The changes that make this state out of nothing.
    fn to_changes(&self, changes: &mut Edit) {
        let keyspace = self.id;
        changes.push(Change::CreateKeyspace {
            id: keyspace,
            name: self.name.to_string(),
            comparator_name: self.comparator.name().to_string(),
            merge_name: self.merge_name.as_deref().map(str::to_string),
            settings: SettingsText::clone(&self.settings),
        });
        if self.flushed != SeqNo::ZERO {
            let seqno = self.flushed;
            changes.push(Change::SetFlushed { keyspace, seqno });
        }
        if let Some(mark) = &self.mark {
            let mark = mark.clone();
            changes.push(Change::SetMark { keyspace, mark });
        }
        if let Some(unix_ms) = self.clock_ms.filter(|unix_ms| *unix_ms > 0) {
            changes.push(Change::SetClock { keyspace, unix_ms });
        }
        for (level, run) in self.levels.all_runs() {
            changes.extend(run.files().iter().map(|record| Change::AddFile {
                keyspace,
                level,
                run: run.id(),
                record: Arc::clone(record),
            }));
        }
    }
}

/// Whether a keyspace with these settings is kept out of the log.
pub fn is_unlogged(settings: &SettingsText) -> bool {
    settings.get(UNLOGGED).is_some_and(|text| text == "true")
}

/// Whether what ends in a keyspace with these settings does so by a clock of its own.
pub fn has_own_clock(settings: &SettingsText) -> bool {
    settings.get(OWN_CLOCK).is_some_and(|text| text == "true")
}

/// Whether puts that do not say otherwise end between two seconds under these settings.
pub fn has_millis(settings: &SettingsText) -> bool {
    settings
        .get(TTL)
        .is_some_and(|text| keyspace::has_millis(text))
}

/// Every keyspace, its settings and its files, at one moment. Immutable; a change gives a new
/// version that shares with this one whatever did not change.
#[derive(Clone)]
pub struct Version {
    /// By what the database is known.
    pub identity: Identity,
    /// The format in which the database is written.
    pub format_version: u32,
    /// The next file number to give out.
    pub next_file: FileNumber,
    /// The next keyspace number to give out.
    pub next_keyspace: KeyspaceId,
    /// The largest sequence number known to be used; logs may hold larger ones.
    pub last_seqno: SeqNo,
    /// Logs with smaller numbers hold nothing that is not in sorted files, of any keyspace.
    pub first_log: FileNumber,
    /// The keyspaces by number.
    pub keyspaces: KeyspaceMap<KeyspaceState>,
    /// The orders that new keyspaces may name.
    pub comparators: Orders,
    /// The keyspaces by name.
    pub(in crate::store::version) names: Arc<BTreeMap<Arc<str>, KeyspaceId>>,
}

impl Version {
    /// The version without keyspaces, with which every database begins. File number 0 is never
    /// given out.
    pub fn empty(identity: Identity, comparators: Orders) -> Version {
        Version {
            identity,
            format_version: FORMAT_VERSION,
            next_file: FileNumber(1),
            next_keyspace: KeyspaceId(0),
            last_seqno: SeqNo::ZERO,
            first_log: FileNumber(0),
            keyspaces: KeyspaceMap::default(),
            comparators,
            names: Arc::default(),
        }
    }

    /// The keyspace with that number.
    pub fn keyspace(&self, id: KeyspaceId) -> Option<&Arc<KeyspaceState>> {
        self.keyspaces.get(&id)
    }

    /// How many files there are.
    pub fn file_count(&self) -> usize {
        let levels = self.keyspaces.values().map(|state| &state.levels);
        levels.map(|levels| levels.file_count()).sum()
    }

    /// Names of its sorted files, and of the segments of the value log that they point into.
    pub fn file_names(&self) -> BTreeSet<FileName> {
        let levels = self.keyspaces.values().map(|state| &state.levels);
        let mut names = BTreeSet::new();
        for (_, file) in levels.flat_map(|levels| levels.files()) {
            names.insert(FileName::Sst(file.number));
            let segments = file.values.iter().map(|(segment, _)| segment);
            names.extend(segments.map(FileName::Vlog));
        }
        names
    }

    /// Bytes of the value log that its files point to, by segment: what is live.
    pub fn live_values(&self) -> ValueLiveBytes {
        let mut live: BTreeMap<FileNumber, u64> = BTreeMap::new();
        let levels = self.keyspaces.values().map(|state| &state.levels);
        for (segment, bytes) in levels.flat_map(|levels| levels.values().iter()) {
            *live.entry(segment).or_default() += bytes;
        }
        live.into_iter().collect()
    }

    /// The edit that makes this version out of the empty one with the same identity and format.
    pub fn to_edit(&self) -> Edit {
        let mut changes = vec![
            Change::SetNextFile {
                number: self.next_file,
            },
            Change::SetLastSeqno {
                seqno: self.last_seqno,
            },
        ];
        if self.first_log != FileNumber(0) {
            let number = self.first_log;
            changes.push(Change::SetFirstLog { number });
        }
        for state in self.keyspaces.values() {
            state.to_changes(&mut changes);
        }
        changes.push(Change::SetNextKeyspace {
            id: self.next_keyspace,
        });
        changes
    }

    /// Refuses a version that breaks a law: those of [`Levels::check`], and that no file belongs
    /// to two keyspaces.
    pub fn check(&self) -> Result<()> {
        let mut owners = BTreeMap::new();
        for (id, state) in self.keyspaces.iter() {
            let name = &state.name;
            let wrong = |error| Error::corruption(format!("keyspace {name:?}")).caused_by(error);
            state.levels.check(&state.comparator).map_err(wrong)?;
            for (_, file) in state.levels.files() {
                if let Some(other) = owners.insert(file.number, *id) {
                    return Err(Error::corruption(format!(
                        "file {} belongs to keyspaces {other} and {id}",
                        file.number
                    )));
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Version({} keyspaces, {} files, next file {}, last seqno {})",
            self.keyspaces.len(),
            self.file_count(),
            self.next_file,
            self.last_seqno
        )
    }
}
