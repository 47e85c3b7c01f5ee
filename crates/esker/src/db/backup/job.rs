//! One repair on its way: what it found, and the steps that both ways of repairing take.

use std::path::Path;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::db::backup::lost::Lost;
use crate::db::backup::report::{LostFile, MendedSegment, RepairReport};
use crate::db::backup::salvage::Salvage;
use crate::db::backup::salvage_file::Saved;
use crate::db::backup::segments::{Segments, mend_head};
use crate::db::backup::survey::Listing;
use crate::env::bundle::Env;
use crate::flow::write::carried_segment::write_prepared;
use crate::flow::write::replay::ReplayReport;
use crate::store::batch::prepared_log::LoggedPrepare;
use crate::store::names::FileName;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::format::{MILLIS_FORMAT, TWO_PHASES_FORMAT};
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::{Orders, Version};
use crate::store::vlog::format::SegmentHead;

/// Room of the empty segment with which the log of a repaired database begins: one block.
const FIRST_SEGMENT_BYTES: u64 = 32 << 10;

/// The change that takes the mark of a keyspace away.
pub fn no_mark(keyspace: KeyspaceId) -> Change {
    let mark = Bytes::default();
    Change::SetMark { keyspace, mark }
}

/// One repair on its way.
pub struct Job<'a> {
    /// The world.
    pub env: &'a Env,
    /// The database.
    pub dir: &'a Path,
    /// Orders that keyspaces may have their keys in.
    pub comparators: &'a Orders,
    /// Whether nothing is to be written.
    pub is_dry_run: bool,
    /// What was found.
    pub report: RepairReport,
    /// Numbers of new files.
    pub numbers: Arc<FileNumbers>,
    /// What lay in the directory before.
    pub listing: Listing,
}

impl Job<'_> {
    /// Where numbers of new files come from, if any may be written.
    pub fn numbers(&self) -> Option<&Arc<FileNumbers>> {
        (!self.is_dry_run).then_some(&self.numbers)
    }

    /// Notes a sorted file of which `saved` is what could be saved.
    pub fn note_saved(&mut self, mut lost: LostFile, keyspace: &str, saved: &mut Saved) {
        for mut values in std::mem::take(&mut saved.values) {
            values.keyspace = keyspace.into();
            self.report.lost_values.push(values);
        }
        if let Some(cause) = &saved.cause {
            lost.cause = cause.to_string();
            lost.saved_entry_count = saved.entry_count;
            if saved.entry_count > 0 {
                lost.gaps = std::mem::take(&mut saved.gaps);
            }
            self.report.lost_files.push(lost);
        }
    }

    /// Puts what is intact of the log into files, as far as an open would read it if one has
    /// `accepted` it; the log begins anew with an empty segment.
    pub fn salvage(
        &mut self,
        version: &Version,
        (wals, accepted): (&[FileNumber], Option<&ReplayReport>),
        segments: &mut Segments<'_>,
    ) -> Result<Edit> {
        let salvage = Salvage::new(self.env, self.dir, version, self.numbers(), segments);
        let salvage = salvage.ending(accepted);
        let salvaged = salvage.run(wals)?;
        self.report.log = salvaged.state;
        self.report.lost_values.extend(salvaged.lost_values);
        let mut edit = salvaged.edit;
        if self.is_dry_run {
            return Ok(edit);
        }
        let (fs, prepared) = (&*self.env.fs, &salvaged.prepared);
        if let Some(number) = write_prepared(fs, self.dir, prepared, || self.numbers.take())? {
            fs.sync_dir(self.dir)?;
            let version = match has_millis(prepared)? {
                true => MILLIS_FORMAT,
                false => TWO_PHASES_FORMAT,
            };
            edit.push(Change::SetFormat { version });
            edit.push(Change::SetFirstLog { number });
        } else {
            let number = self.numbers.take();
            let path = self.dir.join(FileName::Wal(number).to_string());
            let log = self.env.fs.open_log(&path, FIRST_SEGMENT_BYTES)?;
            log.syncer().sync()?;
            self.env.fs.sync_dir(self.dir)?;
            edit.push(Change::SetFirstLog { number });
        }
        Ok(edit)
    }

    /// Notes the segments of the value log that need a new head.
    pub fn note_heads(&mut self, segments: &Segments<'_>) {
        let broken = segments.broken_heads();
        let mended = broken.map(|(number, error)| MendedSegment {
            name: FileName::Vlog(number).to_string(),
            cause: error.to_string(),
        });
        self.report.mended_segments = mended.collect();
    }

    /// Gives segments of the value log second names where something else may lose them, and new
    /// heads where they need them.
    ///
    /// What is taken out may point into any segment, and the next opening removes those that
    /// nothing points into any more.
    pub fn keep_values(
        &self,
        lost: &mut Lost<'_>,
        segments: &Segments<'_>,
        database_id: [u8; 16],
    ) -> Result<()> {
        let report = &self.report;
        let broken: Vec<FileNumber> = segments.broken_heads().map(|(number, _)| number).collect();
        let is_any_lost = !report.lost_files.is_empty()
            || !report.lost_values.is_empty()
            || report.log.is_salvaged;
        for &number in &self.listing.vlogs {
            if is_any_lost || broken.contains(&number) {
                lost.keep_copy(FileName::Vlog(number).to_string())?;
            }
        }
        for number in broken {
            let head = SegmentHead {
                number,
                database_id,
            };
            let temporary = FileName::Temporary(self.numbers.take());
            mend_head(&*self.env.fs, self.dir, head, temporary)?;
        }
        Ok(())
    }
}

// Whether something that is prepared has an expiry with milliseconds.
fn has_millis(prepared: &[LoggedPrepare]) -> Result<bool> {
    for one in prepared {
        for entry in one.read()?.entries.entries() {
            if entry?.trailer.kind().has_millis() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
