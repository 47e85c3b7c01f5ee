//! What a repair found and did, as plain data and as a page for people.

use std::fmt;

use crate::base::types::bytes::Bytes;

/// What a repair found, what it keeps and what is lost; what it did, unless it was a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// The directory.
    pub dir: String,
    /// Whether nothing was written.
    pub is_dry_run: bool,
    /// In what state the manifest is.
    pub manifest: ManifestState,
    /// What is kept, keyspace by keyspace.
    pub kept: Vec<KeptKeyspace>,
    /// Sorted files that are damaged or missing, with what is saved of them.
    pub lost_files: Vec<LostFile>,
    /// Values of the value log that are lost; their keys are deleted.
    pub lost_values: Vec<LostValues>,
    /// Unlogged keyspaces whose mark is taken away: what is left of them is perhaps not all that
    /// was written up to it.
    pub forgotten_marks: Vec<String>,
    /// Segments of the value log whose head is damaged; their values are not, and they get a new
    /// head.
    pub mended_segments: Vec<MendedSegment>,
    /// In what state the log is.
    pub log: LogState,
    /// Files of the directory that were moved into `lost`, or would be.
    pub moved: Vec<String>,
}

/// In what state the manifest is, and what is done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ManifestState {
    /// It is whole.
    #[default]
    Whole,
    /// CURRENT is damaged or missing, and this manifest is the newest and whole: it counts again.
    Found {
        /// Name of the manifest.
        name: String,
        /// What is wrong with CURRENT.
        cause: String,
    },
    /// No manifest can be used: a new one is made from the sorted files alone.
    Rebuilt {
        /// What is wrong with the manifest.
        cause: String,
        /// The manifest from which names and settings of keyspaces could still be read.
        names_from: Option<String>,
    },
}

/// What is kept of one keyspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptKeyspace {
    /// Its name; `recovered-` and its number where the name is lost.
    pub name: String,
    /// Sorted files that are whole.
    pub file_count: usize,
    /// Their size in bytes.
    pub size_bytes: u64,
    /// Their entries, older ones of the same keys and deletes among them.
    pub entry_count: u64,
}

/// A sorted file that is damaged or missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFile {
    /// Name of the file.
    pub name: String,
    /// Name of its keyspace, if known.
    pub keyspace: Option<String>,
    /// Smallest and largest key, if known.
    pub keys: Option<(Bytes, Bytes)>,
    /// Entries in it, if known.
    pub entry_count: Option<u64>,
    /// Entries of it that are saved, in new files.
    pub saved_entry_count: u64,
    /// Where entries of it are lost, if any were saved; else all of it is.
    pub gaps: Vec<KeyGap>,
    /// What is wrong with it.
    pub cause: String,
}

impl LostFile {
    /// Whether anything of it is lost.
    pub fn is_lossy(&self) -> bool {
        self.saved_entry_count == 0 || !self.gaps.is_empty()
    }
}

/// Where entries of a sorted file are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyGap {
    /// What is lost: a block, a page, a record, or several.
    pub what: String,
    /// The key from which on entries may be lost; `None` where nobody knows.
    pub after: Option<Bytes>,
    /// The key up to which entries may be lost, itself among them.
    pub before: Option<Bytes>,
    /// What is wrong.
    pub cause: String,
}

/// Values of keys side by side that are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostValues {
    /// The segment in which they lay.
    pub file: String,
    /// Name of the keyspace.
    pub keyspace: String,
    /// The first and the last key.
    pub keys: (Bytes, Bytes),
    /// How many values.
    pub count: u64,
    /// What is wrong with the first.
    pub cause: String,
}

/// A segment of the value log that gets a new head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MendedSegment {
    /// Name of the segment.
    pub name: String,
    /// What is wrong with its head.
    pub cause: String,
}

/// In what state the log is. One that is whole is left for the next open to read. One that an open
/// would end at a hole, as a power cut leaves it, is ended there, and what lies behind is lost. Of
/// one that an open would refuse everything intact is kept, behind holes too, and told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// Segments that may hold writes which are in no sorted file.
    pub segment_count: usize,
    /// Whether its writes are put into sorted files now, because an open could not read it.
    pub is_salvaged: bool,
    /// Batches that were put into sorted files.
    pub batch_count: u64,
    /// Writes in them that were in no sorted file before.
    pub entry_count: u64,
    /// What is not there any more.
    pub gaps: Vec<LogGap>,
    /// Bytes of the log that are lost, as far as they are known.
    pub lost_bytes: u64,
    /// Transactions that are prepared, and stay so.
    pub prepared: Vec<KeptPrepared>,
}

/// A prepared transaction that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPrepared {
    /// By what it is known.
    pub id: Vec<u8>,
    /// Its writes.
    pub entry_count: u64,
    /// Whether something of the log is lost behind it, so that it may have been committed or rolled
    /// back.
    pub is_in_doubt: bool,
}

/// A part of the log that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGap {
    /// Name of the segment.
    pub name: String,
    /// Where the lost part begins.
    pub offset: u64,
    /// Its length in bytes; `None` for a whole segment that is not there.
    pub len_bytes: Option<u64>,
    /// What is wrong.
    pub cause: String,
    /// Batches behind this part, up to the next one that is lost, which are intact and kept. They
    /// were written later than what is lost, and may rest on it.
    pub batches_behind: u64,
    /// Their writes that were in no sorted file before.
    pub entries_behind: u64,
}

impl RepairReport {
    /// Whether there is nothing to repair.
    pub fn is_whole(&self) -> bool {
        self.manifest == ManifestState::Whole
            && self.lost_files.is_empty()
            && self.lost_values.is_empty()
            && self.mended_segments.is_empty()
            && !self.log.is_salvaged
    }

    /// What is lost, and nothing else: a line for each thing, by keys where they are known, and
    /// below it what is wrong.
    pub fn losses(&self) -> Losses<'_> {
        Losses(self)
    }

    /// Whether anything that once was written may be gone.
    pub fn is_lossy(&self) -> bool {
        let is_rebuilt = matches!(self.manifest, ManifestState::Rebuilt { .. });
        is_rebuilt
            || self.lost_files.iter().any(LostFile::is_lossy)
            || !self.lost_values.is_empty()
            || !self.forgotten_marks.is_empty()
            || !self.log.gaps.is_empty()
    }
}

/// What is lost, as a page for people.
#[derive(Clone, Copy, Debug)]
pub struct Losses<'a>(&'a RepairReport);

impl fmt::Display for Losses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_lost(f)
    }
}

impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "database in {}", self.dir)?;
        writeln!(f, "\nfound")?;
        self.fmt_manifest(f)?;
        self.fmt_log(f)?;
        self.fmt_segments(f)?;
        writeln!(f, "\nkept")?;
        for kept in &self.kept {
            let KeptKeyspace {
                name,
                file_count,
                size_bytes,
                entry_count,
            } = kept;
            writeln!(
                f,
                "  keyspace {name:?}: {file_count} files, {size_bytes} bytes, {entry_count} entries"
            )?;
        }
        self.fmt_prepared(f)?;
        writeln!(f, "\nlost")?;
        self.fmt_lost(f)?;
        writeln!(f, "\nwhat to do\n  {}", self.advice())
    }
}

impl LostFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.name)?;
        if let Some(keyspace) = &self.keyspace {
            write!(f, ", keyspace {keyspace:?}")?;
        }
        if let Some((smallest, largest)) = &self.keys {
            let (smallest, largest) = (smallest.escape_ascii(), largest.escape_ascii());
            write!(f, ", keys \"{smallest}\" to \"{largest}\"")?;
        }
        if let Some(entry_count) = self.entry_count {
            write!(f, ", {entry_count} entries")?;
        }
        match self.saved_entry_count {
            0 => write!(f, ": all of it")?,
            saved if self.gaps.is_empty() => write!(f, ": nothing of it, {saved} saved")?,
            saved => write!(f, ": {saved} saved")?,
        }
        writeln!(f, "\n    {}", self.cause)?;
        for gap in &self.gaps {
            write!(f, "    {}", gap.what)?;
            if let Some(after) = &gap.after {
                write!(f, ", from key \"{}\"", after.escape_ascii())?;
            }
            if let Some(before) = &gap.before {
                write!(f, ", up to key \"{}\"", before.escape_ascii())?;
            }
            writeln!(f, ": {}", gap.cause)?;
        }
        Ok(())
    }
}

impl RepairReport {
    fn fmt_manifest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.manifest {
            ManifestState::Whole => writeln!(f, "  manifest: whole"),
            ManifestState::Found { name, cause } => {
                writeln!(f, "  manifest: {name} is whole and counts again")?;
                writeln!(f, "    {cause}")
            }
            ManifestState::Rebuilt { cause, names_from } => {
                writeln!(f, "  manifest: damaged; made anew from the sorted files")?;
                writeln!(f, "    {cause}")?;
                match names_from {
                    Some(name) => writeln!(f, "    names and settings: what is left of {name}"),
                    None => {
                        writeln!(f, "    settings and merge operators of keyspaces are lost;")?;
                        writeln!(
                            f,
                            "    those that were unlogged are logged, and have no mark;"
                        )?;
                        writeln!(
                            f,
                            "    `esker keyspaces operator` gives one its operator again"
                        )
                    }
                }
            }
        }
    }

    fn fmt_log(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = &self.log;
        let segment_count = log.segment_count;
        if !log.is_salvaged {
            return writeln!(f, "  log: {segment_count} segments, read at the next open");
        }
        writeln!(
            f,
            "  log: {segment_count} segments; {} intact batches, {} of their writes in no sorted \
             file before",
            log.batch_count, log.entry_count
        )
    }

    fn fmt_prepared(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kept in &self.log.prepared {
            let (id, count) = (kept.id.escape_ascii(), kept.entry_count);
            write!(f, "  prepared transaction \"{id}\": {count} writes")?;
            match kept.is_in_doubt {
                true => writeln!(f, "; whether it has ended may be lost: ask who prepared it")?,
                false => writeln!(f)?,
            }
        }
        Ok(())
    }

    fn fmt_segments(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for MendedSegment { name, cause } in &self.mended_segments {
            writeln!(
                f,
                "  {name}: gets a new head, and keeps its values\n    {cause}"
            )?;
        }
        Ok(())
    }

    fn fmt_lost(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lost_files.iter().try_for_each(|lost| lost.fmt(f))?;
        for lost in &self.lost_values {
            let LostValues {
                file,
                keyspace,
                keys: (first, last),
                count,
                cause,
            } = lost;
            write!(f, "  {file}, keyspace {keyspace:?}, ")?;
            let (first, last) = (first.escape_ascii(), last.escape_ascii());
            match count {
                1 => writeln!(f, "the value of key \"{first}\"")?,
                _ => writeln!(f, "{count} values of keys \"{first}\" to \"{last}\"")?,
            }
            writeln!(f, "    {cause}")?;
        }
        for keyspace in &self.forgotten_marks {
            writeln!(
                f,
                "  the mark of keyspace {keyspace:?}: some of what came before it may be missing"
            )?;
        }
        for gap in &self.log.gaps {
            write!(f, "  {} from offset {}", gap.name, gap.offset)?;
            if let Some(len_bytes) = gap.len_bytes {
                write!(f, ", {len_bytes} bytes")?;
            }
            writeln!(f, "\n    {}", gap.cause)?;
            if gap.batches_behind > 0 {
                writeln!(
                    f,
                    "    {} intact batches behind it are kept, {} of their writes in no sorted \
                     file before: they may rest on what is lost",
                    gap.batches_behind, gap.entries_behind
                )?;
            }
        }
        if matches!(self.manifest, ManifestState::Rebuilt { .. }) {
            let doubt = "which of two files is newer is not known without a manifest: what was \
                         deleted or merged shortly before may be there again";
            writeln!(f, "  {doubt}")?;
        } else if !self.is_lossy() {
            writeln!(f, "  nothing")?;
        }
        if !self.moved.is_empty() {
            let tense = if self.is_dry_run {
                "would move"
            } else {
                "moved"
            };
            writeln!(f, "  {tense} into lost: {}", self.moved.join(", "))?;
        }
        Ok(())
    }

    fn advice(&self) -> &'static str {
        if self.is_whole() {
            "nothing: open the database"
        } else if self.is_dry_run && self.is_lossy() {
            "restore a backup if you have one; else repair without the dry run, which keeps all \
             that is listed as kept and moves the rest into the folder lost"
        } else if self.is_dry_run {
            "repair without the dry run; nothing will be lost"
        } else if self.is_lossy() {
            "open the database and look; where keys of a lost file were deleted or overwritten in \
             it, older values may be back; when all is well, remove the folder lost"
        } else {
            "open the database; when all is well, remove the folder lost"
        }
    }
}
