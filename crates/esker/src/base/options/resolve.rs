//! Settings given as text to options, with the origin of each value.

use std::collections::BTreeMap;

use crate::base::options::alias::{Given, translate};
use crate::base::options::automatic::{self, fill_db, fill_keyspace};
use crate::base::options::catalog::{self, set_db, set_keyspace};
use crate::base::options::check::{check_db, check_keyspace};
use crate::base::options::codec::Shape;
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::profile::{Profile, ProfileLine};
use crate::base::options::setting::{Access, Scope, Setting, named};
use crate::base::types::error::Result;

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// The profile wants it.
    Profile,
    /// The user gave it.
    User,
    /// It was left to the engine, which derived it.
    Automatic,
}

impl Origin {
    /// The word for the origin in reports.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Default => "default",
            Origin::Profile => "profile",
            Origin::User => "user",
            Origin::Automatic => "automatic",
        }
    }
}

/// The value that a setting has in effect.
#[derive(Clone)]
pub struct Effective {
    /// The setting.
    pub setting: &'static Setting,
    /// Its value as text.
    pub text: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// Why it is so, where a profile or the engine chose it.
    pub reason: Option<&'static str>,
}

/// Options made from text: complete and checked.
#[derive(Clone)]
pub struct Resolved {
    /// The profile in effect.
    pub profile: Profile,
    /// The settings of the database, nothing left open.
    pub db: DbOptions,
    /// The settings of the keyspace, nothing left open.
    pub keyspace: KeyspaceOptions,
    /// The settings of the keyspace as they were asked for, for the manifest: what was left to
    /// the engine is still left to it.
    pub keyspace_asked: KeyspaceOptions,
    /// Every setting with its value and origin, in the order of the catalogue.
    pub effective: Vec<Effective>,
}

/// The setting that says how large the log may be.
const LOG_SIZE: &str = "wal.total_size";

/// Memtables of one keyspace at the same time: one is filled while two wait for their flush.
const MEMTABLES_AT_ONCE: usize = 3;

impl Resolved {
    /// The same with one more setting given by the user. `Invalid` as for [`resolve`].
    pub fn with(&self, setting: &'static Setting, text: &str) -> Result<Resolved> {
        let mut draft = self.draft()?;
        match setting.scope() {
            Scope::Database => set_db(&mut draft.db, setting.name, text)?,
            Scope::Keyspace => change_keyspace(&mut draft.keyspace, setting.name, text)?,
        }
        draft.origins.insert(setting.name, (Origin::User, None));
        // Segments stay as long as they are while the database is open.
        draft.follow_disk_limit(self.db.wal_segment_bytes);
        draft.finish(self.profile, self.db.background_threads)
    }

    /// What was asked for: what was left to the engine is left to it once more, so that it follows
    /// what is changed.
    fn draft(&self) -> Result<Draft> {
        let told = self.effective.iter();
        let told = told.filter(|one| one.origin != Origin::Default);
        let mut draft = Draft {
            db: self.db.clone(),
            keyspace: self.keyspace_asked.clone(),
            origins: told
                .map(|one| (one.setting.name, (one.origin, one.reason)))
                .collect(),
        };
        if draft.is_automatic("value_buffer_size") {
            draft.db.value_buffer_bytes = 0;
        }
        if draft.is_automatic("value_flush_bytes") {
            draft.db.value_flush_bytes = 0;
        }
        if draft.is_automatic(LOG_SIZE) {
            draft.db.wal_total_bytes = DbOptions::default().wal_total_bytes;
            draft.origins.remove(LOG_SIZE);
            let lines = self.profile.lines().iter();
            for line in lines.filter(|line| line.setting == LOG_SIZE) {
                draft.take_line(line)?;
            }
        }
        Ok(draft)
    }

    /// Says that the user gave the merge operator of that name in code.
    pub fn name_operator(&mut self, name: &str) {
        for one in &mut self.effective {
            if one.setting.shape == Shape::Operator {
                (one.text, one.origin, one.reason) = (name.into(), Origin::User, None);
            }
        }
    }

    /// Bytes that all memtables may take together: three of the keyspace's size (one is filled
    /// while two wait for their flush), or a quarter of the memory limit where that is more.
    pub fn memtable_budget_bytes(&self) -> usize {
        let quarter = usize::try_from(self.db.memory_limit / 4).unwrap_or(usize::MAX);
        quarter.max(
            self.keyspace
                .memtable_bytes
                .saturating_mul(MEMTABLES_AT_ONCE),
        )
    }
}

// Options on their way, and what has been said about them so far.
struct Draft {
    db: DbOptions,
    keyspace: KeyspaceOptions,
    origins: BTreeMap<&'static str, (Origin, Option<&'static str>)>,
}

/// Why the memory limit is what it is when foreign spellings asked for it.
const MEMORY_REASON: &str = "the cache and three write buffers of the given sizes fit into it";

/// Sets a setting of a keyspace from text. The compression of the upper levels goes along with that
/// of all, as long as nobody chose another for them. `Invalid` as for [`set_keyspace`].
pub fn change_keyspace(options: &mut KeyspaceOptions, name: &str, text: &str) -> Result<()> {
    let sst = &options.sst;
    let is_following = sst.compression_upper == automatic::upper_compression(sst.compression);
    set_keyspace(options, name, text)?;
    if is_following && name == "compression" {
        options.sst.compression_upper = automatic::upper_compression(options.sst.compression);
    }
    Ok(())
}

/// Makes options from `profile`, then `pairs` of name and text, then what suits a machine of
/// `cores`; a `profile` among the pairs wins over the argument. RocksDB's and LevelDB's
/// spellings of benchmark flags are understood.
///
/// `Invalid` for an unknown name (with the nearest known one), a value out of range, a setting
/// given twice, and settings that contradict each other.
pub fn resolve(profile: Profile, pairs: &[(&str, &str)], cores: usize) -> Result<Resolved> {
    let translation = translate(pairs)?;
    let given = &translation.given;
    let mut draft = Draft {
        db: DbOptions::default(),
        keyspace: KeyspaceOptions::default(),
        origins: BTreeMap::new(),
    };
    let profile = draft.take_profile(profile, given)?;
    for one in given {
        draft.take_given(one)?;
    }
    if let Some(bytes) = translation.memory_limit {
        let least = DbOptions::MEMORY_LIMIT_MIN;
        set_db(&mut draft.db, "memory_limit", &bytes.max(least).to_string())?;
        draft.note_automatic("memory_limit", MEMORY_REASON);
    }
    draft.follow_compression();
    draft.follow_disk_limit(0);
    draft.follow_log_size();
    draft.finish(profile, cores)
}

impl Draft {
    // The profile comes first, whatever its place among the pairs: the user's own values win.
    fn take_profile(&mut self, argument: Profile, given: &[Given]) -> Result<Profile> {
        let mut profile = argument;
        for one in given {
            if matches!(one.setting.access, Access::Profile) {
                one.setting.parse(&one.text)?;
                let word = one.text.trim().to_ascii_lowercase();
                profile = named(&Profile::NAMES, &word).expect("the catalogue lists them all");
                self.origins.insert(one.setting.name, (Origin::User, None));
            }
        }
        for line in profile.lines() {
            self.take_line(line)?;
        }
        Ok(profile)
    }

    fn take_line(&mut self, line: &ProfileLine) -> Result<()> {
        let setting = catalog::find(line.setting)?;
        self.set(setting, line.value)?;
        let origin = (Origin::Profile, Some(line.reason));
        self.origins.insert(setting.name, origin);
        Ok(())
    }

    fn take_given(&mut self, one: &Given) -> Result<()> {
        let name = one.setting.name;
        let done = self.set(one.setting, &one.text);
        done.map_err(|error| one.refused(error))?;
        self.origins.insert(name, (Origin::User, None));
        Ok(())
    }

    fn set(&mut self, setting: &Setting, text: &str) -> Result<()> {
        match setting.access {
            Access::Profile => Ok(()),
            Access::Db { .. } => set_db(&mut self.db, setting.name, text),
            Access::Keyspace { .. } => set_keyspace(&mut self.keyspace, setting.name, text),
        }
    }

    // Who chose `compression` and nothing else does not want lz4 in the upper levels by surprise.
    fn follow_compression(&mut self) {
        let is_chosen = self.origins.contains_key("compression");
        if is_chosen && !self.origins.contains_key("sst.compression_upper") {
            let sst = &mut self.keyspace.sst;
            sst.compression_upper = automatic::upper_compression(sst.compression);
            self.note_automatic("sst.compression_upper", automatic::PACKING_REASON);
        }
    }

    // Who gives a small disk and nothing else need not know that there is a log; which is no
    // smaller than `least_bytes`.
    fn follow_disk_limit(&mut self, least_bytes: u64) {
        if self.db.disk_limit == 0 {
            return;
        }
        let most = automatic::log_bytes_max(self.db.disk_limit).max(least_bytes);
        if self.db.wal_total_bytes > most && !self.is_users(LOG_SIZE) {
            self.db.wal_total_bytes = most;
            self.note_automatic(LOG_SIZE, automatic::LOG_REASON);
        }
    }

    // Segments that suit a log under a disk limit.
    fn follow_log_size(&mut self) {
        if self.db.disk_limit == 0 {
            return;
        }
        let segment = "wal.segment_size";
        let most = automatic::log_segment_bytes_max(self.db.wal_total_bytes);
        if self.db.wal_segment_bytes > most && !self.is_users(segment) {
            self.db.wal_segment_bytes = most;
            self.note_automatic(segment, automatic::SEGMENT_REASON);
        }
    }

    // Fills in what was left to the engine, for a machine of `cores`, and checks the whole.
    fn finish(mut self, profile: Profile, cores: usize) -> Result<Resolved> {
        let keyspace_asked = self.keyspace.clone();
        self.fill(cores);
        check_db(&self.db)?;
        check_keyspace(&self.db, &self.keyspace)?;
        Ok(Resolved {
            effective: self.effective(profile),
            profile,
            db: self.db,
            keyspace: self.keyspace,
            keyspace_asked,
        })
    }

    fn is_automatic(&self, name: &str) -> bool {
        matches!(self.origins.get(name), Some((Origin::Automatic, _)))
    }

    fn is_users(&self, name: &str) -> bool {
        matches!(self.origins.get(name), Some((Origin::User, _)))
    }

    fn fill(&mut self, cores: usize) {
        let left_open = [
            (
                self.db.background_threads == 0,
                "background_threads",
                automatic::THREADS_REASON,
            ),
            (
                self.db.value_buffer_bytes == 0,
                "value_buffer_size",
                automatic::BUFFER_REASON,
            ),
            (
                self.db.value_flush_bytes == 0,
                "value_flush_bytes",
                automatic::FLUSH_REASON,
            ),
        ];
        fill_db(&mut self.db, cores);
        for (_, name, reason) in left_open.into_iter().filter(|(is_open, ..)| *is_open) {
            self.note_automatic(name, reason);
        }
        if self.keyspace.memtable_bytes == 0 {
            fill_keyspace(&self.db, &mut self.keyspace);
            self.note_automatic("memtable.size", automatic::MEMTABLE_REASON);
        }
    }

    fn note_automatic(&mut self, name: &'static str, reason: &'static str) {
        self.origins.insert(name, (Origin::Automatic, Some(reason)));
    }

    fn effective(&self, profile: Profile) -> Vec<Effective> {
        let tell = |setting: &'static Setting| {
            let silent = (Origin::Default, None);
            let (origin, reason) = *self.origins.get(setting.name).unwrap_or(&silent);
            Effective {
                setting,
                text: setting.text_in(profile, &self.db, &self.keyspace),
                origin,
                reason,
            }
        };
        catalog::settings().map(tell).collect()
    }
}

#[cfg(test)]
mod tests;
