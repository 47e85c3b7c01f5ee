//! What is measured and how: the command line as plain values.

use std::path::PathBuf;

use esker::{Builder, Db};

use crate::fault::Fault;

/// What Esker is given, and how much of it runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Distinct keys, and writes.
    pub key_count: u64,
    /// How often a closed database is opened again.
    pub round_count: usize,
    /// Memory limits that the memory run tries, in bytes.
    pub limits_bytes: Vec<u64>,
    /// Further settings of Esker by their name in the catalogue.
    pub esker: Vec<(String, String)>,
    /// Where databases are made.
    pub dir: PathBuf,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            key_count: 1_000_000,
            round_count: 5,
            limits_bytes: vec![64 << 20, 256 << 20],
            esker: Vec::new(),
            dir: std::env::temp_dir().join(format!("esker-footprint-{}", std::process::id())),
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

    /// A builder with every setting of Esker that was given.
    pub fn builder(&self) -> Result<Builder, Fault> {
        let mut builder = Db::builder(&self.dir);
        for (name, text) in &self.esker {
            builder = builder.set(name, text)?;
        }
        Ok(builder)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), Fault> {
        match name {
            "--keys" => self.key_count = text.parse()?,
            "--rounds" => self.round_count = text.parse()?,
            "--limit-mib" => self.limits_bytes = vec![text.parse::<u64>()? << 20],
            "--esker" => {
                let pair = text.split_once('=').ok_or("--esker wants name=value")?;
                self.esker.push((pair.0.to_string(), pair.1.to_string()));
            }
            "--dir" => self.dir = PathBuf::from(text),
            _ => return Err(format!("unknown setting {name}").into()),
        }
        Ok(())
    }
}
