//! Help, completions and manual pages of every command.

use crate::tool::Bench;

const COMMANDS: [&str; 32] = [
    "get",
    "put",
    "merge",
    "batch",
    "delete",
    "expiry",
    "scan",
    "count",
    "load",
    "dump",
    "keyspaces",
    "prepared",
    "stats",
    "levels",
    "compact",
    "checkpoint",
    "export",
    "ingest",
    "verify",
    "repair",
    "inspect",
    "settings",
    "kv",
    "table",
    "node",
    "balance",
    "serve",
    "cluster",
    "bench",
    "demo",
    "completions",
    "man",
];

#[test]
fn help_of_every_command_teaches() {
    // Every command is listed, tells its usage, and shows an example; no line is too wide.
    let bench = Bench::new();
    let overview = bench.ok(&["--help"]);
    for name in COMMANDS {
        assert!(overview.text().contains(&format!("  {name} ")), "{name}");
        let help = bench.ok(&[name, "--help"]);
        assert!(
            help.text().contains(&format!("Usage: esker {name}")),
            "{name}"
        );
        assert!(help.text().contains("Example"), "{name}");
        let widest = help.text().lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{name}: {widest:?}");
    }
    assert!(!overview.text().contains("demo-writer"));
}

#[test]
fn help_of_what_a_command_does_with_a_cluster_shows_an_example() {
    let bench = Bench::new();
    for name in ["table", "node", "cluster"] {
        let help = bench.ok(&[name, "--help"]);
        let listed = help.text().lines().skip_while(|line| *line != "Commands:");
        let listed = listed.skip(1).take_while(|line| !line.is_empty());
        let names = listed.filter_map(|line| line.split_whitespace().next());
        let names: Vec<&str> = names.filter(|one| *one != "help").collect();
        assert!(names.len() > 5, "{names:?}");
        for action in names {
            let help = bench.ok(&[name, action, "--help"]);
            let usage = format!("esker {name} {action}");
            assert!(help.text().contains("Example"), "{usage}");
            assert!(help.text().matches(&usage).count() > 1, "{usage}");
        }
    }
}

#[test]
fn completions_exist_for_every_shell() {
    // Each script names the commands.
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.ok(&["completions", shell]);
        assert!(script.text().contains("completions"), "{shell}");
    }
    bench.run(&["completions", "cobol"]).exits(2);
}

#[test]
fn manual_has_a_page_for_each_command() {
    // One page on standard output, all of them in a directory; the hidden command has none.
    let bench = Bench::new();
    assert!(bench.ok(&["man"]).text().contains(".TH esker 1"));
    bench.ok(&["man", "--dir", "pages"]);
    for name in COMMANDS {
        assert!(
            bench.path(&format!("pages/esker-{name}.1")).is_file(),
            "{name}"
        );
    }
    assert!(bench.path("pages/esker.1").is_file());
    assert!(!bench.path("pages/esker-demo-writer.1").exists());
}
