//! What is installed: files where they are looked for, names, and the header in every dialect.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::installed::{Linked, installed, sources, text};

/// The names of all functions of the header.
fn declared() -> BTreeSet<String> {
    let code = installed().declarations();
    let names = code.split('(').filter_map(|before| {
        let name = before.rsplit([' ', '*', '\n']).next()?;
        is_ours(name).then(|| name.to_owned())
    });
    names.collect()
}

/// Whether it may be a function of ours, and no type of a callback in its parentheses.
fn is_ours(name: &str) -> bool {
    name.starts_with("esker_") && !name.contains(')')
}

#[test]
fn the_header_is_c89_c99_c11_and_cxx() {
    // Every warning is an error; the program checks sizes itself.
    for dialect in ["gnu89", "c89", "c99", "c11", "gnu17"] {
        let program = installed().compile("cc", dialect, "header.c", Linked::Shared);
        installed().run(&program);
    }
    for dialect in ["c++11", "c++17"] {
        let program = installed().compile("c++", dialect, "header.c", Linked::Shared);
        installed().run(&program);
    }
}

#[test]
fn the_libraries_offer_what_the_header_declares() {
    // No name more, such as those of a compressor inside, and none less.
    let declared = declared();
    assert!(declared.contains("esker_iter_seek_for_prev") && declared.len() >= 120);
    for (library, options) in [
        ("lib/libesker.so", &["-D", "--defined-only"][..]),
        ("lib/libesker.a", &["-g", "--defined-only"]),
    ] {
        let named = Command::new("nm")
            .args(options)
            .arg(installed().prefix().join(library))
            .output()
            .unwrap();
        assert!(named.status.success(), "{}", text(&named));
        let told = text(&named);
        let names = told
            .lines()
            .filter_map(|line| line.split_whitespace().nth(2));
        let offered: BTreeSet<String> = names
            .filter(|name| *name != "ESKER_1")
            .map(|name| name.trim_end_matches("@@ESKER_1").to_owned())
            .collect();
        assert_eq!(offered, declared, "{library}");
    }
}

#[test]
fn every_function_is_called_by_a_program_and_meets_null() {
    // What nobody calls nobody has tried, and nulls.c has nothing done.
    let (mut doing, mut all) = (String::new(), String::new());
    for entry in fs::read_dir(sources()).unwrap() {
        let path = entry.unwrap().path();
        let program = fs::read_to_string(&path).unwrap();
        all.push_str(&program);
        if !path.ends_with("nulls.c") {
            doing.push_str(&program);
        }
    }
    let declared = declared();
    let calls = |name: &&String| doing.contains(&format!("{name}("));
    let uncalled: Vec<_> = declared.iter().filter(|name| !calls(name)).collect();
    assert_eq!(uncalled, Vec::<&String>::new());
    let meets_null = |name: &str| {
        let start = format!("{name}(");
        let calls = all.match_indices(&start).map(|(at, _)| &all[at..]);
        let mut calls = calls.filter_map(|call| call.split_once(';').map(|(call, _)| call));
        calls.any(|call| call.contains("NULL"))
    };
    let takes_nothing = [
        "esker_abi_version",
        "esker_code_name",
        "esker_errmsg",
        "esker_is_retryable",
        "esker_keyspace_options_new",
        "esker_value_new",
        "esker_version",
    ];
    let spared = declared.iter().filter(|name| !meets_null(name));
    let spared: Vec<_> = spared
        .filter(|name| !takes_nothing.contains(&name.as_str()))
        .collect();
    assert_eq!(spared, Vec::<&String>::new());
}

#[test]
fn every_call_of_a_database_is_refused_somewhere() {
    // In callbacks and in children; what moves within what it has at hand, in children alone.
    let refused = fs::read_to_string(sources().join("refused.c")).unwrap();
    let code = installed().declarations().replace('\n', " ");
    let handles = [
        "db",
        "keyspace",
        "snapshot",
        "batch",
        "iter",
        "tx",
        "interrupter",
    ];
    let mut seen = 0;
    for declaration in code.split(';').filter(|text| !text.contains("typedef")) {
        let Some((before, taken)) = declaration.split_once('(') else {
            continue;
        };
        let name = before.rsplit([' ', '*']).next().unwrap();
        let first = taken
            .split(',')
            .next()
            .unwrap()
            .trim_start_matches("const ");
        let is_of_one = |handle: &&str| first.starts_with(&format!("esker_{handle} *"));
        let can_fail = before.trim().ends_with(&format!("int {name}"));
        if !can_fail || name == "esker_iter_valid" || !handles.iter().any(is_of_one) {
            continue;
        }
        seen += 1;
        assert!(refused.contains(&format!("NO({name}(")), "{name}");
    }
    assert!(seen >= 100, "{seen} calls");
}

#[test]
fn every_function_says_what_null_means() {
    // In the comment right before it; what fills a batch says it once for all.
    let header = installed().header();
    let (mut seen, mut silent) = (BTreeSet::new(), Vec::new());
    for (comment, code) in header.split("/* ").filter_map(|part| part.split_once("*/")) {
        let Some((before, taken)) = code.split_once('(') else {
            continue;
        };
        let name = before.rsplit([' ', '*', '\n']).next().unwrap();
        if !is_ours(name) || before.contains("typedef") {
            continue;
        }
        seen.insert(name.to_owned());
        let says = comment.contains("NULL") || comment.contains("Needs");
        let fills = name.starts_with("esker_batch_") && taken.starts_with("esker_batch *batch, ");
        if taken.contains('*') && !says && !fills {
            silent.push(name.to_owned());
        }
    }
    assert_eq!(silent, Vec::<String>::new());
    assert_eq!(seen, declared());
    assert!(header.contains("\n   Each needs batch and keyspace"));
}

#[test]
fn the_number_of_the_interface_is_the_same_everywhere() {
    // In the header, in the names of files, and in the list of what a library shows.
    let version = esker_c::abi::about::ABI_VERSION;
    let header = installed().header();
    assert!(header.contains(&format!("#define ESKER_ABI_VERSION {version}\n")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(root.join("libesker.map")).unwrap();
    assert!(map.contains(&format!("\nESKER_{version} {{")));
    let told = Command::new("readelf")
        .args(["-d", "--wide"])
        .arg(installed().prefix().join("lib/libesker.so"))
        .output()
        .unwrap();
    assert!(text(&told).contains(&format!("Library soname: [libesker.so.{version}]")));
    // Its threads would be left without their code.
    assert!(text(&told).contains("NODELETE"));
}

#[test]
fn what_is_installed_is_found_and_taken_away() {
    // Into a directory for packages; then gone again, but for what is not ours.
    let stage = tempfile::tempdir().unwrap();
    let destdir = stage.path().to_str().unwrap();
    let below = |name: &str| {
        let prefix = installed().prefix().strip_prefix("/").unwrap();
        stage.path().join(prefix).join(name)
    };
    fs::create_dir_all(below("lib/pkgconfig")).unwrap();
    fs::write(below("lib/libother.so"), "of somebody else").unwrap();
    let told = installed().script("install", destdir);
    assert!(told.status.success(), "{}", text(&told));
    for (link, target) in [
        ("lib/libesker.so", "libesker.so.1"),
        ("lib/libesker.so.1", "libesker.so.1.0.0"),
    ] {
        assert_eq!(fs::read_link(below(link)).unwrap(), Path::new(target));
    }
    let pc = fs::read_to_string(below("lib/pkgconfig/esker.pc")).unwrap();
    assert!(pc.contains(&format!("prefix={}\n", installed().prefix().display())));
    assert!(pc.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))));
    assert!(!pc.contains('@') && !pc.contains(destdir));
    let removed = installed().script("uninstall", destdir);
    assert!(removed.status.success(), "{}", text(&removed));
    let mut left = Vec::new();
    for name in ["lib", "lib/pkgconfig", "include"] {
        let entries = fs::read_dir(below(name)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        left.extend(paths.filter(|path| !path.ends_with("pkgconfig")));
    }
    assert_eq!(left, [below("lib/libother.so")]);
}

#[test]
fn what_is_installed_has_nothing_for_debuggers() {
    // Nine tenths of it no program reads.
    for library in ["lib/libesker.so.1", "lib/libesker.a"] {
        let library = fs::read(installed().prefix().join(library)).unwrap();
        let section = b".debug_info\0";
        assert!(!library.windows(section.len()).any(|bytes| bytes == section));
    }
}
