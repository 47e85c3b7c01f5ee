//! `libesker.a` in one program with another static library made by rustc.

use std::fs;
use std::process::Command;

use crate::installed::{installed, sources, text};

/// A library of somebody else, which panics and goes on.
const TINY: &str = r#"
#[unsafe(no_mangle)]
pub extern "C" fn tiny_catches() -> i32 {
    std::panic::set_hook(Box::new(|_| ()));
    let none: Vec<i32> = Vec::new();
    let place = std::hint::black_box(3);
    i32::from(std::panic::catch_unwind(|| none[place]).is_err())
}
"#;

#[test]
fn two_libraries_of_rust_are_in_one_program() {
    let place = tempfile::tempdir().unwrap();
    let (source, tiny) = (place.path().join("tiny.rs"), place.path().join("libtiny.a"));
    fs::write(&source, TINY).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let made = Command::new(rustc)
        .args(["-O", "--edition", "2024", "--crate-type", "staticlib", "-o"])
        .args([&tiny, &source])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", text(&made));
    let ours = installed().prefix().join("lib/libesker.a");
    // Of what both have in a group, the linker takes the first one's.
    for (name, libraries) in [("first", [&ours, &tiny]), ("second", [&tiny, &ours])] {
        let program = place.path().join(name);
        let linked = Command::new("cc")
            .arg("-I")
            .arg(installed().prefix().join("include"))
            .arg(sources().join("beside_rust.c"))
            .args(libraries)
            .args(["-lpthread", "-lm", "-ldl", "-o"])
            .arg(&program)
            .output()
            .unwrap();
        assert!(linked.status.success(), "{name}: {}", text(&linked));
        installed().run(&program);
    }
}

#[test]
fn nothing_of_the_library_can_be_taken_for_that_of_another() {
    // Sections in a group are thrown away where another object has a group of that name: with them
    // would go what a panic inside looks for to find its way.
    let told = Command::new("readelf")
        .args(["--section-groups", "--wide"])
        .arg(installed().prefix().join("lib/libesker.a"))
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", text(&told));
    assert!(!text(&told).contains("COMDAT"), "{}", text(&told));
}
