//! Repair of a database whose manifest is whole: damaged files give way to what is whole of them.

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, Level};
use crate::db::backup::job::{Job, no_mark};
use crate::db::backup::log_check::{LogCheck, check_log};
use crate::db::backup::lost::Lost;
use crate::db::backup::report::{KeptKeyspace, LostFile};
use crate::db::backup::runs::output_settings;
use crate::db::backup::salvage_file::{FileExaminer, FileState};
use crate::db::backup::segments::Segments;
use crate::db::log_survey::may_be_of_log;
use crate::store::names::FileName;
use crate::store::version::current::{draft_current, swap_current};
use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;
use crate::store::version::identity::Known;
use crate::store::version::manifest::Manifest;
use crate::store::version::needed_format::take_format;
use crate::store::version::state::{KeyspaceState, Version};

/// Replaces damaged files of a version that is known, and reads a damaged log. `current` is the
/// manifest that CURRENT must name again.
pub fn mend(job: &mut Job<'_>, version: &Version, current: Option<FileNumber>) -> Result<()> {
    let (env, dir) = (job.env, job.dir);
    job.numbers.skip(version.next_file);
    let vlogs = job.listing.vlogs.clone();
    let mut examiner = FileExaminer::new(env, dir, Segments::new(&*env.fs, dir, &vlogs));
    let mut work = Replacement {
        database_id: version.identity.database_id,
        ..Replacement::default()
    };
    for state in version.keyspaces.values() {
        let mut kept = KeptKeyspace {
            name: state.name.to_string(),
            ..KeptKeyspace::default()
        };
        for (level, record) in state.levels.files() {
            job.mend_file((state, level, record), &mut examiner, &mut kept, &mut work)?;
        }
        job.forget_mark(state, &mut work.edit);
        job.report.kept.push(kept);
    }
    let Replacement {
        mut edit,
        mut leaving,
        ..
    } = work;
    let mut segments = examiner.segments;
    let wals = job.segments_of(version);
    let log = check_log(env, dir, version, &wals, &mut segments)?;
    if !matches!(log, LogCheck::Whole(_)) {
        let log = (&wals[..], log.accepted());
        edit.extend(job.salvage(version, log, &mut segments)?);
        let names = wals.iter().map(|number| FileName::Wal(*number).to_string());
        leaving.extend(names);
    } else {
        job.report.log.segment_count = wals.len();
        job.report.log.prepared = log.prepared()?;
    }
    job.note_heads(&segments);
    job.report.moved.clone_from(&leaving);
    if job.is_dry_run || job.report.is_whole() {
        return Ok(());
    }
    let mut lost = Lost::new(&*env.fs, dir);
    lost.save(leaving)?;
    job.keep_values(&mut lost, &segments, version.identity.database_id)?;
    if let Some(number) = current {
        if job.listing.has_current {
            lost.keep_copy(FileName::Current.to_string())?;
        }
        draft_current(&*env.fs, dir, number, 0)?;
        swap_current(&*env.fs, dir)?;
    }
    if !edit.is_empty() {
        edit.push(Change::SetNextFile {
            number: job.numbers.peek(),
        });
        let (mut manifest, _, _) = Manifest::recover(env.fs.clone(), dir, job.comparators)?;
        if let Some(raised) = take_format(&mut edit, version.format_version) {
            manifest.append(&[raised])?;
        }
        manifest.append(&edit)?;
    }
    lost.remove_saved()
}

/// What comes of files that are replaced.
#[derive(Default)]
struct Replacement {
    edit: Edit,
    /// Names of files that leave the database.
    leaving: Vec<String>,
    /// By what the database is known.
    database_id: [u8; 16],
}

impl Job<'_> {
    // What is left of a keyspace that lost a file is not all that was written up to its mark.
    fn forget_mark(&mut self, state: &KeyspaceState, edit: &mut Edit) {
        let is_of_it = |change: &Change| match change {
            Change::RemoveFile { keyspace, .. } => *keyspace == state.id,
            _ => false,
        };
        if state.mark.is_some() && edit.iter().any(is_of_it) {
            self.report.forgotten_marks.push(state.name.to_string());
            edit.push(no_mark(state.id));
        }
    }

    fn mend_file(
        &mut self,
        file: (&KeyspaceState, Level, &FileRecord),
        examiner: &mut FileExaminer<'_>,
        kept: &mut KeptKeyspace,
        work: &mut Replacement,
    ) -> Result<()> {
        let (state, level, record) = file;
        let number = record.number;
        let lost = lost_file(state, record);
        let known = Known {
            keyspace: state.id,
            record,
        };
        let is_there = self.listing.ssts.binary_search(&number).is_ok();
        let found = match is_there {
            false => FileState::Lost(Error::corruption("the file is missing")),
            true => {
                let (numbers, id) = (self.numbers(), work.database_id);
                let settings = |_| {
                    let settings = numbers
                        .map(|numbers| output_settings(self.env, self.dir, numbers, (id, state)));
                    settings.transpose()
                };
                let examined =
                    examiner.examine(number, &state.comparator, Some(known), settings)?;
                examined.state
            }
        };
        if let FileState::Whole(_) = found {
            kept.file_count += 1;
            kept.size_bytes += record.size_bytes;
            kept.entry_count += record.entry_count;
            return Ok(());
        }
        work.edit.push(Change::RemoveFile {
            keyspace: state.id,
            level,
            number,
        });
        if is_there {
            work.leaving.push(FileName::Sst(number).to_string());
        }
        match found {
            FileState::Saved(mut saved) => {
                kept.entry_count += saved.entry_count;
                let run = run_of(state, level, number);
                let records = std::mem::take(&mut saved.records);
                work.edit
                    .extend(records.into_iter().map(|record| Change::AddFile {
                        keyspace: state.id,
                        level,
                        run,
                        record: record.into(),
                    }));
                self.note_saved(lost, &state.name, &mut saved);
            }
            FileState::Lost(error) => self.report.lost_files.push(LostFile {
                cause: match is_there {
                    true => error.to_string(),
                    false => error.message().into(),
                },
                ..lost
            }),
            FileState::Whole(_) => {}
        }
        Ok(())
    }

    fn segments_of(&self, version: &Version) -> Vec<FileNumber> {
        let wals = self.listing.wals.iter().copied();
        wals.filter(|wal| may_be_of_log(*wal, version)).collect()
    }
}

// The run of level 0 that the file is in; levels below have but one.
fn run_of(state: &KeyspaceState, level: Level, number: FileNumber) -> u64 {
    let mut runs = state.levels.runs(level).iter();
    let run = runs.find(|run| run.files().iter().any(|file| file.number == number));
    run.map_or(0, |run| run.id())
}

fn lost_file(state: &KeyspaceState, record: &FileRecord) -> LostFile {
    LostFile {
        name: FileName::Sst(record.number).to_string(),
        keyspace: Some(state.name.to_string()),
        keys: Some((record.smallest.clone(), record.largest.clone())),
        entry_count: Some(record.entry_count),
        saved_entry_count: 0,
        gaps: Vec::new(),
        cause: String::new(),
    }
}
