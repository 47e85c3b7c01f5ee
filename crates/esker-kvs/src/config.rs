//! What a caller asks for, checked: the fields of `KVS_ENV`, and the engine's settings for them.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::refusal::Refusal;

/// A buffer must be larger than this: 50 MiB, as the original has it.
pub const BUFFER_BYTES_MIN: i32 = 52_428_800;

/// Largest key: the engine's limit. The original had none, and kept only hashes.
pub const KEY_BYTES_MAX: usize = esker::internals::base::types::limits::KEY_BYTES_MAX;

/// Largest value: 5 MiB, as the original has it.
pub const VALUE_BYTES_MAX: usize = 5_242_880;

/// Keys that the original had room for; counted with `KVS_STRICT=1` only.
pub const KEY_COUNT_MAX: u64 = 10_000_000;

/// The least that the engine takes as `value_flush_bytes`: a sync costs more than so few bytes.
const FLUSH_BYTES_MIN: u64 = 64 << 10;

/// The shortest time between two flushes that the engine knows; 0 would be none, and the original
/// means by it: all the time.
const INTERVAL_S_MIN: u32 = 1;

/// The engine gives at most half of its memory to values; the rest is for keys, small values and
/// the index, for which the original took 360 MB beside its buffer.
const MEMORY_BUFFERS: u64 = 2;

/// The fields of `KVS_ENV` as they came, but for the log's path, and whether `KVS_STRICT=1`.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// 0 creates, 1 loads.
    pub init_type: i32,
    /// Where the store is; its directory has this name with `.d` behind.
    pub disk_path: Option<PathBuf>,
    /// The file without which the store is not loaded.
    pub image_path: Option<PathBuf>,
    /// Seconds.
    pub sleep_s: i32,
    /// Bytes of unflushed values that start a flush.
    pub horizon_bytes: i32,
    /// Bytes of memory for values.
    pub buffer_bytes: i32,
    /// Whether the original's limit on the number of keys holds.
    pub is_strict: bool,
}

/// Whether a store is begun anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An empty store; what was there is removed.
    Create,
    /// What is there.
    Load,
}

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether the store is begun anew.
    pub start: Start,
    /// The disk file.
    pub disk_path: PathBuf,
    /// The image file.
    pub image_path: PathBuf,
    /// Seconds after which values are flushed, however few they are.
    pub interval_s: u32,
    /// Bytes of unflushed values that start a flush.
    pub horizon_bytes: u64,
    /// Bytes of memory for values.
    pub buffer_bytes: u64,
    /// How many keys are taken; `None` is any number.
    pub key_count_max: Option<u64>,
}

impl Config {
    /// Checks the fields.
    ///
    /// Errors: `Environment`, `Null`.
    pub fn check(fields: Fields) -> Result<Config, Refusal> {
        let start = match fields.init_type {
            0 => Start::Create,
            1 => Start::Load,
            other => {
                return Err(Refusal::Environment(format!(
                    "init_type is {other}; it is INIT_TYPE_CREATE (0) or INIT_TYPE_LOAD (1)"
                )));
            }
        };
        if fields.buffer_bytes <= BUFFER_BYTES_MIN {
            return Err(Refusal::Environment(format!(
                "buffer_size is {}; it must be larger than {BUFFER_BYTES_MIN}",
                fields.buffer_bytes
            )));
        }
        if fields.horizon_bytes >= fields.buffer_bytes {
            return Err(Refusal::Environment(format!(
                "buffer_horizon_size is {}; it must be smaller than buffer_size, {}",
                fields.horizon_bytes, fields.buffer_bytes
            )));
        }
        Ok(Config {
            start,
            disk_path: named("disk_file_path", fields.disk_path)?,
            image_path: named("IMAGE_file_path", fields.image_path)?,
            interval_s: u32::try_from(fields.sleep_s)
                .unwrap_or(0)
                .max(INTERVAL_S_MIN),
            horizon_bytes: u64::try_from(fields.horizon_bytes).unwrap_or(0),
            buffer_bytes: u64::from(fields.buffer_bytes.unsigned_abs()),
            key_count_max: fields.is_strict.then_some(KEY_COUNT_MAX),
        })
    }

    /// The directory of the store.
    pub fn dir(&self) -> PathBuf {
        let mut name = OsString::from(&self.disk_path);
        name.push(".d");
        PathBuf::from(name)
    }

    /// The engine's settings, by name.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let flush_bytes = self.horizon_bytes.max(FLUSH_BYTES_MIN);
        vec![
            ("durability", "buffered".into()),
            (
                "memory_limit",
                (self.buffer_bytes * MEMORY_BUFFERS).to_string(),
            ),
            ("value_buffer_size", self.buffer_bytes.to_string()),
            ("value_flush_bytes", flush_bytes.to_string()),
            ("value_flush_interval", format!("{}s", self.interval_s)),
        ]
    }
}

fn named(field: &'static str, path: Option<PathBuf>) -> Result<PathBuf, Refusal> {
    let path = path.ok_or(Refusal::Null(field))?;
    match path.as_os_str().is_empty() {
        true => Err(Refusal::Environment(format!("{field} is empty"))),
        false => Ok(path),
    }
}

#[cfg(test)]
mod tests;
