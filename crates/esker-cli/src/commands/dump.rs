//! Dumping: entries as text that `load` reads back exactly.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use esker::{DbCursor, Expiry, Keyspace};
use serde_json::json;

use crate::commands::dump_source::Source;
use crate::commands::read::Keys;
use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::json;
use crate::load::whole::{self, Head};
use crate::open::Bounds;
use crate::out::Out;
use crate::progress::Bar;
use crate::quantity;
use crate::text::tame_json;

/// Entries between two looks at the clock: rare enough to cost nothing.
const TOLD_EVERY: u64 = 4096;

/// What may be done about damage here.
const SKIP_DAMAGE: &str = "`esker dump --skip-damage` writes what can still be read, and changes \
                           nothing either";

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
  esker dump --all -o harbour.jsonl          the whole database, for `esker load` to restore
  esker dump --all | gzip > harbour.jsonl.gz
  esker dump > all.tsv                       one keyspace as key, tab, value
  esker dump --format jsonl ship: | gzip > ships.jsonl.gz
  esker dump | esker load --db copy -        a copy of the keyspace in another database
  esker dump --all --skip-damage -o left.jsonl    what is left of a damaged database

With --all every keyspace is written, with its settings, and each entry with when it expires,
where it does; the last line tells `load` that the dump is whole. Merge operands are
written as the values that they make.

In tsv, control characters, backslashes and bytes that are no text are written as `esker --help`
says. In jsonl, bytes that are no UTF-8 are written {\"base64\": \"…\"}, and `expires` is in
seconds since 1970; tsv has no place for it, and says so if it would be needed. With --hex or
--base64 everything is spelled so, and `load` needs the same flag. A dump is of one moment, whatever
is written meanwhile.

With --skip-damage what can be read of a damaged database is written, all that `esker repair --yes`
would keep, and the database is not changed: it may lie where nothing can be written. What is lost
is told on standard error, by keys where they are known (with --json as `esker repair --json` does),
and exits with 3. No other process may have the database open for writing. What has to be put
together anew goes to a folder in TMPDIR meanwhile: little as a rule, and as much as the database
where its manifest is lost.")]
pub struct Dump {
    #[command(flatten)]
    keys: Keys,
    /// Every keyspace with its settings, to restore the database from; in jsonl
    #[arg(long, conflicts_with_all = ["prefix", "from", "to"])]
    all: bool,
    /// How to write it: tsv (as a rule) or jsonl
    #[arg(long, value_enum, hide_possible_values = true)]
    format: Option<DumpFormat>,
    /// Write what can be read of a damaged database, which stays as it is
    #[arg(long)]
    skip_damage: bool,
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
pub fn dump(shared: &GlobalFlags, args: &Dump) -> Outcome {
    if args.all && args.format == Some(DumpFormat::Tsv) {
        return Err(Failure::usage(
            "tsv has no place for keyspaces and expiries; leave --format out, or say jsonl",
        ));
    }
    let bounds = args.keys.parse(shared)?.into_bounds();
    if !args.skip_damage {
        let source = Source::whole(shared, args.all);
        let written = source.and_then(|source| write((shared, args), &bounds, &source));
        return written.map_err(|failure| failure.advised_on_damage(SKIP_DAMAGE));
    }
    let source = Source::past_damage(shared, args.all)?;
    write((shared, args), &bounds, &source)?;
    match source.is_lossy {
        true => Err(Failure::Silent(Code::NotFound)),
        false => Ok(()),
    }
}

fn write((shared, args): (&GlobalFlags, &Dump), bounds: &Bounds, source: &Source) -> Outcome {
    let target = match &args.output {
        None => Target::Screen(Out::lock()),
        Some(path) => {
            let name = path.display().to_string();
            let file = File::create(path).map_err(|error| refused(&name, &error))?;
            Target::File(BufWriter::new(file), name)
        }
    };
    let format = match args.all {
        true => DumpFormat::Jsonl,
        false => args.format.unwrap_or(DumpFormat::Tsv),
    };
    let mut writer = Writer {
        shared,
        format,
        is_whole: args.all,
        target,
        bar: Bar::things("dumping", None),
        interrupt: source.interrupt.clone(),
        entries: 0,
        expiring: 0,
    };
    let moment = source.db.snapshot_named("dump");
    writer.begin(&source.keyspaces)?;
    for keyspace in &source.keyspaces {
        writer.keyspace(keyspace, moment.of(keyspace).cursor_in(bounds.clone())?)?;
    }
    let (entries, expiring) = writer.finish()?;
    if args.output.is_some() {
        remark!("dumped {} entries", quantity::count(entries));
    }
    if expiring > 0 {
        remark!(
            "esker: tsv has no place for the end of {}, and `load` would keep {} for good; \
             --format jsonl has",
            quantity::counted_as(expiring, "entry that expires", "entries that expire"),
            if expiring == 1 { "it" } else { "them" }
        );
    }
    Ok(())
}

/// Writes a dump line by line.
struct Writer<'a> {
    shared: &'a GlobalFlags,
    format: DumpFormat,
    is_whole: bool,
    target: Target,
    bar: Bar,
    interrupt: Option<Interrupt>,
    entries: u64,
    /// Those that were written without the second in which they expire.
    expiring: u64,
}

impl Writer<'_> {
    fn begin(&mut self, keyspaces: &[Keyspace]) -> Outcome {
        if !self.is_whole {
            return Ok(());
        }
        let keyspaces = keyspaces.iter();
        let named = keyspaces.map(|one| (one.name().to_owned(), one.own_settings()));
        let head = tame_json(Head(named.collect()).to_line().to_string());
        self.target.write(format!("{head}\n").as_bytes())
    }

    fn keyspace(&mut self, keyspace: &Keyspace, mut cursor: DbCursor) -> Outcome {
        let mut is_there = cursor.seek_to_first()?;
        while is_there {
            let expiry = cursor.expiry()?;
            if let (Some(key), Some(value)) = (cursor.key(), cursor.value()?) {
                let line = match self.format {
                    DumpFormat::Tsv => self.tsv(key, value),
                    DumpFormat::Jsonl => self.jsonl(keyspace, key, value, expiry),
                };
                self.target.write(line.as_bytes())?;
            }
            if self.format == DumpFormat::Tsv && expiry.is_some() {
                self.expiring += 1;
            }
            self.entries += 1;
            if self.entries.is_multiple_of(TOLD_EVERY) {
                self.bar.set(self.entries);
                self.stop_as_asked()?;
            }
            is_there = cursor.next()?;
        }
        Ok(())
    }

    fn stop_as_asked(&self) -> Outcome {
        let raised = self.interrupt.as_ref().filter(|one| one.is_raised());
        raised.map_or(Ok(()), |interrupt| {
            let message = "stopped as asked; what was written is the front of the dump";
            Err(Failure::stopped(interrupt.code(), message))
        })
    }

    fn tsv(&self, key: &[u8], value: &[u8]) -> String {
        let (keys, values) = (self.shared.key_format(), self.shared.value_format());
        let (key, value) = (keys.show_field(key), values.show_field(value));
        format!("{key}\t{value}\n")
    }

    fn jsonl(
        &self,
        keyspace: &Keyspace,
        key: &[u8],
        value: &[u8],
        expiry: Option<Expiry>,
    ) -> String {
        let mut object = json!({
            "key": json::spell(self.shared.key_format(), key),
            "value": json::spell(self.shared.value_format(), value),
        });
        if let Some(expiry) = expiry {
            object["expires"] = json::expiry(expiry);
        }
        if self.is_whole {
            object["keyspace"] = keyspace.name().into();
        }
        let mut line = tame_json(object.to_string());
        line.push('\n');
        line
    }

    /// Writes the end; how many entries there were, and how many lost their expiry.
    fn finish(mut self) -> Outcome<(u64, u64)> {
        if self.is_whole {
            let end = whole::end_line(self.entries);
            self.target.write(format!("{end}\n").as_bytes())?;
        }
        drop(self.bar);
        self.target.finish()?;
        Ok((self.entries, self.expiring))
    }
}
