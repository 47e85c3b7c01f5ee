//! What the border costs: the same work in Rust and, through libesker.so, in C, in turns.
//!
//! `cargo bench -p esker-capi --bench border`. ROUNDS is how often, 7 unless given. With COUNT=1
//! it counts instructions instead, by `perf stat`: what else the machine does is no matter then.
#![allow(clippy::disallowed_methods, reason = "measures the real world")]
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use esker::{Db, Keyspace};

// The same in benches/c/border.c.
const KEYS: u32 = 500_000;
const STEP: u32 = 333_667;
const VALUE_SIZE: usize = 100;

/// Does it once; gives something of what was read.
type Work = fn(&Keyspace) -> usize;

/// A name, and what is measured under it. The last two are the same in Rust.
const WORKS: [(&str, Work); 5] = [
    ("put", put),
    ("get", get),
    ("get_into", get_into),
    ("scan", scan),
    ("scan_entries", scan),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, dir, rest @ ..] = &arguments[..]
        && first == "--in-rust"
    {
        return in_rust(Path::new(dir), rest);
    }
    let place = tempfile::tempdir().unwrap();
    let program = compiled(place.path());
    let own = std::env::current_exe().unwrap();
    let rounds = std::env::var("ROUNDS").map_or(7, |rounds| rounds.parse().unwrap());
    let is_counted = std::env::var_os("COUNT").is_some();
    let rust = Side {
        program: own,
        arguments: &["--in-rust"],
        place: place.path(),
    };
    let c = Side {
        program,
        arguments: &[],
        place: place.path(),
    };
    let unit = if is_counted { "instructions" } else { "ns" };
    let measure = |side: &Side<'_>| match is_counted {
        true => side.counts(),
        false => side.times(),
    };
    let mut ratios: Vec<(String, Vec<f64>)> = Vec::new();
    for round in 0..rounds {
        // Each side is first in every second round.
        let (rust, c) = match round % 2 {
            0 => {
                let rust = measure(&rust);
                (rust, measure(&c))
            }
            _ => {
                let c = measure(&c);
                (measure(&rust), c)
            }
        };
        for ((name, rust), (_, c)) in rust.iter().zip(&c) {
            let ratio = rust / c;
            println!("{name}: Rust {rust:.1} {unit}, C {c:.1} {unit}, ratio {ratio:.3}");
            match ratios.iter_mut().find(|(known, _)| known == name) {
                Some((_, ratios)) => ratios.push(ratio),
                None => ratios.push((name.clone(), vec![ratio])),
            }
        }
    }
    println!("speed of C as a share of that of Rust, by {unit}, median of {rounds}:");
    for (name, mut ratios) in ratios {
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        println!(
            "{name}: {:.3} ({least:.3} to {most:.3})",
            ratios[ratios.len() / 2]
        );
    }
}

/// One of the two that are compared.
struct Side<'a> {
    program: PathBuf,
    arguments: &'a [&'a str],
    place: &'a Path,
}

impl Side<'_> {
    /// Nanoseconds of each work.
    fn times(&self) -> Vec<(String, f64)> {
        let told = self.run(Command::new(&self.program), &[]);
        let figures = told.lines().filter_map(|line| line.split_once(' '));
        figures
            .map(|(name, figure)| (name.to_owned(), figure.parse().unwrap()))
            .collect()
    }

    /// Instructions of each work but the first, in which the background has a part.
    fn counts(&self) -> Vec<(String, f64)> {
        let count = |name: &str, times: &str| {
            let report = self.place.join("counted");
            let mut perf = Command::new("perf");
            perf.args(["stat", "-x", ",", "-e", "instructions:u", "-o"])
                .arg(&report)
                .arg(&self.program);
            self.run(perf, &[name, times]);
            let report = fs::read_to_string(&report).unwrap();
            let line = report.lines().find(|line| line.contains("instructions"));
            let count = line.unwrap().split(',').next().unwrap();
            count.parse::<f64>().unwrap()
        };
        let names = WORKS[1..].iter().map(|(name, _)| *name);
        // The first time blocks are read.
        let each = |name| (count(name, "4") - count(name, "2")) / 2.0 / f64::from(KEYS);
        names.map(|name| (name.to_owned(), each(name))).collect()
    }

    /// Runs it in a directory of its own; gives what it prints.
    fn run(&self, mut command: Command, arguments: &[&str]) -> String {
        let dir = tempfile::tempdir_in(self.place).unwrap();
        let ran = command
            .args(self.arguments)
            .arg(dir.path().join("db"))
            .args(arguments)
            .env("LD_LIBRARY_PATH", self.place.join("lib"))
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }
}

/// Sixteen digits.
fn key_of(mut number: u32) -> [u8; 16] {
    let mut key = [0; 16];
    for digit in key.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    key
}

/// The keys in an order that looks like none.
fn scattered() -> impl Iterator<Item = u32> {
    (0..KEYS).scan(0, |number, _| {
        let given = *number;
        *number = (*number + STEP) % KEYS;
        Some(given)
    })
}

/// Bytes of a size that the compiler does not know: where every key of a program has sixteen, it
/// makes an engine for such keys, which no library can be.
fn any(bytes: &[u8]) -> &[u8] {
    black_box(bytes)
}

fn put(keyspace: &Keyspace) -> usize {
    let value = [b'v'; VALUE_SIZE];
    for number in scattered() {
        keyspace.put(any(&key_of(number)), any(&value)).unwrap();
    }
    0
}

fn get(keyspace: &Keyspace) -> usize {
    let mut sum = 0;
    for number in scattered() {
        let held = keyspace.get(any(&key_of(number))).unwrap().unwrap();
        sum += usize::from(held[0]) + held.len();
    }
    sum
}

fn get_into(keyspace: &Keyspace) -> usize {
    let (mut sum, mut buffer) = (0, [0; VALUE_SIZE]);
    for number in scattered() {
        let held = keyspace.get(any(&key_of(number))).unwrap().unwrap();
        buffer[..held.len()].copy_from_slice(&held);
        sum += usize::from(black_box(&buffer)[0]) + held.len();
    }
    sum
}

fn scan(keyspace: &Keyspace) -> usize {
    let mut sum = 0;
    let mut cursor = keyspace.cursor().unwrap();
    let mut is_on = cursor.seek_to_first().unwrap();
    while is_on {
        let (key, value) = (cursor.key().unwrap(), cursor.value().unwrap().unwrap());
        sum += usize::from(key[0]) + usize::from(value[0]) + key.len() + value.len();
        is_on = cursor.next().unwrap();
    }
    sum
}

fn in_rust(dir: &Path, wanted: &[String]) {
    let builder = Db::builder(dir).set("memory_limit", "1GiB").unwrap();
    let db = builder.open().unwrap();
    let keyspace = db.default_keyspace();
    let mut sum = 0;
    for (place, (name, work)) in WORKS.into_iter().enumerate() {
        // The second time all is in the cache.
        let times = match (place, wanted) {
            (0, _) => 1,
            (_, [one, times]) if one == name => times.parse().unwrap(),
            (_, [_, _]) => 0,
            _ => 2,
        };
        let mut start = Instant::now();
        for _ in 0..times {
            start = Instant::now();
            sum += work(keyspace);
        }
        let each = start.elapsed().as_nanos() as f64 / f64::from(KEYS);
        println!("{name} {each:.2}");
        if place == 0 {
            keyspace.compact::<&[u8]>(..).unwrap();
        }
    }
    black_box(sum);
    db.close().unwrap();
}

/// Installs the library that was built along with this, and compiles the C side against it.
fn compiled(place: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = Command::new(root.join("../../scripts/libesker.sh"))
        .arg("install")
        .env("PREFIX", place)
        .env("ARCHIVE", archive())
        .env_remove("LIBDIR")
        .env_remove("INCLUDEDIR")
        .env_remove("DESTDIR")
        .status()
        .unwrap();
    assert!(installed.success());
    let program = place.join("border");
    let made = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(root.join("benches/c/border.c"))
        .arg("-I")
        .arg(place.join("include"))
        .arg("-L")
        .arg(place.join("lib"))
        .arg("-lesker")
        .status()
        .unwrap();
    assert!(made.success());
    program
}

/// The newest archive beside this program.
fn archive() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let beside = fs::read_dir(own.parent().unwrap()).unwrap();
    let paths = beside.map(|entry| entry.unwrap().path());
    let archives = paths.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libesker_c-") && name.ends_with(".a")
    });
    let newest = archives.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    newest.expect("cargo builds the archive before the benches")
}
