//! The directories of the simulated disk: what processes see, and what the disk has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::env::sim::crash::Survival;

/// A file of the simulated disk, whatever its names (an inode number).
pub type FileId = u64;

/// Directories by path, each with its file names. A directory's place is its path, not a name.
pub type Dirs = BTreeMap<PathBuf, BTreeMap<String, FileId>>;

/// The directories.
///
/// Shape: `now` is what every process sees; `durable` is on the medium for certain; `pending`
/// leads from one to the other, oldest first. A change happens whole or not at all.
#[derive(Clone, Debug)]
pub struct Tree {
    now: Dirs,
    durable: Dirs,
    pending: Vec<Change>,
}

#[derive(Clone, Debug)]
struct Change {
    call: u64,
    steps: Vec<Step>,
}

/// One part of a change of directories.
#[derive(Clone, Debug)]
pub enum Step {
    /// A name comes to stand for a file.
    Link(PathBuf, String, FileId),
    /// A name ends, if it stands for that file.
    Unlink(PathBuf, String, FileId),
    /// A directory ends, if it is empty.
    RemoveDir(PathBuf),
}

impl Tree {
    /// A tree whose entries are all durable.
    pub fn durable(dirs: Dirs) -> Tree {
        let mut dirs = dirs;
        // Where absolute and relative paths begin is always there.
        dirs.entry(PathBuf::from("/")).or_default();
        dirs.entry(PathBuf::new()).or_default();
        Tree {
            now: dirs.clone(),
            durable: dirs,
            pending: Vec::new(),
        }
    }

    /// The files of a directory that processes see; `None` if there is no such directory.
    pub fn dir(&self, dir: &Path) -> Option<&BTreeMap<String, FileId>> {
        self.now.get(dir)
    }

    /// The file that processes see under a name.
    pub fn file(&self, dir: &Path, name: &str) -> Option<FileId> {
        self.now.get(dir)?.get(name).copied()
    }

    /// The names of directories right below `dir`.
    pub fn dirs_below(&self, dir: &Path) -> impl Iterator<Item = String> {
        self.now
            .keys()
            .filter(move |path| path.parent() == Some(dir))
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
    }

    /// Makes a directory, at once durable.
    pub fn create_dir(&mut self, dir: &Path) {
        for change in &mut self.pending {
            let is_other = |step: &Step| !matches!(step, Step::RemoveDir(path) if path == dir);
            change.steps.retain(is_other);
        }
        self.now.entry(dir.to_owned()).or_default();
        self.durable.entry(dir.to_owned()).or_default();
    }

    /// Changes what processes see; durable after [`Tree::sync_dir`].
    pub fn change(&mut self, call: u64, steps: Vec<Step>) {
        apply(&mut self.now, &steps);
        self.pending.push(Change { call, steps });
    }

    /// Makes the changes of a directory durable; and with them the earlier changes of other
    /// directories that they build on, as a journal would.
    pub fn sync_dir(&mut self, dir: &Path) {
        let mut touched = BTreeSet::from([dir.to_owned()]);
        let mut is_chosen = vec![false; self.pending.len()];
        for (change, is_chosen) in self.pending.iter().zip(&mut is_chosen).rev() {
            let dirs: Vec<PathBuf> = change.steps.iter().flat_map(dirs_of).collect();
            if dirs.iter().any(|dir| touched.contains(dir)) {
                *is_chosen = true;
                touched.extend(dirs);
            }
        }
        let pending = std::mem::take(&mut self.pending);
        for (change, is_chosen) in pending.into_iter().zip(is_chosen) {
            if is_chosen {
                apply(&mut self.durable, &change.steps);
            } else {
                self.pending.push(change);
            }
        }
    }

    /// Every file that has a name, or may have one after a power cut.
    pub fn named_files(&self) -> BTreeSet<FileId> {
        let linked = self.pending.iter().flat_map(|change| &change.steps);
        let linked = linked.filter_map(|step| match step {
            Step::Link(_, _, id) => Some(*id),
            Step::Unlink(..) | Step::RemoveDir(_) => None,
        });
        let named = self.now.values().chain(self.durable.values());
        named
            .flat_map(|dir| dir.values().copied())
            .chain(linked)
            .collect()
    }

    /// What the medium has after a power cut.
    pub fn image(&self, survival: &mut Survival) -> Dirs {
        let mut image = self.durable.clone();
        let calls: Vec<u64> = self.pending.iter().map(|change| change.call).collect();
        let ordered_limit = survival.ordered_limit(&calls);
        for change in &self.pending {
            let limit = ordered_limit.unwrap_or_else(|| survival.limit(&[change.call]));
            if change.call <= limit {
                apply(&mut image, &change.steps);
            }
        }
        image
    }
}

fn apply(dirs: &mut Dirs, steps: &[Step]) {
    for step in steps {
        match step {
            Step::Link(dir, name, id) => {
                // The directory may be gone when its removal survived and this change did too.
                if let Some(dir) = dirs.get_mut(dir) {
                    dir.insert(name.clone(), *id);
                }
            }
            Step::Unlink(dir, name, id) => {
                if let Some(dir) = dirs.get_mut(dir)
                    && dir.get(name) == Some(id)
                {
                    dir.remove(name);
                }
            }
            Step::RemoveDir(dir) => {
                let has_dirs = dirs.keys().any(|path| path.parent() == Some(dir));
                if !has_dirs && dirs.get(dir).is_some_and(BTreeMap::is_empty) {
                    dirs.remove(dir);
                }
            }
        }
    }
}

// The directories whose sync makes a step durable.
fn dirs_of(step: &Step) -> Vec<PathBuf> {
    match step {
        Step::Link(dir, ..) | Step::Unlink(dir, ..) => vec![dir.clone()],
        Step::RemoveDir(dir) => {
            let parent = dir.parent().map(Path::to_owned);
            parent.into_iter().chain([dir.clone()]).collect()
        }
    }
}
