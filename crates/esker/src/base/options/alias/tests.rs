//! Tests of `alias`.

use super::*;

fn message(pairs: &[(&str, &str)]) -> String {
    let error = translate(pairs).err().unwrap();
    error.message().into()
}

#[test]
fn every_alias_leads_to_a_setting() {
    // A spelling that stands for nothing would fail only when somebody uses it.
    for (alias, ours, _) in ALIASES {
        assert!(catalog::find(ours).is_ok(), "{alias}");
        assert!(catalog::find(alias).is_err() || alias == ours, "{alias}");
    }
    assert!(
        catalog::find("files.open_max")
            .unwrap()
            .parse(EVERY_FILE)
            .is_ok()
    );
}

#[test]
fn a_benchmark_command_line_means_the_same_here() {
    // The spellings and special values that published command lines use.
    for (name, text, ours, meaning) in [
        ("write_buffer_size", "134217728", "memtable.size", "128MiB"),
        ("bloom_bits", "10", "sst.filter_bits", "10"),
        ("bloom_bits", "-1", "sst.filter_bits", "0"),
        ("compression_type", "kZSTD", "compression", "zstd"),
        ("compression_type", "snappy", "compression", "snappy"),
        (
            "max_bytes_for_level_multiplier",
            "10.000",
            "compaction.level_growth",
            "10",
        ),
        (
            "disable_auto_compactions",
            "1",
            "compaction.automatic",
            "false",
        ),
        ("max_background_jobs", "-1", "background_threads", "auto"),
        ("open_files", "-1", "files.open_max", "1048576"),
        ("merge_operator", "", "merge_operator", "none"),
        ("merge_operator", "uint64add", "merge_operator", "uint64add"),
        ("sst.block_size", "8KiB", "sst.block_size", "8KiB"),
    ] {
        let given = translate(&[(name, text)]).unwrap().given.remove(0);
        assert_eq!(given.setting.name, ours);
        let value = given.setting.parse(&given.text).unwrap();
        assert_eq!(given.setting.shape.show(&value), meaning, "{name}");
    }
}

#[test]
fn cache_and_write_buffers_become_one_limit() {
    // The limit holds the cache beside three memtables, and is left alone when nobody asks.
    let limit = |pairs: &[(&str, &str)]| translate(pairs).unwrap().memory_limit;
    let mib = |count: u64| Some(count << 20);
    assert_eq!(
        limit(&[("cache_size", "300MiB"), ("write_buffer_size", "64MiB")]),
        mib(492)
    );
    assert_eq!(
        limit(&[("cache_size", "0"), ("write_buffer_size", "64MiB")]),
        mib(256)
    );
    assert_eq!(limit(&[("cache_size", "300MiB")]), mib(400));
    assert_eq!(limit(&[("cache_size", "-1")]), None);
    assert_eq!(limit(&[("write_buffer_size", "4MiB")]), mib(256));
    assert_eq!(limit(&[("write_buffer_size", "128MiB")]), mib(512));
    assert_eq!(limit(&[("memtable.size", "128MiB")]), None);
    assert_eq!(
        limit(&[("memory_limit", "1GiB"), ("write_buffer_size", "128MiB")]),
        None
    );
}

#[test]
fn what_is_said_twice_is_refused() {
    // Whichever were taken, the other was meant by somebody.
    assert_eq!(
        message(&[("max_file_size", "1"), ("sst.file_size", "2")]),
        "`sst.file_size` is given twice, as `max_file_size` and as `sst.file_size`: keep one of \
         them"
    );
    assert_eq!(
        message(&[("memory_limit", "1GiB"), ("cache_size", "1GiB")]),
        "`cache_size` and `memory_limit` both say how much memory to take: keep `memory_limit`, \
         which covers the cache too"
    );
    assert_eq!(
        message(&[("cache_size", "big")]),
        "`cache_size` cannot be `big`: give a size, as in `512MiB`"
    );
    assert!(message(&[("num_levels", "7")]).starts_with("there is no setting `num_levels`"));
}
