//! Tests of `apply`.

use std::collections::BTreeSet;

use super::*;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::ErrorKind;
use crate::env::random::Random;
use crate::store::version::edit::Edit;
use crate::store::version::format::FORMAT_NEWEST;
use crate::store::version::plain_file::record;
use crate::store::version::state::{Identity, Orders};

pub(in crate::store::version) const IDENTITY: Identity = Identity {
    database_id: *b"an id of 16 byte",
    created_unix_s: 1_795_000_000,
};

/// What a version should say, kept in the plainest way there is.
#[derive(Clone, Debug, Default)]
pub(in crate::store::version) struct Model {
    next_file: u64,
    seqno: u64,
    next_keyspace: u32,
    first_log: u64,
    keyspaces: BTreeMap<u32, ModelKeyspace>,
}

#[derive(Clone, Debug, Default)]
struct ModelKeyspace {
    name: String,
    merge_name: Option<String>,
    settings: SettingsText,
    flushed: u64,
    files: BTreeMap<u64, (Level, RunId, Arc<FileRecord>)>,
}

fn number(random: &mut Random, below: u64) -> usize {
    usize::try_from(random.below(below)).unwrap()
}

fn key(index: u64) -> Bytes {
    Bytes::copy_of(format!("key{index:06}").as_bytes())
}

impl Model {
    /// A random edit that does not contradict, already applied to the model.
    pub(in crate::store::version) fn random_edit(&mut self, random: &mut Random) -> Edit {
        let mut edit = Edit::new();
        if self.keyspaces.is_empty() || (self.keyspaces.len() < 5 && random.one_in(20)) {
            self.create(random, &mut edit);
        }
        let ids: Vec<u32> = self.keyspaces.keys().copied().collect();
        let id = ids[number(random, ids.len() as u64)];
        if ids.len() > 1 && random.one_in(60) {
            self.keyspaces.remove(&id);
            let id = KeyspaceId(id);
            edit.push(Change::DropKeyspace { id });
            return edit;
        }
        match random.below(3) {
            0 => self.compact(random, id, &mut edit),
            1 => self.tune(random, id, &mut edit),
            _ => self.flush(random, id, &mut edit),
        }
        edit
    }

    fn create(&mut self, random: &mut Random, edit: &mut Edit) {
        let id = self.next_keyspace + u32::try_from(random.below(3)).unwrap();
        self.next_keyspace = id + 1;
        let keyspace = ModelKeyspace {
            name: format!("keyspace {id}"),
            merge_name: random.one_in(2).then(|| "append".to_string()),
            ..ModelKeyspace::default()
        };
        edit.push(Change::CreateKeyspace {
            id: KeyspaceId(id),
            name: keyspace.name.clone(),
            comparator_name: "bytewise".into(),
            merge_name: keyspace.merge_name.clone(),
            settings: SettingsText::new(),
        });
        self.keyspaces.insert(id, keyspace);
    }

    fn record(&mut self, random: &mut Random, ends: (u64, u64)) -> Arc<FileRecord> {
        let smallest_seqno = SeqNo::new(self.seqno + 1);
        self.seqno += 1 + random.below(5);
        self.next_file += 1 + random.below(2);
        Arc::new(FileRecord {
            size_bytes: random.below(1 << 20),
            is_largest_exclusive: ends.0 < ends.1 && random.one_in(4),
            smallest_seqno,
            largest_seqno: SeqNo::new(self.seqno),
            delete_count: random.below(10),
            range_delete_count: random.below(2),
            newest_expiry_s: random.one_in(3).then_some(77),
            ..record(self.next_file, &key(ends.0), &key(ends.1))
        })
    }

    fn add(&mut self, id: u32, level: Level, run: RunId, record: Arc<FileRecord>, edit: &mut Edit) {
        edit.push(Change::AddFile {
            keyspace: KeyspaceId(id),
            level,
            run,
            record: Arc::clone(&record),
        });
        let files = &mut self.keyspaces.get_mut(&id).unwrap().files;
        files.insert(record.number.0, (level, run, record));
    }

    fn flush(&mut self, random: &mut Random, id: u32, edit: &mut Edit) {
        let mut start = random.below(50);
        let run = self.next_file + 1;
        for _ in 0..random.below(3) + 1 {
            let end = start + random.below(30);
            let record = self.record(random, (start, end));
            self.add(id, Level::ZERO, run, record, edit);
            start = end + 1;
        }
        self.keyspaces.get_mut(&id).unwrap().flushed = self.seqno;
        edit.push(Change::SetFlushed {
            keyspace: KeyspaceId(id),
            seqno: SeqNo::new(self.seqno),
        });
        if random.one_in(2) {
            self.first_log = self.next_file;
            let number = FileNumber(self.first_log);
            edit.push(Change::SetFirstLog { number });
        }
    }

    // All of level 0 and 1 become one file of level 1 or 2, or one file of level 1 moves down.
    fn compact(&mut self, random: &mut Random, id: u32, edit: &mut Edit) {
        let depth = number(random, 2) + 1;
        let target = Level::new(depth).unwrap();
        let files = self.keyspaces[&id].files.clone();
        let inputs = files.into_values().filter(|(level, _, _)| *level <= target);
        let inputs: Vec<_> = inputs.collect();
        if inputs.is_empty() {
            return self.tune(random, id, edit);
        }
        let is_move = inputs.len() == 1;
        for (level, _, record) in &inputs {
            edit.push(Change::RemoveFile {
                keyspace: KeyspaceId(id),
                level: *level,
                number: record.number,
            });
            let files = &mut self.keyspaces.get_mut(&id).unwrap().files;
            files.remove(&record.number.0);
        }
        let record = match inputs.into_iter().next() {
            Some((_, _, record)) if is_move => record,
            _ => self.record(random, (0, 99)),
        };
        self.add(id, target, 0, record, edit);
        if random.one_in(2) {
            // The order in which an edit lists files must not matter.
            edit.reverse();
        }
    }

    fn tune(&mut self, random: &mut Random, id: u32, edit: &mut Edit) {
        let keyspace = self.keyspaces.get_mut(&id).unwrap();
        keyspace.settings = SettingsText::from([("ttl".into(), random.below(9).to_string())]);
        keyspace.merge_name = None;
        edit.push(Change::ChangeSettings {
            id: KeyspaceId(id),
            settings: keyspace.settings.clone(),
            merge_name: None,
        });
    }

    /// Whether the version says what the model says.
    pub(in crate::store::version) fn check(&self, version: &Version) {
        version.check().unwrap();
        assert_eq!(version.next_file, FileNumber(self.next_file + 1));
        assert_eq!(version.last_seqno, SeqNo::new(self.seqno));
        assert_eq!(version.next_keyspace, KeyspaceId(self.next_keyspace));
        assert_eq!(version.first_log, FileNumber(self.first_log));
        assert_eq!(version.keyspaces.len(), self.keyspaces.len());
        for (id, wanted) in &self.keyspaces {
            assert_eq!(version.names.get(&*wanted.name), Some(&KeyspaceId(*id)));
            let state = version.keyspace(KeyspaceId(*id)).unwrap();
            assert_eq!(state.merge_name.as_deref(), wanted.merge_name.as_deref());
            assert_eq!(*state.settings, wanted.settings);
            assert_eq!(state.flushed, SeqNo::new(wanted.flushed));
            let mut files = BTreeMap::new();
            for (level, run) in state.levels.all_runs() {
                for file in run.files() {
                    files.insert(file.number.0, (level, run.id(), Arc::clone(file)));
                }
            }
            assert_eq!(files, wanted.files);
        }
    }
}

pub(in crate::store::version) fn empty() -> Version {
    Version::empty(IDENTITY, Orders::default())
}

#[test]
fn random_edits_do_what_the_model_does() {
    // Creates, drops, flushes, compactions and moves; and after each, the version made anew
    // from its snapshot says the same; so does one replay of all edits.
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut model = Model::default();
        let mut version = empty();
        let mut replay = Replay::new(empty());
        for _ in 0..80 {
            let edit = model.random_edit(&mut random);
            let before = version.to_edit();
            let next = apply(&version, &edit).unwrap_or_else(|error| panic!("{seed}: {error}"));
            model.check(&next);
            assert_eq!(version.to_edit(), before);
            let again = apply(&empty(), &next.to_edit()).unwrap();
            assert_eq!(again.to_edit(), next.to_edit());
            replay.apply(&edit).unwrap();
            version = next;
        }
        model.check(&replay.finish().unwrap());
    }
}

#[test]
fn an_edit_made_twice_is_refused() {
    // Adding what is there, removing what is not: both mean that the manifest and the version
    // do not belong together.
    let mut random = Random::new(3);
    let mut model = Model::default();
    let mut version = empty();
    let mut refused_count = 0;
    for _ in 0..100 {
        let edit = model.random_edit(&mut random);
        version = apply(&version, &edit).unwrap();
        let touches_files = |change: &Change| {
            matches!(change, Change::AddFile { .. } | Change::DropKeyspace { .. })
        };
        let is_move = edit
            .iter()
            .any(|change| matches!(change, Change::RemoveFile { .. }));
        if edit.iter().any(touches_files) && !is_move {
            let error = apply(&version, &edit).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption);
            refused_count += 1;
        }
    }
    assert!(refused_count > 20);
    model.check(&version);
}

fn create(id: u32, name: &str) -> Change {
    Change::CreateKeyspace {
        id: KeyspaceId(id),
        name: name.into(),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: SettingsText::new(),
    }
}

#[test]
fn contradictions_are_refused_by_kind() {
    // Each one a single change on a version with one keyspace.
    let version = apply(&empty(), &[create(4, "a")]).unwrap();
    let id = KeyspaceId(9);
    let wrong_comparator = Change::CreateKeyspace {
        id,
        name: "b".into(),
        comparator_name: "by moon phase".into(),
        merge_name: None,
        settings: SettingsText::new(),
    };
    let cases = [
        (create(4, "b"), ErrorKind::Corruption),
        (create(3, "b"), ErrorKind::Corruption),
        (create(5, "a"), ErrorKind::Corruption),
        (create(5, ""), ErrorKind::Corruption),
        (wrong_comparator, ErrorKind::Unsupported),
        (Change::DropKeyspace { id }, ErrorKind::Corruption),
        (
            Change::SetFlushed {
                keyspace: id,
                seqno: SeqNo::MAX,
            },
            ErrorKind::Corruption,
        ),
        (Change::SetFormat { version: 0 }, ErrorKind::Corruption),
        (
            Change::SetFormat {
                version: FORMAT_NEWEST + 1,
            },
            ErrorKind::Unsupported,
        ),
        (
            Change::RemoveFile {
                keyspace: KeyspaceId(4),
                level: Level::ZERO,
                number: FileNumber(1),
            },
            ErrorKind::Corruption,
        ),
    ];
    for (change, kind) in cases {
        let error = apply(&version, std::slice::from_ref(&change)).unwrap_err();
        assert_eq!(error.kind(), kind, "{change}");
    }
    let dropped = apply(&version, &[Change::DropKeyspace { id: KeyspaceId(4) }]).unwrap();
    let error = apply(&dropped, &[create(4, "a")]).unwrap_err();
    assert!(error.to_string().contains("was there before"));
    assert!(apply(&dropped, &[create(5, "a")]).is_ok());
}

#[test]
fn counters_never_go_back() {
    // Two jobs that finish in the other order must not undo one another's numbers; and no write
    // gets a number, nor any log, that a replay would pass over.
    let keyspace = KeyspaceId(0);
    let first_log = |number| Change::SetFirstLog {
        number: FileNumber(number),
    };
    let flushed = |seqno| Change::SetFlushed {
        keyspace,
        seqno: SeqNo::new(seqno),
    };
    let edit = [
        create(0, "a"),
        Change::SetNextFile {
            number: FileNumber(50),
        },
        Change::SetLastSeqno {
            seqno: SeqNo::new(60),
        },
        Change::SetNextFile {
            number: FileNumber(40),
        },
        Change::SetLastSeqno {
            seqno: SeqNo::new(10),
        },
    ];
    let version = apply(&empty(), &edit).unwrap();
    assert_eq!(version.next_file, FileNumber(50));
    assert_eq!(version.last_seqno, SeqNo::new(60));
    let edit = [first_log(70), first_log(65), flushed(90), flushed(80)];
    let version = apply(&version, &edit).unwrap();
    assert_eq!(version.first_log, FileNumber(70));
    assert_eq!(version.next_file, FileNumber(70));
    assert_eq!(version.keyspaces[&keyspace].flushed, SeqNo::new(90));
    assert_eq!(version.last_seqno, SeqNo::new(90));
}

#[test]
fn ten_thousand_files_take_single_edits() {
    // Edits of one file each, and what an edit does not name is shared.
    let file = |index: u64| {
        let (smallest, largest) = (key(index * 10), key(index * 10 + 5));
        Arc::new(record(index + 1, &smallest, &largest))
    };
    let bottom = Level::new(6).unwrap();
    let add = |index: u64| Change::AddFile {
        keyspace: KeyspaceId(0),
        level: bottom,
        run: 0,
        record: file(index),
    };
    let mut edit = vec![create(0, "default"), create(1, "other")];
    edit.extend((0..10_000).map(add));
    let mut version = apply(&empty(), &edit[..2]).unwrap();
    version = apply(&version, &edit[2..]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(version.file_count(), 10_000);
    for index in 100..120 {
        let other = Arc::clone(&version.keyspaces[&KeyspaceId(1)]);
        let number = FileNumber(index + 1);
        let gone = Change::RemoveFile {
            keyspace: KeyspaceId(0),
            level: bottom,
            number,
        };
        version = apply(&version, &[gone]).unwrap();
        assert!(Arc::ptr_eq(&other, &version.keyspaces[&KeyspaceId(1)]));
    }
    let run = version.keyspaces[&KeyspaceId(0)].levels.run(bottom);
    let numbers: BTreeSet<_> = run.files().iter().map(|file| file.number).collect();
    assert_eq!(numbers.len(), 9_980);
    let place = run.find(&Comparator::Bytewise, &key(20_003)).unwrap();
    assert_eq!(run.files()[place].number, FileNumber(2_001));
}
