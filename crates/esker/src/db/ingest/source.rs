//! A file set that is to be taken in: opened, and held against what it says and where it goes.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::range::KeyRange;
use crate::db::core::Core;
use crate::db::ingest::file_set::{FileSet, Maker};
use crate::db::keyspace::KeyspaceParts;
use crate::env::fs::{Fs, ReadFile};
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::version::file::FileRecord;
use crate::store::version::identity::Known;
use crate::store::version::levels::Levels;
use crate::store::version::state::KeyspaceState;

/// Bytes of blocks kept while files are checked: each is read once, from front to back.
pub const CACHE_BYTES: usize = 1 << 20;

/// An `SstWriter` uses two sequence numbers, one behind the other.
const WRITER_SPAN_MAX: u64 = 1;

/// The files of one keyspace of a set, checked by themselves.
#[derive(Clone)]
pub struct SetFiles {
    /// The directory of the set.
    pub dir: PathBuf,
    /// Who made it.
    pub maker: Maker,
    /// The keyspace as the set has it.
    pub state: Arc<KeyspaceState>,
    has_merges: bool,
}

/// Such files on their way into a keyspace of the database.
pub struct Source {
    /// The files.
    pub files: SetFiles,
    /// Where they go.
    pub target: Arc<KeyspaceParts>,
}

impl SetFiles {
    /// Opens the keyspace `name` of the set in `dir`, or its only one; what its files say of
    /// themselves is checked.
    ///
    /// Errors: `Invalid` when it is no set, lacks the keyspace, or has several and none is named;
    /// `Unsupported` for a newer format; `Corruption` for files that are damaged, missing or not
    /// those that are listed.
    pub fn open(core: &Core, (dir, name): (&Path, Option<&str>)) -> Result<SetFiles> {
        let orders = core.history.current().comparators.clone();
        let set = FileSet::read(&*core.env.fs, dir, &orders)?;
        let mut files = SetFiles {
            dir: dir.to_path_buf(),
            maker: set.maker,
            state: Arc::clone(keyspace_of(&set, dir, name)?),
            has_merges: false,
        };
        files.check(core)?;
        Ok(files)
    }

    /// Its levels in the set.
    pub fn levels(&self) -> &Levels {
        &self.state.levels
    }

    /// From its first key to the last one; `None` of an empty set.
    pub fn hull(&self) -> Option<KeyRange> {
        let order = &self.state.comparator;
        let files = || self.levels().files().map(|(_, file)| file);
        let lower = files().map(|file| &file.smallest);
        let lower = lower.min_by(|left, right| order.compare(left, right))?;
        let upper = files().map(|file| &file.largest);
        let upper = upper.max_by(|left, right| order.compare(left, right))?;
        Some(KeyRange {
            lower: Bound::Included(lower.to_vec()),
            upper: Bound::Included(upper.to_vec()),
        })
    }

    /// Whether some of its values lie in segments beside the files.
    pub fn has_values(&self) -> bool {
        self.levels()
            .files()
            .any(|(_, file)| !file.values.is_empty())
    }

    /// Whether its runs mix their sequence numbers, as levels do that were compacted: then they
    /// cannot be put upon one another in level 0.
    pub fn has_levels(&self) -> bool {
        self.maker == Maker::Export && self.levels().all_runs().nth(1).is_some()
    }

    /// How far its largest sequence number lies from its smallest one.
    pub fn seqno_span(&self) -> u64 {
        let files = || self.levels().files().map(|(_, file)| file);
        let smallest = files().map(|file| file.smallest_seqno.get()).min();
        let largest = files().map(|file| file.largest_seqno.get()).max();
        largest.unwrap_or(0) - smallest.unwrap_or(0)
    }

    /// Whether its files can be put as they are on top of what a keyspace holds, and come to what
    /// their maker meant.
    ///
    /// A writer means what it wrote, deletes too. An export is what a keyspace held: its deletes
    /// hid something there and must hide nothing here, and of several runs only those of level 0
    /// may be put upon one another.
    pub fn is_stackable(&self) -> bool {
        let mut files = self.levels().files().map(|(_, file)| file);
        let has_deletes = files.any(|file| file.delete_count + file.range_delete_count > 0);
        match self.maker {
            Maker::Writer => true,
            Maker::Export => !self.has_levels() && !has_deletes && !self.has_merges,
        }
    }

    fn check(&mut self, core: &Core) -> Result<()> {
        // Such files are never written anew: their deletes would be lost.
        if self.maker == Maker::Writer && (self.seqno_span() > WRITER_SPAN_MAX || self.has_values())
        {
            let error = Error::corruption("no SstWriter wrote what the list says of the files");
            return Err(self.in_set(error));
        }
        let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
        let levels = Arc::clone(&self.state.levels);
        for (_, record) in levels.files() {
            let reader = self.open_file(&*core.env.fs, &self.dir, record, &cache);
            let has_merges = reader.map(|reader| reader.props().merge_count > 0);
            self.has_merges |= has_merges.map_err(|error| self.in_set(error))?;
        }
        Ok(())
    }

    /// Reads every block of its files and holds it against its checksum. Errors: `Corruption` for
    /// files that are damaged; those of the gate, which is asked before each file: who closes the
    /// database waits for one file at most.
    pub fn verify(&self, core: &Core) -> Result<()> {
        for (_, record) in self.levels().files() {
            core.gate.check_write()?;
            let verified = self.verify_file(core, &self.path(record), record);
            verified.map_err(|error| self.in_set(error))?;
        }
        Ok(())
    }

    /// As [`SetFiles::verify`], one of its files, which has that name; errors do not name the set.
    pub fn verify_file(&self, core: &Core, path: &Path, record: &FileRecord) -> Result<()> {
        let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
        let file = open_listed(&*core.env.fs, path)?;
        self.open_over(file, record, &cache)?.verify()
    }

    /// Opens a file of the set that lies in `dir`, with what is to be known of it there, and holds
    /// it against that.
    pub fn open_file(
        &self,
        fs: &dyn Fs,
        dir: &Path,
        record: &FileRecord,
        cache: &Arc<BlockCache>,
    ) -> Result<AnyReader> {
        let path = dir.join(FileName::Sst(record.number).to_string());
        self.open_over(open_listed(fs, &path)?, record, cache)
    }

    /// The same of a file that is open already.
    pub fn open_over(
        &self,
        file: Arc<dyn ReadFile>,
        record: &FileRecord,
        cache: &Arc<BlockCache>,
    ) -> Result<AnyReader> {
        let comparator = &self.state.comparator;
        let cache = Arc::clone(cache);
        let reader = AnyReader::open(file, record.binding(), comparator.clone(), cache)?;
        let known = Known {
            keyspace: self.state.id,
            record,
        };
        let checked = known.check(&reader, comparator);
        checked.map_err(|error| error.in_file(FileName::Sst(record.number)))?;
        Ok(reader)
    }

    /// Whether `target` can take them in: `Invalid` when it has its keys in another order, or they
    /// have operands for another operator than it has.
    pub fn goes_to(self, target: Arc<KeyspaceParts>) -> Result<Source> {
        refuse_other_order(&self.state, &target)?;
        if self.has_merges {
            self.refuse_other_operator(&target)?;
        }
        Ok(Source {
            files: self,
            target,
        })
    }

    /// Where a file of the set lies.
    pub fn path(&self, record: &FileRecord) -> PathBuf {
        self.dir.join(FileName::Sst(record.number).to_string())
    }

    /// The error, with the set that it is about.
    pub fn in_set(&self, error: Error) -> Error {
        let message = format!(
            "the files in {} cannot be taken in; nothing was changed",
            self.dir.display()
        );
        Error::new(error.kind(), message).caused_by(error)
    }

    fn refuse_other_operator(&self, target: &KeyspaceParts) -> Result<()> {
        let options = target.options();
        let here = options.merge.as_ref().map(|rule| rule.0.name());
        let there = self.state.merge_name.as_deref();
        if here == there {
            return Ok(());
        }
        let told = |name: Option<&str>| name.map_or("none".to_string(), |name| format!("{name:?}"));
        Err(self.in_set(Error::invalid(format!(
            "their operands are for merge operator {}, and keyspace {:?} has {}",
            told(there),
            target.name,
            told(here)
        ))))
    }
}

/// Opens a file that a set lists.
pub fn open_listed(fs: &dyn Fs, path: &Path) -> Result<Arc<dyn ReadFile>> {
    fs.open_read(path)
        .map_err(|error| match error.is_missing_file() {
            true => Error::corruption("a file of the set is missing").in_file(path.display()),
            false => error,
        })
}

fn keyspace_of<'a>(
    set: &'a FileSet,
    dir: &Path,
    name: Option<&str>,
) -> Result<&'a Arc<KeyspaceState>> {
    let place = dir.display();
    let mut all = set.version.keyspaces.values();
    if let Some(name) = name {
        let found = all.find(|state| &*state.name == name);
        return found.ok_or_else(|| Error::invalid(format!("{place} has no keyspace {name:?}")));
    }
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Error::corruption(format!("{place} lists no keyspace"))),
        (Some(_), Some(_)) => {
            let names = set.version.keyspaces.values();
            let names: Vec<_> = names.map(|state| format!("{:?}", state.name)).collect();
            Err(Error::invalid(format!(
                "{place} holds several keyspaces: {}; name the one that is meant",
                names.join(", ")
            )))
        }
    }
}

fn refuse_other_order(state: &KeyspaceState, target: &KeyspaceParts) -> Result<()> {
    let options = target.options();
    let (there, here) = (state.comparator_name(), options.comparator.name());
    if there == here {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!(
            "the files have their keys in the order {there:?}, and keyspace {:?} in the order \
             {here:?}; nothing was changed",
            target.name
        ),
    ))
}
