//! Tests of the typed settings against the catalogue.

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::hooks::merge_builtin;
use crate::base::options::catalog;
use crate::base::options::setting::Rank;
use crate::base::types::error::ErrorKind;
use crate::env::sim::SimWorld;

/// A call of each typed setting, and the text that says the same.
fn typed() -> Vec<(&'static str, &'static str, Builder)> {
    let builder = || Builder::new("nowhere");
    vec![
        ("profile", "bulk_load", builder().profile(Profile::BulkLoad)),
        ("memory_limit", "512MiB", builder().memory_limit(512 << 20)),
        ("background_threads", "3", builder().background_threads(3)),
        (
            "background_threads",
            "auto",
            builder().background_threads(0),
        ),
        ("durability", "sync", builder().durability(Durability::Sync)),
        ("disk_limit", "1GiB", builder().disk_limit(1 << 30)),
        ("disk_limit", "none", builder().disk_limit(0)),
        ("max_space_amp", "1.25", builder().max_space_amp(1.25)),
        (
            "compression",
            "searchable",
            builder().compression(Compression::Searchable),
        ),
        (
            "compression",
            "none",
            builder().compression(Compression::Blocks(CompressionType::None)),
        ),
        (
            "ttl",
            "1001ms",
            builder().ttl(Duration::from_micros(1_000_100)),
        ),
        ("ttl", "none", builder().ttl(Duration::ZERO)),
        (
            "merge_operator",
            "append:;",
            builder().merge_operator(merge_builtin::append(";")),
        ),
    ]
}

#[test]
fn a_typed_setting_does_what_its_text_does() {
    // All effective values are compared, so that a profile's are seen too.
    for (name, text, builder) in typed() {
        let told = Builder::new("nowhere").set(name, text).unwrap();
        let texts = |builder: Builder| {
            let resolved = builder.resolve(4).unwrap();
            let texts: Vec<_> = resolved
                .effective
                .iter()
                .map(|one| one.text.clone())
                .collect();
            texts
        };
        assert_eq!(texts(builder), texts(told), "{name} = {text}");
    }
}

#[test]
fn every_setting_that_most_programs_meet_is_typed() {
    // A new one in the catalogue wants a method here.
    let typed = typed();
    for setting in catalog::settings().filter(|setting| setting.rank == Rank::Normal) {
        assert!(
            typed.iter().any(|(name, ..)| *name == setting.name),
            "{}",
            setting.name
        );
    }
}

#[test]
fn a_typed_setting_out_of_range_is_refused_by_name_at_open() {
    // The methods cannot fail; opening says what is wrong, and creates nothing.
    let world = SimWorld::new(1);
    let builder = || Builder::new("db").env(world.env());
    for (name, builder) in [
        ("memory_limit", builder().memory_limit(1)),
        ("max_space_amp", builder().max_space_amp(0.5)),
        ("ttl", builder().ttl(Duration::MAX)),
    ] {
        let error = builder.open().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(builder().create_if_missing(false).open().is_err());
}

#[cfg_attr(not(feature = "snappy"), ignore = "needs the feature `snappy`")]
#[test]
fn names_of_other_engines_are_understood() {
    // What a benchmark of LevelDB or RocksDB is given may be given here.
    let pairs = [
        ("write_buffer_size", "8MiB"),
        ("bloom_bits", "12"),
        ("compression_type", "kSnappyCompression"),
        ("cache_size", "96MiB"),
    ];
    let builder = pairs
        .iter()
        .try_fold(Builder::new("nowhere"), |builder, (name, text)| {
            builder.set(name, text)
        });
    let effective = builder.unwrap().resolve(4).unwrap().effective;
    let value = |name| {
        let found = effective.iter().find(|it| it.setting.name == name);
        found.unwrap().text.as_str()
    };
    assert_eq!(value("memtable.size"), "8MiB");
    assert_eq!(value("sst.filter_bits"), "12");
    assert_eq!(value("compression"), "snappy");
    assert_eq!(value("memory_limit"), "120MiB");
    // A wrong value is refused at once, under the name that was given.
    let refused = |name, text| {
        let error = Builder::new("nowhere").set(name, text).err().unwrap();
        error.message().to_owned()
    };
    assert!(refused("block_size", "tiny").starts_with("`block_size` stands for `sst.block_size`"));
    assert!(refused("cache_size", "tiny").starts_with("`cache_size` cannot be `tiny`"));
}
