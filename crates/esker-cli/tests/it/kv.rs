//! Keys of a table, through the tool and over the wire.

use esker_rpc::client::{CallSettings, ClientSettings};
use esker_rpc::error::ErrorCode;
use serde_json::json;

use crate::double::Double;
use crate::memory::fault::Fault;

#[test]
fn what_is_set_is_got_until_it_is_deleted() {
    // Text, no sort key, bytes from standard input, hex; absence is exit code 3 and named.
    let double = Double::new();
    double.ok(&["kv", "set", "ship:anna", "state", "in port"]);
    let get = ["kv", "get", "ship:anna", "state"];
    assert_eq!(double.ok(&get).text(), "in port\n");
    assert_eq!(
        double.ok(&["kv", "exists", "ship:anna", "state"]).text(),
        "true\n"
    );
    double
        .feed(&["kv", "set", "photo", "", "--stdin"], b"\xff\0\n")
        .exits(0);
    assert_eq!(double.ok(&["kv", "get", "--raw", "photo"]).out, b"\xff\0\n");
    let hex = ["kv", "get", "--hex", "70686f746f"];
    assert_eq!(double.ok(&hex).text(), "ff000a\n");
    double.ok(&["kv", "del", "ship:anna", "state"]);
    double.fails(&get, 3, "no key \"ship:anna\" \"state\" in table \"temp\"");
    let exists = double.run(&["kv", "exists", "ship:anna", "state"]).exits(3);
    assert_eq!(exists.text(), "false\n");
    let none = double
        .run(&["kv", "get", "--json", "ship:anna"])
        .exits(3)
        .json();
    assert_eq!(
        none,
        json!({ "hash_key": "ship:anna", "sort_key": "", "value": null })
    );
}

#[test]
fn a_time_to_live_is_whole_seconds_and_counts_down() {
    // Told in units, shown in seconds, never where there is none; what the wire cannot say is
    // refused before anything is sent.
    let double = Double::new();
    double.ok(&["kv", "set", "a", "", "1", "--ttl", "10min"]);
    let left: u32 = double
        .ok(&["kv", "ttl", "a"])
        .text()
        .trim()
        .parse()
        .unwrap();
    assert!((590..=600).contains(&left), "{left}");
    double.ok(&["kv", "set", "b", "", "1"]);
    assert_eq!(double.ok(&["kv", "ttl", "b"]).text(), "never\n");
    double.fails(&["kv", "ttl", "c"], 3, "no key");
    let none = double.run(&["kv", "ttl", "c", "--json"]).exits(3).json();
    assert_eq!(none["exists"], false);
    double.fails(&["kv", "get", "c", "--timeout", "0"], 2, "more than 0");
    for wrong in ["250ms", "0", "1.5"] {
        double.fails(
            &["kv", "set", "c", "", "1", "--ttl", wrong],
            2,
            "whole number",
        );
    }
    double.ok(&["kv", "incr", "n", "", "5", "--ttl", "1d"]);
    double.ok(&["kv", "incr", "n", "", "5"]);
    assert_ne!(double.ok(&["kv", "ttl", "n"]).text(), "never\n");
    let sum = double.ok(&["kv", "incr", "n", "", "-3", "--no-ttl"]);
    assert_eq!(sum.text(), "7\n");
    assert_eq!(double.ok(&["kv", "ttl", "n"]).text(), "never\n");
}

#[test]
fn rows_of_a_hash_key_are_set_read_and_removed_together() {
    // Pairs of words, lines of standard input with escapes, and what is missing is counted.
    let double = Double::new();
    double.ok(&["kv", "multi-set", "h", "b", "2", "a", "1"]);
    double
        .feed(&["kv", "multi-set", "h", "--stdin"], b"c\t3\\t3\nd\t\n")
        .exits(0);
    let get = double.ok(&["kv", "multi-get", "h", "d", "c", "a", "a"]);
    assert_eq!(get.text(), "a\t1\nc\t3\\t3\nd\t\n");
    let some = double
        .run(&["kv", "multi-get", "h", "a", "x", "y"])
        .exits(3);
    assert_eq!(some.text(), "a\t1\n");
    assert!(
        some.err.contains("2 of 3 sort keys are not there: x, y"),
        "{}",
        some.err
    );
    assert_eq!(double.ok(&["kv", "count", "h"]).text(), "4\n");
    double.ok(&["kv", "multi-del", "h", "a", "b", "x"]);
    let scan = double.ok(&["kv", "scan", "h", "--keys-only"]);
    assert_eq!(scan.text(), "h\tc\nh\td\n");
    double.fails(&["kv", "multi-set", "h", "a", "1", "b"], 2, "no value");
    let ran = double
        .feed(&["kv", "multi-set", "h", "--stdin"], b"a\t1\nb\n")
        .exits(2);
    assert!(ran.err.contains("line 2"), "{}", ran.err);
}

#[test]
fn a_read_of_more_than_an_answer_holds_is_whole() {
    // The server stops at its limit of bytes; the tool goes on behind the last row, to the end.
    let double = Double::new();
    let big = vec![b'x'; 1_000_000];
    let words: Vec<String> = (0..40).map(|index| format!("{index:02}")).collect();
    for word in &words {
        double
            .feed(&["kv", "set", "h", word, "--stdin"], &big)
            .exits(0);
    }
    let asked: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = double.ok(&[&["kv", "multi-get", "h"], &asked[..]].concat());
    let lines: Vec<&str> = ran.text().lines().collect();
    assert_eq!(lines.len(), 40);
    assert!(lines.iter().all(|line| line.len() == 3 + 1_000_000));
    assert!(lines.is_sorted());
}

#[test]
fn a_check_that_does_not_pass_sets_nothing_and_tells_why() {
    // Code 3 and the value that was found; a check of another sort key; an operand where none is
    // meant, and none where one is.
    let double = Double::new();
    let lock = ["kv", "check-and-set", "lock", "owner"];
    let run = |words: &[&str]| double.run(&[&lock, words].concat());
    run(&["anna", "--if", "not-exist"]).exits(0);
    let refused = run(&["bela", "--if", "not-exist"]).exits(3);
    assert!(
        refused.err.contains("the value is \"anna\""),
        "{}",
        refused.err
    );
    assert_eq!(double.ok(&["kv", "get", "lock", "owner"]).text(), "anna\n");
    let equal = ["bela", "--if", "bytes-equal", "--operand", "anna"];
    run(&equal).exits(0);
    let again = run(&[&equal[..], &["--json"]].concat()).exits(3).json();
    assert_eq!(
        again["check"],
        json!({ "has_passed": false, "value": "bela" })
    );
    let other = [
        "kv",
        "check-and-set",
        "lock",
        "note",
        "x",
        "--check",
        "owner",
        "--if",
    ];
    double.ok(&[&other[..], &["match-prefix", "--operand", "be"]].concat());
    assert_eq!(double.ok(&["kv", "get", "lock", "note"]).text(), "x\n");
    double
        .run(&[&other[..], &["int-less", "--operand", "7"]].concat())
        .exits(1);
    run(&["x", "--if", "exist", "--operand", "y"]).exits(2);
    run(&["x", "--if", "int-equal"]).exits(2);
}

#[test]
fn what_is_no_number_is_said_to_be_none() {
    // Text and overflow under incr, text under a check of numbers; an operand before it is sent.
    let double = Double::new();
    double.ok(&["kv", "set", "t", "", "hello"]);
    double.fails(&["kv", "incr", "t", ""], 1, "its value is no number");
    double.ok(&["kv", "incr", "n", "", "1"]);
    let most = i64::MAX.to_string();
    double.fails(&["kv", "incr", "n", "", &most], 1, "more than 64 bits");
    let check = [
        "kv",
        "check-and-set",
        "t",
        "",
        "x",
        "--if",
        "int-less",
        "--operand",
    ];
    double.fails(&[&check[..], &["7"]].concat(), 1, "its value is no number");
    double.fails(&[&check[..], &["seven"]].concat(), 2, "compares numbers");
}

#[test]
fn a_scan_has_every_row_once() {
    // A whole table over its partitions, more than one answer of each; ranges of one hash key;
    // filters, limits, objects.
    let double = Double::new();
    for hash in 0..30 {
        let lines: String = (0..100).map(|sort| format!("s{sort:02}\tv\n")).collect();
        let hash = format!("h{hash:02}");
        double
            .feed(&["kv", "multi-set", &hash, "--stdin"], lines.as_bytes())
            .exits(0);
    }
    let scan = double.ok(&["kv", "scan"]);
    let mut lines: Vec<&str> = scan.text().lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 3000);
    assert_eq!(lines[0], "h00\ts00\tv");
    assert_eq!(double.ok(&["kv", "count"]).text(), "3000\n");
    let range = double.ok(&["kv", "scan", "h07", "s08", "s10", "--keys-only"]);
    assert_eq!(range.text(), "h07\ts08\nh07\ts09\n");
    let open = double.ok(&["kv", "scan", "h07", "s98", "--keys-only"]);
    assert_eq!(open.text(), "h07\ts98\nh07\ts99\n");
    let few = double.ok(&["kv", "scan", "h07", "--limit", "3"]);
    assert_eq!(few.text().lines().count(), 3);
    let none = double.ok(&["kv", "scan", "h07", "--limit", "0"]);
    assert_eq!(none.text(), "");
    assert_eq!(
        double.ok(&["kv", "count", "--hash-prefix", "h0"]).text(),
        "1000\n"
    );
    assert_eq!(
        double.ok(&["kv", "count", "h07", "s08", "s10"]).text(),
        "2\n"
    );
    let prefix = [
        "kv",
        "scan",
        "h07",
        "--sort-prefix",
        "s08",
        "--expires",
        "--json",
    ];
    let row = json!({ "hash_key": "h07", "sort_key": "s08", "value": "v", "expires": null });
    assert_eq!(double.ok(&prefix).json(), row);
    double.ok(&["kv", "set", "h07", "s08x", "v", "--ttl", "1h"]);
    let ends = double.ok(&["kv", "scan", "h07", "s08x", "s09", "--expires"]);
    let second: u64 = ends
        .text()
        .trim()
        .rsplit('\t')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(second > 1_700_000_000, "{second}");
}

#[test]
fn what_goes_wrong_is_told_with_what_to_do() {
    // No table named, none of that name and a near one, nobody at the address, words that are no
    // address, a refusal, an unknown outcome, and flags of databases in directories.
    let double = Double::new();
    let words = ["kv", "get", "a"];
    let unnamed = |words: &[&str], meta: &str| {
        let mut command = double.bench.command(words);
        command.env_remove("ESKER_TABLE").env("ESKER_META", meta);
        double.bench.feed_command(command, b"")
    };
    let ran = unnamed(&words, &double.meta).exits(2);
    assert!(ran.err.contains("--table"), "{}", ran.err);
    double.fails(
        &["kv", "get", "--table", "tmep", "a"],
        1,
        "did you mean \"temp\"?",
    );
    double.fails(
        &["kv", "get", "--table", "other", "a"],
        1,
        "the cluster has: temp",
    );
    let ran = unnamed(&["table", "list"], "127.0.0.1:1").exits(1);
    assert!(
        ran.err.contains("no cluster answers at 127.0.0.1:1; name"),
        "{}",
        ran.err
    );
    let ran = unnamed(&["table", "list"], "nonsense").exits(2);
    assert!(ran.err.contains("HOST:PORT"), "{}", ran.err);
    double.fails(
        &["kv", "get", "a", "--events"],
        2,
        "for a database in a directory",
    );
    double.fails(&["kv", "scan", "", "--limit", "1"], 2, "empty hash key");

    let large = double.feed(&["kv", "set", "a", "", "--stdin"], &vec![b'x'; 1 << 20]);
    assert!(
        large
            .exits(1)
            .err
            .contains("too large? servers take up to 1 MiB")
    );

    for node in &mut double.cluster.state().nodes {
        node.refuses = Some(ErrorCode::Busy);
    }
    double.fails(&words, 1, "ERR_BUSY; it has too much to do");
    for node in &mut double.cluster.state().nodes {
        (node.refuses, node.fault) = (None, Fault::Silent);
    }
    let set = ["kv", "set", "a", "", "1", "--timeout", "4s"];
    double.fails(&set, 4, "may be there or not; read it, to know");
    let incr = ["kv", "incr", "a", "", "--timeout", "4s"];
    double.fails(&incr, 4, "may be there or not");
    let get = ["kv", "get", "a", "--timeout", "4s"];
    double.fails(&get, 1, "no answer came before the deadline");
}

#[test]
fn nothing_is_written_that_nobody_spelled() {
    // No value and no word for standard input; an option is never a value; a line of three columns,
    // as a scan prints it, is refused and its way is told by the help.
    let double = Double::new();
    for words in [
        &["kv", "set", "a", "b"][..],
        &["kv", "set", "a", "b", "--json"],
        &["kv", "multi-set", "a"],
        &["kv", "multi-set", "a", "b", "--ttl", "5"],
        &["kv", "multi-set", "a", "b", "c", "d", "--json"],
    ] {
        double.feed(words, b"x\ty\n").exits(2);
    }
    let three = double.feed(&["kv", "multi-set", "a", "--stdin"], b"h\ts\tv\n");
    assert!(
        three
            .exits(2)
            .err
            .contains("line 1: it has more than one tab")
    );
    assert_eq!(double.ok(&["kv", "scan"]).text(), "");
    double.ok(&["kv", "set", "a", "b", "-5"]);
    double.ok(&["kv", "set", "--", "a", "c", "-x"]);
    double.ok(&["kv", "multi-set", "a", "d", "-7", "--ttl", "1h"]);
    let rows = double.run(&["kv", "multi-get", "a", "b", "c", "d", "e", "--json"]);
    let values: Vec<serde_json::Value> = rows
        .exits(3)
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|row: serde_json::Value| row["value"].clone())
        .collect();
    assert_eq!(json!(values), json!(["-5", "-x", "-7", null]));
}

#[test]
fn the_tool_and_a_program_read_the_same_rows() {
    // What the tool writes the client reads, and the other way round: bytes are bytes.
    let double = Double::new();
    double.ok(&["kv", "set", "--base64", "aGFzaA==", "AP8=", "/w=="]);
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        let settings = ClientSettings {
            call: CallSettings::default(),
            ..ClientSettings::default()
        };
        let metas = vec![double.meta.parse().unwrap()];
        let client = esker_rpc::client::Client::new(metas, settings);
        let table = client.table("temp").await.unwrap();
        let value = table.get(b"hash", b"\0\xff").await;
        assert_eq!(value, Ok(Some(vec![0xff])));
        table.set(b"tab\there", b"", b"line\n", 0).await.unwrap();
    });
    let scan = double.ok(&["kv", "scan", "tab\\there"]);
    assert_eq!(scan.text(), "tab\\there\t\tline\\n\n");
}
