//! Tests of `world`.

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::env::fs::contract::write_file;
use crate::env::pool::Priority;

#[test]
fn a_crash_takes_jobs_and_unsynced_files() {
    // The next machine has the durable disk, an empty queue, and a clock that went on.
    let world = SimWorld::new(1);
    let env = world.env();
    env.fs.create_dir_all(Path::new("/db")).unwrap();
    write_file(&*env.fs, Path::new("/db/a"), b"x");
    env.pool
        .spawn(Priority::High, "never", Box::new(|| panic!("it ran")));
    world.clock.advance(Duration::from_secs(9));
    let killed = world.after_kill();
    assert!(killed.fs.exists(Path::new("/db/a")).unwrap());
    let cut = killed.after_crash(CrashMode::LoseUnsynced, 2);
    assert!(!cut.fs.exists(Path::new("/db/a")).unwrap());
    assert_eq!(cut.pool.pending_count(), 0);
    assert_eq!(cut.env().clock.monotonic(), Duration::from_secs(9));
    assert!(env.fs.exists(Path::new("/db")).is_err());
}
