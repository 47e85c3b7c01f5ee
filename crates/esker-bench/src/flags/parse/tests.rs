//! Tests of reading command lines.

use super::*;

fn needs_rocksdb(name: &str) -> bool {
    name == "mergerandom"
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn given(line: &str) -> Given {
    match parse(&words(line), &needs_rocksdb).unwrap() {
        Asked::Run { given, .. } => given,
        other => panic!("{other:?}"),
    }
}

fn refused(line: &str) -> (String, u8) {
    let refused = parse(&words(line), &needs_rocksdb).unwrap_err();
    let code = refused.exit_code();
    (refused.message, code)
}

#[test]
fn every_spelling_of_gflags_is_read() {
    // One and two dashes, values behind a sign or as the next word, bare and negated truths.
    let given = given("--num=5 -threads 3 --histogram --nosync --value_size 7 --verify=yes");
    assert_eq!((given.count("num"), given.count("threads")), (5, 3));
    assert!(given.is("histogram") && !given.is("sync") && given.is("verify"));
    assert_eq!(given.whole("reads"), -1);
    assert_eq!(given.text("block_size"), "4096");
}

#[test]
fn dialect_is_what_the_words_speak_of() {
    // An explicit choice, a flag that only 2013 had, a flag or a benchmark of RocksDB, and else
    // LevelDB.
    for (line, dialect) in [
        ("--num=1", Dialect::LevelDb),
        ("--benchmarks=fillseq,mergerandom", Dialect::RocksDb),
        ("--disable_wal=1", Dialect::RocksDb),
        (
            "--max_grandparent_overlap_factor=10 --disable_wal=1",
            Dialect::RocksDb2013,
        ),
        ("--compat=rocksdb --num=1", Dialect::RocksDb),
        ("--json=x", Dialect::LevelDb),
    ] {
        assert_eq!(given(line).dialect, dialect, "{line}");
    }
    assert_eq!(
        given("--compat=rocksdb").text("write_buffer_size"),
        "67108864"
    );
}

#[test]
fn each_dialect_refuses_in_its_own_words() {
    // Ours names the nearest flag and exits with 2; theirs are what scripts expect.
    assert_eq!(
        refused("--treads=2"),
        (
            "there is no flag `--treads=2`; did you mean --threads?".into(),
            2
        )
    );
    assert_eq!(refused("--num=x").1, 2);
    assert_eq!(refused("--num=0").1, 2);
    assert_eq!(refused("--num").1, 2);
    assert_eq!(refused("fillseq").1, 2);
    assert_eq!(refused("--compat=rocks").1, 2);
    for line in [
        "--compat=leveldb --threads",
        "--compat=leveldb --statistics=1",
    ] {
        assert!(refused(line).0.starts_with("Invalid flag '--"), "{line}");
        assert_eq!(refused(line).1, 1);
    }
    assert_eq!(refused("--compat=leveldb --histogram=true").1, 1);
    assert_eq!(
        refused("--compat=rocksdb --foo=1"),
        ("ERROR: unknown command line flag 'foo'".into(), 1)
    );
}

#[test]
fn catalogue_tells_each_flag_once_and_its_defaults_are_good() {
    // Names are unique, and every default passes the check that users' values pass.
    let mut names: Vec<&str> = catalog::all().map(|flag| flag.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    for flag in catalog::all() {
        for default in flag.defaults.iter().filter(|default| !default.is_empty()) {
            assert_eq!(
                check(flag, default, None, flag.name),
                Ok(()),
                "{}",
                flag.name
            );
        }
    }
    let help = help().unwrap();
    assert!(catalog::all().all(|flag| help.contains(&format!("  --{} ", flag.name))));
}
