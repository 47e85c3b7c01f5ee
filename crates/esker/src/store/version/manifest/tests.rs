//! Tests of `manifest`.

use super::*;
use crate::base::types::ids::KeyspaceId;
use crate::env::random::Random;
use crate::env::sim::fault_plan::Fault;
use crate::store::version::apply::tests::{Model, empty};
use crate::store::version::crash_disk::CrashDisk;
use crate::store::version::current::read_current;
use crate::store::version::edit::{Edit, SettingsText};
use crate::store::version::format::{FORMAT_NEWEST, encode_current};
use crate::store::wal::Tail;

fn dir() -> &'static Path {
    CrashDisk::dir()
}

fn begin(fs: &CrashDisk) -> Manifest {
    Manifest::create(fs.fs(), dir(), empty()).unwrap()
}

fn reopen(fs: &CrashDisk) -> Result<(Manifest, Arc<Version>, ManifestReport)> {
    Manifest::recover(fs.fs(), dir(), &Orders::default())
}

// What a version says, the numbers that manifests themselves use up aside.
fn said(version: &Version) -> Edit {
    let mut edit = version.to_edit();
    edit.retain(|change| !matches!(change, Change::SetNextFile { .. }));
    edit
}

// An edit that alone takes more than half of the room of a small manifest.
fn large_edit(fill: &str) -> Edit {
    let settings = SettingsText::from([("note".to_string(), fill.repeat(700_000))]);
    vec![Change::ChangeSettings {
        id: KeyspaceId(0),
        settings,
        merge_name: None,
    }]
}

// Edits without file numbers of their own, which a manifest's number could collide with.
fn plain_edits(count: usize) -> Vec<Edit> {
    let create = Change::CreateKeyspace {
        id: KeyspaceId(0),
        name: "default".into(),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: SettingsText::new(),
    };
    let settings = |index: usize| {
        vec![Change::ChangeSettings {
            id: KeyspaceId(0),
            settings: SettingsText::from([("ttl".to_string(), index.to_string())]),
            merge_name: Some("append".into()),
        }]
    };
    [vec![create]]
        .into_iter()
        .chain((1..count).map(settings))
        .collect()
}

#[test]
fn a_manifest_gives_back_what_was_appended() {
    // Over many lives: each begins a new manifest with its first edit.
    let fs = CrashDisk::new(1);
    let mut random = Random::new(1);
    let mut model = Model::default();
    let mut manifest = begin(&fs);
    let mut last = said(manifest.version());
    for life in 0..10 {
        for _ in 0..random.below(20) {
            last = said(&manifest.append(&model.random_edit(&mut random)).unwrap());
        }
        drop(manifest);
        let before = fs.get("CURRENT");
        let (next, version, report) = reopen(&fs).unwrap();
        assert_eq!(said(&version), last, "life {life}");
        assert_eq!((report.tail, report.skipped_count), (Tail::Clean, 0));
        assert_eq!(fs.get("CURRENT"), before);
        manifest = next;
    }
}

#[test]
fn a_full_manifest_is_followed_by_another() {
    // The third large edit finds no room; the new manifest's snapshot holds it.
    let fs = CrashDisk::new(1);
    let mut manifest = begin(&fs);
    manifest.append(&plain_edits(1)[0]).unwrap();
    let first = manifest.number();
    manifest.append(&large_edit("a")).unwrap();
    assert_eq!(manifest.number(), first);
    let version = manifest.append(&large_edit("b")).unwrap();
    assert!(manifest.number() > first);
    assert!(version.next_file > manifest.number());
    let first = dir().join(FileName::Manifest(first).to_string());
    assert!(!fs.fs().exists(&first).unwrap());
    let (_, again, report) = reopen(&fs).unwrap();
    assert_eq!(said(&again), said(&version));
    assert_eq!((report.edit_count, report.manifest), (0, manifest.number()));
    assert!(report.size_bytes > 2 * 700_000 + (1 << 20));
}

// One life after another, until something fails; says what was acknowledged, and what was tried.
fn live(fs: &CrashDisk, edits: &[Edit]) -> (Option<Edit>, Option<Edit>) {
    let mut version = empty();
    let Ok(mut manifest) = Manifest::create(fs.fs(), dir(), version.clone()) else {
        return (None, Some(said(&version)));
    };
    for (index, edit) in edits.iter().enumerate() {
        let acked = said(&version);
        version = apply(&version, edit).unwrap();
        if index == 3 {
            match reopen(fs) {
                Ok((next, _, _)) => manifest = next,
                Err(_) => return (Some(acked), None),
            }
        }
        if manifest.append(edit).is_err() {
            return (Some(acked), Some(said(&version)));
        }
    }
    (Some(said(&version)), None)
}

#[test]
fn a_crash_at_any_step_loses_nothing_acknowledged() {
    // Creation, appends, a reopening and two new manifests, stopped at every single step, by a
    // killed process and by power cuts that take any part of what was not synced. What is found
    // is what was acknowledged, or that and the one edit under way; and it can be written on.
    let small = plain_edits(5);
    let mut large = small.clone();
    large.extend([large_edit("a"), large_edit("b")]);
    for (edits, seed_count) in [(small, 12), (large, 1)] {
        let whole = CrashDisk::new(0);
        assert!(live(&whole, &edits).1.is_none());
        for step in 0..whole.step_count() {
            crash_once(&edits, step, 0, CrashDisk::kill);
            for seed in 0..seed_count {
                crash_once(&edits, step, seed, CrashDisk::cut_power);
            }
        }
    }
}

fn crash_once(edits: &[Edit], step: u64, seed: u64, crash: impl Fn(&CrashDisk)) {
    let fs = CrashDisk::new(seed * 1_000 + step);
    fs.stop_at(step);
    let (acked, tried) = live(&fs, edits);
    crash(&fs);
    check_after_crash(&fs, acked, tried, &format!("step {step} seed {seed}"));
}

fn check_after_crash(fs: &CrashDisk, acked: Option<Edit>, tried: Option<Edit>, place: &str) {
    let (mut manifest, version, _) = match reopen(fs) {
        Ok(found) => found,
        Err(error) => {
            assert!(acked.is_none(), "{place}: {error}");
            assert_eq!(error.kind(), ErrorKind::Invalid, "{place}: {error}");
            begin(fs);
            return;
        }
    };
    let found = said(&version);
    let is_expected = Some(&found) == acked.as_ref() || Some(&found) == tried.as_ref();
    assert!(is_expected, "{place}");
    let edit = match version.keyspaces.is_empty() {
        true => plain_edits(1).remove(0),
        false => plain_edits(10).remove(9),
    };
    let next = said(&manifest.append(&edit).unwrap());
    // What recovery found must itself survive the next power cut.
    fs.cut_power();
    assert_eq!(said(&reopen(fs).unwrap().1), next, "{place}");
}

#[test]
fn what_recovery_found_is_durable() {
    // A killed process left an edit in the page cache only. Once a recovery has shown it, files
    // may be removed on its word; so a power cut must not take it back.
    for seed in 0..8 {
        let fs = CrashDisk::new(seed);
        let mut manifest = begin(&fs);
        let edits = plain_edits(2);
        manifest.append(&edits[0]).unwrap();
        fs.stop_at(fs.step_count() + 1);
        manifest.append(&edits[1]).unwrap_err();
        fs.kill();
        let found = said(&reopen(&fs).unwrap().1);
        fs.cut_power();
        assert_eq!(said(&reopen(&fs).unwrap().1), found);
    }
}

#[test]
fn after_a_failed_write_appends_are_refused() {
    // The disk may hold the edit or not; only reading it again tells.
    let fs = CrashDisk::new(1);
    let mut manifest = begin(&fs);
    let edits = plain_edits(3);
    manifest.append(&edits[0]).unwrap();
    fs.fault_at(fs.step_count() + 1, Fault::Io);
    let first = manifest.append(&edits[1]).unwrap_err();
    assert_eq!(first.kind(), ErrorKind::Faulted);
    let later = manifest.append(&edits[1]).unwrap_err();
    assert_eq!(later.kind(), ErrorKind::Faulted);
    assert!(later.to_string().contains("sync"), "{later}");
    assert!(reopen(&fs).unwrap().0.append(&edits[2]).is_ok());
}

#[test]
fn a_full_disk_spares_the_old_manifest() {
    // Each step of beginning the next manifest runs out of space in turn; the old one goes on
    // counting, and the same append succeeds when there is room again. The rename and the last
    // sync are different: behind them nobody knows which of the two counts.
    let edits = plain_edits(3);
    let mut spared_count = 0;
    for step in 0.. {
        let fs = CrashDisk::new(step);
        begin(&fs).append(&edits[0]).unwrap();
        let (mut manifest, before, _) = reopen(&fs).unwrap();
        fs.fault_at(fs.step_count() + step, Fault::NoSpace);
        let Err(error) = manifest.append(&edits[1]) else {
            break;
        };
        let kind = error.kind();
        match manifest.append(&edits[1]) {
            Ok(_) => {
                assert_eq!(kind, ErrorKind::OutOfSpace);
                spared_count += 1;
                manifest.append(&edits[2]).unwrap();
                assert_eq!(said(&reopen(&fs).unwrap().1), said(manifest.version()));
            }
            Err(error) => {
                assert_eq!([kind, error.kind()], [ErrorKind::Faulted; 2]);
                let found = said(&reopen(&fs).unwrap().1);
                let after = said(&apply(&before, &edits[1]).unwrap());
                assert!(found == said(&before) || found == after);
            }
        }
    }
    assert_eq!(spared_count, 8);
}

#[test]
fn a_contradicting_edit_is_refused_before_it_is_logged() {
    // The manifest stays usable, and nothing of the edit is in it.
    let fs = CrashDisk::new(1);
    let mut manifest = begin(&fs);
    let edits = plain_edits(2);
    manifest.append(&edits[0]).unwrap();
    let steps = fs.step_count();
    let error = manifest.append(&edits[0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert_eq!(fs.step_count(), steps);
    manifest.append(&edits[1]).unwrap();
    assert_eq!(reopen(&fs).unwrap().2.edit_count, 2);
}

#[test]
fn a_database_is_created_once() {
    // Creating over another would lose it.
    let fs = CrashDisk::new(1);
    begin(&fs);
    let error = Manifest::create(fs.fs(), dir(), empty()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

// A small manifest with every version that a prefix of it says, and where its bytes end.
fn small() -> (CrashDisk, String, Vec<u8>, Vec<Edit>) {
    let fs = CrashDisk::new(1);
    let mut random = Random::new(5);
    let mut model = Model::default();
    let mut manifest = begin(&fs);
    let mut prefixes = vec![said(manifest.version())];
    for _ in 0..12 {
        let edit = model.random_edit(&mut random);
        prefixes.push(said(&manifest.append(&edit).unwrap()));
    }
    let name = FileName::Manifest(manifest.number()).to_string();
    let mut bytes = fs.get(&name).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    bytes.truncate(used + 1_000);
    (fs, name, bytes, prefixes)
}

#[test]
fn a_manifest_that_lost_its_end_is_refused() {
    // At every length, cut off there or overwritten with zeros: CURRENT says how far it was
    // durable, and a missing snapshot is said to be missing.
    let (fs, name, bytes, prefixes) = small();
    let durable_end = read_current(&*fs.fs(), dir()).unwrap().durable_end;
    let durable_end = usize::try_from(durable_end).unwrap();
    for len in 0..bytes.len() {
        let mut zeroed = bytes.clone();
        zeroed[len..].fill(0);
        for left in [&bytes[..len], &zeroed] {
            fs.put(&name, left);
            match reopen(&fs) {
                Ok((_, version, _)) => {
                    // The last bytes of the last edit may be zeros of its own.
                    assert!(len >= durable_end || left[..durable_end] == bytes[..durable_end]);
                    assert_eq!(said(&version), prefixes[12]);
                }
                Err(error) => {
                    assert!(len < durable_end, "{len}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Corruption);
                    assert_eq!(error.file(), Some(name.as_str()));
                    assert!(error.to_string().contains("esker repair"), "{error}");
                }
            }
        }
    }
}

#[test]
fn a_manifest_without_a_mark_is_a_prefix_or_an_error() {
    // A power cut may take the mark in CURRENT, and databases of before have none: nothing is
    // invented then.
    let (fs, name, bytes, prefixes) = small();
    let number = read_current(&*fs.fs(), dir()).unwrap().manifest;
    fs.put("CURRENT", encode_current(number).as_bytes());
    for len in 0..bytes.len() {
        fs.put(&name, &bytes[..len]);
        match reopen(&fs) {
            Ok((_, version, _)) => assert!(prefixes.contains(&said(&version)), "{len}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corruption),
        }
    }
}

#[test]
fn a_mark_that_finds_no_room_takes_no_edit_back() {
    // Where writing copies, even a byte in place may need space: the edit is durable without.
    let fs = CrashDisk::new(1);
    let mut manifest = begin(&fs);
    let edits = plain_edits(3);
    manifest.append(&edits[0]).unwrap();
    let before = fs.get("CURRENT");
    // The edit, its sync, the mark behind it, and CURRENT.
    fs.fault_at(fs.step_count() + 3, Fault::NoSpace);
    manifest.append(&edits[1]).unwrap();
    assert_eq!(fs.get("CURRENT"), before);
    manifest.append(&edits[2]).unwrap();
    assert_ne!(fs.get("CURRENT"), before);
    assert_eq!(said(&reopen(&fs).unwrap().1), said(manifest.version()));
}

#[test]
fn a_flipped_byte_is_found() {
    // Damage to any edit, the last one included, is an error with its place: a later mark of the
    // log proves that the edit was durable. What is left is that last mark itself.
    let (fs, name, bytes, prefixes) = small();
    let mut refused_count = 0;
    for index in (0..bytes.len()).step_by(2) {
        let mut damaged = bytes.clone();
        damaged[index] ^= 1 << (index % 8);
        fs.put(&name, &damaged);
        match reopen(&fs) {
            Ok((_, version, _)) => assert_eq!(said(&version), prefixes[12]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption);
                assert_eq!(error.file(), Some(name.as_str()));
                assert!(error.offset().is_some());
                refused_count += 1;
            }
        }
    }
    assert!(refused_count * 2 > bytes.len() - 1_100);
}

#[test]
fn what_is_no_manifest_says_what_it_is() {
    // Nowhere, foreign, renamed, of a newer format, of a newer program.
    let (fs, name, bytes, _) = small();
    let kind_of = |wanted: &str| {
        let error = reopen(&fs).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
        assert_eq!(error.file(), Some(name.as_str()));
        error.kind()
    };
    fs.take(&name);
    assert_eq!(kind_of("is not there"), ErrorKind::Corruption);
    fs.put(&name, b"#!/bin/sh\nexit 0\n");
    assert_eq!(
        kind_of("does not begin with a snapshot"),
        ErrorKind::Corruption
    );

    let number = read_current(&*fs.fs(), dir()).unwrap().manifest;
    let log_of = |record: &[u8]| {
        fs.take(&name);
        let file = fs.fs().open_log(&dir().join(&name), 1 << 16).unwrap();
        WalWriter::new(file, number).append(record).unwrap();
    };
    log_of(b"a batch, perhaps");
    assert_eq!(
        kind_of("does not begin as a manifest does"),
        ErrorKind::Corruption
    );
    let mut head = SnapshotHead {
        format_version: 1,
        manifest: FileNumber(77),
        database_id: [7; 16],
        created_unix_s: 1,
    };
    log_of(&encode_snapshot(&head, &[]));
    assert_eq!(
        kind_of("MANIFEST-000077 under another name"),
        ErrorKind::Corruption
    );
    head.manifest = number;
    head.format_version = FORMAT_NEWEST + 1;
    log_of(&encode_snapshot(&head, &[]));
    let newer = format!("format version {}", FORMAT_NEWEST + 1);
    assert_eq!(kind_of(&newer), ErrorKind::Unsupported);
    head.format_version = 1;
    let mut record = encode_snapshot(&head, &[]);
    record.extend([0x33, 0]);
    log_of(&record);
    assert_eq!(kind_of("newer Esker"), ErrorKind::Unsupported);
    fs.put(&name, &bytes);
    assert!(reopen(&fs).is_ok());
}

#[test]
fn a_long_manifest_says_what_its_writer_said() {
    // Recovery replays all edits at once; the writer applied them one by one.
    let fs = CrashDisk::new(1);
    let mut random = Random::new(9);
    let mut model = Model::default();
    let mut manifest = begin(&fs);
    for _ in 0..700 {
        manifest.append(&model.random_edit(&mut random)).unwrap();
    }
    let (_, version, report) = reopen(&fs).unwrap();
    assert_eq!(said(&version), said(manifest.version()));
    assert!(report.edit_count > 600);
}
