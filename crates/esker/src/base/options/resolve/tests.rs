//! Tests of `resolve`.

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::options::pairs::to_pairs;

fn effective<'a>(resolved: &'a Resolved, name: &str) -> &'a Effective {
    let found = resolved.effective.iter().find(|it| it.setting.name == name);
    found.unwrap()
}

fn told(resolved: &Resolved, name: &str) -> (String, Origin) {
    let one = effective(resolved, name);
    (one.text.clone(), one.origin)
}

fn refused(pairs: &[(&str, &str)]) -> String {
    let error = resolve(Profile::Balanced, pairs, 2).err().unwrap();
    error.message().into()
}

#[test]
fn every_profile_resolves_and_passes_the_checks() {
    // With nothing but a profile each of its lines is in effect, with its reason.
    for (name, profile) in Profile::NAMES {
        let resolved = resolve(profile, &[], 8).unwrap();
        for line in profile.lines() {
            let one = effective(&resolved, line.setting);
            let value = one.setting.parse(line.value).unwrap();
            assert_eq!(one.text, one.setting.shape.show(&value), "{name}");
            assert_eq!(
                (one.origin, one.reason),
                (Origin::Profile, Some(line.reason))
            );
            assert_ne!(
                one.text,
                one.setting.default_text(),
                "{name}: {}",
                line.setting
            );
        }
        assert_eq!(told(&resolved, "profile").0, name);
    }
}

#[test]
fn every_value_has_its_origin() {
    // One setting of each origin, told apart.
    let pairs = [
        ("profile", "Read_Heavy"),
        ("sst.filter_bits", "12"),
        ("ttl", "2h"),
    ];
    let resolved = resolve(Profile::BulkLoad, &pairs, 6).unwrap();
    assert_eq!(resolved.profile, Profile::ReadHeavy);
    assert_eq!(
        told(&resolved, "profile"),
        ("read_heavy".into(), Origin::User)
    );
    assert_eq!(
        told(&resolved, "sst.filter_bits"),
        ("12".into(), Origin::User)
    );
    assert_eq!(
        told(&resolved, "compaction.l0_trigger"),
        ("2".into(), Origin::Profile)
    );
    assert_eq!(
        told(&resolved, "background_threads"),
        ("6".into(), Origin::Automatic)
    );
    assert_eq!(
        told(&resolved, "durability"),
        ("buffered".into(), Origin::Default)
    );
    assert_eq!(resolved.keyspace.ttl_ms, 7_200_000);
    assert_eq!(resolved.effective.len(), catalog::settings().count());
    assert!(effective(&resolved, "memtable.size").reason.is_some());
}

#[test]
fn what_is_left_to_the_engine_stays_so_in_the_manifest() {
    // The memtable follows the memory limit of the next opening, not of this one.
    let resolved = resolve(Profile::Balanced, &[("memory_limit", "1.5GiB")], 2).unwrap();
    assert_eq!(resolved.keyspace.memtable_bytes, 128 << 20);
    assert_eq!(resolved.keyspace_asked.memtable_bytes, 0);
    let pairs = to_pairs(&resolved.keyspace_asked);
    assert!(pairs.iter().all(|(name, _)| name != "memtable.size"));
    let auto = resolve(Profile::Balanced, &[("background_threads", "auto")], 3).unwrap();
    assert_eq!(
        told(&auto, "background_threads"),
        ("3".into(), Origin::Automatic)
    );
}

#[cfg_attr(
    not(all(feature = "lz4", feature = "snappy", feature = "zstd")),
    ignore = "needs every compressor"
)]
#[test]
fn upper_levels_follow_the_chosen_compression() {
    // `compression=none` means none everywhere, unless somebody says otherwise.
    let upper = |pairs: &[(&str, &str)]| {
        let resolved = resolve(Profile::Balanced, pairs, 2).unwrap();
        let compression = resolved.keyspace.sst.compression_upper;
        (compression, told(&resolved, "sst.compression_upper").1)
    };
    assert_eq!(upper(&[]), (CompressionType::Lz4, Origin::Default));
    assert_eq!(
        upper(&[("compression_type", "none")]),
        (CompressionType::None, Origin::Automatic)
    );
    assert_eq!(
        upper(&[("compression", "zstd")]),
        (CompressionType::Lz4, Origin::Automatic)
    );
    let both = [("compression", "none"), ("sst.compression_upper", "zstd")];
    assert_eq!(upper(&both), (CompressionType::Zstd, Origin::User));
}

#[test]
fn the_log_follows_a_small_disk_limit() {
    // Who gives a disk limit and nothing else need not know of the log.
    let pairs = [("disk_limit", "20MiB")];
    let resolved = resolve(Profile::Balanced, &pairs, 2).unwrap();
    let automatic = |size: &str| (size.to_owned(), Origin::Automatic);
    assert_eq!(told(&resolved, "wal.total_size"), automatic("5MiB"));
    assert_eq!(told(&resolved, "wal.segment_size"), automatic("1280KiB"));
    assert_eq!(told(&resolved, "memtable.size"), automatic("2560KiB"));
    // A profile's sizes follow as well, and what fits is left alone.
    let resolved = resolve(Profile::BulkLoad, &[("disk_limit", "200MiB")], 2).unwrap();
    assert_eq!(told(&resolved, "wal.total_size"), automatic("50MiB"));
    let resolved = resolve(Profile::Balanced, &[("disk_limit", "2GiB")], 2).unwrap();
    assert_eq!(told(&resolved, "wal.total_size").1, Origin::Default);
    assert_eq!(told(&resolved, "wal.segment_size").1, Origin::Default);
    // Half of the limit is allowed to who asks for it, and the segments fit.
    let both = [("disk_limit", "16MiB"), ("wal.total_size", "8MiB")];
    let resolved = resolve(Profile::Balanced, &both, 2).unwrap();
    assert_eq!(told(&resolved, "wal.segment_size"), automatic("2MiB"));
    let both = [("disk_limit", "16MiB"), ("wal.total_size", "128KiB")];
    let resolved = resolve(Profile::Balanced, &both, 2).unwrap();
    assert_eq!(told(&resolved, "wal.segment_size"), automatic("64KiB"));
    // The user's own sizes are kept, and refused by name.
    let both = [("disk_limit", "600MiB"), ("wal.total_size", "512MiB")];
    assert!(refused(&both).starts_with("`wal.total_size` (512MiB) must not exceed half"));
    let both = [("disk_limit", "20MiB"), ("wal.segment_size", "16MiB")];
    assert!(refused(&both).starts_with("`wal.segment_size` (16MiB) must not exceed"));
}

#[test]
fn a_published_command_line_resolves() {
    // The sizes of a well-known RocksDB benchmark, which no limit of ours was made for.
    let pairs = [
        ("write_buffer_size", "134217728"),
        ("cache_size", "1073741824"),
        ("block_size", "4096"),
        ("bloom_bits", "10"),
        ("compression_type", "none"),
        ("max_background_compactions", "20"),
        ("level0_file_num_compaction_trigger", "4"),
        ("max_bytes_for_level_base", "10485760"),
        ("target_file_size_base", "2097152"),
        ("open_files", "500000"),
        ("disable_auto_compactions", "0"),
        ("merge_operator", "uint64add"),
    ];
    let resolved = resolve(Profile::Balanced, &pairs, 2).unwrap();
    assert_eq!(resolved.db.memory_limit, (1024 + 3 * 128) << 20);
    assert_eq!(told(&resolved, "memory_limit").1, Origin::Automatic);
    assert_eq!(resolved.db.background_threads, 20);
    assert_eq!(resolved.keyspace.merge.unwrap().0.name(), "uint64add");
    let tiny = resolve(Profile::Balanced, &[("cache_size", "0")], 2).unwrap();
    assert_eq!(tiny.db.memory_limit, 32 << 20);
}

#[test]
fn refusals_name_what_the_user_wrote() {
    // The user sees the spelling that was given, and what it stands for.
    assert_eq!(
        refused(&[("block_size", "tiny")]),
        "`block_size` stands for `sst.block_size`: `sst.block_size` cannot be `tiny`: give a size \
         from 512B to 16MiB, as in `16KiB`"
    );
    assert_eq!(
        refused(&[("profile", "fast")]),
        "`profile` cannot be `fast`: give one of `balanced`, `read_heavy`, `write_heavy`, \
         `small_space`, `bulk_load`, as in `read_heavy`"
    );
    assert_eq!(
        refused(&[("durabilty", "sync")]),
        "there is no setting `durabilty`; `durability` exists"
    );
    assert!(refused(&[("wal.total_size", "1MiB")]).contains("raise `wal.total_size` to 32MiB"));
}

#[test]
fn what_is_changed_live_is_as_if_it_had_been_given_at_opening() {
    // For every setting of the database that is live, its example and sizes below and above: with
    // it changed while the database is open, every setting has the value and the origin that it
    // has where both were given at opening, with the same segments of the log, which stay; but for
    // those that are only read then. And what is taken back leaves nothing behind.
    let profiles = [Profile::Balanced, Profile::BulkLoad, Profile::SmallSpace];
    let samples = |setting: &'static Setting| {
        let sizes = ["0", "16MiB", "200MiB", "600MiB", "2GiB", "1TiB"];
        std::iter::once(setting.example).chain(sizes)
    };
    let is_kept_open = |setting: &Setting| setting.is_live || setting.name == "memtable.size";
    let mut count = 0;
    for profile in profiles {
        let opened = resolve(profile, &[], 2).unwrap();
        let live = catalog::settings()
            .filter(|setting| setting.is_live && setting.scope() == Scope::Database);
        for (setting, text) in
            live.flat_map(|setting| samples(setting).map(move |text| (setting, text)))
        {
            let segments = effective(&opened, "wal.segment_size");
            let pairs = [(setting.name, text), ("wal.segment_size", &segments.text)];
            let (Ok(given), Ok(changed)) =
                (resolve(profile, &pairs, 2), opened.with(setting, text))
            else {
                continue;
            };
            count += 1;
            for (one, other) in given.effective.iter().zip(&changed.effective) {
                let (one, other) = (
                    (one.setting.name, &one.text, one.origin, one.reason),
                    (other.setting.name, &other.text, other.origin, other.reason),
                );
                if is_kept_open(catalog::find(one.0).unwrap()) {
                    assert_eq!(one, other, "{profile:?} {} {text}", setting.name);
                }
            }
            // Back again.
            let before = setting.text_in(profile, &opened.db, &opened.keyspace);
            let Ok(back) = changed.with(setting, &before) else {
                continue;
            };
            for (one, other) in opened.effective.iter().zip(&back.effective) {
                assert_eq!(one.text, other.text, "{} {text}", setting.name);
            }
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_small_disk_limit_may_be_set_while_the_database_is_open() {
    // Nobody chose a size for the log, and yet the limit was refused for it. Segments stay as long
    // as they are, so that is as small as the log gets; raised later, it is what it was. Whoever
    // chose the log's size is refused, as at opening.
    let limit = catalog::find("disk_limit").unwrap();
    let total = |resolved: &Resolved| told(resolved, "wal.total_size");
    let opened = resolve(Profile::Balanced, &[], 2).unwrap();
    let small = opened.with(limit, "400MiB").unwrap();
    assert_eq!(total(&small), ("100MiB".to_owned(), Origin::Automatic));
    assert_eq!(small.db.wal_total_bytes, 100 << 20);
    let smaller = small.with(limit, "100MiB").unwrap();
    assert_eq!(smaller.db.wal_total_bytes, smaller.db.wal_segment_bytes);
    for large in ["8GiB", "0"] {
        let again = smaller.with(limit, large).unwrap();
        assert_eq!(total(&again), total(&opened));
    }
    let chosen = resolve(Profile::Balanced, &[("wal.total_size", "512MiB")], 2).unwrap();
    let refused = chosen.with(limit, "600MiB").err().unwrap();
    assert!(
        refused
            .message()
            .starts_with("`wal.total_size` (512MiB) must not exceed half")
    );
    let chosen = small
        .with(catalog::find("wal.total_size").unwrap(), "150MiB")
        .unwrap();
    assert_eq!(total(&chosen), ("150MiB".to_owned(), Origin::User));
    assert!(chosen.with(limit, "200MiB").is_err());
}
