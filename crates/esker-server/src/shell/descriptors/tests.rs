//! Whatever the limit is, clients leave files and nodes what they need.

use super::*;

/// The parts of a limit: of one door, of nodes, of files.
fn parts(settings: &Settings, limit: u64) -> (u64, u64, u64) {
    let (fitting, line) = fit(settings, limit);
    assert!(line.is_some(), "{limit}");
    (
        count(fitting.bounds.connections_max),
        count(fitting.peer_bounds.connections_max),
        with_segments(files_wanted(&fitting)),
    )
}

#[test]
fn the_parts_of_every_limit_are_no_more_than_it() {
    let settings = Settings::default();
    let all = needed(&settings);
    let mut before = (0, 0, 0);
    // With less than this a node is told what it has least, and is short of it.
    for limit in 64..all {
        let now = parts(&settings, limit);
        let (door, nodes, files) = now;
        let taken = AT_REST + DOORS * door + 2 * nodes + files;
        assert!(taken <= limit, "{limit}: {now:?}");
        assert!(door >= DOOR_MIN && 2 * nodes >= NODES_MIN && files >= FILES_MIN);
        let peers = fit(&settings, limit).0.peer_bounds;
        assert!(peers.nameless_max >= 1 && peers.nameless_max < peers.connections_max);
        assert!(peers.of_node_max >= 2 && peers.of_node_max < peers.connections_max);
        // More is never worse for anybody.
        assert!(door >= before.0 && nodes >= before.1 && files >= before.2);
        before = now;
    }
    assert_eq!(fit(&settings, all), (settings, None));
}

#[test]
fn a_usual_limit_of_before_is_shared_by_halves() {
    let (door, nodes, files) = parts(&Settings::default(), 1024);
    assert!((200..300).contains(&door), "{door}");
    assert!((400..500).contains(&files), "{files}");
    assert_eq!(nodes, 64, "and as many for its own links");
}

#[test]
fn who_was_told_to_take_few_leaves_the_others_more() {
    let mut settings = Settings {
        engine: vec![("files.open_max".to_owned(), "32".to_owned())],
        ..Settings::default()
    };
    let (door, _, files) = parts(&settings, 1024);
    assert_eq!(files, with_segments(32));
    assert!(door > 350, "{door}");
    // By another name as well, of which the engine takes one alone.
    settings.engine = vec![("max_open_files".to_owned(), "32".to_owned())];
    assert_eq!(parts(&settings, 1024).2, with_segments(32));
    let dir = tempfile::tempdir().unwrap();
    for rows in [
        &["files.open_max"][..],
        &["max_open_files", "wal.segment_size"],
    ] {
        let row = |name: &&str| ((*name).to_owned(), "1048576".to_owned());
        settings.engine = rows.iter().map(row).collect();
        let (fitting, _) = fit(&settings, 1024);
        assert_eq!(fitting.engine.len(), rows.len());
        let mut builder = esker::Db::builder(dir.path().join(rows[0]));
        for (name, text) in &fitting.engine {
            builder = builder.set(name, text).unwrap();
        }
        builder.open().unwrap();
    }
    settings.bounds.connections_max = 10;
    settings.engine.clear();
    let (door, _, files) = parts(&settings, 1024);
    assert_eq!(door, 10);
    assert!(files > 750, "{files}");
}

#[test]
fn the_line_names_the_limit_and_what_it_leaves() {
    let (fitting, line) = fit(&Settings::default(), 64);
    let line = line.unwrap();
    let clients = format!("at most {} clients", fitting.bounds.connections_max);
    for word in ["ulimit -n", "64 files", &clients, "6 other nodes"] {
        assert!(line.contains(word), "{line}");
    }
}
