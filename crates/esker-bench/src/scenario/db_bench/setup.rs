//! What a command line means: where, with which settings, keys and values.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::fail::{Failure, Outcome};
use crate::flags::flag::Dialect;
use crate::flags::given::Given;
use crate::make::slices::{Alphabet, pool};
use crate::scenario::db_bench::keys::KeyShape;
use crate::target::settings::{Packing, StoreSettings};

/// LevelDB's block cache where no size is given.
const CACHE_BYTES: u64 = 8 << 20;

/// The longest value of a benchmark's own: `fill100K`.
const OWN_VALUE_MAX: usize = 100_000;

/// zstd's level, as RocksDB has it.
const ZSTD_LEVEL: i32 = 3;

/// What a command line means.
pub struct Setup {
    /// The flags.
    pub given: Given,
    /// The directory.
    pub dir: PathBuf,
    /// What the engine is told.
    pub settings: StoreSettings,
    /// Random bytes that values are cut from.
    pub pool: Arc<[u8]>,
    /// Bytes of a value.
    pub value_size: usize,
    /// How keys are spelled.
    pub key_shape: KeyShape,
    /// What is added to a thread's number to make its seed.
    pub seed_base: u64,
}

impl Setup {
    /// Reads the flags. `Usage` for what cannot be.
    pub fn new(given: Given) -> Outcome<Setup> {
        let value_size = usize::try_from(given.whole("value_size"));
        let value_size = value_size.expect("the catalogue bounds it");
        let ratio = given.number("compression_ratio");
        let alphabet = match given.dialect {
            Dialect::RocksDb => Alphabet::Binary,
            _ => Alphabet::Printable,
        };
        let settings = settings(&given)?;
        let key_shape = KeyShape {
            dialect: given.dialect,
            size: usize::try_from(given.whole("key_size")).unwrap_or(16),
        };
        Ok(Setup {
            dir: directory(&given),
            settings,
            pool: pool(alphabet, ratio, value_size.max(OWN_VALUE_MAX)),
            value_size,
            key_shape,
            seed_base: seed_base(&given),
            given,
        })
    }

    /// Whose rules hold.
    pub fn dialect(&self) -> Dialect {
        self.given.dialect
    }

    /// Bytes of a key, where all are alike.
    pub fn key_bytes(&self) -> usize {
        let mut key = Vec::new();
        self.key_shape.write(0, &mut key);
        key.len()
    }
}

/// `--db`, else `$TEST_TMPDIR/dbbench`, else a place under the system's temporary directory.
fn directory(given: &Given) -> PathBuf {
    let named = given.text("db");
    if !named.is_empty() {
        return PathBuf::from(named);
    }
    if let Some(dir) = std::env::var_os("TEST_TMPDIR").filter(|dir| !dir.is_empty()) {
        return PathBuf::from(dir).join("dbbench");
    }
    let user = rustix::process::geteuid().as_raw();
    let name = match given.dialect {
        Dialect::LevelDb => format!("leveldbtest-{user}"),
        _ => format!("rocksdbtest-{user}"),
    };
    std::env::temp_dir().join(name).join("dbbench")
}

fn seed_base(given: &Given) -> u64 {
    match (given.count("seed"), given.dialect) {
        (0, Dialect::RocksDb) => {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            u64::try_from(now.as_micros()).unwrap_or(u64::MAX >> 1)
        }
        (0, _) => 1000,
        (seed, _) => seed,
    }
}

/// What every engine is given alike, by the dialect's defaults where nothing is said; and of what
/// shapes the tree only what was given, so that each engine keeps its own defaults.
fn settings(given: &Given) -> Outcome<StoreSettings> {
    let asked = |flag: &str| {
        let text = given.is_given(flag).then(|| given.whole(flag));
        text.and_then(|number| u64::try_from(number).ok())
    };
    let has_merges = match given.text("merge_operator") {
        "" => false,
        "uint64add" => true,
        other => {
            let told = format!("--merge_operator={other}: it is uint64add");
            return Err(Failure::usage(told));
        }
    };
    let mut own = Vec::new();
    for pair in given.text("set").split(',').filter(|pair| !pair.is_empty()) {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(Failure::usage(format!("--set={pair}: it is name=value")));
        };
        own.push((name.into(), text.into()));
    }
    Ok(StoreSettings {
        cache_bytes: Some(given.count_or("cache_size", CACHE_BYTES)),
        write_buffer_bytes: Some(given.count("write_buffer_size")).filter(|bytes| *bytes > 0),
        filter_bits: Some(given.number("bloom_bits").max(0.0)),
        block_bytes: Some(given.count("block_size")),
        packing: Some(packing(given)?),
        packing_level_min: usize::try_from(given.whole("min_level_to_compress")).ok(),
        background_threads: asked("max_background_compactions"),
        l0_trigger: asked("level0_file_num_compaction_trigger"),
        level_base_bytes: asked("max_bytes_for_level_base"),
        mapped_reads: given.is_given("mmap_read").then(|| given.is("mmap_read")),
        has_merges,
        own,
        ..StoreSettings::default()
    })
}

fn packing(given: &Given) -> Outcome<Packing> {
    if given.dialect == Dialect::LevelDb && !given.is_given("compression_type") {
        return Ok(match given.is("compression") {
            true => Packing::Snappy,
            false => Packing::None,
        });
    }
    match given.text("compression_type") {
        "none" => Ok(Packing::None),
        "snappy" => Ok(Packing::Snappy),
        "lz4" => Ok(Packing::Lz4),
        "zstd" => Ok(Packing::Zstd(ZSTD_LEVEL)),
        other => Err(Failure::usage(format!(
            "--compression_type={other}: it is none, snappy, lz4 or zstd"
        ))),
    }
}
