//! The command line: what every command shares, and one line for each command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    batch, bench, care, checkpoint, dump, inspect, keyspaces, load, look, read, repair, settings,
    setup, write,
};
use crate::demo;
use crate::text::Format;

const EXAMPLES: &str = "\
Examples:
  export ESKER_DB=harbour            name the database once, instead of --db each time
  esker put ship:anna 'in port'      write one value
  esker get ship:anna                print it
  esker scan ship:                   print the entries whose keys begin so
  esker load reviews.txt.gz          read many records; --help tells the formats
  esker levels --html tree.html      see where the files of the tree lie
  esker verify                       read every byte and check it
  esker repair                       tell what of a damaged database can be saved

Keys and names of keyspaces are printed and read with the same escapes, and so are values where a
line has key and value: \\\\ is a backslash, \\t a tab, \\n a line feed, \\r a carriage return, and
\\xNN any byte, for bytes that are no UTF-8 and for characters that a terminal obeys. A value that
`put` is given and `get` prints alone is taken as it is. --hex and --base64 need no escapes.

Commands that only read change nothing, and work while another process has the database open.
Exit codes: 0 done, 1 something failed, 2 the command line makes no sense, 3 the key is not there
or damage was found, 130 and 143 stopped by Ctrl-C or kill. Values go to standard output, everything
else to standard error.";

/// Work with an Esker database: an ordered key-value store in a directory.
#[derive(Debug, Parser)]
#[command(name = "esker", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub shared: Shared,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Shared {
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
    /// Set a setting, as in --set memory_limit=1GiB; `esker settings` lists them
    #[arg(long = "set", value_name = "NAME=VALUE", global = true)]
    pub settings: Vec<String>,
}

impl Shared {
    /// How keys are spelled.
    pub fn key_format(&self) -> Format {
        self.key_format.unwrap_or(self.format())
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

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the values of keys
    Get(read::Get),
    /// Set the value of a key
    Put(write::Put),
    /// Fold an operand into the value of a key
    Merge(write::Merge),
    /// Write many entries together or not at all
    Batch(batch::Batch),
    /// Remove a key, a prefix or a range
    Delete(write::Delete),
    /// Print when keys expire
    Expiry(read::Expiry),
    /// Print entries in the order of their keys
    Scan(read::Scan),
    /// Count entries
    Count(read::Count),
    /// Read records from files into the database
    Load(load::Load),
    /// Write entries as text that `load` reads back exactly
    Dump(dump::Dump),
    /// List, create and drop keyspaces
    Keyspaces(keyspaces::Keyspaces),
    /// Show what the database knows about itself
    Stats(look::Stats),
    /// Show the files of the tree, level by level
    Levels(look::Levels),
    /// Merge files so that nothing obsolete is left
    Compact(care::Compact),
    /// Make a second database from this one, by linking its files
    Checkpoint(checkpoint::Checkpoint),
    /// Read every byte and check it
    Verify(care::Verify),
    /// Tell what of a damaged database can be saved, and save it
    Repair(repair::Repair),
    /// Show what lies in the files of a database, also in damaged ones
    Inspect(inspect::Inspect),
    /// List the settings: value, origin, range, meaning
    Settings(settings::Settings),
    /// Measure: db_bench's dialects and more
    Bench(bench::Bench),
    /// Load real text, measure, kill itself, and prove that nothing was lost
    Demo(demo::Demo),
    /// Print completions for a shell
    Completions(setup::Completions),
    /// Print the manual page, or write one for each command
    Man(setup::Man),
    /// The part of the demo that gets killed
    #[command(hide = true)]
    DemoWriter(demo::DemoWriter),
}
