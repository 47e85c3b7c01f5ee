//! Repair of a database without a manifest: a new one is made for what the files come to.

use std::collections::BTreeSet;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::db::backup::claims::Claims;
use crate::db::backup::job::{Job, no_mark};
use crate::db::backup::lost::Lost;
use crate::db::backup::rebuild::{Sorted, merge_files, sort_files, version_of};
use crate::db::backup::report::KeptKeyspace;
use crate::db::backup::salvage::keyspaces_in;
use crate::db::backup::salvage_file::FileExaminer;
use crate::db::backup::segments::Segments;
use crate::db::log_survey::survey_log;
use crate::flow::write::chain::{chain, first_unbroken};
use crate::store::names::FileName;
use crate::store::sst::saving::only_damage;
use crate::store::version::apply::apply;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::manifest::Manifest;
use crate::store::version::needed_format::take_format;
use crate::store::version::remains::Remains;
use crate::store::version::state::Version;

/// Makes a new manifest for what sorted files and log come to; `remains` is what can still be read
/// of an old one, and keyspaces may have their keys in one of `comparators`.
pub fn remake(
    job: &mut Job<'_>,
    mut remains: Option<Box<Remains>>,
    comparators: &[Comparator],
) -> Result<()> {
    let (env, dir) = (job.env, job.dir);
    let fs = &env.fs;
    let claims = Claims::read(job, remains.as_deref_mut(), comparators)?;
    let remains = remains.as_deref();
    if let Some(remains) = remains {
        job.numbers.skip(remains.version.next_file);
    }
    let vlogs = job.listing.vlogs.clone();
    let mut examiner = FileExaminer::new(env, dir, Segments::new(&**fs, dir, &vlogs));
    let sorted = sort_files(job, &mut examiner, (&claims, remains), comparators)?;
    let mut segments = examiner.segments;
    // The edits that raised it may be lost.
    let first_log = remains.map_or(FileNumber(0), |remains| remains.version.first_log);
    let mut wals = job.listing.wals.clone();
    wals.retain(|number| *number >= first_log);
    let in_log = keyspaces_in(&**fs, dir, &wals)?;
    let mut version = version_of(env, job.comparators, (&claims, remains), &sorted, &in_log)?;
    job.numbers.skip(version.next_file);
    version.first_log = first_unbroken(&chain(&**fs, dir, &wals)?).unwrap_or(FileNumber(0));
    job.count_sound(&version, &sorted);
    let mut leaving: BTreeSet<FileNumber> = sorted.obsolete.iter().copied().collect();
    let is_sound: BTreeSet<FileNumber> = sorted
        .sound
        .values()
        .flatten()
        .map(|file| file.record().number)
        .collect();
    let ssts = job.listing.ssts.iter();
    leaving.extend(ssts.filter(|number| !is_sound.contains(number)));
    let mut edit = job.forget_marks(&version);
    if !job.is_dry_run {
        job.refuse_full_disk(&sorted)?;
        let (files, merged) = merge_files(env, dir, &version, &sorted, &job.numbers)?;
        edit.extend(files);
        leaving.extend(merged);
    }
    let accepted = only_damage(survey_log(fs, dir, &version, &wals))?.ok();
    // Also what lies before a break in the log: where it is in no sorted file, it was needed.
    let log = (&wals[..], accepted.as_ref());
    edit.extend(job.salvage(&version, log, &mut segments)?);
    job.note_heads(&segments);
    let names = job.names_leaving(leaving);
    job.report.moved.clone_from(&names);
    if job.is_dry_run {
        return Ok(());
    }
    let mut lost = Lost::new(&**fs, dir);
    let is_current = |name: &String| *name == FileName::Current.to_string();
    lost.save(names.into_iter().filter(|name| !is_current(name)))?;
    job.keep_values(&mut lost, &segments, version.identity.database_id)?;
    let first = apply(&version, &job.completed(edit, version.format_version))?;
    first.check()?;
    if job.listing.has_current {
        lost.keep_copy(FileName::Current.to_string())?;
        fs.remove_file(&dir.join(FileName::Current.to_string()))?;
        fs.sync_dir(dir)?;
    }
    Manifest::create(fs.clone(), dir, first)?;
    lost.remove_saved()
}

impl Job<'_> {
    // Which edits are lost nobody knows, and so not what the files lack of what was written.
    fn forget_marks(&mut self, version: &Version) -> Edit {
        let marked = version.keyspaces.values();
        let marked = marked.filter(|state| state.mark.is_some());
        let names = marked.clone().map(|state| state.name.to_string());
        self.report.forgotten_marks = names.collect();
        marked.map(|state| no_mark(state.id)).collect()
    }

    // All that is not taken over: those sorted files, and what was the log and the manifest.
    fn names_leaving(&self, ssts: BTreeSet<FileNumber>) -> Vec<String> {
        let names = ssts.into_iter().map(FileName::Sst);
        let wals = self.listing.wals.iter().copied();
        let names = names.chain(wals.map(FileName::Wal));
        let manifests = self.listing.manifests.iter();
        let names = names.chain(manifests.map(|number| FileName::Manifest(*number)));
        let mut names: Vec<String> = names.map(|name| name.to_string()).collect();
        if self.listing.has_current {
            names.push(FileName::Current.to_string());
        }
        names
    }

    // With the numbers that are given out, and the format that its files need.
    fn completed(&self, mut edit: Edit, format_version: u32) -> Edit {
        edit.push(Change::SetNextFile {
            number: self.numbers.peek(),
        });
        let raised = take_format(&mut edit, format_version);
        edit.extend(raised);
        edit
    }

    fn count_sound(&mut self, version: &Version, sorted: &Sorted) {
        for (id, state) in version.keyspaces.iter() {
            let mut kept = KeptKeyspace {
                name: state.name.to_string(),
                ..KeptKeyspace::default()
            };
            for file in sorted.sound.get(id).into_iter().flatten() {
                kept.file_count += 1;
                kept.size_bytes += file.record().size_bytes;
                kept.entry_count += file.record().entry_count;
            }
            if let Some(saved) = sorted.saved.get(id) {
                kept.entry_count += saved.entry_count;
            }
            self.report.kept.push(kept);
        }
    }

    fn refuse_full_disk(&self, sorted: &Sorted) -> Result<()> {
        let free = self.env.fs.free_bytes(self.dir)?;
        let needed = sorted.sound_bytes();
        if free >= needed {
            return Ok(());
        }
        let message = format!(
            "merging the sorted files takes up to {needed} bytes and {free} are free; make room"
        );
        Err(Error::new(ErrorKind::OutOfSpace, message))
    }
}
