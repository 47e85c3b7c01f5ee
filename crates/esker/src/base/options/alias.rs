//! Settings as RocksDB's and LevelDB's benchmarks spell them on the command line.
//!
//! Only what means the same here is taken over. Not here, because nothing corresponds: triggers
//! that slow down or stop writes (there is one smooth controller), the number of levels or of
//! write buffers, shapes of the cache.

use crate::base::options::catalog;
use crate::base::options::db::DbOptions;
use crate::base::options::quantity::parse_size;
use crate::base::options::setting::Setting;
use crate::base::types::error::{Error, Result};

/// How the value of a foreign spelling becomes one of ours.
#[derive(Clone, Copy)]
enum Spelling {
    /// As it is.
    Same,
    /// A negative number stands for this word of ours; all else is as it is.
    Negative(&'static str),
    /// A whole number that may have a fraction of zeros, as `10.000000`.
    Whole,
    /// On means off.
    Inverted,
    /// A name of this list stands for one of ours; all else is as it is.
    Renamed(&'static [(&'static str, &'static str)]),
}

/// A foreign spelling, the setting it stands for, and how its values are spelled.
const ALIASES: &[(&str, &str, Spelling)] = &[
    ("write_buffer_size", MEMTABLE, Spelling::Same),
    ("block_size", "sst.block_size", Spelling::Same),
    (
        "block_restart_interval",
        "sst.restart_interval",
        Spelling::Same,
    ),
    ("bloom_bits", "sst.filter_bits", Spelling::Negative("0")),
    (
        "compression_type",
        "compression",
        Spelling::Renamed(COMPRESSIONS),
    ),
    ("compression_level", "sst.zstd_level", Spelling::Same),
    (
        "level0_file_num_compaction_trigger",
        "compaction.l0_trigger",
        Spelling::Same,
    ),
    (
        "max_bytes_for_level_base",
        "compaction.base_level",
        Spelling::Same,
    ),
    (
        "max_bytes_for_level_multiplier",
        "compaction.level_growth",
        Spelling::Whole,
    ),
    (
        "disable_auto_compactions",
        "compaction.automatic",
        Spelling::Inverted,
    ),
    (
        "subcompactions",
        "compaction.subcompactions",
        Spelling::Same,
    ),
    (
        "max_subcompactions",
        "compaction.subcompactions",
        Spelling::Same,
    ),
    (
        "max_background_compactions",
        "background_threads",
        Spelling::Negative("auto"),
    ),
    (
        "max_background_jobs",
        "background_threads",
        Spelling::Negative("auto"),
    ),
    (
        "open_files",
        "files.open_max",
        Spelling::Negative(EVERY_FILE),
    ),
    (
        "max_open_files",
        "files.open_max",
        Spelling::Negative(EVERY_FILE),
    ),
    ("allow_mmap_reads", "mapped_reads", Spelling::Same),
    ("mmap_read", "mapped_reads", Spelling::Same),
    ("target_file_size_base", "sst.file_size", Spelling::Same),
    ("max_file_size", "sst.file_size", Spelling::Same),
    (
        "rate_limiter_bytes_per_sec",
        "compaction.rate_limit",
        Spelling::Same,
    ),
    (
        "merge_operator",
        "merge_operator",
        Spelling::Renamed(OPERATORS),
    ),
];

/// The size of the block cache, which is a part of the memory limit here.
const CACHE_SIZE: &str = "cache_size";

const MEMTABLE: &str = "memtable.size";

const MEMORY: &str = "memory_limit";

/// Files enough for "all of them": the largest value of `files.open_max`.
const EVERY_FILE: &str = "1048576";

const COMPRESSIONS: &[(&str, &str)] = &[
    ("no", "none"),
    ("kNoCompression", "none"),
    ("kLZ4Compression", "lz4"),
    ("kZSTD", "zstd"),
    ("kSnappyCompression", "snappy"),
];

const OPERATORS: &[(&str, &str)] = &[("", "none"), ("stringappend", "append"), ("put_v1", "put")];

/// One setting that a user gave, under our name.
pub(crate) struct Given {
    /// The setting.
    pub(crate) setting: &'static Setting,
    /// Its value, as we spell it.
    pub(crate) text: String,
    /// The name the user gave.
    pub(crate) spelled: String,
}

impl Given {
    /// The error of its value, under the name that the user gave.
    pub(crate) fn refused(&self, error: Error) -> Error {
        let (spelled, name) = (&self.spelled, self.setting.name);
        if spelled == name {
            return error;
        }
        let message = error.message();
        Error::invalid(format!("`{spelled}` stands for `{name}`: {message}"))
    }
}

/// What a user gave, under our names.
pub(crate) struct Translation {
    /// Each setting at most once.
    pub(crate) given: Vec<Given>,
    /// The memory limit that foreign sizes of cache and write buffer ask for, where the user did
    /// not give one.
    pub(crate) memory_limit: Option<u64>,
}

/// Brings pairs of name and text under our names.
///
/// `Invalid` for an unknown name, and for a setting that is given twice, be it under two names.
pub(crate) fn translate(pairs: &[(&str, &str)]) -> Result<Translation> {
    let mut given: Vec<Given> = Vec::new();
    let mut cache_size = None;
    for (name, text) in pairs {
        if *name == CACHE_SIZE {
            cache_size = Some(*text);
            continue;
        }
        let one = translate_one(name, text)?;
        if let Some(other) = given.iter().find(|it| it.setting.name == one.setting.name) {
            let (setting, first) = (other.setting.name, &other.spelled);
            return Err(Error::invalid(format!(
                "`{setting}` is given twice, as `{first}` and as `{name}`: keep one of them"
            )));
        }
        given.push(one);
    }
    let memory_limit = memory_for(cache_size, &given)?;
    Ok(Translation {
        given,
        memory_limit,
    })
}

/// `Invalid` for an unknown name, and for text that spells no value of the setting.
pub(crate) fn check_one(name: &str, text: &str) -> Result<()> {
    if name == CACHE_SIZE {
        return cache_bytes(text).map(drop);
    }
    let one = translate_one(name, text)?;
    let parsed = one.setting.parse(&one.text);
    parsed.map(drop).map_err(|error| one.refused(error))
}

fn translate_one(name: &str, text: &str) -> Result<Given> {
    let Some((_, ours, spelling)) = ALIASES.iter().find(|(alias, ..)| *alias == name) else {
        return Ok(Given {
            setting: catalog::find(name)?,
            text: text.into(),
            spelled: name.into(),
        });
    };
    Ok(Given {
        setting: catalog::find(ours)?,
        text: spelling.ours(text.trim()).into(),
        spelled: name.into(),
    })
}

impl Spelling {
    fn ours(self, text: &str) -> &str {
        match self {
            Spelling::Same => text,
            Spelling::Negative(word) if text.starts_with('-') => word,
            Spelling::Negative(_) => text,
            Spelling::Whole => match text.split_once('.') {
                Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
                _ => text,
            },
            Spelling::Inverted => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => "false",
                "false" | "0" => "true",
                _ => text,
            },
            Spelling::Renamed(names) => {
                let found = names.iter().find(|(foreign, _)| *foreign == text);
                found.map_or(text, |(_, ours)| ours)
            }
        }
    }
}

/// `None` for a negative number, which leaves the size open.
fn cache_bytes(text: &str) -> Result<Option<u64>> {
    if text.starts_with('-') {
        return Ok(None);
    }
    parse_size(text).map(Some).ok_or_else(|| {
        Error::invalid(format!(
            "`{CACHE_SIZE}` cannot be `{text}`: give a size, as in `512MiB`"
        ))
    })
}

// Elsewhere the block cache and the write buffers are sized apart, and their sum has no limit.
// Here they share one: it must hold the cache beside one live and two sealed memtables.
fn memory_for(cache_size: Option<&str>, given: &[Given]) -> Result<Option<u64>> {
    let named = |name| given.iter().find(|it| it.setting.name == name);
    let cache = cache_size.map(cache_bytes).transpose()?.flatten();
    if named(MEMORY).is_some() {
        return match cache {
            None => Ok(None),
            Some(_) => Err(Error::invalid(format!(
                "`{CACHE_SIZE}` and `{MEMORY}` both say how much memory to take: keep `{MEMORY}`, \
                 which covers the cache too"
            ))),
        };
    }
    let memtable = named(MEMTABLE)
        .filter(|it| it.spelled != MEMTABLE)
        .and_then(|it| parse_size(&it.text));
    Ok(match (cache, memtable) {
        (None, None) => None,
        // A memtable whose size is automatic takes a twelfth of the limit, three a quarter.
        (Some(cache), None) => Some(cache.saturating_add(cache / 3)),
        (None, Some(memtable)) => {
            let default = DbOptions::default().memory_limit;
            Some(memtable.saturating_mul(4).max(default))
        }
        (Some(cache), Some(memtable)) => {
            let room = cache.saturating_add(memtable.saturating_mul(3));
            Some(room.max(memtable.saturating_mul(4)))
        }
    })
}

#[cfg(test)]
mod tests;
