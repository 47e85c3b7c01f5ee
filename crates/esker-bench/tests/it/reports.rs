//! Reports of real runs, and the many ways in which files can be wrong.

use std::fs;
use std::path::Path;

use esker_bench::report::json;

use crate::tool::{Ran, Tool};

/// A small real run in `run.json`.
pub fn run(tool: &Tool) {
    tool.ok("--benchmarks=fillrandom,readrandom --num=2000 --json={}/run.json");
}

/// The report with the words of `line`; `{}` is the place of the files.
pub fn report(tool: &Tool, line: &str) -> Ran {
    tool.bench(&format!("report {line}"))
}

/// The names in the place, without the database.
fn names(tool: &Tool) -> Vec<String> {
    let entries = fs::read_dir(tool.path("")).expect("a place");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|it| it.to_string_lossy().into()).collect();
    names.retain(|name| name != "db");
    names.sort();
    names
}

#[test]
fn a_run_becomes_a_page_and_a_chart() {
    // The page lies beside the record unless told otherwise; its path is what is printed.
    let tool = Tool::new();
    run(&tool);
    let ran = report(&tool, "{}/run.json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out.trim(), tool.path("run.html").display().to_string());
    let page = fs::read_to_string(tool.path("run.html")).expect("a page");
    for part in [
        "fillrandom",
        "Latency",
        "How it was measured",
        "readrandom, first",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let ran = report(&tool, "{}/run.json -o {}/other.html --chart {}/chart.svg");
    assert_eq!(ran.code, 0, "{ran:?}");
    let chart = fs::read_to_string(tool.path("chart.svg")).expect("a chart");
    assert!(chart.starts_with("<svg") && chart.contains("fillrandom"));
    // Only what is asked for, as long as it is there.
    let ran = report(&tool, "{}/run.json --only readrandom --chart {}/chart.svg");
    assert_eq!(ran.code, 0, "{ran:?}");
    let chart = fs::read_to_string(tool.path("chart.svg")).expect("a chart");
    assert!(chart.contains("readrandom") && !chart.contains("fillrandom"));
    let ran = report(&tool, "{}/run.json --only readrandm");
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.notes("there is fillrandom, readrandom");
    assert_eq!(
        names(&tool),
        ["chart.svg", "other.html", "run.html", "run.json"]
    );
}

#[test]
fn the_chart_of_the_readme_is_of_the_newest_run() {
    // docs/report.md says how it is drawn from docs/history.tsv; drawn so, it is the one that is
    // there. A newer run in the history, or another drawing, wants it drawn again.
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |name: &str| fs::read_to_string(docs.join(name)).expect("a document");
    let told = read("report.md").replace("\\\n", " ");
    let line = told
        .lines()
        .find(|line| line.contains("--chart docs/report.svg"));
    let line = line.expect("a command").replace("esker bench ", "");
    let line = line.replace("docs/report.svg", "{}/chart.svg");
    let history = docs.join("history.tsv").display().to_string();
    let tool = Tool::new();
    let ran = tool.bench(&line.replace("docs/history.tsv", &history));
    assert_eq!(ran.code, 0, "{ran:?}");
    let drawn = fs::read_to_string(tool.path("chart.svg")).expect("a chart");
    assert!(drawn == read("report.svg"), "draw it again: {line}");
    // What was never measured cannot be drawn, and a history without a run neither.
    let ran = report(&tool, &format!("{history} --chart {{}}/a.svg --only fly"));
    assert!(ran.code == 2 && ran.err.contains("there is "), "{ran:?}");
    let ran = report(&tool, "{}/none.tsv --chart {}/a.svg");
    assert!(ran.code == 2 && ran.err.contains("no run"), "{ran:?}");
    assert_eq!(names(&tool), ["chart.svg"]);
}

#[test]
fn two_runs_are_held_against_each_other() {
    // The same run twice: no difference, and one round says nothing about noise. JSON says the
    // same; a page is of one run.
    let tool = Tool::new();
    run(&tool);
    fs::copy(tool.path("run.json"), tool.path("later.json")).expect("a copy");
    let ran = report(&tool, "{}/run.json {}/later.json -o {}/both.html");
    assert!(ran.code == 2 && ran.err.contains("of one"), "{ran:?}");
    let ran = report(&tool, "{}/run.json {}/later.json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("noise unknown") && ran.out.contains("1.00"),
        "{ran:?}"
    );
    let ran = report(&tool, "{}/run.json {}/later.json --json");
    let told: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(told["rows"][0]["ops_per_s"]["call"], "unknown");
    assert_eq!(told["rows"][0]["ops_per_s"]["ratio"], 1.0);
    assert_eq!(told["only_before"], serde_json::json!([]));
}

#[test]
fn wrong_files_end_with_two_and_a_word_of_advice() {
    // Nothing is written, and whatever lies where the page should go stays as it is.
    let tool = Tool::new();
    run(&tool);
    let whole = fs::read_to_string(tool.path("run.json")).expect("a record");
    let newer = whole.replacen("\"version\": 1", "\"version\": 2", 1);
    let older = whole.replacen("\"version\": 1", "\"version\": 0", 1);
    for (name, text) in [
        ("half.json", &whole[..whole.len() / 2]),
        ("empty.json", ""),
        ("other.json", "{\"format\": \"something\"}"),
        ("list.json", "[1, 2]"),
        ("text.json", "fillseq: 4.43 micros/op"),
        ("newer.json", &newer),
        ("older.json", &older),
        ("wrong.json", &whole.replacen("\"ops\":", "\"oops\":", 1)),
    ] {
        fs::write(tool.path(name), text).expect("a file");
    }
    fs::write(tool.path("kept.html"), "as it was").expect("a file");
    fs::write(tool.path("bytes.json"), [0xff, 0xfe]).expect("a file");
    let before = names(&tool);
    for (name, advice) in [
        ("half.json", "run the benchmark again"),
        ("empty.json", "run the benchmark again"),
        ("other.json", "wrote with --json"),
        ("list.json", "wrote with --json"),
        ("text.json", "is no JSON"),
        ("newer.json", "or a newer one"),
        ("older.json", "run the benchmark again"),
        ("wrong.json", "not a whole record"),
        ("bytes.json", "cannot read"),
        ("absent.json", "cannot read"),
        ("", "cannot read"),
    ] {
        for line in [
            format!("{{}}/{name} -o {{}}/kept.html"),
            format!("{{}}/run.json {{}}/{name}"),
        ] {
            let ran = report(&tool, &line);
            assert_eq!(ran.code, 2, "{line}: {ran:?}");
            assert!(
                ran.err.contains(advice) && ran.err.contains(name),
                "{line}: {ran:?}"
            );
        }
    }
    assert_eq!(
        fs::read_to_string(tool.path("kept.html")).expect("a file"),
        "as it was"
    );
    assert_eq!(names(&tool), before);
}

#[test]
fn records_are_never_written_over_and_places_are_checked_first() {
    // Over the record under another spelling, into a folder that is not there, over a folder.
    let tool = Tool::new();
    run(&tool);
    let whole = fs::read(tool.path("run.json")).expect("a record");
    for (line, advice) in [
        ("{}/run.json -o {}/./run.json", "written over"),
        (
            "{}/run.json -o {}/no/page.html",
            "a directory that is there",
        ),
        ("{}/run.json --chart {}", "it is a directory"),
        (
            "{}/run.json -o {}/a.html --chart {}/no/a.svg",
            "a directory that is there",
        ),
    ] {
        let ran = report(&tool, line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.err.contains(advice), "{line}: {ran:?}");
    }
    assert_eq!(fs::read(tool.path("run.json")).expect("a record"), whole);
    assert_eq!(names(&tool), ["run.json"]);
}

#[test]
fn records_from_before_verdicts_are_read() {
    // The field came later: older files lack it.
    let tool = Tool::new();
    run(&tool);
    let text = fs::read_to_string(tool.path("run.json")).expect("a record");
    let mut record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let had = record
        .as_object_mut()
        .expect("an object")
        .remove("verdicts");
    assert!(had.is_some());
    fs::write(tool.path("old.json"), record.to_string()).expect("a file");
    assert!(
        json::read(&tool.path("old.json"))
            .expect("a record")
            .verdicts
            .is_empty()
    );
}
