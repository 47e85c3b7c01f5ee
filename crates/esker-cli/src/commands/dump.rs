//! Dumping: entries as text that `load` reads back exactly.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::commands::read::Keys;
use crate::fail::{Failure, Outcome};
use crate::flags::Shared;
use crate::json;
use crate::open;
use crate::out::Out;
use crate::progress::Bar;
use crate::quantity;

/// Entries between two looks at the clock: rare enough to cost nothing.
const TOLD_EVERY: u64 = 4096;

/// How a dump is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DumpFormat {
    /// Key, tab, value.
    Tsv,
    /// An object with `key` and `value` on each line.
    Jsonl,
}

/// Write entries as text that `load` reads back exactly
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker dump > all.tsv                       the keyspace as key, tab, value
  esker dump --format jsonl ship: | gzip > ships.jsonl.gz
  esker dump | esker load --db copy -        a copy of the keyspace in another database

In tsv, tab, line feed, carriage return and backslash are written \\t, \\n, \\r and \\\\; control
characters and bytes that are no UTF-8 are written \\xNN. In jsonl, bytes that are no UTF-8 are
written {\"base64\": \"…\"}. With --hex or --base64 everything is spelled so, and `load` needs the
same flag. A dump is of one moment, whatever is written meanwhile. Times to live are not in it.")]
pub struct Dump {
    #[command(flatten)]
    keys: Keys,
    /// How to write it: tsv or jsonl
    #[arg(long, value_enum, default_value = "tsv", hide_possible_values = true)]
    format: DumpFormat,
    /// The file to write; standard output if left out
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Where the dump goes.
enum Target {
    Screen(Out),
    File(BufWriter<File>, String),
}

impl Target {
    fn write(&mut self, line: &[u8]) -> Outcome {
        match self {
            Target::Screen(out) => Ok(out.raw(line)?),
            Target::File(file, name) => file.write_all(line).map_err(|error| refused(name, &error)),
        }
    }

    fn finish(self) -> Outcome {
        match self {
            Target::Screen(out) => Ok(out.finish()?),
            Target::File(mut file, name) => {
                let synced = file.flush().and_then(|()| file.get_ref().sync_all());
                synced.map_err(|error| refused(&name, &error))
            }
        }
    }
}

fn refused(name: &str, error: &std::io::Error) -> Failure {
    Failure::system(format!("cannot write {name}"), error)
}

/// Writes the entries.
pub fn dump(shared: &Shared, args: &Dump) -> Outcome {
    let chosen = args.keys.parse(shared)?;
    let opened = open::for_reading(shared)?;
    let iter = chosen.iter(&opened)?;
    let mut target = match &args.output {
        None => Target::Screen(Out::lock()),
        Some(path) => {
            let name = path.display().to_string();
            let file = File::create(path).map_err(|error| refused(&name, &error))?;
            Target::File(BufWriter::new(file), name)
        }
    };
    let mut bar = Bar::things("dumping", None);
    let mut entries = 0;
    for entry in iter {
        let (key, value) = entry?;
        target.write(line(shared, args.format, &key, &value).as_bytes())?;
        entries += 1;
        if entries % TOLD_EVERY == 0 {
            bar.set(entries);
        }
    }
    drop(bar);
    target.finish()?;
    if args.output.is_some() {
        eprintln!("dumped {} entries", quantity::count(entries));
    }
    Ok(())
}

fn line(shared: &Shared, format: DumpFormat, key: &[u8], value: &[u8]) -> String {
    let (keys, values) = (shared.key_format(), shared.value_format());
    match format {
        DumpFormat::Tsv => {
            let (key, value) = (keys.show_field(key), values.show_field(value));
            format!("{key}\t{value}\n")
        }
        DumpFormat::Jsonl => {
            let object = json!({
                "key": json::spell(keys, key),
                "value": json::spell(values, value),
            });
            format!("{object}\n")
        }
    }
}
