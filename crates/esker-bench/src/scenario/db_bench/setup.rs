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
    /// Which flag stands behind a wish of the settings, for notes.
    pub asked: Vec<(&'static str, &'static str)>,
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
        let mut builder = SettingsBuilder::new(&given);
        builder.memory()?;
        builder.shape();
        let (settings, asked) = (builder.settings, builder.asked);
        let key_shape = KeyShape {
            dialect: given.dialect,
            size: usize::try_from(given.whole("key_size")).unwrap_or(16),
        };
        Ok(Setup {
            dir: directory(&given),
            settings,
            asked,
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

/// The settings, flag by flag.
struct SettingsBuilder<'a> {
    given: &'a Given,
    settings: StoreSettings,
    asked: Vec<(&'static str, &'static str)>,
}

impl<'a> SettingsBuilder<'a> {
    fn new(given: &'a Given) -> SettingsBuilder<'a> {
        SettingsBuilder {
            given,
            settings: StoreSettings::default(),
            asked: Vec::new(),
        }
    }

    /// What every engine is given alike, by the dialect's defaults where nothing is said.
    fn memory(&mut self) -> Outcome {
        let given = self.given;
        let settings = &mut self.settings;
        settings.cache_bytes = Some(given.count_or("cache_size", CACHE_BYTES));
        settings.write_buffer_bytes =
            Some(given.count("write_buffer_size")).filter(|bytes| *bytes > 0);
        settings.filter_bits = Some(given.number("bloom_bits").max(0.0));
        settings.block_bytes = Some(given.count("block_size"));
        settings.packing = Some(packing(given)?);
        settings.has_merges = match given.text("merge_operator") {
            "" => false,
            "uint64add" => true,
            other => {
                return Err(Failure::usage(format!(
                    "--merge_operator={other}: it is uint64add"
                )));
            }
        };
        for pair in given.text("set").split(',').filter(|pair| !pair.is_empty()) {
            let Some((name, text)) = pair.split_once('=') else {
                return Err(Failure::usage(format!("--set={pair}: it is name=value")));
            };
            settings.own.push((name.into(), text.into()));
        }
        Ok(())
    }

    /// What shapes the tree: only what was given, so that each engine keeps its own defaults.
    fn shape(&mut self) {
        self.settings.background_threads =
            self.asked("background_threads", "max_background_compactions");
        self.settings.l0_trigger = self.asked("l0_trigger", "level0_file_num_compaction_trigger");
        self.settings.l0_slowdown = self.asked("l0_slowdown", "level0_slowdown_writes_trigger");
        self.settings.l0_stop = self.asked("l0_stop", "level0_stop_writes_trigger");
        self.settings.level_count = self.asked("level_count", "num_levels");
        self.settings.level_base_bytes = self.asked("level_base_bytes", "max_bytes_for_level_base");
        if self.given.is_given("mmap_read") {
            self.settings.mapped_reads = Some(self.given.is("mmap_read"));
            self.asked.push(("mapped_reads", "mmap_read"));
        }
        if let Ok(level) = usize::try_from(self.given.whole("min_level_to_compress")) {
            self.settings.packing_level_min = Some(level);
        }
    }

    fn asked(&mut self, wish: &'static str, flag: &'static str) -> Option<u64> {
        if !self.given.is_given(flag) {
            return None;
        }
        self.asked.push((wish, flag));
        u64::try_from(self.given.whole(flag)).ok()
    }
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
