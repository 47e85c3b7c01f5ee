//! Tests of `instance`.

use std::path::Path;
use std::sync::Arc;

use esker::internals::env::sim::{CrashMode, SimWorld};

use super::*;
use crate::config::{BUFFER_BYTES_MIN, Fields};

fn world(seed: u64) -> SimWorld {
    let world = SimWorld::new(seed);
    world.env().fs.create_dir_all(Path::new("there")).unwrap();
    world
}

fn fields(init_type: i32) -> Fields {
    Fields {
        init_type,
        disk_path: Some("there/disk_file".into()),
        image_path: Some("there/IMAGE_file".into()),
        horizon_bytes: 1 << 20,
        buffer_bytes: 64 << 20,
        ..Fields::default()
    }
}

fn config(init_type: i32) -> Config {
    Config::check(fields(init_type)).unwrap()
}

fn try_open(world: &SimWorld, config: &Config) -> Result<Instance, Refusal> {
    let log = TextLog::to(std::io::sink());
    Instance::open(&world.env(), config, log).map_err(|(refusal, _)| refusal)
}

fn create(world: &SimWorld) -> Instance {
    try_open(world, &config(0)).unwrap()
}

fn load(world: &SimWorld) -> Instance {
    try_open(world, &config(1)).unwrap()
}

#[test]
fn a_key_is_put_once_and_deleted_once() {
    // The original's rules: no overwrite, no delete of nothing, and after a delete a put again.
    let instance = create(&world(1));
    assert!(matches!(instance.get(b"k"), Err(Refusal::Missing)));
    assert!(matches!(instance.delete(b"k"), Err(Refusal::Missing)));
    instance.put_new(b"k", b"one").unwrap();
    assert!(matches!(
        instance.put_new(b"k", b"two"),
        Err(Refusal::Exists)
    ));
    assert_eq!(instance.get(b"k").unwrap(), "one");
    instance.delete(b"k").unwrap();
    assert!(matches!(instance.delete(b"k"), Err(Refusal::Missing)));
    instance.put_new(b"k", b"two").unwrap();
    instance.put(b"k", b"three").unwrap();
    assert_eq!(instance.get(b"k").unwrap(), "three");
}

#[test]
fn sizes_end_where_they_end() {
    // Nothing, the most, and one more of key and value.
    let instance = create(&world(2));
    let (key, value) = (vec![7; KEY_BYTES_MAX + 1], vec![7; VALUE_BYTES_MAX + 1]);
    instance.put_new(b"", b"").unwrap();
    assert_eq!(instance.get(b"").unwrap(), "");
    instance.put_new(&key[1..], &value[1..]).unwrap();
    assert_eq!(instance.get(&key[1..]).unwrap(), value[1..]);
    assert!(matches!(
        instance.put_new(b"k", &value),
        Err(Refusal::Size {
            name: "value_size",
            ..
        })
    ));
    assert!(matches!(
        instance.put(&key, b""),
        Err(Refusal::Size {
            name: "key_size",
            ..
        })
    ));
    assert!(instance.get(&key).is_err());
    assert!(instance.delete(&key).is_err());
}

#[test]
fn loading_finds_what_creating_left() {
    // Created, left, loaded, added to, left, loaded; then created anew, and nothing is there.
    let world = world(3);
    assert!(try_open(&world, &config(1)).is_err());
    for round in 0..3_u8 {
        let instance = match round {
            0 => create(&world),
            _ => load(&world),
        };
        for old in 0..round {
            assert_eq!(instance.get(&[old]).unwrap(), vec![old; 20_000]);
        }
        instance.put_new(&[round], &vec![round; 20_000]).unwrap();
        instance.exit().unwrap();
        assert!(instance.get(&[round]).is_err());
    }
    let instance = create(&world);
    assert!(matches!(instance.get(&[0]), Err(Refusal::Missing)));
}

#[test]
fn what_was_acknowledged_survives_a_killed_process() {
    // No exit, no sync: values of every size class are there, and a delete is done.
    let world = world(4);
    let instance = create(&world);
    for size in [0, 100, 16 << 10, 1 << 20] {
        let key = size.to_string();
        instance.put_new(key.as_bytes(), &vec![9; size]).unwrap();
    }
    instance.put_new(b"gone", b"x").unwrap();
    instance.delete(b"gone").unwrap();
    let world = world.after_kill();
    let instance = load(&world);
    for size in [0, 100, 16 << 10, 1 << 20] {
        let key = size.to_string();
        assert_eq!(instance.get(key.as_bytes()).unwrap(), vec![9; size]);
    }
    assert!(matches!(instance.get(b"gone"), Err(Refusal::Missing)));
}

#[test]
fn what_was_synced_survives_a_power_cut() {
    // Everything before the sync is there, whatever became of the rest.
    for seed in 0..8 {
        let world = world(seed);
        let instance = create(&world);
        instance.put_new(b"before", &vec![1; 100_000]).unwrap();
        instance.sync().unwrap();
        instance.put_new(b"after", &vec![2; 100_000]).unwrap();
        let world = world.after_crash(CrashMode::Pages, seed);
        let instance = load(&world);
        assert_eq!(instance.get(b"before").unwrap(), vec![1; 100_000]);
        match instance.get(b"after") {
            Ok(value) => assert_eq!(value, vec![2; 100_000]),
            Err(refusal) => assert!(matches!(refusal, Refusal::Missing), "{refusal}"),
        }
    }
}

#[test]
fn strictly_there_is_room_for_so_many_keys() {
    // Three places: the fourth key is refused, an overwrite is not, and a delete gives one back.
    let world = world(5);
    let strict = |init_type| Config {
        key_count_max: Some(3),
        ..config(init_type)
    };
    let instance = try_open(&world, &strict(0)).unwrap();
    for key in [b"a", b"b", b"c"] {
        instance.put_new(key, b"1").unwrap();
    }
    assert!(matches!(
        instance.put_new(b"d", b"1"),
        Err(Refusal::Full(3))
    ));
    assert!(matches!(instance.put(b"d", b"1"), Err(Refusal::Full(3))));
    instance.put(b"a", b"2").unwrap();
    instance.delete(b"b").unwrap();
    assert!(matches!(instance.put_new(b"a", b"1"), Err(Refusal::Exists)));
    instance.put(b"d", b"1").unwrap();
    instance.exit().unwrap();
    // The count is found again.
    let instance = try_open(&world, &strict(1)).unwrap();
    assert!(matches!(
        instance.put_new(b"e", b"1"),
        Err(Refusal::Full(3))
    ));
    instance.delete(b"d").unwrap();
    instance.put_new(b"e", b"1").unwrap();
}

#[test]
fn whatever_sizes_pass_the_check_the_engine_opens_with() {
    // The smallest buffer and the largest, each with no horizon and with the largest it may have.
    let smallest = BUFFER_BYTES_MIN + 1;
    for (seed, (horizon, buffer)) in (20..).zip([
        (-1, smallest),
        (smallest - 1, smallest),
        (0, i32::MAX),
        (i32::MAX - 1, i32::MAX),
    ]) {
        let world = world(seed);
        let config = Config::check(Fields {
            horizon_bytes: horizon,
            buffer_bytes: buffer,
            ..fields(0)
        });
        let instance = try_open(&world, &config.unwrap()).unwrap();
        instance.put_new(b"k", &vec![3; VALUE_BYTES_MAX]).unwrap();
        assert_eq!(instance.get(b"k").unwrap(), vec![3; VALUE_BYTES_MAX]);
        instance.exit().unwrap();
    }
}

#[test]
fn one_store_is_open_once() {
    // A second one in the same place is refused, and the first goes on.
    let world = world(6);
    let instance = create(&world);
    instance.put_new(b"k", b"v").unwrap();
    for init_type in [0, 1] {
        let refusal = try_open(&world, &config(init_type)).err().unwrap();
        assert!(refusal.to_string().contains("locked"), "{refusal}");
    }
    assert_eq!(instance.get(b"k").unwrap(), "v");
}

#[test]
fn of_many_puts_of_one_key_one_succeeds() {
    // Four threads put the same hundred keys: each key has the value of the one that was told so.
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        disk_path: dir.path().join("disk_file"),
        image_path: dir.path().join("IMAGE_file"),
        ..config(0)
    };
    let log = TextLog::to(std::io::sink());
    let instance = Instance::open(&Env::real(1), &config, log).map_err(|(refusal, _)| refusal);
    let instance = Arc::new(instance.unwrap());
    let threads: Vec<_> = (0..4_u8)
        .map(|thread| {
            let instance = Arc::clone(&instance);
            let work = move || {
                let put = |key: &u8| instance.put_new(&[*key], &[thread]).is_ok();
                (0..100_u8).filter(put).collect::<Vec<u8>>()
            };
            std::thread::Builder::new().spawn(work).unwrap()
        })
        .collect();
    let mut winners = 0;
    for (thread, handle) in (0..).zip(threads) {
        for key in handle.join().unwrap() {
            winners += 1;
            assert_eq!(instance.get(&[key]).unwrap(), [thread]);
        }
    }
    assert_eq!(winners, 100);
    instance.exit().unwrap();
}
