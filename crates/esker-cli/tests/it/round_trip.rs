//! A dump read back is the same database, whatever the bytes.

use crate::tool::Bench;

/// Keys and values that trouble a format: all bytes, tabs, ends of lines, escapes, nothing.
fn fill(bench: &Bench) {
    let all: String = (0..=255).map(|byte| format!("{byte:02x}")).collect();
    let entries = [
        ("", "00"),
        ("00", ""),
        ("09", "0a0d09"),
        ("5c", "5c745c5c"),
        ("6b", "7b22626173653634223a2278227d"),
        ("c3a4", "e6bca2"),
        ("e6bc", "ff"),
        ("ff", &all),
    ];
    let lines = entries
        .map(|(key, value)| format!("{key}\t{value}\n"))
        .concat();
    bench
        .feed(&["load", "--hex", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    assert_eq!(bench.ok(&["count"]).text(), "8\n");
}

#[test]
fn dump_and_load_agree_in_every_format() {
    // Six spellings: each dump goes into a fresh database, which then dumps the same hex.
    for format in ["tsv", "jsonl"] {
        for spelling in [&[][..], &["--hex"], &["--base64"]] {
            let (source, target) = (Bench::new(), Bench::new());
            fill(&source);
            let words = [&["dump", "--format", format], spelling].concat();
            let dump = source.ok(&words);
            let words = [&["load", "--format", format, "-"], spelling].concat();
            target.feed(&words, &dump.out).exits(0);
            let plain = |bench: &Bench| bench.ok(&["dump", "--hex"]).out;
            assert_eq!(plain(&source), plain(&target), "{format} {spelling:?}");
        }
    }
}

#[test]
fn dump_into_a_file_is_the_same() {
    // With --output nothing but a message goes to the terminal.
    let bench = Bench::new();
    fill(&bench);
    let ran = bench.ok(&["dump", "--output", "all.tsv"]);
    assert!(ran.out.is_empty() && ran.err.contains("8 entries"));
    assert_eq!(
        std::fs::read(bench.path("all.tsv")).unwrap(),
        bench.ok(&["dump"]).out
    );
    bench.run(&["dump", "--output", "no/such/dir"]).exits(1);
}

#[test]
fn scans_choose_their_part() {
    // Prefix, bounds, limit, direction.
    let bench = Bench::new();
    let lines: String = ["a1", "a2", "b1", "b2"]
        .map(|key| format!("{key}\tv{key}\n"))
        .concat();
    bench
        .feed(&["load", "--format", "tsv", "-"], lines.as_bytes())
        .exits(0);
    let scan = |words: &[&str]| bench.ok(&[&["scan"], words].concat()).text().to_owned();
    assert_eq!(scan(&["a"]), "a1\tva1\na2\tva2\n");
    assert_eq!(
        scan(&["--keys-only", "--from", "a2", "--to", "b2"]),
        "a2\nb1\n"
    );
    assert_eq!(
        scan(&["--keys-only", "--reverse", "--limit", "2"]),
        "b2\nb1\n"
    );
    assert_eq!(scan(&["--limit", "0"]), "");
}
