//! Words of a command line to flags, by the rules of gflags or of LevelDB.

use std::collections::BTreeMap;

use crate::fail::{Failure, Outcome};
use crate::flags::catalog;
use crate::flags::flag::{Dialect, Flag, Kind, Known};
use crate::flags::given::{Given, truth};
use crate::flags::nearest::nearest;

/// What a command line asks for.
#[derive(Clone, Debug)]
pub enum Asked {
    /// The list of flags.
    Help,
    /// The version.
    Version,
    /// A run.
    Run {
        /// The flags.
        given: Given,
        /// Why this dialect, in a few words.
        why: String,
    },
}

/// Reads a command line. `needs_rocksdb` tells which benchmarks LevelDB does not have: they
/// decide about the dialect where `--compat` does not.
///
/// Errors: in the words and with the exit code of the dialect that was asked for by `--compat`,
/// else in ours, with the nearest name and exit code 2.
pub fn parse(words: &[String], needs_rocksdb: &dyn Fn(&str) -> bool) -> Outcome<Asked> {
    let compat = compat(words)?;
    let mut values: BTreeMap<&'static str, String> = BTreeMap::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if matches!(word, "--help" | "-help" | "-h") {
            return Ok(Asked::Help);
        }
        if matches!(word, "--version" | "-version") {
            return Ok(Asked::Version);
        }
        let (flag, text) = read_word(word, compat, &mut words)?;
        check(flag, &text, compat, word)?;
        values.insert(flag.name, text);
    }
    let (dialect, why) = match compat {
        Some(dialect) => (dialect, "chosen by --compat".to_owned()),
        None => guess(&values, needs_rocksdb),
    };
    Ok(Asked::Run {
        given: Given::new(dialect, values),
        why,
    })
}

fn compat(words: &[String]) -> Outcome<Option<Dialect>> {
    let mut found = None;
    for (place, word) in words.iter().enumerate() {
        let name = match word.trim_start_matches('-').split_once('=') {
            Some(("compat", name)) if word.starts_with('-') => name,
            None if matches!(word.as_str(), "--compat" | "-compat") => {
                words.get(place + 1).map_or("", String::as_str)
            }
            _ => continue,
        };
        found = Some(Dialect::of(name).ok_or_else(|| {
            let told = format!("--compat={name}: it is one of leveldb, rocksdb2013, rocksdb");
            Failure::own(2, told)
        })?);
    }
    Ok(found)
}

/// The flag of one word and its text, which may be the next word.
fn read_word<'a>(
    word: &str,
    compat: Option<Dialect>,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Outcome<(&'static Flag, String)> {
    let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    let Some(bare) = bare.filter(|bare| !bare.is_empty()) else {
        return Err(unknown(word, word, compat));
    };
    let (name, text) = match bare.split_once('=') {
        Some((name, text)) => (name, Some(text)),
        None => (bare, None),
    };
    // Flags are spelled with underscores; dashes inside are the same to gflags.
    let name = &name.replace('-', "_")[..];
    if let Some(flag) = known(name, compat) {
        let is_leveldb = compat == Some(Dialect::LevelDb) && flag.known != Known::Own;
        return match text {
            Some(text) => Ok((flag, text.to_owned())),
            None if is_leveldb => Err(unknown(word, name, compat)),
            None if flag.kind == Kind::Bool => Ok((flag, "true".into())),
            None => match rest.next() {
                Some(text) => Ok((flag, text.to_owned())),
                None => Err(wrong(compat, word, &format!("--{name} wants a value"))),
            },
        };
    }
    let negated = name.strip_prefix("no").filter(|_| text.is_none());
    match negated.and_then(|name| known(name, compat)) {
        Some(flag) if flag.kind == Kind::Bool && compat != Some(Dialect::LevelDb) => {
            Ok((flag, "false".into()))
        }
        _ => Err(unknown(word, name, compat)),
    }
}

/// The flag of that name. LevelDB knows its own only; RocksDB's dialects take each other's, so
/// that old command lines run.
fn known(name: &str, compat: Option<Dialect>) -> Option<&'static Flag> {
    let is_known = |flag: &&Flag| match compat {
        Some(Dialect::LevelDb) => flag.known.to(Dialect::LevelDb),
        Some(_) => flag.known.to(Dialect::RocksDb2013) || flag.known.to(Dialect::RocksDb),
        None => true,
    };
    catalog::find(name).filter(is_known)
}

fn unknown(word: &str, name: &str, compat: Option<Dialect>) -> Failure {
    let theirs = format!("unknown command line flag '{name}'");
    refused(compat, word, &theirs, || {
        let near = nearest(name, catalog::all().map(|flag| flag.name));
        let advice = match near {
            Some(near) => format!("did you mean --{near}?"),
            None => "--help lists them".into(),
        };
        format!("there is no flag `{word}`; {advice}")
    })
}

fn wrong(compat: Option<Dialect>, word: &str, line: &str) -> Failure {
    refused(compat, word, line, || line.to_owned())
}

/// A refusal in the words of the dialect, or in ours where none was asked for.
fn refused(
    compat: Option<Dialect>,
    word: &str,
    theirs: &str,
    ours: impl Fn() -> String,
) -> Failure {
    match compat {
        Some(Dialect::LevelDb) => Failure::own(1, format!("Invalid flag '{word}'")),
        Some(_) => Failure::own(1, format!("ERROR: {theirs}")),
        None => Failure::own(2, ours()),
    }
}

/// Refuses a text that is not of the flag's kind.
fn check(flag: &Flag, text: &str, compat: Option<Dialect>, word: &str) -> Outcome {
    let name = flag.name;
    let told = match flag.kind {
        Kind::Text => None,
        Kind::Bool if compat == Some(Dialect::LevelDb) && flag.known != Known::Own => {
            (!matches!(text, "0" | "1")).then(|| format!("--{name} is 0 or 1"))
        }
        Kind::Bool => truth(text)
            .is_none()
            .then(|| format!("--{name}={text}: it is true or false")),
        Kind::Whole(min, max) => {
            let is_good = text
                .parse()
                .is_ok_and(|value: i64| (min..=max).contains(&value));
            (!is_good).then(|| format!("--{name}={text}: it is a whole number from {min} to {max}"))
        }
        Kind::Number(min, max) => {
            let is_good = text
                .parse()
                .is_ok_and(|value: f64| (min..=max).contains(&value));
            (!is_good).then(|| format!("--{name}={text}: it is a number from {min} to {max}"))
        }
    };
    match told {
        Some(line) => Err(wrong(compat, word, &line)),
        None => Ok(()),
    }
}

/// The dialect that flags and benchmarks speak of, and why.
fn guess(
    values: &BTreeMap<&'static str, String>,
    needs_rocksdb: &dyn Fn(&str) -> bool,
) -> (Dialect, String) {
    let speaks = |dialect: Dialect, not: &[Dialect]| {
        values.keys().copied().find(|name| {
            let flag = catalog::find(name).expect("only flags of the catalogue are kept");
            flag.known.to(dialect) && !not.iter().any(|other| flag.known.to(*other))
        })
    };
    let others = [Dialect::LevelDb, Dialect::RocksDb];
    if let Some(name) = speaks(Dialect::RocksDb2013, &others) {
        return (Dialect::RocksDb2013, format!("because of --{name}"));
    }
    if let Some(name) = speaks(Dialect::RocksDb, &[Dialect::LevelDb]) {
        return (Dialect::RocksDb, format!("because of --{name}"));
    }
    let list = values.get("benchmarks").map_or("", String::as_str);
    if let Some(name) = list.split(',').find(|name| needs_rocksdb(name)) {
        return (Dialect::RocksDb, format!("because of {name}"));
    }
    (Dialect::LevelDb, "the default; choose with --compat".into())
}

/// The list of flags, for people.
pub fn help() -> Outcome<String> {
    let mut text = String::from(
        "db_bench: LevelDB's, RocksDB's of 2013 and RocksDB's of today\n\n\
         Usage: db_bench [--flag=value …]\n\n\
         Flags, with the value unless given (LevelDB / RocksDB of 2013 / RocksDB):\n",
    );
    for flag in catalog::effective() {
        let [leveldb, old, new] = flag.defaults;
        let default = match flag.known {
            Known::LevelDb => leveldb.to_owned(),
            Known::Old => old.to_owned(),
            _ if leveldb == old && old == new => new.to_owned(),
            _ => flag
                .defaults
                .map(|one| if one.is_empty() { "-" } else { one })
                .join(" / "),
        };
        text += &format!("  --{:<36} {} [{default}]\n", flag.name, flag.doc);
    }
    text += "\nAccepted, without effect:\n";
    for flag in catalog::all().filter(|flag| !flag.without.is_empty()) {
        text += &format!("  --{:<36} {}\n", flag.name, flag.without);
    }
    text += "\nExamples:\n  db_bench --benchmarks=fillseq,readrandom,stats --num=100000\n  \
             db_bench --compat=rocksdb --benchmarks=readwhilewriting --threads=2 --histogram\n\
             \nA directory that no benchmark made is never emptied unless --use_existing_db=0 and \
             --yes are given.\nExit codes: 0 done, 1 something failed, 2 the command line makes \
             no sense.\n";
    Ok(text)
}

#[cfg(test)]
mod tests;
