//! Every flag, as the table `flags.tsv` tells it.

use std::sync::LazyLock;

use crate::flags::flag::{Flag, Kind, Known};

/// Counts: a million million is beyond any run that ends.
const COUNT_MAX: i64 = 1_000_000_000_000;

/// Sizes: beyond any one machine.
const BYTES_MAX: i64 = 1 << 50;

static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let lines = include_str!("flags.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let flags =
        lines.map(|line| flag(line).unwrap_or_else(|| panic!("no flag is told by: {line}")));
    flags.collect()
});

fn flag(line: &'static str) -> Option<Flag> {
    let mut fields = line.split('\t');
    let mut field = || fields.next();
    let (name, kind, known) = (field()?, kind(field()?)?, known(field()?)?);
    let (default, doc) = (field()?, field()?);
    let defaults = match default.split_once(" / ") {
        None if default == "none" => [""; 3],
        None => [default; 3],
        Some((leveldb, rest)) => {
            let (old, new) = rest.split_once(" / ")?;
            [leveldb, old, new].map(|one| if one == "-" { "" } else { one })
        }
    };
    Some(Flag {
        name,
        kind,
        known,
        defaults,
        without: if default == "none" { doc } else { "" },
        doc,
    })
}

fn kind(text: &str) -> Option<Kind> {
    Some(match text {
        "bool" => Kind::Bool,
        "text" => Kind::Text,
        "any" => Kind::Whole(i64::MIN, i64::MAX),
        "number" => Kind::Number(f64::MIN, f64::MAX),
        "count" => Kind::Whole(0, COUNT_MAX),
        "signed" => Kind::Whole(-1, COUNT_MAX),
        "bytes" => Kind::Whole(0, BYTES_MAX),
        range => {
            let (min, max) = range.split_once(':')?;
            match min.contains('.') {
                true => Kind::Number(min.parse().ok()?, max.parse().ok()?),
                false => Kind::Whole(min.parse().ok()?, max.parse().ok()?),
            }
        }
    })
}

fn known(text: &str) -> Option<Known> {
    Some(match text {
        "all" => Known::All,
        "leveldb" => Known::LevelDb,
        "rocksdb" => Known::RocksDbs,
        "2013" => Known::Old,
        "today" => Known::New,
        "leveldb+2013" => Known::LevelDbAndOld,
        "ours" => Known::Own,
        _ => return None,
    })
}

/// The flag of that name, with or without effect.
pub fn find(name: &str) -> Option<&'static Flag> {
    all().find(|flag| flag.name == name)
}

/// Every flag with an effect.
pub fn effective() -> impl Iterator<Item = &'static Flag> {
    all().filter(|flag| flag.without.is_empty())
}

/// Every flag, those with an effect first.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter()
}
