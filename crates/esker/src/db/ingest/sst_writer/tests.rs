//! Tests of `sst_writer`.

use std::path::Path;

use super::*;
use crate::base::hooks::merge_builtin::uint64_add;
use crate::base::types::error::ErrorKind;
use crate::env::sim::CrashMode;
use crate::env::sim::world::SimWorld;

const DIR: &str = "/files";

fn writer(env: &Env, options: KeyspaceOptions) -> SstWriter {
    SstWriter::create_in(env, Path::new(DIR), options).unwrap()
}

fn small_files(compression: Compression) -> KeyspaceOptions {
    let mut options = KeyspaceOptions::default().merge_operator(uint64_add());
    options.sst.file_size_bytes = 4 << 10;
    options.sst.compression = compression;
    options
}

fn names(env: &Env) -> Vec<String> {
    let mut names = env.fs.list(Path::new(DIR)).unwrap();
    names.sort();
    names
}

#[test]
fn files_are_cut_at_their_size_and_listed_with_what_they_hold() {
    for compression in [
        Compression::Searchable,
        KeyspaceOptions::default().sst.compression,
    ] {
        let world = SimWorld::new(1);
        let env = world.env();
        let mut random = crate::env::random::Random::new(1);
        let mut writer = writer(&env, small_files(compression));
        writer.delete_range(b"k", b"m").unwrap();
        for number in 0..600_u32 {
            let key = number.to_be_bytes();
            match number % 4 {
                0 => writer.delete(key).unwrap(),
                1 => writer.merge(key, 5_u64.to_le_bytes()).unwrap(),
                2 => writer
                    .put_until(key, random.bytes(90), Expiry::from_unix_s(2_000_000_000))
                    .unwrap(),
                _ => writer.put(key, random.bytes(90)).unwrap(),
            }
        }
        let summary = writer.finish().unwrap();
        let orders = Orders::default();
        let set = FileSet::read(&*env.fs, Path::new(DIR), &orders).unwrap();
        assert_eq!(set.maker, Maker::Writer);
        assert!(summary.file_count > 3, "{summary:?}");
        assert_eq!(summary.entry_count, 600);
        assert_eq!(summary.range_delete_count, 1);
        let (first, last) = summary.keys.clone().unwrap();
        assert_eq!((&first[..], &last[..]), (&[0; 4][..], &b"m"[..]));
        let state = &set.version.keyspaces[&KeyspaceId::DEFAULT];
        assert_eq!(state.merge_name.as_deref(), Some("uint64add"));
        // What deletes ranges is the older run.
        let runs = state.levels.l0();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[1].files()[0].range_delete_count, 1);
        assert_eq!(names(&env).len(), summary.file_count + 1);
    }
}

#[test]
fn keys_that_do_not_ascend_are_named_and_change_nothing() {
    let world = SimWorld::new(1);
    let env = world.env();
    let mut writer = writer(&env, KeyspaceOptions::default());
    writer.put("b", "1").unwrap();
    for key in ["b", "a"] {
        let refused = writer.put(key, "2").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert!(
            refused.to_string().contains(&format!("b\"{key}\"")),
            "{refused}"
        );
    }
    // Of options without an operator, as of a keyspace without one.
    assert_eq!(
        writer.merge("c", "1").unwrap_err().kind(),
        ErrorKind::Invalid
    );
    writer.put("c", "3").unwrap();
    assert_eq!(writer.finish().unwrap().entry_count, 2);
}

#[test]
fn a_set_that_was_not_finished_is_none_and_is_taken_away() {
    let world = SimWorld::new(1);
    let env = world.env();
    let mut half = writer(
        &env,
        small_files(KeyspaceOptions::default().sst.compression),
    );
    for number in 0..2_000_u32 {
        half.put(number.to_be_bytes(), number.to_le_bytes())
            .unwrap();
    }
    let image = world.fs.crash_image(CrashMode::KeepAll, 1);
    let crashed = SimWorld::with_disk(image, Arc::default(), 1);
    assert!(!crashed.env().fs.list(Path::new(DIR)).unwrap().is_empty());
    let orders = Orders::default();
    let refused = FileSet::read(&*crashed.env().fs, Path::new(DIR), &orders).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    drop(half);
    assert_eq!(names(&env), Vec::<String>::new());
    // A directory that has anything in it is somebody's.
    writer(&env, KeyspaceOptions::default()).finish().unwrap();
    let refused = SstWriter::create_in(&env, Path::new(DIR), KeyspaceOptions::default());
    assert_eq!(
        refused.err().map(|error| error.kind()),
        Some(ErrorKind::Invalid)
    );
}
