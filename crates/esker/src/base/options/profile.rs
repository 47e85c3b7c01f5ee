//! Settings that go together, under one name each.

/// What the database is mostly for; chooses the defaults of other settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// Some of everything: the defaults as they are.
    #[default]
    Balanced,
    /// Many reads for each write.
    ReadHeavy,
    /// Writes that must not wait.
    WriteHeavy,
    /// Little disk.
    SmallSpace,
    /// A large amount written once, then read.
    BulkLoad,
}

/// One setting that a profile changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileLine {
    /// Name of the setting in the catalogue.
    pub setting: &'static str,
    /// Its value as text.
    pub value: &'static str,
    /// Why the profile wants it.
    pub reason: &'static str,
}

const fn line(setting: &'static str, value: &'static str, reason: &'static str) -> ProfileLine {
    ProfileLine {
        setting,
        value,
        reason,
    }
}

const READ_HEAVY: &[ProfileLine] = &[
    line(
        "sst.filter_bits",
        "16",
        "one look in 2000 is in vain instead of one in 120, for 6 more bits of memory a key",
    ),
    line(
        "compaction.l0_trigger",
        "2",
        "every run of level 0 is one more place to look for a key",
    ),
    line(
        "sst.restart_interval",
        "8",
        "half as many entries to step over in a block, for a little more space",
    ),
];

const WRITE_HEAVY: &[ProfileLine] = &[
    line(
        "compaction.l0_trigger",
        "8",
        "more runs merged at once means each byte is written less often on its way down",
    ),
    line(
        "compaction.base_level",
        "512MiB",
        "a merge out of level 0 rewrites all of the base level; a larger one is met less often",
    ),
    line(
        "compaction.subcompactions",
        "4",
        "merges out of level 0 hold up all others, so they are the ones to split",
    ),
    line(
        "sst.file_size",
        "64MiB",
        "fewer, larger files to create and sync",
    ),
    line(
        "wal.segment_size",
        "64MiB",
        "half as many changes of segment under the writers",
    ),
    line(
        "wal.total_size",
        "2GiB",
        "memtables are flushed when they are full, not because the log is",
    ),
];

const SMALL_SPACE: &[ProfileLine] = &[
    line(
        "compression",
        "searchable",
        "text compresses to a third at the bottom of the tree, and each value is read by itself",
    ),
    line(
        "value_log.threshold",
        "64KiB",
        "values are compressed in the tree, and not in the value log",
    ),
    line(
        "sst.zstd_level",
        "3",
        "the level zstd itself takes by default: tighter than 1, and still quick",
    ),
    line(
        "sst.block_size",
        "16KiB",
        "the compressor of blocks sees more at once, and their index has a quarter of the entries",
    ),
    line(
        "compaction.l0_trigger",
        "2",
        "what was overwritten or deleted is dropped sooner",
    ),
    line(
        "wal.segment_size",
        "8MiB",
        "a segment is given back whole, so small ones go sooner",
    ),
    line("wal.total_size", "128MiB", "the log is space too"),
];

const BULK_LOAD: &[ProfileLine] = &[
    line(
        "compaction.l0_trigger",
        "20",
        "many runs merged at once: most bytes are then written twice, not once a level",
    ),
    line(
        "compaction.base_level",
        "1GiB",
        "fewer levels while the data is still growing",
    ),
    line(
        "compaction.subcompactions",
        "4",
        "the few merges there are shall use the whole machine",
    ),
    line(
        "sst.file_size",
        "128MiB",
        "fewer, larger files to create and sync",
    ),
    line(
        "wal.segment_size",
        "128MiB",
        "fewer changes of segment under the writers",
    ),
    line(
        "wal.total_size",
        "2GiB",
        "memtables are flushed when they are full, not because the log is",
    ),
];

impl Profile {
    /// Every profile, as settings spell it.
    pub const NAMES: [(&str, Profile); 5] = [
        ("balanced", Profile::Balanced),
        ("read_heavy", Profile::ReadHeavy),
        ("write_heavy", Profile::WriteHeavy),
        ("small_space", Profile::SmallSpace),
        ("bulk_load", Profile::BulkLoad),
    ];

    /// The profile as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Balanced => "balanced",
            Profile::ReadHeavy => "read_heavy",
            Profile::WriteHeavy => "write_heavy",
            Profile::SmallSpace => "small_space",
            Profile::BulkLoad => "bulk_load",
        }
    }

    /// What the profile changes in the defaults, and why.
    pub fn lines(self) -> &'static [ProfileLine] {
        match self {
            Profile::Balanced => &[],
            Profile::ReadHeavy => READ_HEAVY,
            Profile::WriteHeavy => WRITE_HEAVY,
            Profile::SmallSpace => SMALL_SPACE,
            Profile::BulkLoad => BULK_LOAD,
        }
    }
}

#[cfg(test)]
mod tests;
