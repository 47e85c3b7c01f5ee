//! Tests of `files`.

use std::sync::Arc;

use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};

use super::*;

const DISK: &str = "there/disk_file";
const IMAGE: &str = "there/IMAGE_file";

fn world(seed: u64) -> SimWorld {
    let world = SimWorld::new(seed);
    world.env().fs.create_dir_all(Path::new("there")).unwrap();
    world
}

fn with<T>(world: &SimWorld, act: impl FnOnce(&StoreFiles<'_>) -> T) -> T {
    with_env(&world.env(), act)
}

fn with_env<T>(env: &Env, act: impl FnOnce(&StoreFiles<'_>) -> T) -> T {
    let files = StoreFiles::new(
        env,
        PathBuf::from("there/disk_file.d"),
        Path::new(DISK),
        Path::new(IMAGE),
    );
    act(&files)
}

fn put(world: &SimWorld, path: &str, text: &[u8]) {
    let mut file = world.env().fs.create(Path::new(path)).unwrap();
    file.append(text).unwrap();
    file.sync().unwrap();
    let dir = parent(Path::new(path));
    world.env().fs.sync_dir(dir).unwrap();
}

fn read(world: &SimWorld, path: &str) -> Vec<u8> {
    let file = world.env().fs.open_read(Path::new(path)).unwrap();
    let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn create(world: &SimWorld) -> Result<(), Refusal> {
    with(world, |files| files.clear().and_then(|it| files.seal(&it)))
}

fn check(world: &SimWorld) -> Result<(), String> {
    with(world, |files| {
        files.check().map_err(|error| error.to_string())
    })
}

#[test]
fn what_was_created_can_be_loaded() {
    // Nothing there, then everything; a second creation makes another store of it.
    let world = world(1);
    assert!(check(&world).unwrap_err().contains("there is no image"));
    create(&world).unwrap();
    check(&world).unwrap();
    assert!(read(&world, DISK).starts_with(b"The keys and values lie in"));
    let first = read(&world, IMAGE);
    world.clock.advance(std::time::Duration::from_secs(1));
    create(&world).unwrap();
    check(&world).unwrap();
    assert_ne!(read(&world, IMAGE), first);
    // The image of the first store does not pass for that of the second.
    put(&world, IMAGE, &first);
    assert!(check(&world).unwrap_err().contains("another store"));
}

#[test]
fn nothing_of_a_stranger_is_removed() {
    // A directory, an image and a disk file that somebody else made.
    let world = world(2);
    let env = world.env();
    env.fs
        .create_dir_all(Path::new("there/disk_file.d"))
        .unwrap();
    put(&world, "there/disk_file.d/CURRENT", b"precious");
    let refusal = create(&world).unwrap_err().to_string();
    assert!(refusal.contains("was not made by libkvs"), "{refusal}");
    assert_eq!(read(&world, "there/disk_file.d/CURRENT"), b"precious");

    let world = self::world(3);
    put(&world, IMAGE, b"a picture");
    assert!(create(&world).is_err());
    assert_eq!(read(&world, IMAGE), b"a picture");
    assert!(check(&world).unwrap_err().contains("is no image of libkvs"));

    let world = self::world(4);
    put(&world, DISK, b"values of the original");
    create(&world).unwrap();
    assert_eq!(read(&world, DISK), b"values of the original");
}

#[test]
fn creating_removes_the_database_and_leaves_the_rest() {
    // Files that the engine names go; a file that somebody laid beside them stays.
    let world = world(5);
    create(&world).unwrap();
    for name in ["CURRENT", "MANIFEST-000001", "000007.vlog", "notes.txt"] {
        put(&world, &format!("there/disk_file.d/{name}"), b"x");
    }
    create(&world).unwrap();
    let mut names = world.env().fs.list(Path::new("there/disk_file.d")).unwrap();
    names.sort();
    assert_eq!(names, ["LOCK", MARK_NAME, "notes.txt"]);
}

#[test]
fn a_store_that_is_open_is_not_removed() {
    // Somebody holds the directory: the image is still there afterwards.
    let world = world(6);
    create(&world).unwrap();
    let lock = world
        .env()
        .fs
        .lock(Path::new("there/disk_file.d/LOCK"))
        .unwrap();
    assert!(create(&world).unwrap_err().to_string().contains("locked"));
    drop(lock);
    check(&world).unwrap();
    assert!(create(&world).is_ok());
}

#[test]
fn a_crash_leaves_the_old_store_or_none_or_the_new_one() {
    // The power fails in each call of a second creation in turn. What can be loaded then is whole.
    let mut outcomes = [0; 3];
    for crash in 0.. {
        let world = world(7);
        create(&world).unwrap();
        put(&world, "there/disk_file.d/CURRENT", b"first");
        let old = read(&world, IMAGE);
        world.clock.advance(std::time::Duration::from_secs(1));
        let faults = Arc::new(FaultFs::over_sim(&world.fs, crash));
        faults.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, crash)]);
        let env = world.env_with(Arc::clone(&faults) as Arc<dyn Fs>);
        let created = with_env(&env, |files| files.clear().and_then(|it| files.seal(&it)));
        if !faults.is_off() {
            created.unwrap();
            assert!(crash > 10);
            break;
        }
        assert!(created.is_err());
        let world = world.after_crash(CrashMode::Pages, crash);
        let outcome = match check(&world) {
            Ok(()) if read(&world, IMAGE) == old => 0,
            Err(_) => 1,
            Ok(()) => 2,
        };
        outcomes[outcome] += 1;
        if outcome == 0 {
            assert_eq!(read(&world, "there/disk_file.d/CURRENT"), b"first");
        }
        // Whatever is left, the next creation takes over.
        create(&world).unwrap();
        check(&world).unwrap();
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}

#[test]
fn what_is_no_mark_is_no_image() {
    // Torn at every byte, turned at every byte, and an image as long as the original's.
    let whole = mark_text("17a-2");
    assert_eq!(parse_mark(whole.as_bytes()).as_deref(), Some("17a-2"));
    for len in 0..whole.len() {
        assert_eq!(parse_mark(&whole.as_bytes()[..len]), None);
    }
    for place in 0..whole.len() {
        let mut bytes = whole.clone().into_bytes();
        bytes[place] ^= 0x55;
        assert_ne!(parse_mark(&bytes).as_deref(), Some("17a-2"));
    }
    let world = world(8);
    let env = world.env();
    drop(
        env.fs
            .create_extent(Path::new(IMAGE), ORIGINAL_IMAGE_BYTES)
            .unwrap(),
    );
    assert!(check(&world).unwrap_err().contains("hashes and no keys"));
    create(&world).unwrap();
    check(&world).unwrap();
}
