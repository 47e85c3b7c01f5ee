//! What readers keep is counted, bounded and given back.

use esker::internals::env::bundle::Env;
use esker::{Db, DbCursor, Stats};

const LIMIT: u64 = 8 << 20;

fn open(dir: &std::path::Path) -> Db {
    let builder = Db::builder(dir.join("db")).env(Env::real(2));
    let builder = builder.set("memory_limit", &LIMIT.to_string());
    builder.unwrap().open().unwrap()
}

fn key(number: usize) -> String {
    format!("{number:08}")
}

fn held_bytes(stats: &Stats, owners: &[&str]) -> u64 {
    let of_ours = stats
        .memory
        .iter()
        .filter(|(owner, _)| owners.contains(owner));
    of_ours.map(|(_, bytes)| bytes).sum()
}

#[test]
fn a_kept_value_keeps_little_beside_itself() {
    // Blocks that kept values keep are counted, and taken from the cache's share, until they are
    // let go; while they are much of it, small values that are read have memory of their own.
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path());
    let len_of = |number: usize| if number < 20_000 { 100 } else { 600 };
    for number in 0..26_000 {
        let value = vec![number as u8; len_of(number)];
        db.put(key(number), value).unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    let kept = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<_> {
        numbers
            .map(|number| db.get(key(number)).unwrap().unwrap())
            .collect()
    };
    let small = kept(&mut (0..20_000));
    // One of six, so that each keeps a block of its own: as much as the cache's share.
    let large = kept(&mut (20_000..26_000).step_by(6));
    assert!(large.iter().all(|value| value.pinned_bytes() <= 8 * 600));
    // Enough reads of others to have those blocks leave the cache.
    for _ in 0..5 {
        drop(kept(&mut (0..20_000).step_by(20)));
    }
    let small_again = kept(&mut (0..20_000).step_by(20));
    let copied = small_again
        .iter()
        .filter(|value| value.pinned_bytes() == 100);
    assert!(copied.count() > 900);
    let stats = db.stats();
    assert!(stats.pinned.block_bytes > LIMIT / 16, "{stats}");
    assert!(stats.pinned.block_count > 0);
    let of_cache = held_bytes(&stats, &["block_cache", "pinned_blocks"]);
    assert!(of_cache <= LIMIT / 8 * 7 + LIMIT / 16, "{stats}");
    assert!(
        stats.to_string().contains("by cursors and values"),
        "{stats}"
    );
    assert_eq!(large[7][..], [(20_042 % 256) as u8; 600]);
    drop((small, small_again, large));
    assert_eq!(db.stats().pinned.block_bytes, 0);
}

#[test]
fn memtables_of_a_dropped_keyspace_are_counted_while_somebody_has_its_handle() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path());
    let dropped = db.keyspace("dropped").unwrap();
    for number in 0..300 {
        dropped.put(key(number), vec![1; 1000]).unwrap();
    }
    db.drop_keyspace("dropped").unwrap();
    let pinned = db.stats().pinned;
    assert!(pinned.memtable_bytes >= 300_000, "{pinned:?}");
    assert_eq!(dropped.get(key(7)).unwrap().unwrap(), vec![1; 1000]);
    drop(dropped);
    assert_eq!(db.stats().pinned, esker::PinnedStats::default());
}

#[test]
fn cursors_that_stay_keep_a_bounded_part_of_what_is_written() {
    // Before each MiB of writes a cursor is made that stays: it keeps the memtables of its
    // time. All of them together keep no more than a part of the limit, and say so.
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path());
    let mut cursors: Vec<DbCursor> = Vec::new();
    for round in 0..12 {
        let mut cursor = db.cursor().unwrap();
        cursor.seek_to_first().unwrap();
        cursors.push(cursor);
        for number in 0..1000 {
            let value = vec![round as u8; 1000];
            db.put(key(round * 1000 + number), value).unwrap();
        }
    }
    db.flush().unwrap();
    let stats = db.stats();
    assert!(stats.pinned.memtable_count > 1, "{stats}");
    assert!(stats.pinned.oldest.is_some(), "{stats}");
    assert_eq!(
        held_bytes(&stats, &["pinned_memtables"]),
        stats.pinned.memtable_bytes
    );
    let total: u64 = stats.memory.iter().map(|(_, bytes)| bytes).sum();
    assert!(total <= LIMIT / 10 * 11, "{stats}");
    // And each still sees what was there when it was made.
    for (round, cursor) in cursors.iter_mut().enumerate() {
        let is_any = cursor.seek_to_last().unwrap();
        assert_eq!(is_any, round > 0);
        let last = cursor.key().map(<[u8]>::to_vec);
        assert_eq!(
            last,
            (round > 0).then(|| key(round * 1000 - 1).into_bytes())
        );
    }
    drop(cursors);
    assert_eq!(db.stats().pinned, esker::PinnedStats::default());
}
