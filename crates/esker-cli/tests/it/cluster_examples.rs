//! The examples that the help of `kv`, `table`, `node` and `balance` shows.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::double::Double;
use crate::shown::command_of;
use crate::tool::Ran;

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
    // Each line that begins with the tool's name is run by a shell as it stands, in the order of
    // the pages.
    let double = Double::new();
    double.bench.file("7.jpg", "picture");
    double.bench.file("rows.tsv", "state\tlost\n");
    let mut count = 0;
    for page in PAGES {
        let help = double.ok(&[page, &["--help"][..]].concat());
        let widest = help.text().lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{page:?}: {widest:?}");
        let (_, examples) = help.text().split_once("Examples:").unwrap();
        let commands: Vec<String> = examples.lines().filter_map(command_of).collect();
        assert!(!commands.is_empty(), "{page:?}");
        for command in commands {
            let ran = shell(&double, &command);
            assert_eq!(ran.code, 0, "{command}: {ran:?}");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

fn shell(double: &Double, command: &str) -> Ran {
    let tool = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(double.bench.path(""))
        .env("PATH", format!("{}:{path}", tool.display()))
        .env("ESKER_META", &double.meta)
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
