//! Loading: formats, packings, malformed records.

use std::io::{Cursor, Read, Write};
use std::process::{Command, Stdio};

use crate::tool::{Bench, Ran};

fn reviews(count: usize) -> String {
    let review = |n: usize| {
        format!(
            "product/productId: B{n:03}\nreview/userId: A{n}\nreview/time: {n}\n\
             review/text: Number {n}.\n\n"
        )
    };
    (0..count).map(review).collect()
}

#[test]
fn reviews_load_from_every_packing() {
    // The same reviews plain, gzip and zstd: known by their first line and first bytes.
    let text = reviews(50);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let packed = [
        ("reviews.txt", text.clone().into_bytes()),
        ("reviews.txt.gz", gzip.finish().unwrap()),
        (
            "reviews.txt.zst",
            zstd::encode_all(text.as_bytes(), 1).unwrap(),
        ),
    ];
    for (name, bytes) in packed {
        let bench = Bench::new();
        bench.file(name, bytes);
        let ran = bench.ok(&["load", name]);
        assert!(
            ran.text().starts_with("loaded 50 records"),
            "{}",
            ran.text()
        );
        assert!(ran.text().ends_with("0 malformed\n"));
        assert!(bench.ok(&["get", "B007/A7/7"]).text().contains("Number 7."));
        assert_eq!(bench.ok(&["count", "B01"]).text(), "10\n");
    }
}

#[test]
fn malformed_records_are_skipped_or_fatal() {
    // Twelve bad lines among good ones: ten are shown with their lines, all are counted.
    let bench = Bench::new();
    let line = |n| {
        if n % 2 == 0 {
            format!("key{n}\tv\n")
        } else {
            "bad\n".to_owned()
        }
    };
    bench.file("in.tsv", (0..24).map(line).collect::<String>());
    let ran = bench.ok(&["load", "in.tsv"]);
    assert!(ran.text().starts_with("loaded 12 records"));
    assert!(ran.text().contains("12 malformed"));
    assert_eq!(ran.err.lines().count(), 11);
    assert!(ran.err.starts_with("esker: in.tsv:2: no tab"));
    assert!(
        ran.err.ends_with("and 2 malformed records more\n"),
        "{}",
        ran.err
    );

    let bench = Bench::new();
    bench.file("in.tsv", "a\t1\nb\t2\nbad\nc\t3\n");
    let ran = bench
        .run(&["load", "--on-error", "stop", "in.tsv"])
        .exits(1);
    assert!(ran.err.contains("line 3 of in.tsv"), "{}", ran.err);
    assert_eq!(bench.ok(&["scan", "--keys-only"]).text(), "a\nb\n");
}

#[test]
fn json_lines_load_under_a_field() {
    // The line is the value; a number is a key too; a key that comes twice keeps the last line.
    let bench = Bench::new();
    let last = r#"{"id": 7, "name": "Bela"}"#;
    bench.file(
        "people.jsonl",
        format!("{}\n{last}\n", r#"{"id": 7, "name": "Anna"}"#),
    );
    bench.ok(&["load", "--key-field", "id", "people.jsonl"]);
    assert_eq!(bench.ok(&["get", "7"]).text().trim_end(), last);
}

#[test]
fn what_cannot_be_loaded_is_said() {
    // An unknown format, a directory, a key beyond the limit.
    let bench = Bench::new();
    bench.file("prose.txt", "Once upon a time\n");
    let ran = bench.run(&["load", "prose.txt"]).exits(2);
    assert!(ran.err.contains("--format"));
    bench.run(&["load", "."]).exits(2);
    assert!(!bench.path("db").exists());
    bench.file("long.tsv", format!("{}\tv\nk\tv\n", "k".repeat(70_000)));
    let ran = bench.ok(&["load", "long.tsv"]);
    assert!(ran.text().contains("1 malformed") && ran.err.contains("long.tsv:1:"));
}

#[test]
fn nothing_loaded_of_malformed_records_is_a_failure() {
    // A file that is something else: counts, the first bad line, what to do; nothing at all to
    // load is no failure.
    let bench = Bench::new();
    bench.file("prose.tsv", "Once upon\na time\n");
    let ran = bench.run(&["load", "prose.tsv"]).exits(1);
    assert!(ran.text().contains("loaded 0 records"), "{}", ran.text());
    assert!(
        ran.err.contains("all 2 records are malformed")
            && ran
                .err
                .contains("line 1 of prose.tsv (no tab between key and value)"),
        "{}",
        ran.err
    );
    let ran = bench.run(&["load", "--json", "prose.tsv"]).exits(1).json();
    assert_eq!((&ran["records"], &ran["malformed"]), (&0.into(), &2.into()));
    bench.file("empty.tsv", "");
    bench.ok(&["load", "empty.tsv"]);
}

/// Runs a command that may have so many MiB of addresses and no more.
fn within(bench: &Bench, mib: u64, words: &[&str]) -> Ran {
    let tool = bench.command(words);
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("ulimit -v {} && exec \"$@\"", mib << 10),
        "sh",
    ]);
    command.arg(tool.get_program()).args(tool.get_args());
    for (name, value) in tool.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    // The allocator of glibc keeps 64 MiB of addresses for each thread that allocates, unless told
    // otherwise, and how many do depends on what else the machine does.
    command.env("MALLOC_ARENA_MAX", "1");
    command.current_dir(bench.path("")).stdin(Stdio::null());
    command.output().unwrap().into()
}

/// Megabytes that the tool needs for itself, threads and mapped logs included: each timer that is
/// pending has a thread.
const OWN_MIB: u64 = 140;

#[test]
fn a_long_line_takes_the_memory_of_its_value() {
    // A line of 64 MiB; and 200 lines of 1 MiB, which are no batch as a whole.
    let bench = Bench::new();
    let long = [b"k\t", &vec![b'x'; 64 << 20][..], b"\nz\t1\n"].concat();
    bench.file("long.tsv", long);
    let ran = within(&bench, OWN_MIB + 70, &["load", "long.tsv"]).exits(0);
    assert!(ran.text().starts_with("loaded 2 records"), "{ran:?}");
    let line = |key: usize| [format!("{key}\t").as_bytes(), &[b'x'; 1 << 20], b"\n"].concat();
    bench.file("many.tsv", (0..200).flat_map(line).collect::<Vec<u8>>());
    let ran = within(&bench, OWN_MIB + 130, &["load", "many.tsv"]).exits(0);
    assert!(ran.text().starts_with("loaded 200 records"), "{ran:?}");
    assert_eq!(bench.ok(&["count"]).text(), "202\n");
}

#[test]
fn an_endless_line_is_refused_in_little_memory() {
    // 300 MiB without an end in a few kilobytes: told with its number, and the record behind it
    // is loaded.
    for (name, last) in [
        ("in.tsv", "k\tv"),
        ("in.jsonl", r#"{"key":"k","value":"v"}"#),
    ] {
        let bench = Bench::new();
        let line = std::io::repeat(b'x').take(300 << 20);
        let input = line.chain(Cursor::new(format!("\n{last}\n")));
        bench.file(name, zstd::encode_all(input, 1).unwrap());
        let ran = within(&bench, OWN_MIB, &["load", name]).exits(0);
        assert!(ran.text().starts_with("loaded 1 record"), "{ran:?}");
        assert!(ran.text().ends_with("1 malformed\n"), "{ran:?}");
        assert!(ran.err.contains(&format!("{name}:1: ")), "{ran:?}");
    }
}
