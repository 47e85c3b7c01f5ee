//! Tests of which compaction comes next, and of what who waits for one is told.

use std::time::Duration;

use super::*;
use crate::base::types::ids::Level;
use crate::db::database_ref::DatabaseRef;
use crate::db::handle::Db;
use crate::db::job::Booking;
use crate::db::keyspace_handle::Keyspace;
use crate::db::open::Builder;
use crate::db::read_cost::CostMeter;
use crate::db::running_compaction::end;
use crate::env::random::Random;
use crate::env::sim::world::SimWorld;

const SETTINGS: [(&str, &str); 6] = [
    ("memory_limit", "4MiB"),
    ("memtable.size", "64KiB"),
    ("sst.file_size", "16KiB"),
    ("compaction.l0_trigger", "2"),
    ("compaction.base_level", "64KiB"),
    ("compaction.level_growth", "2"),
];

/// A database in which no compaction begins by itself.
fn open(world: &SimWorld) -> (Db, Arc<Core>) {
    let mut builder = Builder::new("/db").env(world.env());
    for (name, text) in SETTINGS {
        builder = builder.set(name, text).unwrap();
    }
    let database = builder.open_database().unwrap();
    let core = Arc::clone(DatabaseRef::core(&database));
    core.work.state().manual_count = 1;
    (Db::new(database).unwrap(), core)
}

fn flush(keyspace: &Keyspace, round: u32) {
    for number in 0..100 {
        let mut value = format!("{number} {round} ").into_bytes();
        // Not to be compressed to nothing.
        value.extend((0..100_u32).map(|at| (at.wrapping_mul(number + 7 * round) >> 3) as u8));
        keyspace.put(format!("key{number:04}"), value).unwrap();
    }
    keyspace.flush().unwrap();
}

/// Picks what the background would, and books it.
fn pick(core: &Arc<Core>) -> Option<Running> {
    core.work.state().manual_count = 0;
    let running = begin(core);
    core.work.state().manual_count = 1;
    running
}

fn run_parts(running: &Running) {
    for index in 0..running.part_count() {
        running.set_part(index, running.run_part(index));
    }
}

/// Asks for a merge of everything. Whether there is nothing to do, and not only for the moment.
fn ask(core: &Arc<Core>, parts: &Arc<KeyspaceParts>) -> bool {
    match begin_range(core, parts, &KeyRange::new::<&[u8]>(..)) {
        Ok(None) => {
            let version = core.history.current();
            let levels = &version.keyspace(parts.id).unwrap().levels;
            assert!(levels.all_runs().count() <= 1, "told that all is merged");
            true
        }
        Ok(Some(_)) => panic!("what a running compaction holds was taken"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
            false
        }
    }
}

#[test]
fn who_asks_for_a_merge_is_put_off_until_a_running_one_is_off_the_books() {
    // At every step of every compaction that the background picks, a merge of everything is asked
    // for. Between the edit and the end, the inputs have left the tree and the claim is still
    // there: the merge was neither begun nor put off, and `compact` said that it was done.
    let world = SimWorld::new(1);
    let (db, core) = open(&world);
    let parts = core.keyspaces.get("default").unwrap();
    let mut compactions = 0;
    for round in 0..20 {
        flush(&db, round);
        let Some(running) = pick(&core) else {
            continue;
        };
        compactions += 1;
        let bookings: Vec<_> = (0..running.part_count())
            .map(|_| Booking::of_counted(&core))
            .collect();
        ask(&core, &parts);
        run_parts(&running);
        ask(&core, &parts);
        if compactions % 2 == 0 {
            flush(&db, 100 + round);
        }
        running.finish(&core).unwrap();
        ask(&core, &parts);
        end(&core, &running, &Ok(()));
        drop(bookings);
    }
    assert!(compactions > 5, "{compactions}");
    core.work.state().manual_count = 0;
    db.compact::<&str>(..).unwrap();
    assert!(db.files().iter().all(|file| file.depth > 0));
    db.close().unwrap();
}

#[test]
fn the_keyspace_that_needs_it_most_is_compacted_first() {
    // "calm" comes first by name. It is due for a merge, too, or for what nobody waits for; but in
    // "pressed" level 0 is three times as high as it is to be.
    for is_due in [true, false] {
        let world = SimWorld::new(2);
        let (db, core) = open(&world);
        let calm = db.keyspace("calm").unwrap();
        let pressed = db.keyspace("pressed").unwrap();
        let id_of = |name: &str| core.keyspaces.get(name).unwrap().id;
        flush(&calm, 1);
        if is_due {
            flush(&calm, 2);
        } else {
            calm.compact::<&str>(..).unwrap();
            flush(&calm, 2);
            // Readers have paid for its level 0.
            let parts = core.keyspaces.get("calm").unwrap();
            let view = parts.current.view();
            let levels = &view.parts().levels;
            assert_eq!(levels.l0().len(), 1);
            assert!(levels.size_bytes(Level::ZERO) > 0);
            let meter = CostMeter::through(levels, &parts.read_cost).unwrap();
            meter.pay(1 << 20, 0);
            assert!(parts.read_cost.is_due(levels));
            core.work.state().looks.compaction.note(parts.id);
        }
        for round in 0..6 {
            flush(&pressed, round);
        }
        let mut turns = Vec::new();
        while let Some(running) = pick(&core) {
            turns.extend(core.work.state().claims.iter().map(|claim| claim.keyspace));
            let bookings: Vec<_> = (0..running.part_count())
                .map(|_| Booking::of_counted(&core))
                .collect();
            run_parts(&running);
            running.finish(&core).unwrap();
            end(&core, &running, &Ok(()));
            drop(bookings);
        }
        assert_eq!(turns.first(), Some(&id_of("pressed")));
        // Nobody is forgotten.
        assert!(turns.contains(&id_of("calm")));
        core.work.state().manual_count = 0;
        db.close().unwrap();
    }
}

// Compacts what the background would, until it finds nothing. Says how often.
fn settle(core: &Arc<Core>) -> usize {
    let mut count = 0;
    while let Some(running) = pick(core) {
        let bookings: Vec<_> = (0..running.part_count())
            .map(|_| Booking::of_counted(core))
            .collect();
        run_parts(&running);
        running.finish(core).unwrap();
        end(core, &running, &Ok(()));
        drop(bookings);
        count += 1;
    }
    count
}

#[test]
fn where_a_look_at_what_changed_finds_nothing_one_at_all_finds_nothing_either() {
    let (mut compactions, mut kept) = (0, 0);
    for seed in 0..10 {
        let world = SimWorld::new(seed);
        let (db, core) = open(&world);
        let mut random = Random::new(seed);
        let all = ["a", "b", "c", "d"].map(|name| db.keyspace(name).unwrap());
        let mut snapshots = Vec::new();
        for round in 0..60 {
            let keyspace = &all[usize::try_from(random.below(4)).unwrap()];
            match random.below(10) {
                0 => {
                    keyspace.delete_range("key0010".."key0090").unwrap();
                    keyspace.flush().unwrap();
                }
                1 => {
                    let mut keys = (0..100).map(|number| format!("key{number:04}"));
                    keys.try_for_each(|key| keyspace.delete(key)).unwrap();
                    keyspace.flush().unwrap();
                }
                2 => snapshots.push(db.snapshot()),
                3 if !snapshots.is_empty() => drop(snapshots.swap_remove(0)),
                4 => {
                    let life = Duration::from_secs(random.below(5));
                    for number in 0..200 {
                        let key = format!("end{number:04}");
                        keyspace.put_with_ttl(key, [7; 100], life).unwrap();
                    }
                    keyspace.flush().unwrap();
                }
                5 => world.clock.advance(Duration::from_secs(random.below(3))),
                6 => {
                    let parts = core.keyspaces.get(keyspace.name()).unwrap();
                    let view = parts.current.view();
                    let levels = &view.parts().levels;
                    if let Some(meter) = CostMeter::through(levels, &parts.read_cost) {
                        meter.pay(1 << 20, 0);
                        // As a cursor does that ends.
                        core.work.state().looks.compaction.note(parts.id);
                    }
                }
                _ => flush(keyspace, round),
            }
            compactions += settle(&core);
            core.work.state().looks.note_all();
            assert!(pick(&core).is_none(), "seed {seed}, round {round}");
            let looks = core.work.state().looks.compaction.list(&core.keyspaces);
            assert_eq!(looks.len(), 0);
            kept += snapshots.len();
        }
        drop(snapshots);
        core.work.state().manual_count = 0;
        db.close().unwrap();
    }
    assert!(compactions > 200 && kept > 100, "{compactions} {kept}");
}

#[test]
fn with_many_keyspaces_one_that_changes_is_looked_at_alone() {
    let world = SimWorld::new(3);
    let (db, core) = open(&world);
    let all: Vec<Keyspace> = (0..100)
        .map(|number| db.keyspace(&format!("k{number:03}")).unwrap())
        .collect();
    flush(&all[0], 1);
    settle(&core);
    let due = |core: &Arc<Core>| {
        let mut state = core.work.state();
        let looks = state.looks.compaction.list(&core.keyspaces);
        looks
            .iter()
            .map(|parts| parts.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(due(&core), [""; 0]);
    flush(&all[17], 1);
    assert_eq!(due(&core), ["k017"]);
    settle(&core);
    assert_eq!(due(&core), [""; 0]);
    assert_eq!(core.keyspaces.with_sealed().len(), 0);
    core.work.state().manual_count = 0;
    db.close().unwrap();
}
