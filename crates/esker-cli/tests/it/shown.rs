//! Every command that help and docs show runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::prepared::prepare;
use crate::tool::Bench;

/// A directory with what the examples name: a database, inputs, a home, and in place of programs
/// that a machine may not have (jq, man, …) one that reads what it is given.
fn fixture() -> Bench {
    let bench = Bench::new();
    let reviews = "product/productId: B\nreview/userId: A\nreview/time: 1\nreview/text: x\n\n";
    bench.file("reviews.txt", reviews.repeat(3));
    for name in ["ships.tsv", "table.tsv", "log"] {
        bench.file(name, "ship:anna\tin port\nlock:7\theld\n");
    }
    bench.file("people.jsonl", "{\"id\":7}\n");
    bench.file("7.jpg", "picture");
    bench.file("moves.txt", "put\tship:anna\tat sea\n");
    bench.ok(&["load", "ships.tsv", "table.tsv"]);
    let operator = "merge_operator=uint64add";
    bench.ok(&["keyspaces", "create", "visits", "--set", operator]);
    let merge = [
        "merge",
        "--keyspace",
        "visits",
        "--number",
        "ship:anna",
        "1",
    ];
    bench.ok(&merge);
    for (file, words) in [("harbour.jsonl", "--all"), ("all.tsv", "ship:")] {
        bench.ok(&["dump", words, "-o", file]);
    }
    for word in ["photo:7", "ship:bela", "lock:8", "C:\\\\temp\\xff"] {
        bench.ok(&["put", word, "x"]);
    }
    bench.ok(&["put", "--hex", "0001ff", "00"]);
    bench.ok(&["compact"]);
    fs::create_dir_all(bench.path("bin")).unwrap();
    for name in ["jq", "man", "date"] {
        let stub = bench.file(&format!("bin/{name}"), "#!/bin/sh\ncat >/dev/null\n");
        fs::set_permissions(stub, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for dir in [
        ".local/share/bash-completion/completions",
        ".config/fish/completions",
        "backup",
    ] {
        fs::create_dir_all(bench.path(dir)).unwrap();
    }
    for name in ["reviews.txt", "log", "harbour.jsonl"] {
        let packed = bench.path(&format!("{name}.gz"));
        let file = fs::File::create(packed).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::copy(&mut fs::File::open(bench.path(name)).unwrap(), &mut gzip).unwrap();
        gzip.finish().unwrap();
    }
    bench
}

/// Runs a line as a shell would; what it exits with, and what it said.
fn shell(bench: &Bench, line: &str) -> (i32, String) {
    let tool = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", bench.path("bin").display(), tool.display());
    // Paths of the reader's machine lie in the fixture; zsh's own list is one place.
    let sst = fs::read_dir(bench.path("db")).unwrap().flatten();
    let mut ssts = sst.map(|file| file.file_name().into_string().unwrap());
    let sst = ssts.find(|name| name.ends_with(".sst")).unwrap();
    let line = line
        .replace("/backup/", "backup/")
        .replace("/transfer/", "transfer/")
        .replace("${fpath[1]}", ".")
        .replace("db/000123.sst", &sst)
        .replace("000012.sst", &sst);
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &line])
        .current_dir(bench.path(""))
        .env("PATH", path)
        .env("HOME", bench.path(""))
        .env("ESKER_DB", "db")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let code = output.status.code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The command of a line, without the words behind it that explain it.
pub fn command_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    let is_shown = ["esker ", "zcat ", "printf "]
        .iter()
        .any(|start| line.starts_with(start));
    let plain = line.split("  ").next()?.split(" # ").next()?.trim_end();
    (is_shown && plain.contains("esker ")).then(|| plain.to_owned())
}

/// Measuring takes minutes, and reports want its records: the benchmarks' own tests run them. What
/// needs a cluster is run in `cluster_examples`. What serves until somebody stops it is run, on
/// ports of its own, in `kill_serve` and `kill_cluster`.
fn is_run_elsewhere(command: &str) -> bool {
    let others = [
        "bench", "demo", "kv", "table", "node", "balance", "serve", "cluster",
    ];
    let mut others = others.iter().map(|name| format!("esker {name}"));
    others.any(|start| command.contains(&start))
}

#[track_caller]
fn runs(fixture: &Bench, command: &str, place: &str) {
    if is_run_elsewhere(command) {
        return;
    }
    let bench = Bench::new();
    let from = fixture.path(".").display().to_string();
    let copy = ["-a", &from, &bench.path("").display().to_string()];
    assert!(Command::new("cp").args(copy).status().unwrap().success());
    if command.contains("keyspaces create visits") {
        bench.ok(&["keyspaces", "drop", "visits", "--yes"]);
    }
    if command.contains("esker prepared") {
        prepare(&bench, &["arrival 7"]);
    }
    if command.contains("esker ingest") {
        bench.ok(&["export", "--all", "transfer/everything"]);
        for set in ["harbour", "ships", "older"] {
            bench.ok(&["export", &format!("transfer/{set}")]);
        }
    }
    let (code, said) = shell(&bench, command);
    assert_eq!(code, 0, "{place}: {command}: {said}");
}

#[test]
fn every_example_of_help_runs() {
    // Each in a fixture of its own, as one who copies it would.
    let bench = Bench::new();
    let overview = bench.ok(&["--help"]);
    let commands = overview.text().lines();
    let commands = commands
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    let (fixture, mut count) = (fixture(), 0);
    for name in commands.chain([""]).filter(|name| *name != "help") {
        let words: Vec<&str> = [name, "--help"]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        let help = bench.ok(&words);
        let (_, examples) = help.text().split_once("Example").unwrap();
        for command in examples.lines().filter_map(command_of) {
            runs(&fixture, &command, &format!("{name} --help"));
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_command_of_the_docs_runs() {
    // Blocks of shell, and what stands between backticks with all its words.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).unwrap().flatten();
    pages.extend(
        docs.map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|end| end == "md")),
    );
    let (fixture, mut count) = (fixture(), 0);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = text
            .lines()
            .filter(|line| !line.ends_with('\\'))
            .filter_map(command_of);
        // A command in a line of prose may be broken by the end of the line.
        let prose = text.replace("```", "").replace('\n', " ");
        let spans = prose.split('`').skip(1).step_by(2).map(str::to_owned);
        // Two words are the name of a command, which alone may not be enough to run.
        let is_whole = |span: &String| span.split_whitespace().count() > 2 && !span.contains('…');
        let spans = spans.filter(|span| span.starts_with("esker ") && is_whole(span));
        for command in blocks.chain(spans.collect::<Vec<_>>()) {
            let command = command.replace("--db disk_file.d", "--db db");
            runs(&fixture, &command, &page.display().to_string());
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}
