//! The memory limit holds: what processes take that work a database hard is measured.
//!
//! Each measurement runs in a process of its own: this program again, with the one test of the
//! child. Of the most that was resident the program's part is taken off: what was anonymous before
//! the database was opened, and the pages of the program's file and of libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;
use esker::{Builder, Db, ErrorKind, Keyspace};

use crate::compressions::or_plain;

/// Names the directory to the child; without it, the child's test does nothing.
const CHILD_DIR: &str = "ESKER_MEMORY_DIR";

/// The limit in bytes, the shape, and the bytes that are to be written, for the child.
const CHILD_ORDERS: &str = "ESKER_MEMORY_ORDERS";

/// The least limit that may be set.
const LIMIT_MIN: u64 = 32 << 20;

/// Cursors that are held at a time.
const CURSORS: u64 = 16;

/// What is written, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// Values of 1000 bytes that hardly compress, in one keyspace.
    Plain,
    /// Values of 100 bytes: filters and indexes are a large part.
    Short,
    /// Texts in three keyspaces, searched while they are compressed.
    Searchable,
    /// Values of up to 256 KiB, which lie apart.
    Large,
}

const SHAPES: [Shape; 4] = [Shape::Plain, Shape::Short, Shape::Searchable, Shape::Large];

impl Shape {
    fn named(name: &str) -> Shape {
        let mut shapes = SHAPES.into_iter();
        shapes.find(|shape| format!("{shape:?}") == name).unwrap()
    }

    fn value_bytes(self, random: &mut Random) -> usize {
        match self {
            Shape::Plain => 1000,
            Shape::Short => 100,
            Shape::Searchable => 200 + random.below(400) as usize,
            Shape::Large => 4096 << random.below(7),
        }
    }

    fn value_bytes_mean(self) -> u64 {
        match self {
            Shape::Plain => 1000,
            Shape::Short => 100,
            Shape::Searchable => 400,
            Shape::Large => 4096 * 127 / 7,
        }
    }

    // Bytes that are written, twice over: so few because compression into phrases is slow without
    // optimization, and so many that a dictionary is trained for each keyspace.
    fn quick_bytes(self, limit_bytes: u64) -> u64 {
        match self {
            Shape::Plain => limit_bytes,
            Shape::Short => limit_bytes / 2,
            Shape::Searchable => 16_000_000.max(limit_bytes / 4),
            Shape::Large => limit_bytes * 2,
        }
    }
}

/// A process at work, and what it found.
struct Child {
    dir: PathBuf,
    limit_bytes: u64,
    shape: Shape,
    key_count: u64,
    random: Random,
    program_anonymous: u64,
    peak_bytes: u64,
}

// The number behind `name:` in a file of /proc that counts in KiB, in bytes; all such lines.
fn kib(text: &str, name: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name));
    let numbers = lines.filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    numbers.sum::<u64>() << 10
}

fn proc_self(name: &str) -> String {
    std::fs::read_to_string(format!("/proc/self/{name}")).unwrap()
}

// Pages of files that are mapped: the program, and libraries. None of the database.
fn program_pages(database: &Path) -> u64 {
    let (mut bytes, mut is_program) = (0, false);
    for line in proc_self("smaps").lines() {
        let mut words = line.split_whitespace();
        if words.next().is_some_and(|first| !first.ends_with(':')) {
            let path = Path::new(words.nth(4).unwrap_or_default());
            is_program = path.is_absolute() && !path.starts_with(database);
        } else if is_program {
            bytes += kib(line, "Rss:");
        }
    }
    bytes
}

impl Child {
    fn builder(&self) -> Builder {
        let compression = match self.shape {
            Shape::Searchable => "searchable",
            _ => or_plain("lz4"),
        };
        let settings = [
            ("memory_limit", &self.limit_bytes.to_string()[..]),
            ("compression", compression),
            ("background_threads", "2"),
        ];
        let builder = Db::builder(&self.dir);
        settings.iter().fold(builder, |builder, (name, text)| {
            builder.set(name, text).unwrap()
        })
    }

    fn key(&mut self) -> String {
        format!(
            "key of sixteen and more {:012}",
            self.random.below(self.key_count)
        )
    }

    fn value(&mut self) -> Vec<u8> {
        let len = self.shape.value_bytes(&mut self.random);
        let mut value = Vec::with_capacity(len + 16);
        while value.len() < len {
            let word = self.random.next_u64();
            match self.shape {
                // One of 4096 words, some far more often than others.
                Shape::Searchable => {
                    let rank = ((word & 0xfff) * ((word >> 12) & 0xfff)) >> 12;
                    let word = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let letters = (0..2 + (word >> 60) % 9).map(|at| (word >> (at * 5)) & 0x1f);
                    value.extend(letters.map(|letter| b'A' + letter as u8));
                    value.push(b' ');
                }
                _ => value.extend_from_slice(&word.to_le_bytes()),
            }
        }
        value
    }

    fn write(&mut self, keyspaces: &[Keyspace], count: u64) {
        for number in 0..count {
            let keyspace = &keyspaces[number as usize % keyspaces.len()];
            let (key, value) = (self.key(), self.value());
            keyspace.put(key, value).unwrap();
        }
    }

    // Prints what the phase took, by owner, and begins the next one.
    fn look(&mut self, phase: &str, db: &Db) {
        let status = proc_self("status");
        let program = program_pages(&self.dir) + self.program_anonymous;
        let of_ours = |name| kib(&status, name).saturating_sub(program);
        let (now, peak) = (of_ours("VmRSS:"), of_ours("VmHWM:"));
        self.peak_bytes = self.peak_bytes.max(peak);
        let owners = db.stats().memory;
        let held = owners.iter().filter(|(_, bytes)| *bytes > 0);
        let held: Vec<_> = held
            .map(|(owner, bytes)| format!("{owner} {}", bytes >> 10))
            .collect();
        println!(
            "{:<10} {phase:<10} peak {:>6} KiB = {:>3} %, now {:>6}: {}",
            format!("{:?}", self.shape),
            peak >> 10,
            peak * 100 / self.limit_bytes,
            now >> 10,
            held.join(", "),
        );
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
    }

    fn scan(&mut self, db: &Db, keyspaces: &[Keyspace]) {
        for keyspace in keyspaces {
            let forward = keyspace.iter().unwrap().map(|entry| entry.unwrap());
            let count = forward.count();
            self.look("scan", db);
            let backward = keyspace.iter().unwrap().rev().map(|entry| entry.unwrap());
            assert_eq!(backward.count(), count);
            self.look("back", db);
        }
    }

    // Cursors all over the keyspaces, each with some steps behind it, while more is written.
    fn walk(&mut self, db: &Db, keyspaces: &[Keyspace], count: u64) {
        let mut cursors = Vec::new();
        for number in 0..CURSORS {
            let mut cursor = keyspaces[number as usize % keyspaces.len()]
                .cursor()
                .unwrap();
            cursor.seek(self.key()).unwrap();
            cursors.push(cursor);
        }
        for round in 0..8 {
            for cursor in &mut cursors {
                for _ in 0..(2000 / 8) {
                    let _is_on = match round % 4 {
                        3 => cursor.prev().unwrap(),
                        _ => cursor.next().unwrap(),
                    };
                }
            }
            self.write(keyspaces, count / 8);
        }
        self.look("cursors", db);
    }

    fn work(&mut self, bytes: u64) {
        let db = self.builder().open().unwrap();
        let names: &[&str] = match self.shape {
            Shape::Searchable => &["one", "two", "three"],
            _ => &["one"],
        };
        let keyspaces: Vec<_> = names
            .iter()
            .map(|name| db.keyspace(name).unwrap())
            .collect();
        let count = self.key_count;
        assert!(bytes / 2 <= count * self.shape.value_bytes_mean());
        self.write(&keyspaces, count);
        self.look("load", &db);
        for _ in 0..20_000.min(count) {
            let keyspace = &keyspaces[self.random.below(keyspaces.len() as u64) as usize];
            keyspace.get(self.key()).unwrap();
        }
        self.look("gets", &db);
        self.scan(&db, &keyspaces);
        self.write(&keyspaces, count / 2);
        self.look("overwrite", &db);
        self.walk(&db, &keyspaces, count / 4);
        for keyspace in &keyspaces {
            keyspace.compact::<&[u8]>(..).unwrap();
        }
        self.look("compact", &db);
        self.scan(&db, &keyspaces);
        db.close().unwrap();
    }
}

#[test]
fn child_works_under_a_limit() {
    // Only does something when started by a test below.
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let comparators = std::env::var(CHILD_ORDERS).unwrap();
    let [limit, shape, bytes] = &comparators.split(' ').collect::<Vec<_>>()[..] else {
        panic!("three orders");
    };
    let (shape, bytes): (_, u64) = (Shape::named(shape), bytes.parse().unwrap());
    let mut child = Child {
        dir: PathBuf::from(dir),
        limit_bytes: limit.parse().unwrap(),
        shape,
        key_count: bytes / shape.value_bytes_mean(),
        random: Random::new(7),
        program_anonymous: kib(&proc_self("status"), "RssAnon:"),
        peak_bytes: 0,
    };
    child.work(bytes);
    let (peak, limit) = (child.peak_bytes, child.limit_bytes);
    assert!(
        peak <= limit + limit / 10,
        "{shape:?}: {peak} bytes were resident under a limit of {limit}"
    );
}

// Has a child work in that shape under a limit, which it tells whether it kept.
fn measure(limit_bytes: u64, shape: Shape, bytes: u64) {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "memory::child_works_under_a_limit",
            "--nocapture",
        ])
        .env(CHILD_DIR, dir.path().join("db"))
        .env(CHILD_ORDERS, format!("{limit_bytes} {shape:?} {bytes}"))
        .output()
        .unwrap();
    let figures = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    println!(
        "limit {} MiB, {} MB\n{figures}",
        limit_bytes >> 20,
        bytes / 1_000_000
    );
    assert!(output.status.success(), "{told}");
}

fn measure_all(limit_bytes: u64, bytes: impl Fn(Shape) -> u64) {
    for shape in SHAPES {
        measure(limit_bytes, shape, bytes(shape));
    }
}

#[test]
fn a_smaller_limit_is_refused_and_told_the_smallest() {
    // At once by the builder, and by an open database, which keeps what it had. A world that is
    // given may be smaller.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let told = |error: esker::Error| {
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let message = "`memory_limit` cannot be `16MiB`: give a size from 32MiB to 1024TiB, as in \
                       `1GiB`";
        assert_eq!(error.message(), message);
    };
    told(Db::builder(&path).set("memory_limit", "16MiB").unwrap_err());
    let smallest = Db::builder(&path).set("memory_limit", "32MiB").unwrap();
    let db = smallest.open().unwrap();
    told(db.set("memory_limit", "16MiB").unwrap_err());
    assert_eq!(db.stats().memory_limit, LIMIT_MIN);
    db.close().unwrap();
    let own_world = Db::builder(&path).env(Env::real(1));
    let db = own_world
        .set("memory_limit", "16MiB")
        .unwrap()
        .open()
        .unwrap();
    db.set("memory_limit", "1MiB").unwrap();
    assert_eq!(db.stats().memory_limit, 1 << 20);
}

#[cfg_attr(not(target_os = "linux"), ignore = "reads /proc")]
#[test]
fn smallest_limit_holds() {
    measure_all(LIMIT_MIN, |shape| shape.quick_bytes(LIMIT_MIN));
}

#[cfg_attr(not(target_os = "linux"), ignore = "reads /proc")]
#[test]
fn limit_of_64_mib_holds() {
    measure_all(64 << 20, |shape| shape.quick_bytes(64 << 20));
}

#[test]
#[ignore = "takes many minutes: part of `make soak`"]
fn soak_every_limit_holds() {
    for shift in 0..4 {
        let limit = LIMIT_MIN << shift;
        measure_all(limit, |shape| 8 * shape.quick_bytes(limit));
    }
}
