//! Tests of `overlay`.

use std::path::Path;

use super::*;
use crate::env::fs::contract::{check_all, names, read_file, write_file};
use crate::env::sim::SimFs;

const LOWER: &str = "lower";
const UPPER: &str = "upper";

fn overlay(sim: &SimFs) -> OverlayFs {
    for dir in [LOWER, UPPER] {
        sim.create_dir_all(Path::new(dir)).unwrap();
    }
    OverlayFs::new(
        Arc::new(sim.clone()),
        Path::new(LOWER),
        Path::new(UPPER),
        None,
    )
}

#[test]
fn it_is_a_file_system_inside_and_outside() {
    // Folders of the directory exist in the upper one alone.
    let sim = SimFs::new(1);
    let fs = overlay(&sim);
    check_all(&fs, Path::new(LOWER));
    check_all(&fs, Path::new("elsewhere"));
    assert!(names(&sim, Path::new(LOWER)).is_empty());
}

#[test]
fn what_changes_is_seen_and_changes_nothing_below() {
    // Every change to files that lie in the lower directory, and then what both sides say.
    let sim = SimFs::new(2);
    let fs = overlay(&sim);
    let dir = Path::new(LOWER);
    for name in ["removed", "renamed", "linked", "replaced", "log", "left"] {
        write_file(&sim, &dir.join(name), name.as_bytes());
    }
    let before = names(&sim, dir);
    fs.remove_file(&dir.join("removed")).unwrap();
    fs.rename(&dir.join("renamed"), &dir.join("new name"))
        .unwrap();
    fs.create_dir_all(&dir.join("folder")).unwrap();
    fs.hard_link(&dir.join("linked"), &dir.join("folder/link"))
        .unwrap();
    write_file(&fs, &dir.join("draft"), b"other");
    fs.rename(&dir.join("draft"), &dir.join("replaced"))
        .unwrap();
    let mut log = fs.open_log(&dir.join("log"), 3).unwrap();
    log.write_at(1, b"0").unwrap();
    fs.sync_dir(dir).unwrap();

    let seen = ["folder", "left", "linked", "log", "new name", "replaced"];
    assert_eq!(names(&fs, dir), seen);
    assert_eq!(read_file(&fs, &dir.join("new name")), b"renamed");
    assert_eq!(read_file(&fs, &dir.join("replaced")), b"other");
    assert_eq!(read_file(&fs, &dir.join("log")), b"l0g");
    assert_eq!(read_file(&fs, &dir.join("folder/link")), b"linked");
    assert!(
        fs.open_read(&dir.join("removed"))
            .err()
            .unwrap()
            .is_missing_file()
    );
    assert!(
        fs.remove_file(&dir.join("removed"))
            .unwrap_err()
            .is_missing_file()
    );
    assert!(!fs.exists(&dir.join("renamed")).unwrap());

    assert_eq!(names(&sim, dir), before);
    for name in before {
        assert_eq!(read_file(&sim, &dir.join(&name)), name.as_bytes());
    }
    let outside = fs.hard_link(&dir.join("left"), Path::new("upper/outside"));
    assert!(outside.is_err(), "a file below would be told of it");
}
