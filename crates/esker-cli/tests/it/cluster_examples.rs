//! The examples that the help of `kv`, `table`, `node` and `balance` shows.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::double::Double;
use crate::kill_serve::Served;
use crate::shown::command_of;
use crate::tool::{Bench, Ran};

/// The tool as examples call it, with time for a busy machine.
const PATIENT: &str =
    r#"esker() { local what=$1; shift; command esker "$what" --timeout 120s "$@"; }"#;

/// The pages, in an order in which their examples find what they need.
const PAGES: &[&[&str]] = &[
    &["kv", "set"],
    &["kv", "get"],
    &["kv", "exists"],
    &["kv", "ttl"],
    &["kv", "del"],
    &["kv", "multi-set"],
    &["kv", "multi-get"],
    &["kv", "check-and-set"],
    &["kv", "incr"],
    &["kv", "scan"],
    &["kv", "count"],
    &["kv", "multi-del"],
    &["kv"],
    &["table"],
    &["node"],
    &["balance"],
];

#[test]
fn every_example_of_the_help_does_what_it_says() {
    let double = Double::new();
    let (bench, meta) = (&double.bench, &double.meta);
    let count = follow(bench, PAGES.iter().copied(), |it| shell(bench, meta, it));
    assert!(count > 30, "{count}");
}

#[test]
fn every_example_about_keys_does_so_at_a_node_that_serves() {
    // What the double takes, `esker serve` may refuse.
    let bench = Bench::new();
    let served = Served::start(&bench, "node");
    let meta = served.told["meta"].as_str().unwrap();
    let patiently = |command: &str| shell(&bench, meta, &format!("{PATIENT}\n{command}"));
    patiently("esker table create temp").exits(0);
    let pages = PAGES.iter().copied().filter(|page| page[0] == "kv");
    let count = follow(&bench, pages, patiently);
    assert!(count > 20, "{count}");
}

/// Runs each line of the pages that begins with the tool's name, as it stands, in the order of the
/// pages; how many there were.
#[track_caller]
fn follow<'a>(
    bench: &Bench,
    pages: impl Iterator<Item = &'a [&'a str]>,
    run: impl Fn(&str) -> Ran,
) -> usize {
    bench.file("7.jpg", "picture");
    bench.file("rows.tsv", "state\tlost\n");
    let mut count = 0;
    for page in pages {
        let help = bench.ok(&[page, &["--help"][..]].concat());
        let widest = help.text().lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{page:?}: {widest:?}");
        let (_, examples) = help.text().split_once("Examples:").unwrap();
        let commands: Vec<String> = examples.lines().filter_map(command_of).collect();
        assert!(!commands.is_empty(), "{page:?}");
        for command in commands {
            let ran = run(&command);
            assert_eq!(ran.code, 0, "{command}: {ran:?}");
            count += 1;
        }
    }
    count
}

fn shell(bench: &Bench, meta: &str, command: &str) -> Ran {
    let tool = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(bench.path(""))
        .env("PATH", format!("{}:{path}", tool.display()))
        .env("ESKER_META", meta)
        .env("ESKER_TABLE", "temp")
        .stdin(Stdio::null())
        .output();
    output.unwrap().into()
}

#[test]
fn every_command_of_a_cluster_has_a_page_with_examples() {
    // The list above leaves none out.
    let double = Double::new();
    for name in ["kv", "table", "node"] {
        let help = double.ok(&[name, "--help"]);
        let commands = help.text().split_once("Commands:\n").unwrap().1;
        let commands = commands.lines().take_while(|line| !line.is_empty());
        let names = commands.filter_map(|line| line.split_whitespace().next());
        for command in names.filter(|one| *one != "help") {
            let page = [name, command];
            let is_listed = PAGES.contains(&&page[..]);
            let is_shown = help.text().contains(&format!("  esker {name} {command} "));
            assert!(is_listed || is_shown, "{page:?}");
        }
    }
}
