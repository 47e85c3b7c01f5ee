//! One spelling of keys that every command prints and reads, and nothing that a terminal obeys.

use esker::Db;

use crate::tool::Bench;

/// Keys with backslashes, escapes of terminals, C1, marks of direction, no UTF-8, nothing at all.
const HOSTILE: [&[u8]; 9] = [
    b"",
    b"\\",
    b"C:\\temp\\xff",
    b"\xff\xfe",
    b"\x1b[2J\x1b]0;owned\x07",
    b"line\nfeed\r\ttab",
    "\u{9b}31m\u{202e}live\u{2066}".as_bytes(),
    "ümlaut 漢字".as_bytes(),
    b"\x00",
];

#[test]
fn every_key_that_scan_prints_get_reads() {
    // Printed keys go back by get, delete, bounds and prefixes, and through dump and load.
    let bench = Bench::new();
    let db = Db::open(bench.path("db")).unwrap();
    for (number, key) in HOSTILE.iter().enumerate() {
        db.put(key, number.to_string()).unwrap();
    }
    db.close().unwrap();
    let scan = bench.ok(&["scan"]);
    let dump = bench.ok(&["dump"]);
    assert_eq!(scan.text(), dump.text());
    let mut seen = 0;
    for line in scan.text().lines() {
        let (key, number) = line.split_once('\t').unwrap();
        assert_eq!(bench.ok(&["get", key]).text().trim_end(), number, "{key}");
        let first = bench.ok(&["scan", "--from", key, "--limit", "1"]);
        assert_eq!(first.text().trim_end_matches('\n'), line);
        assert!(bench.ok(&["scan", key]).text().contains(line));
        seen += 1;
    }
    assert_eq!(seen, HOSTILE.len());
    let keys: Vec<&str> = scan.text().lines().collect();
    for line in &keys {
        bench.ok(&["delete", line.split_once('\t').unwrap().0]);
    }
    assert_eq!(bench.ok(&["count"]).text(), "0\n");
    bench.ok(&["put", "C:\\\\temp", "a value \\ as it is \\n"]);
    assert_eq!(
        bench.ok(&["get", "C:\\\\temp"]).text(),
        "a value \\ as it is \\n\n"
    );
    let ran = bench.run(&["get", "C:\\quick"]).exits(2);
    assert!(
        ran.err.contains("a lone backslash is `\\\\`"),
        "{}",
        ran.err
    );
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    // Names of keyspaces, keys and messages, of every command that shows them, in text and JSON.
    let bench = Bench::new();
    let name = "wild \u{1b}[31m\r\u{9b}\u{202e}";
    let shown = "wild \\x1b[31m\\r\\xc2\\x9b\\xe2\\x80\\xae";
    let db = Db::open(bench.path("db")).unwrap();
    for keyspace in [db.default_keyspace().clone(), db.keyspace(name).unwrap()] {
        for key in HOSTILE {
            keyspace.put(key, key).unwrap();
        }
        keyspace.flush().unwrap();
    }
    db.close().unwrap();
    let reads: [&[&str]; 9] = [
        &["scan"],
        &["dump"],
        &["dump", "--all"],
        &["stats"],
        &["levels", "--files"],
        &["inspect", "sst"],
        &["inspect", "manifest"],
        &["get", "\\x1b missing"],
        &["compact"],
    ];
    for words in reads {
        for more in [&[][..], &["--json"], &["--keyspace", shown]] {
            let ran = bench.run(&[words, more].concat());
            let text = format!("{}{}", ran.text(), ran.err);
            let wild = text.chars().find(|char| is_wild(*char));
            assert_eq!(wild, None, "{words:?} {more:?}: {text:?}");
        }
    }
    let ran = bench.run(&["get", "--keyspace", "\\x1b[31m", "a"]).exits(3);
    assert!(
        ran.err.contains("\\x1b[31m") && ran.err.contains(shown),
        "{}",
        ran.err
    );
    bench.file("bad.tsv", "\u{1b}[2J\u{9b}no tab\n");
    let file = bench.file("wild\u{1b}[31m.tsv", "no tab\n");
    let ran = bench.run(&["load", &file]).exits(1);
    assert!(!ran.err.contains(is_wild), "{:?}", ran.err);
    assert_eq!(
        bench.ok(&["scan", "--keyspace", shown]).text(),
        bench.ok(&["scan"]).text()
    );
}

fn is_wild(char: char) -> bool {
    let is_mark = matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    is_mark || (char.is_control() && !matches!(char, '\n' | '\t'))
}
