//! What is measured and how: the command line as plain values.

use std::path::PathBuf;

use crate::Fault;

/// What the engines are given alike, and how long they run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Distinct keys, and operations of each line.
    pub key_count: u64,
    /// How often each engine runs; medians are shown.
    pub round_count: usize,
    /// Bytes of block cache.
    pub cache_bytes: usize,
    /// Bytes of a memtable.
    pub buffer_bytes: usize,
    /// Whether blocks are packed with snappy or not at all; `None` measures both.
    pub is_packed: Option<bool>,
    /// Filter bits for each key; 0 is no filter.
    pub bloom_bits: u32,
    /// Memory limits that the memory run tries, in bytes.
    pub limits_bytes: Vec<u64>,
    /// Only these lines are shown; all if empty. All that come before are run all the same.
    pub lines: Vec<String>,
    /// Further settings of Esker by their name in the catalogue.
    pub esker: Vec<(String, String)>,
    /// Only the engine of this name.
    pub only: Option<String>,
    /// Where databases are made.
    pub dir: PathBuf,
}

impl Default for Settings {
    // Memtable and cache as LevelDB has them unless told: 4 and 8 MiB.
    fn default() -> Settings {
        Settings {
            key_count: 1_000_000,
            round_count: 5,
            cache_bytes: 8 << 20,
            buffer_bytes: 4 << 20,
            is_packed: None,
            bloom_bits: 10,
            limits_bytes: vec![64 << 20, 256 << 20],
            lines: Vec::new(),
            esker: Vec::new(),
            only: None,
            dir: std::env::temp_dir().join(format!("esker-compare-{}", std::process::id())),
        }
    }
}

impl Settings {
    /// The settings that a command line asks for.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Settings, Fault> {
        let mut settings = Settings::default();
        while let Some(name) = arguments.next() {
            let text = arguments.next();
            let text = text.ok_or_else(|| format!("{name} wants a value"))?;
            settings.set(&name, &text)?;
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), Fault> {
        match name {
            "--keys" => self.key_count = text.parse()?,
            "--rounds" => self.round_count = text.parse()?,
            "--cache-mib" => self.cache_bytes = text.parse::<usize>()? << 20,
            "--buffer-mib" => self.buffer_bytes = text.parse::<usize>()? << 20,
            "--bloom" => self.bloom_bits = text.parse()?,
            "--limit-mib" => self.limits_bytes = vec![text.parse::<u64>()? << 20],
            "--compression" => {
                self.is_packed = match text {
                    "none" => Some(false),
                    "snappy" => Some(true),
                    _ => return Err("--compression is none or snappy".into()),
                }
            }
            "--lines" => self.lines = text.split(',').map(str::to_string).collect(),
            "--esker" => {
                let pair = text.split_once('=').ok_or("--esker wants name=value")?;
                self.esker.push((pair.0.to_string(), pair.1.to_string()));
            }
            "--only" => self.only = Some(text.to_string()),
            "--dir" => self.dir = PathBuf::from(text),
            _ => return Err(format!("unknown setting {name}").into()),
        }
        Ok(())
    }
}
