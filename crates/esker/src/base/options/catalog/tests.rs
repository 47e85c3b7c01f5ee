//! Tests of `catalog`.

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::options::call::Durability;
use crate::base::options::codec::Shape;
use crate::base::options::profile::Profile;
use crate::base::options::setting::{Rank, Scope};
use crate::base::options::sst::Compression;

// Sets and reads back one setting, wherever it lives.
fn round_trip(setting: &Setting, text: &str) -> String {
    match setting.access {
        Access::Profile => setting.shape.show(&setting.parse(text).unwrap()),
        Access::Db { .. } => {
            let mut options = DbOptions::default();
            set_db(&mut options, setting.name, text).unwrap();
            setting.text_in(Profile::default(), &options, &KeyspaceOptions::default())
        }
        Access::Keyspace { .. } => {
            let mut options = KeyspaceOptions::default();
            set_keyspace(&mut options, setting.name, text).unwrap();
            get_keyspace(&options, setting.name).unwrap()
        }
    }
}

#[test]
fn every_default_round_trips() {
    // Default to text to value to text: printing the settings and giving them back changes none.
    for setting in settings() {
        let text = setting.default_text();
        assert_eq!(round_trip(setting, &text), text, "{}", setting.name);
    }
}

#[cfg_attr(
    not(all(feature = "lz4", feature = "snappy", feature = "zstd")),
    ignore = "needs every compressor"
)]
#[test]
fn every_example_is_allowed_and_differs_from_the_default() {
    // An example that is refused, or shows what one has anyway, helps nobody.
    for setting in settings() {
        let shown = round_trip(setting, setting.example);
        assert_ne!(shown, setting.default_text(), "{}", setting.name);
        assert_eq!(round_trip(setting, &shown), shown, "{}", setting.name);
    }
}

#[test]
fn both_ends_of_every_range_fit_their_field() {
    // The fields are narrower than the values of the catalogue; no allowed value may be lost.
    for setting in settings() {
        let texts: Vec<String> = match setting.shape {
            Shape::Whole { min, max, .. } => {
                // A plain number of milliseconds would be one of seconds.
                let shown = |whole| setting.shape.show(&Value::Whole(whole));
                vec![shown(min), shown(max)]
            }
            Shape::Memory { min, tiny, max } => [tiny, min, max].map(|it| it.to_string()).into(),
            Shape::Decimal { min, max } => vec![min.to_string(), max.to_string()],
            Shape::Flag => vec!["true".into(), "false".into()],
            Shape::Choice(words) => words.iter().map(|word| (*word).into()).collect(),
            Shape::Operator => vec!["none".into(), "append:|".into()],
        };
        for text in texts {
            let shown = round_trip(setting, &text);
            let value = setting.parse(&text).unwrap();
            assert_eq!(setting.parse(&shown).unwrap(), value, "{}", setting.name);
        }
    }
}

#[test]
fn every_choice_knows_all_names() {
    // The words of choices are told beside their types too; the two lists must agree.
    let words = |name| match find(name).unwrap().shape {
        Shape::Choice(words) => words.to_vec(),
        _ => panic!("{name} is no choice"),
    };
    assert_eq!(words("durability"), Durability::NAMES.map(|(name, _)| name));
    assert_eq!(
        words("compression"),
        Compression::NAMES.map(|(name, _)| name)
    );
    let of_blocks = CompressionType::NAMES.map(|(name, _)| name);
    assert_eq!(words("sst.compression_upper"), of_blocks);
    assert_eq!(words("profile"), Profile::NAMES.map(|(name, _)| name));
}

#[test]
fn the_catalogue_is_complete_and_tidy() {
    // Names once, lower case; whole sentences; at most ten settings for everyone.
    let mut seen = std::collections::HashSet::new();
    for setting in settings() {
        let name = setting.name;
        assert!(seen.insert(name), "{name} twice");
        let is_tidy = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
        assert!(name.chars().all(is_tidy), "{name}");
        assert!(
            setting.doc.ends_with('.') && setting.reason.ends_with('.'),
            "{name}"
        );
    }
    let normal = settings().filter(|setting| setting.rank == Rank::Normal);
    assert!(normal.count() <= 10);
    assert_eq!(find("ttl").unwrap().scope(), Scope::Keyspace);
    assert_eq!(find("profile").unwrap().scope(), Scope::Database);
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    // The name that was meant is one look away; nothing is suggested for nonsense.
    let message = |name| find(name).err().unwrap().message().to_string();
    for (typed, meant) in [
        ("memory_limt", "memory_limit"),
        ("Compresion", "compression"),
        ("sst.blocksize", "sst.block_size"),
        ("zstd_level", "sst.zstd_level"),
        ("l0_triger", "compaction.l0_trigger"),
        ("wal.total_bytes", "wal.total_size"),
    ] {
        let wanted = format!("there is no setting `{typed}`; `{meant}` exists");
        assert_eq!(message(typed), wanted);
    }
    assert_eq!(
        message("flux_capacitor"),
        "there is no setting `flux_capacitor`"
    );
}

#[test]
fn settings_in_the_wrong_place_are_told_where_they_belong() {
    // A keyspace's setting given to the database, and the other way round.
    let mut db = DbOptions::default();
    let mut keyspace = KeyspaceOptions::default();
    let message = |result: Result<()>| result.unwrap_err().message().to_string();
    assert_eq!(
        message(set_db(&mut db, "ttl", "5s")),
        "`ttl` is a setting of each keyspace, not of the database"
    );
    assert_eq!(
        message(set_keyspace(&mut keyspace, "memory_limit", "1GiB")),
        "`memory_limit` is a setting of the database, not of a keyspace"
    );
    assert!(message(set_db(&mut db, "profile", "balanced")).starts_with("`profile` has no value"));
    assert_eq!(db, DbOptions::default());
    assert!(get_keyspace(&keyspace, "memory_limit").is_err());
}

#[test]
fn edit_distance_counts_letters() {
    // Known distances, both ways.
    for (left, right, distance) in [
        ("", "abc", 3),
        ("kitten", "sitting", 3),
        ("same", "same", 0),
    ] {
        assert_eq!(edit_distance(left, right), distance);
        assert_eq!(edit_distance(right, left), distance);
    }
}
