//! The flags that every command understands.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::fail::Outcome;
use crate::out::Out;
use crate::plugins::Plugins;
use crate::text::Format;

/// What every command understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalFlags {
    /// Directory of the database
    #[arg(long, value_name = "DIR", env = "ESKER_DB", global = true)]
    pub db: Option<PathBuf>,
    /// Name of the keyspace
    #[arg(
        long,
        value_name = "NAME",
        default_value = "default",
        global = true,
        value_parser = keyspace_name
    )]
    pub keyspace: String,
    /// How keys are spelled: text, hex or base64
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        global = true,
        hide_possible_values = true
    )]
    pub key_format: Option<Format>,
    /// How values are spelled: text, hex or base64
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        global = true,
        hide_possible_values = true
    )]
    pub value_format: Option<Format>,
    /// Keys and values in hex
    #[arg(long, global = true, conflicts_with = "base64")]
    pub hex: bool,
    /// Keys and values in base64
    #[arg(long, global = true)]
    pub base64: bool,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Tell on standard error what the database does: a line for each flush, compaction, file
    #[arg(long, global = true)]
    pub events: bool,
    /// Set a setting, as in --set memory_limit=1GiB; `esker settings` lists them
    #[arg(long = "set", value_name = "NAME=VALUE", global = true)]
    pub settings: Vec<String>,
    /// What the program knows that the tool was built into.
    #[arg(skip)]
    pub plugins: Plugins,
}

impl GlobalFlags {
    /// How keys are spelled.
    pub fn key_format(&self) -> Format {
        self.key_format.unwrap_or(self.format())
    }

    /// One object of what was done, for programs; a person sees it by the absence of an error.
    pub fn tell_done(&self, done: &str, what: Value) -> Outcome {
        if !self.json {
            return Ok(());
        }
        let mut out = Out::lock();
        out.json(&json!({ done: what }))?;
        Ok(out.finish()?)
    }

    /// How values are spelled.
    pub fn value_format(&self) -> Format {
        self.value_format.unwrap_or(self.format())
    }

    fn format(&self) -> Format {
        match (self.hex, self.base64) {
            (true, _) => Format::Hex,
            (_, true) => Format::Base64,
            _ => Format::Text,
        }
    }
}

/// The name of a keyspace as a word spells it.
pub fn keyspace_name(word: &str) -> Result<String, String> {
    let name = Format::Text.parse_field(word.as_bytes())?;
    String::from_utf8(name).map_err(|_| "the name of a keyspace is UTF-8".into())
}
