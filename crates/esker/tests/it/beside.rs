//! Beside a process that writes: checkpoints and reads, none of which it is asked for.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::world::SimWorld;
use esker::{Builder, Db, ErrorKind, checkpoint_beside, checkpoint_beside_in};

/// Names its directory to the child; without it, the child's test does nothing.
const CHILD_DIR: &str = "ESKER_BESIDE_DIR";

/// Keys that the child writes round and round: pairs, one batch each.
const KEYS: u64 = 1_000;

/// Checkpoints that are taken in a row.
const CHECKPOINTS: usize = 20;

/// Turns that the child has written before the first of them: flushes, compactions and segments
/// that were emptied lie behind it.
const TURNS_BEFORE: u64 = 3 * KEYS;

fn builder(dir: &Path) -> Builder {
    let settings = [
        ("memtable.size", "128KiB"),
        ("wal.segment_size", "256KiB"),
        ("value_log.threshold", "100B"),
        ("value_log.segment_size", "64KiB"),
        ("memory_limit", "8MiB"),
    ];
    let builder = Db::builder(dir).env(Env::real(2));
    let settings = settings.iter();
    settings.fold(builder, |builder, (name, text)| {
        builder.set(name, text).unwrap()
    })
}

// Every fourth is large.
fn value(turn: u64) -> String {
    let len = if turn.is_multiple_of(4) {
        900
    } else {
        turn % 60
    };
    format!("{turn} {}", "x".repeat(len as usize))
}

// Puts the turn's two keys, in two keyspaces, in one batch.
fn write(db: &Db, turn: u64) {
    let mirror = db.keyspace("mirror").unwrap();
    let key = format!("{:06}", turn % KEYS);
    let mut batch = db.batch();
    batch.put(db, &key, value(turn));
    batch.put(&mirror, &key, value(turn));
    batch.commit().unwrap();
}

#[test]
fn child_writes_until_it_is_killed() {
    // Only does something when started by the tests below.
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let db = builder(Path::new(&dir)).open().unwrap();
    let mut out = std::io::stdout().lock();
    for turn in 0.. {
        write(&db, turn);
        if turn.is_multiple_of(100) {
            db.sync().unwrap();
        }
        // One system call for each, so that what was read was acknowledged.
        if writeln!(out, "ack {turn}").is_err() {
            return;
        }
    }
}

/// A process that writes to a database until this is dropped.
struct Writer {
    child: Child,
    acked: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(dir: &Path) -> Writer {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new(program)
            .args([
                "--exact",
                "beside::child_writes_until_it_is_killed",
                "--nocapture",
            ])
            .env(CHILD_DIR, dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let acked = Arc::new(AtomicU64::new(0));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (told, tell) = std::sync::mpsc::channel();
        let seen = Arc::clone(&acked);
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(turn) = line.strip_prefix("ack ") {
                    let turn = turn.parse().unwrap();
                    seen.store(turn, Ordering::SeqCst);
                    if turn == TURNS_BEFORE {
                        told.send(()).unwrap();
                    }
                }
            }
        });
        tell.recv().expect("the child writes");
        let reader = Some(reader);
        Writer {
            child,
            acked,
            reader,
        }
    }

    // The last turn that was acknowledged by now.
    fn acked(&self) -> u64 {
        self.acked.load(Ordering::SeqCst)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
    }
}

// The newest turn that is there; everything older must be there as well, and nothing else.
fn newest(db: &impl Read) -> u64 {
    let turn_of = |bytes: &[u8]| -> u64 {
        let text = std::str::from_utf8(bytes).unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    let (entries, mirrored) = db.both();
    let newest = entries
        .iter()
        .map(|(_, value)| turn_of(value))
        .max()
        .unwrap();
    let oldest = (newest + 1).saturating_sub(KEYS);
    let expected = (oldest..=newest).map(|turn| {
        let key = format!("{:06}", turn % KEYS);
        (key.into_bytes(), value(turn).into_bytes())
    });
    let mut expected: Vec<_> = expected.collect();
    expected.sort();
    assert!(entries == expected, "not as of turn {newest}");
    assert!(mirrored == entries, "half a batch");
    newest
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Both keyspaces as of one moment.
trait Read {
    fn both(&self) -> (Entries, Entries);
}

impl Read for Db {
    fn both(&self) -> (Entries, Entries) {
        let moment = self.snapshot();
        let mirror = self.existing_keyspace("mirror").unwrap();
        let all = |iter: esker::Iter| {
            let entries = iter.map(|entry| entry.unwrap());
            let entries = entries.map(|(key, value)| (key.to_vec(), value.to_vec()));
            entries.collect()
        };
        let own = all(moment.iter().unwrap());
        (own, all(moment.of(&mirror).iter().unwrap()))
    }
}

#[test]
fn checkpoints_beside_a_busy_writer_hold_what_was_acknowledged() {
    // Twenty in a row, over all that the writer does meanwhile; each is whole, is a database of its
    // own, and holds everything that was acknowledged before it was begun, and nothing torn.
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::start(&dir.path().join("db"));
    let mut copies: Vec<(PathBuf, u64)> = Vec::new();
    for number in 0..CHECKPOINTS {
        let acked = writer.acked();
        let copy = dir.path().join(format!("copy{number}"));
        checkpoint_beside(dir.path().join("db"), &copy).unwrap();
        let read = Db::open_read_only(&copy).unwrap();
        let report = read.verify().unwrap();
        assert!(report.is_whole(), "{number}: {report}");
        let newest = newest(&read);
        assert!(
            newest >= acked,
            "{number}: {acked} was acknowledged, {newest} is there"
        );
        if number % 8 == 0 {
            copies.push((copy, newest));
        } else {
            std::fs::remove_dir_all(&copy).unwrap();
        }
    }
    drop(writer);
    for (copy, turn) in copies {
        // Whatever became of the source since.
        let db = builder(&copy).open().unwrap();
        assert_eq!(newest(&db), turn);
        write(&db, turn + 1);
        db.compact::<&[u8]>(..).unwrap();
        assert!(db.verify().unwrap().is_whole());
        db.close().unwrap();
    }
}

#[test]
fn checkpoints_land_on_another_file_system() {
    // Nothing can be linked there: beside a busy writer every file is copied, those that grow and
    // those that are removed meanwhile too; and so by the database itself.
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = match tempfile::tempdir_in("/dev/shm") {
        Ok(elsewhere) if device(elsewhere.path()) != device(dir.path()) => elsewhere,
        _ => {
            eprintln!("skipped: /dev/shm is no file system of its own");
            return;
        }
    };
    let path = dir.path().join("db");
    let writer = Writer::start(&path);
    for number in 0..5 {
        let acked = writer.acked();
        let copy = elsewhere.path().join(format!("copy{number}"));
        checkpoint_beside(&path, &copy).unwrap();
        let read = Db::open_read_only(&copy).unwrap();
        let report = read.verify().unwrap();
        assert!(report.is_whole(), "{number}: {report}");
        let newest = newest(&read);
        assert!(
            newest >= acked,
            "{number}: {acked} was acknowledged, {newest} is there"
        );
        std::fs::remove_dir_all(&copy).unwrap();
    }
    drop(writer);
    let db = builder(&path).open().unwrap();
    let copy = elsewhere.path().join("copy");
    db.checkpoint(&copy).unwrap();
    let read = builder(&copy).open().unwrap();
    assert_eq!(newest(&read), newest(&db));
    assert!(read.verify().unwrap().is_whole());
    write(&read, newest(&db) + 1);
    read.close().unwrap();
    db.close().unwrap();
}

fn device(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().dev()
}

#[test]
fn reads_beside_a_busy_writer_are_of_one_moment() {
    // Opened again and again for reading only; each sees everything that was acknowledged before,
    // and a verification finds nothing wrong.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let writer = Writer::start(&path);
    for number in 0..CHECKPOINTS {
        let acked = writer.acked();
        let db = builder(&path).read_only(true).open().unwrap();
        let newest = newest(&db);
        assert!(
            newest >= acked,
            "{number}: {acked} was acknowledged, {newest} is there"
        );
        let report = db.verify().unwrap();
        assert!(report.is_whole(), "{number}: {report}");
    }
}

fn open(env: &Env, path: &str) -> Db {
    builder(Path::new(path)).env(env.clone()).open().unwrap()
}

#[test]
fn a_checkpoint_beside_an_open_database_lives_on_its_own() {
    // Taken while the log holds large values and a segment of them is being filled; then the source
    // goes on, and so does the copy.
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env, "db");
    (0..700).for_each(|turn| write(&db, turn));
    db.flush().unwrap();
    (700..720).for_each(|turn| write(&db, turn));
    checkpoint_beside_in(&env, Path::new("db"), Path::new("copy"), &[]).unwrap();
    (720..3000).for_each(|turn| write(&db, turn));
    db.compact::<&[u8]>(..).unwrap();
    let copy = open(&env, "copy");
    assert_eq!(newest(&copy), 719);
    assert!(copy.verify().unwrap().is_whole());
    (720..2000).for_each(|turn| write(&copy, turn));
    copy.compact::<&[u8]>(..).unwrap();
    assert_eq!((newest(&copy), newest(&db)), (1999, 2999));
    assert!(db.verify().unwrap().is_whole());
    // Where there is no database nothing is made.
    let refused = checkpoint_beside_in(&env, Path::new("copy2"), Path::new("copy3"), &[]);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    assert!(!env.fs.exists(Path::new("copy3")).unwrap());
}

#[test]
fn damage_to_a_log_goes_into_the_checkpoint() {
    // A byte in the middle of the live log changes: what lies behind it must not vanish from the
    // copy without a word.
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env, "db");
    (0..50).for_each(|turn| write(&db, turn));
    db.sync().unwrap();
    (50..60).for_each(|turn| write(&db, turn));
    let names = env.fs.list(Path::new("db")).unwrap().into_iter();
    let wal = names.filter(|name| name.ends_with(".wal")).min().unwrap();
    let path = Path::new("db").join(wal);
    let mut log = env.fs.open_log(&path, 0).unwrap();
    log.write_at(1000, &[0xff; 8]).unwrap();
    let made = checkpoint_beside_in(&env, Path::new("db"), Path::new("copy"), &[]);
    made.unwrap();
    let opened = Db::builder("copy").env(env).read_only(true).open();
    let is_told = match opened {
        Err(error) => error.kind() == ErrorKind::Corruption,
        Ok(copy) => !copy.verify().unwrap().is_whole(),
    };
    assert!(is_told);
}
