//! The runs of one keyspace, level by level.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, Level};
use crate::base::types::limits::LEVEL_COUNT;
use crate::store::version::file::FileRecord;
use crate::store::version::run::{Run, RunId};
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// Levels below level 0: each is one run.
const SORTED_LEVEL_COUNT: usize = LEVEL_COUNT - 1;

/// The runs of one keyspace, level by level. Cheap to clone: a clone shares every run.
///
/// Law of level 0: of two of its runs the newer one comes first, and where they hold the same
/// key, every entry of the newer run is newer. Runs that do not overlap in keys may mix their
/// sequence numbers; all others may not, so whoever adopts files from outside first seals the
/// memtable that they overlap.
#[derive(Clone, Debug)]
pub struct Levels {
    l0: Vec<Run>,
    sorted: [Run; SORTED_LEVEL_COUNT],
    /// Summed up when somebody asks first: each flush asks it of all keyspaces, most of which are
    /// as they were.
    values: OnceLock<ValueLiveBytes>,
}

/// What one edit does to the files of one keyspace. Removals take effect before additions.
#[derive(Clone, Debug, Default)]
pub struct LevelsEdit {
    /// Files that go, and from where.
    pub removed: Vec<(Level, FileNumber)>,
    /// Files that come; the run identity counts in level 0 only.
    pub added: Vec<(Level, RunId, Arc<FileRecord>)>,
}

impl LevelsEdit {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }
}

impl Default for Levels {
    fn default() -> Levels {
        Levels {
            l0: Vec::new(),
            sorted: std::array::from_fn(|_| Run::empty(0)),
            values: OnceLock::new(),
        }
    }
}

impl Levels {
    /// The runs of level 0, newest first; none of them is empty.
    pub fn l0(&self) -> &[Run] {
        &self.l0
    }

    /// The one run of a level below level 0.
    ///
    /// # Panics
    /// For level 0, which has many: see [`Levels::l0`] and [`Levels::runs`].
    pub fn run(&self, level: Level) -> &Run {
        assert!(level != Level::ZERO);
        &self.sorted[level.index() - 1]
    }

    /// The runs of any level, newest first.
    pub fn runs(&self, level: Level) -> &[Run] {
        if level == Level::ZERO {
            &self.l0
        } else {
            std::slice::from_ref(self.run(level))
        }
    }

    /// Every run that has files, in the order in which a read asks them: newest entries first.
    pub fn all_runs(&self) -> impl Iterator<Item = (Level, &Run)> {
        Level::all()
            .flat_map(|level| self.runs(level).iter().map(move |run| (level, run)))
            .filter(|(_, run)| !run.is_empty())
    }

    /// Every file with its level, in the order of [`Levels::all_runs`].
    pub fn files(&self) -> impl Iterator<Item = (Level, &Arc<FileRecord>)> {
        self.all_runs()
            .flat_map(|(level, run)| run.files().iter().map(move |file| (level, file)))
    }

    /// How many files there are.
    pub fn file_count(&self) -> usize {
        self.all_runs().map(|(_, run)| run.files().len()).sum()
    }

    /// Size of one level, in bytes.
    pub fn size_bytes(&self, level: Level) -> u64 {
        Run::total_bytes(self.runs(level))
    }

    /// Size of all levels, in bytes.
    pub fn total_size_bytes(&self) -> u64 {
        Level::all().map(|level| self.size_bytes(level)).sum()
    }

    /// Bytes of the value log that the files point to, by segment.
    pub fn values(&self) -> &ValueLiveBytes {
        self.values.get_or_init(|| {
            let mut live: BTreeMap<FileNumber, u64> = BTreeMap::new();
            for (segment, bytes) in self.files().flat_map(|(_, file)| file.values.iter()) {
                *live.entry(segment).or_default() += bytes;
            }
            live.into_iter().collect()
        })
    }

    /// The deepest level that has files.
    pub fn deepest(&self) -> Option<Level> {
        Level::all()
            .rev()
            .find(|level| self.runs(*level).iter().any(|run| !run.is_empty()))
    }

    /// Whether no deeper level than that has files.
    pub fn is_bottom(&self, level: Level) -> bool {
        self.deepest().is_none_or(|deepest| deepest <= level)
    }

    /// Where the file of that number is.
    pub fn find_file(&self, number: FileNumber) -> Option<(Level, &Arc<FileRecord>)> {
        self.files().find(|(_, file)| file.number == number)
    }

    /// The levels with one more file. Errors as in [`Levels::edited`].
    pub fn with(
        &self,
        comparator: &Comparator,
        level: Level,
        run: RunId,
        file: Arc<FileRecord>,
    ) -> Result<Levels> {
        self.edited(
            comparator,
            LevelsEdit {
                removed: Vec::new(),
                added: vec![(level, run, file)],
            },
        )
    }

    /// The levels without one file. Errors as in [`Levels::edited`].
    pub fn without(
        &self,
        comparator: &Comparator,
        level: Level,
        number: FileNumber,
    ) -> Result<Levels> {
        self.edited(
            comparator,
            LevelsEdit {
                removed: vec![(level, number)],
                added: Vec::new(),
            },
        )
    }

    /// The levels after an edit. Runs that it does not name are shared with these.
    ///
    /// Errors: `Corruption` when a removed file is not at its level, an added one is there
    /// already, files of a run would overlap, or level 0 would break its law.
    pub fn edited(&self, comparator: &Comparator, edit: LevelsEdit) -> Result<Levels> {
        let mut next = Levels {
            l0: self.l0.clone(),
            sorted: self.sorted.clone(),
            values: OnceLock::new(),
        };
        for level in Level::all() {
            let gone = edit.removed.iter().filter(|(at, _)| *at == level);
            let gone: Vec<FileNumber> = gone.map(|(_, number)| *number).collect();
            let come = edit.added.iter().filter(|(at, _, _)| *at == level);
            let come: Vec<_> = come
                .map(|(_, run, file)| (*run, Arc::clone(file)))
                .collect();
            if gone.is_empty() && come.is_empty() {
                continue;
            }
            let edited = if level == Level::ZERO {
                self.edited_l0(comparator, &gone, come)
                    .map(|runs| next.l0 = runs)
            } else {
                let files = come.into_iter().map(|(_, file)| file).collect();
                self.run(level)
                    .edited(comparator, &gone, files)
                    .map(|run| next.sorted[level.index() - 1] = run)
            };
            edited.map_err(|error| Error::corruption(format!("level {level}")).caused_by(error))?;
        }
        if !edit.added.is_empty() {
            next.check_numbers()?;
        }
        Ok(next)
    }

    fn edited_l0(
        &self,
        comparator: &Comparator,
        gone: &[FileNumber],
        come: Vec<(RunId, Arc<FileRecord>)>,
    ) -> Result<Vec<Run>> {
        let mut runs = self.l0.clone();
        let mut touched: Vec<Touched> = Vec::new();
        for &number in gone {
            let index = runs.iter().position(|run| run.file(number).is_some());
            let index = index.ok_or_else(|| {
                Error::corruption(format!("file {number} is removed but not there"))
            })?;
            touch(&mut touched, index).0.push(number);
        }
        for (id, file) in come {
            let known = runs.iter().position(|run| run.id() == id);
            let index = known.unwrap_or_else(|| {
                runs.push(Run::empty(id));
                runs.len() - 1
            });
            touch(&mut touched, index).1.push(file);
        }
        for (index, gone, come) in touched {
            runs[index] = runs[index].edited(comparator, &gone, come)?;
        }
        runs.retain(|run| !run.is_empty());
        runs.sort_by_key(|run| std::cmp::Reverse((run.largest_seqno(), run.id())));
        check_l0(comparator, &runs)?;
        Ok(runs)
    }

    /// Refuses levels that break a law: overlap within a run, a file that is there twice, runs
    /// of level 0 that mix. What [`Levels::edited`] returns has been checked.
    pub fn check(&self, comparator: &Comparator) -> Result<()> {
        for (_, run) in self.all_runs() {
            Run::new(run.id(), comparator, run.files().to_vec())?;
        }
        check_l0(comparator, &self.l0)?;
        self.check_numbers()
    }

    fn check_numbers(&self) -> Result<()> {
        let mut seen = HashSet::with_capacity(self.file_count());
        match self.files().find(|(_, file)| !seen.insert(file.number)) {
            None => Ok(()),
            Some((level, file)) => Err(Error::corruption(format!(
                "file {} is at level {level} and somewhere else as well",
                file.number
            ))),
        }
    }
}

type Touched = (usize, Vec<FileNumber>, Vec<Arc<FileRecord>>);

// What goes from and comes to the run at `index`; an edit touches few runs, so a list will do.
fn touch(
    touched: &mut Vec<Touched>,
    index: usize,
) -> (&mut Vec<FileNumber>, &mut Vec<Arc<FileRecord>>) {
    let place = touched.iter().position(|(at, _, _)| *at == index);
    let place = place.unwrap_or_else(|| {
        touched.push((index, Vec::new(), Vec::new()));
        touched.len() - 1
    });
    let (_, gone, come) = &mut touched[place];
    (gone, come)
}

// The runs come newest first by their largest seqno, so as soon as one lies wholly below the
// run in question, all behind it do: the usual cost is one comparison a run.
fn check_l0(comparator: &Comparator, runs: &[Run]) -> Result<()> {
    for (index, newer) in runs.iter().enumerate() {
        let older_runs = runs.get(index + 1..).unwrap_or_default();
        for older in older_runs {
            if older.largest_seqno() < newer.smallest_seqno() {
                break;
            }
            if newer.overlaps(comparator, older) {
                let (newer, older) = (newer.id(), older.id());
                return Err(Error::corruption(format!(
                    "runs {newer} and {older} of level 0 overlap in keys and in sequence numbers"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
