//! Files from elsewhere that are copied: what was checked of them is what the copy has.

use std::path::Path;
use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{FaultFs, SimWorld};
use esker::{
    Compression, CompressionType, Db, ErrorKind, IngestOptions, Keyspace, KeyspaceOptions,
    SstWriter, Transfer,
};

const BLOCKS: Compression = Compression::Blocks(CompressionType::None);

/// Where the set lies, in front of its files' names.
const SET: &str = "/set/";

fn open(env: &Env) -> Db {
    Db::builder("/db").env(env.clone()).open().unwrap()
}

// What is read of it, or how that ends.
fn values_of(keyspace: &Keyspace) -> esker::Result<Vec<Vec<u8>>> {
    let entries = keyspace.iter()?;
    entries.map(|entry| Ok(entry?.1.to_vec())).collect()
}

// Some hundreds of small values, and of each file's blocks some that are larger than what is copied
// at a time.
fn values() -> Vec<Vec<u8>> {
    let mut random = Random::new(5);
    let sizes = (0..450).map(|number| match number % 150 {
        149 => 300 << 10,
        _ => 200,
    });
    sizes.map(|size| random.bytes(size)).collect()
}

fn write_set(env: &Env, compression: Compression, values: &[Vec<u8>]) {
    let mut options = KeyspaceOptions::default();
    options.sst.compression = compression;
    options.sst.file_size_bytes = 128 << 10;
    options.sst.block_size_bytes = 512;
    options.sst.index_partition_bytes = 4 << 10;
    let mut writer = SstWriter::create_in(env, Path::new(SET), options).unwrap();
    for (number, value) in values.iter().enumerate() {
        // Long ones, for the index to have several leaves.
        let key = format!("{}{number:04}", "k".repeat(120));
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap();
}

// How a set comes in, and into which keyspaces.
#[derive(Clone, Copy, Debug)]
enum Way {
    Copied,
    IntoTwo,
    ByName,
    // By copies, as there can be no second names.
    Unlinked,
}

fn take_in(db: &Db, way: Way) -> esker::Result<Vec<Keyspace>> {
    let copied = IngestOptions::default().transfer(Transfer::Copy);
    let one = |db: &Db| Keyspace::clone(db);
    match way {
        Way::Copied => db.ingest(SET, &copied).map(|_| vec![one(db)]),
        Way::Unlinked => db
            .ingest(SET, &IngestOptions::default())
            .map(|_| vec![one(db)]),
        Way::ByName => {
            let (_, names) = db.ingest_by_name(SET, &copied)?;
            let taken = names.iter().map(|name| db.existing_keyspace(name).unwrap());
            Ok(taken.collect())
        }
        Way::IntoTwo => {
            let other = db.keyspace("other")?;
            db.ingest_all(&[(&**db, SET), (&other, SET)], &copied)?;
            Ok(vec![one(db), other])
        }
    }
}

// Takes the set in while those plans are in force; what it came to, and how many calls met a fault.
fn taken_under(
    world: &SimWorld,
    way: Way,
    flip: Option<u64>,
) -> (Db, esker::Result<Vec<Keyspace>>, u64) {
    let faults = FaultFs::over_sim(&world.fs, flip.unwrap_or(0));
    let db = open(&world.env_with(Arc::new(faults.clone())));
    let mut plans = Vec::new();
    if let Some(skip) = flip {
        let flip = Plan::once(Fault::BitFlip, Calls::Of(CallClass::Read), skip);
        plans.push(flip.in_files(SET));
    }
    if matches!(way, Way::Unlinked) {
        let no_links = Plan::sticky(Fault::Io, Calls::Of(CallClass::Meta), 0);
        plans.push(no_links.in_files(SET));
    }
    faults.set_plans(plans);
    let taken = take_in(&db, way);
    faults.set_plans(Vec::new());
    (db, taken, faults.hit_count())
}

// Has a bit turn over in one read of the set, in each in turn: it is refused, or what is there now
// is what the set has, whole.
fn sweep(compression: Compression, way: Way) {
    let values = values();
    let world = SimWorld::new(1);
    write_set(&world.env(), compression, &values);
    let (_, _, hits_without) = taken_under(&world.after_kill(), way, None);
    let mut refused_count = 0;
    for skip in 0.. {
        let told = format!("{compression:?} {way:?} read {skip}");
        let world = world.after_kill();
        let (db, taken, hits) = taken_under(&world, way, Some(skip));
        let keyspaces = match taken {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "{told}: {error}");
                refused_count += 1;
                continue;
            }
            Ok(keyspaces) => keyspaces,
        };
        for keyspace in &keyspaces {
            let found = values_of(keyspace).unwrap_or_else(|error| panic!("{told}: {error}"));
            assert!(found == values, "{told}");
        }
        assert!(db.verify().unwrap().is_whole(), "{told}");
        if hits == hits_without {
            break;
        }
    }
    assert!(refused_count >= 10, "{refused_count}");
}

#[test]
fn what_is_copied_is_what_was_checked_whatever_read_is_another() {
    sweep(BLOCKS, Way::Copied);
}

#[test]
fn and_so_are_searchable_files_whose_key_pages_lie_behind_their_records() {
    sweep(Compression::Searchable, Way::Copied);
}

#[test]
fn and_so_is_a_set_that_two_keyspaces_take_in() {
    sweep(BLOCKS, Way::IntoTwo);
}

#[test]
fn and_so_is_a_set_that_comes_in_by_name() {
    sweep(BLOCKS, Way::ByName);
}

#[test]
fn and_so_is_one_that_is_copied_for_want_of_second_names() {
    sweep(Compression::Searchable, Way::Unlinked);
}

#[test]
fn whoever_of_two_threads_comes_to_a_damaged_file_nothing_is_changed() {
    // Each file of a set in turn, on real threads, brought in each way.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let mut options = KeyspaceOptions::default();
    options.sst.compression = BLOCKS;
    options.sst.file_size_bytes = 64 << 10;
    let mut writer = SstWriter::create(path("set"), options).unwrap();
    let mut random = Random::new(7);
    for number in 0..500_u32 {
        writer
            .put(number.to_be_bytes(), random.bytes(1000))
            .unwrap();
    }
    writer.finish().unwrap();
    let names_in = |name: &str| {
        let entries = std::fs::read_dir(path(name)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".sst")).collect();
        names.sort();
        names
    };
    let files = names_in("set");
    assert!(files.len() > 6, "{files:?}");
    let db = Db::open(path("db")).unwrap();
    let ways = [Transfer::Copy, Transfer::Link, Transfer::Move];
    for (file, way) in files.iter().zip(ways.into_iter().cycle()) {
        let file = path("set").join(file);
        let whole = std::fs::read(&file).unwrap();
        let mut damaged = whole.clone();
        damaged[20_000] ^= 4;
        std::fs::write(&file, &damaged).unwrap();
        let refused = db.ingest(path("set"), &IngestOptions::default().transfer(way));
        assert_eq!(
            refused.unwrap_err().kind(),
            ErrorKind::Corruption,
            "{way:?}"
        );
        assert!(names_in("db").is_empty(), "{way:?}");
        assert_eq!(names_in("set"), files);
        std::fs::write(&file, &whole).unwrap();
    }
    db.ingest(path("set"), &IngestOptions::default()).unwrap();
    assert_eq!(db.iter().unwrap().count(), 500);
    assert!(db.verify().unwrap().is_whole());
}
