//! Tests of `salvage`.

use super::*;
use crate::db::handle::Db;
use crate::env::sim::world::SimWorld;
use crate::store::version::recovery::read_manifest;
use crate::store::version::state::Orders;

const DIR: &str = "db";
const KEYSPACES: [&str; 4] = ["a", "b", "c", "d"];

/// What may be gathered in the test.
const GATHERED_BYTES: usize = 256 << 10;

#[test]
fn what_is_gathered_of_all_keyspaces_is_bounded_together() {
    // Four keyspaces, each with less in the log than may be gathered, and with more of it together:
    // some of it becomes a run before the log ends. Everything is there, once.
    let world = SimWorld::new(1);
    let env = world.env();
    let db = Db::builder(DIR).env(env.clone()).open().unwrap();
    for number in 0..800u32 {
        for name in KEYSPACES {
            let keyspace = db.keyspace(name).unwrap();
            keyspace.put(number.to_be_bytes(), [b'v'; 200]).unwrap();
        }
    }
    db.sync().unwrap();
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    let dir = Path::new(DIR);
    let (version, _) = read_manifest(&*env.fs, dir, &Orders::default()).unwrap();
    let names = env.fs.list(dir).unwrap().into_iter();
    let mut wals: Vec<FileNumber> = names
        .filter_map(|name| match FileName::parse(&name) {
            Some(FileName::Wal(number)) => Some(number),
            _ => None,
        })
        .collect();
    wals.sort_unstable();
    let numbers = Arc::new(FileNumbers::new(FileNumber(1000)));
    let mut segments = Segments::new(&*env.fs, dir, &[]);
    let mut salvage = Salvage::new(&env, dir, &version, Some(&numbers), &mut segments);
    salvage.gathered_bytes_max = GATHERED_BYTES;
    let SalvagedLog {
        state,
        lost_values,
        edit,
        ..
    } = salvage.run(&wals).unwrap();
    assert_eq!(state.entry_count, 3200);
    assert!(lost_values.is_empty());
    let added = edit.iter().filter_map(|change| match change {
        Change::AddFile { run, record, .. } => Some((*run, record.entry_count)),
        _ => None,
    });
    let added: Vec<(u64, u64)> = added.collect();
    let runs: BTreeSet<u64> = added.iter().map(|(run, _)| *run).collect();
    assert!(runs.len() > KEYSPACES.len(), "{added:?}");
    assert_eq!(added.iter().map(|(_, count)| count).sum::<u64>(), 3200);
}
