//! Removes files that no version needs.

use crate::base::stats::statistics::Ticker;
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::db::core::Core;
use crate::flow::file_events;
use crate::flow::values::segments::SegmentSize;
use crate::store::names::FileName;
use crate::store::version::numbers::is_given_out;

/// Removes obsolete files that nobody reads any more. A file that cannot be removed now is found
/// again at the next open, so a failure here harms nothing and is only counted.
pub fn remove_obsolete(core: &Core) {
    for number in core
        .obsolete_files
        .take_free(|| core.history.files_in_use())
    {
        core.files.forget(number);
        if remove(core, FileName::Sst(number)).is_ok() {
            core.statistics.add(Ticker::FilesRemoved, 1);
        }
    }
    remove_dead_values(core);
}

/// Removes segments of the value log that nobody points into any more; errors as above.
pub fn remove_dead_values(core: &Core) {
    // Beside a writer the segments are the writer's.
    let is_writer = core.lock.lock().is_ok_and(|lock| lock.is_some());
    if !is_writer || core.values.is_empty() {
        return;
    }
    // After a failed edit nobody knows whether it is on the disk, and what it points to is needed
    // if it is. The next open finds out.
    if core.gate.fault().is_some() {
        return;
    }
    let used = || core.history.value_segments_in_use();
    let dead = core.values.take_dead(used);
    // Without any live bytes, and still there: only a reader keeps these.
    let live = core.history.peek().live_values();
    let settled = core.values.settled();
    let is_dying = |segment: &SegmentSize| live.of(segment.number) == 0;
    core.values.set_dying(settled.iter().any(is_dying));
    for number in dead {
        core.values.values().forget(number);
        if remove(core, FileName::Vlog(number)).is_ok() {
            core.statistics.add(Ticker::FilesRemoved, 1);
        }
    }
}

fn remove(core: &Core, name: FileName) -> Result<()> {
    file_events::remove(&core.events, &*core.env.fs, &core.dir, name)
}

/// Removes finished outputs of work that came to nothing.
pub fn remove_orphans(core: &Core, numbers: impl IntoIterator<Item = FileNumber>) {
    numbers
        .into_iter()
        .for_each(|number| core.obsolete_files.add(number));
    remove_obsolete(core);
}

/// Removes everything in the directory that belongs to no part of the database: outputs of work
/// that a crash cut short, older manifests, temporary files, segments that hold nothing.
pub fn clean_directory(
    core: &Core,
    live_segments: &[FileNumber],
    manifest: FileNumber,
) -> Result<()> {
    let in_use = core.history.files_in_use();
    let dead_values = core
        .values
        .take_dead(|| core.history.value_segments_in_use());
    let mut dead_segments = Vec::new();
    let next = core.numbers.peek();
    let ours = |name: &FileName| {
        name.number()
            .is_none_or(|number| is_given_out(number, next))
    };
    let names = core.env.fs.list(&core.dir)?;
    for name in names.iter().filter_map(|name| FileName::parse(name)) {
        if !ours(&name) {
            continue;
        }
        let is_dead = match name {
            FileName::Sst(number) => !in_use.contains(&number),
            FileName::Wal(number) => {
                if !live_segments.contains(&number) {
                    dead_segments.push(number);
                }
                false
            }
            FileName::Vlog(number) => dead_values.contains(&number),
            FileName::Manifest(number) => number != manifest,
            FileName::Temporary(_) | FileName::CurrentTemporary | FileName::CheckpointTemporary => {
                true
            }
            // The two files that are always needed.
            FileName::Current | FileName::Lock => false,
        };
        if is_dead {
            remove(core, name)?;
        }
    }
    // Newest first, each gone for good before the next: to a crash in between, a later segment
    // without the one before it would look like a log out of which a part is missing.
    dead_segments.sort_unstable();
    for number in dead_segments.into_iter().rev() {
        remove(core, FileName::Wal(number))?;
        core.env.fs.sync_dir(&core.dir)?;
    }
    Ok(())
}
