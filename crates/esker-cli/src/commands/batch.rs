//! A batch: many writes that happen together or not at all.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use esker::internals::base::types::range::prefix_end;
use esker::{Keyspace, WriteBatch};
use serde_json::json;

use crate::commands::write::Survives;
use crate::fail::{Failure, Outcome};
use crate::global_flags::{GlobalFlags, keyspace_name};
use crate::load::field::{Coding, Field};
use crate::load::lines::{Bounds, Line, LongLine};
use crate::load::source::Source;
use crate::open::{self, Opened};
use crate::out::Out;
use crate::quantity;

/// Write many entries together or not at all
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is one write, its words apart by tabs and escaped as `esker --help` says:
  put KEY VALUE            set a value
  put KEY VALUE SECONDS    set it for so many seconds
  delete KEY               remove a key
  delete-range FROM TO     remove the keys from FROM up to TO, exclusive
  delete-prefix PREFIX     remove the keys that begin so
  merge KEY OPERAND        fold an operand into the value
  keyspace NAME            the lines below go to that keyspace, which is made if it is not there

If one line is wrong, nothing is written. After a crash all of the writes are there, or none.

Examples:
  printf 'put\\tship:anna\\tat sea\\ndelete\\tship:bela\\n' | esker batch
  esker batch moves.txt --durability sync")]
pub struct Batch {
    /// The file of writes; standard input if left out
    #[arg(default_value = "-", value_name = "FILE")]
    file: PathBuf,
    /// What the batch must survive: memory (nothing), buffered (a kill) or sync (loss of power)
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    durability: Option<Survives>,
}

/// Reads the writes and commits them as one.
pub fn batch(shared: &GlobalFlags, args: &Batch) -> Outcome {
    let mut source = Source::open(&args.file)?;
    let opened = open::for_filling(shared)?;
    let mut batch = opened.db.batch();
    let mut keyspace = opened.keyspace.clone();
    let failed = |name: &str, error| Failure::system(format!("cannot read {name}"), &error);
    loop {
        let name = source.name.clone();
        let number = source.lines.number() + 1;
        let words = match source.lines.next_line() {
            Err(error) => return Err(failed(&name, error)),
            Ok(None) => break,
            Ok(Some(Line::Text(b""))) => continue,
            Ok(Some(Line::Text(line))) => words(shared, line),
            Ok(Some(Line::Long(mut line))) => {
                long_words(shared, &mut line).map_err(|error| failed(&name, error))?
            }
        };
        let line = words.and_then(|words| add(&opened, &mut batch, &mut keyspace, &words));
        line.map_err(|reason| {
            Failure::usage(format!(
                "{name}:{number}: {reason}; nothing was written, `esker batch --help` tells the \
                 lines"
            ))
        })?;
    }
    let writes = batch.len();
    batch.commit_with(Survives::options(args.durability))?;
    drop(batch);
    drop(keyspace);
    opened.close()?;
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({ "writes": writes }))?;
    }
    Ok(out.finish()?)
}

/// What a word behind the name of a write is.
#[derive(Clone, Copy)]
enum Word {
    Key,
    Value,
    Plain,
}

impl Word {
    fn field(self, shared: &GlobalFlags, bounds: &Bounds) -> Field {
        match self {
            Word::Key => Field::new("key", Coding::Field(shared.key_format()), bounds.key),
            Word::Value => Field::new("value", Coding::Field(shared.value_format()), bounds.value),
            Word::Plain => Field::new("word", Coding::Plain, bounds.key),
        }
    }
}

fn kinds(name: &[u8]) -> Result<&'static [Word], String> {
    match name {
        b"put" => Ok(&[Word::Key, Word::Value, Word::Plain]),
        b"delete" | b"delete-prefix" => Ok(&[Word::Key]),
        b"delete-range" => Ok(&[Word::Key, Word::Key]),
        b"merge" => Ok(&[Word::Key, Word::Value]),
        b"keyspace" => Ok(&[Word::Plain]),
        _ => Err(NO_WRITE.into()),
    }
}

const NO_WRITE: &str = "it is no write with its words apart by tabs";

/// The words of a line: the name of a write, and what it is done with.
type Words = Vec<Vec<u8>>;

fn words(shared: &GlobalFlags, line: &[u8]) -> Result<Words, String> {
    let mut reading = Reading::new(shared, Bounds::default());
    reading.add(line)?;
    reading.finish()
}

/// As [`words`], decoding them while the line is read.
fn long_words(shared: &GlobalFlags, line: &mut LongLine<'_>) -> io::Result<Result<Words, String>> {
    let mut reading = Reading::new(shared, *line.bounds());
    while let Some(piece) = line.next_piece()? {
        if let Err(reason) = reading.add(piece) {
            return Ok(Err(reason));
        }
    }
    Ok(reading.finish())
}

/// The words of a line so far, and the one that its next piece goes on with.
struct Reading<'a> {
    shared: &'a GlobalFlags,
    bounds: Bounds,
    words: Words,
    word: Field,
}

impl<'a> Reading<'a> {
    fn new(shared: &'a GlobalFlags, bounds: Bounds) -> Reading<'a> {
        Reading {
            shared,
            bounds,
            words: Vec::new(),
            word: Word::Plain.field(shared, &bounds),
        }
    }

    fn add(&mut self, piece: &[u8]) -> Result<(), String> {
        for (index, part) in piece.split(|byte| *byte == b'\t').enumerate() {
            if index > 0 {
                let next = Word::Plain.field(self.shared, &self.bounds);
                let word = std::mem::replace(&mut self.word, next).finish()?;
                self.words.push(word);
                let kind = kinds(&self.words[0])?.get(self.words.len() - 1);
                self.word = kind.ok_or(NO_WRITE)?.field(self.shared, &self.bounds);
            }
            self.word.add(part)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Words, String> {
        self.words.push(self.word.finish()?);
        Ok(self.words)
    }
}

fn add(
    opened: &Opened,
    batch: &mut WriteBatch,
    keyspace: &mut Keyspace,
    words: &Words,
) -> Result<(), String> {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match words[..] {
        [b"put", key, value] => batch.put(keyspace, key, value),
        [b"put", key, value, seconds] => {
            batch.put_with_ttl(keyspace, key, value, parse_seconds(seconds)?)
        }
        [b"delete", key] => batch.delete(keyspace, key),
        [b"delete-range", from, to] => batch.delete_range(keyspace, from, to),
        [b"delete-prefix", prefix] => {
            let end = prefix_end(prefix).ok_or("a prefix that ends nowhere is a range")?;
            batch.delete_range(keyspace, prefix, &end)
        }
        [b"merge", key, operand] => batch.merge(keyspace, key, operand),
        [b"keyspace", name] => {
            let name = std::str::from_utf8(name).map_err(|_| "the name is not UTF-8")?;
            let found = opened.db.keyspace(&keyspace_name(name)?);
            *keyspace = found.map_err(|error| error.message().to_owned())?;
            &mut *batch
        }
        _ => return Err(NO_WRITE.into()),
    };
    let refusal = batch.take_refusal();
    refusal.map_or(Ok(()), |error| Err(error.message().to_owned()))
}

fn parse_seconds(word: &[u8]) -> Result<Duration, String> {
    let text = std::str::from_utf8(word).ok();
    let seconds = text.and_then(quantity::seconds);
    seconds.ok_or_else(|| "the last word is no count of seconds".into())
}
