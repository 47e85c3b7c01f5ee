//! What is installed: files where they are looked for, names, and headers in every dialect.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::installed::{installed, text};

#[test]
fn the_header_is_c89_c99_c11_and_cxx() {
    // Every warning is an error; the program checks sizes and places itself.
    for dialect in ["gnu89", "c89", "c99", "c11", "gnu17"] {
        let program = installed().compile("cc", dialect, "header.c");
        installed().run(&program, &[]);
    }
    for dialect in ["c++11", "c++17"] {
        let program = installed().compile("c++", dialect, "header.c");
        installed().run(&program, &[]);
    }
}

#[test]
fn the_header_says_what_the_library_does() {
    // Limits and results are told twice, in C and in Rust: they are the same.
    let header = fs::read_to_string(installed().prefix().join("include/kvs.h")).unwrap();
    for (name, value) in [
        ("KVS_KEY_SIZE_MAX", kvs::config::KEY_BYTES_MAX),
        ("KVS_VALUE_SIZE_MAX", kvs::config::VALUE_BYTES_MAX),
    ] {
        assert!(header.contains(&format!("#define {name} {value}\n")));
    }
}

#[test]
fn the_library_offers_what_the_header_declares() {
    // No name more, such as those of a compressor inside, and none less.
    let named = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(installed().prefix().join("lib/libkvs.so"))
        .output()
        .unwrap();
    assert!(named.status.success(), "{}", text(&named));
    let offered: BTreeSet<String> = text(&named)
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2).map(str::to_owned))
        .collect();
    let header = fs::read_to_string(installed().prefix().join("include/kvs.h")).unwrap();
    let declared: BTreeSet<String> = header
        .lines()
        .filter(|line| line.contains('(') && !line.starts_with([' ', '/', '#']))
        .filter_map(|line| {
            let name = line.split('(').next()?.rsplit([' ', '*']).next()?;
            name.starts_with("kv").then(|| name.to_owned())
        })
        .collect();
    assert_eq!(offered, declared);
    assert_eq!(declared.len(), 15);
}

#[test]
fn the_installed_library_has_nothing_for_debuggers() {
    // It was 33 MB, nine tenths of which no program reads.
    let library = fs::read(installed().prefix().join("lib/libkvs.so.1")).unwrap();
    for section in [&b".symtab\0"[..], b".debug_info\0", b".debug_line\0"] {
        assert!(!library.windows(section.len()).any(|bytes| bytes == section));
    }
}

#[test]
fn what_is_installed_is_found_and_taken_away() {
    // Into a directory for packages, where a strange type.h makes it stop; then gone again.
    let stage = tempfile::tempdir().unwrap();
    let destdir = stage.path().to_str().unwrap();
    let below = |name: &str| {
        let prefix = installed().prefix().strip_prefix("/").unwrap();
        stage.path().join(prefix).join(name)
    };
    let told = installed().script("install", destdir);
    assert!(told.status.success(), "{}", text(&told));
    for (link, target) in [
        ("lib/libkvs.so", "libkvs.so.1"),
        ("lib/libkvs.so.1", "libkvs.so.1.0.0"),
    ] {
        assert_eq!(fs::read_link(below(link)).unwrap(), Path::new(target));
    }
    let pc = fs::read_to_string(below("lib/pkgconfig/kvs.pc")).unwrap();
    assert!(pc.contains(&format!("prefix={}\n", installed().prefix().display())));
    assert!(pc.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))));
    assert!(!pc.contains('@') && !pc.contains(destdir));

    let removed = installed().script("uninstall", destdir);
    assert!(removed.status.success(), "{}", text(&removed));
    for name in ["lib", "lib/pkgconfig", "include"] {
        let left = fs::read_dir(below(name)).unwrap();
        let files = left.filter(|entry| !entry.as_ref().unwrap().path().is_dir());
        assert_eq!(files.count(), 0, "{name}");
    }

    fs::write(below("include/type.h"), "/* of somebody else */\n").unwrap();
    let told = installed().script("install", destdir);
    assert!(!told.status.success());
    assert!(text(&told).contains("INCLUDEDIR"), "{}", text(&told));
    assert!(!below("include/kvs.h").exists());
    installed().script("uninstall", destdir);
    assert!(below("include/type.h").exists());
}
