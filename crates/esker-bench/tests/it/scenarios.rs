//! Scenarios from their words to their tables, as small as they get.

use esker_bench::console::Console;
use esker_bench::fail::Outcome;
use esker_bench::make::prose::Prose;
use esker_bench::report::json;
use esker_bench::report::record::Record;
use esker_bench::scenario::suite::entry::run_among;
use esker_bench::scenario::suite::list::SCENARIOS;
use esker_bench::target::embedded::Esker;
use esker_bench::target::settings::StoreSettings;
use esker_bench::target::store::{Engine, Opened};

use crate::tool::{Ran, Tool};

/// Runs the scenarios of `line` with stores in the place, which must end with that code.
#[track_caller]
fn scenario(tool: &Tool, line: &str, code: u8) -> Ran {
    let ran = tool.bench(&format!("scenario {line} --dir={{}}/stores"));
    assert_eq!(ran.code, code, "{line}: {ran:?}");
    ran
}

/// The same, and what it wrote down.
fn ok(line: &str) -> (Ran, Record) {
    let tool = Tool::new();
    let ran = scenario(&tool, &format!("{line} --json={{}}/run.json"), 0);
    let record = json::read(&tool.path("run.json")).expect("a record");
    (ran, record)
}

fn names(record: &Record) -> Vec<&str> {
    let all = record.measurements.iter();
    all.map(|measurement| measurement.name.as_str()).collect()
}

#[test]
fn list_tells_what_each_size_takes() {
    // Without a name, and for --help.
    let tool = Tool::new();
    for line in ["", "--help"] {
        let ran = scenario(&tool, line, 0);
        for scenario in &SCENARIOS {
            ran.tells(scenario.name);
            ran.tells(scenario.shows);
        }
        ran.tells("full");
        ran.tells(" GB");
    }
    assert!(!tool.path("stores").exists());
}

#[test]
fn merges_and_updates_are_told_as_a_ratio() {
    // Two rounds of 600 keys; every counter is added up behind each merge.
    let (ran, record) = ok("merge-counters --scale=0.003 --rounds=2");
    assert_eq!(
        names(&record),
        ["updaterandom", "mergerandom", "mergerandom", "updaterandom"]
    );
    ran.tells("mergerandom ÷ updaterandom");
    ran.tells("3.16");
    ran.tells("the sums are right");
    assert_eq!(record.tool, "scenario merge-counters");
    assert!(record.measurements.iter().all(|one| one.ops == 6000));
    let [goal] = &record.verdicts[..] else {
        panic!("{:?}", record.verdicts);
    };
    assert_eq!(goal.asked, "3.16 × updaterandom");
    assert_eq!(goal.is_met, goal.measured.map(|one| one.median >= 3.16));
    ran.tells(&goal.asked);
    ran.tells("workload     goal ");
}

#[test]
fn growth_tells_most_over_fewest() {
    // Three counts of keys, four lines each.
    let (ran, record) = ok("leveldb-suite --growth --scale=0.001");
    assert_eq!(record.measurements.len(), 12);
    assert!(names(&record).contains(&"growth-200-fillrandom"));
    ran.tells("most ÷ fewest");
    let judged: Vec<_> = record.verdicts.iter().map(|one| &one.line[..]).collect();
    assert_eq!(
        judged,
        ["fillrandom", "readrandom", "readseq", "seekrandom"]
    );
}

#[test]
fn large_values_stand_beside_the_raw_disk() {
    // Three configurations, of each three limits and three schemes; a fill and its overwriting.
    let (ran, record) = ok("large-values --scale=0.01");
    assert_eq!(record.measurements.len(), 20);
    let of = |name: &str| names(&record).iter().filter(|one| **one == name).count();
    assert_eq!(
        [
            of("put"),
            of("get"),
            of("mixed"),
            of("raw-write-100k"),
            of("raw-write-behind-100k"),
            of("raw-read-100k")
        ],
        [3; 6]
    );
    assert_eq!(record.verdicts.len(), 5);
    assert!(record.verdicts.iter().all(|one| one.measured.is_some()));
    let mixed = record.measurements.iter().find(|one| one.name == "mixed");
    let kinds = mixed.unwrap().latencies.iter().map(|one| one.kind.as_str());
    assert!(kinds.eq(["read", "write"]));
    for told in [
        "1 sequential put",
        "of the disk alone",
        "the same syncs",
        "109 171",
        "8.17 ms",
        "156",
        "of the first fill's speed",
    ] {
        ran.tells(told);
    }
    ran.notes("buffer_size is the engine's value_buffer_size");
}

#[test]
fn reviews_are_loaded_and_read_at_each_limit() {
    // Half a megabyte of made text: load, settle, compact, three lines of one thread, eight of
    // many.
    let (ran, record) = ok("reviews --scale=0.01");
    assert_eq!(record.measurements.len(), 14);
    assert!(record.verdicts.is_empty());
    ran.tells("of the raw text once settled");
    for told in ["unlimited", "0.90 of raw", "0.22 of raw"] {
        ran.tells(told);
    }
    let insert = &record.measurements[0];
    assert!(insert.engine_work.space_amplification.unwrap() < 1.2);
}

#[test]
fn reviews_of_a_file_are_counted_and_the_malformed_left_out() {
    // Three hundred records in SNAP's format, packed, and one without a user among them.
    let tool = Tool::new();
    let mut prose = Prose::new(300, 3);
    let mut text = String::from("product/productId: B1\nreview/text: nobody wrote this\n\n");
    for _ in 0..300 {
        text += std::str::from_utf8(&prose.next_record().1).unwrap();
        text += "\n\n";
    }
    let path = tool.path("reviews.txt.zst");
    std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let line = format!("reviews --scale=0.02 --data={}", path.display());
    let (ran, record) = ok(&line);
    ran.tells("reviews.txt.zst");
    ran.tells("insert: 300 records");
    ran.notes("note: 1 malformed record left out");
    ran.notes("--limit_by=cgroup limits both");
    assert_eq!(record.measurements[0].ops, 300);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_touched() {
    // A wrong name, a file that is not there, a disk that is too small.
    let tool = Tool::new();
    for (line, advice) in [
        ("merge-counter", "did you mean merge-counters?"),
        ("everything", "and all"),
        (
            "reviews --json=/no/such/dir/run.json",
            "a directory that is there",
        ),
    ] {
        scenario(&tool, line, 2).notes(advice);
    }
    scenario(&tool, "reviews --data={}/none.txt", 1).notes("cannot read");
    assert!(!tool.path("stores").exists());
}

#[test]
fn a_store_that_no_benchmark_made_is_left_alone() {
    // Somebody's file lies where a scenario would make its store.
    let tool = Tool::new();
    let store = tool.path("stores/reviews");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("letter.txt"), "dear").unwrap();
    scenario(&tool, "reviews --scale=0.01", 2).notes("refusing to destroy");
    assert!(store.join("letter.txt").is_file());
}

/// Ours once more, with blocks of Zstd.
struct Twin;

impl Engine for Twin {
    fn name(&self) -> &str {
        "Twin zstd"
    }

    fn version(&self) -> String {
        Esker.version()
    }

    fn is_there(&self, dir: &std::path::Path) -> bool {
        Esker.is_there(dir)
    }

    fn open(&self, dir: &std::path::Path, settings: &StoreSettings) -> Outcome<Opened> {
        let mut settings = settings.clone();
        settings.own.push(("compression".into(), "zstd".into()));
        Esker.open(dir, &settings)
    }

    fn destroy(&self, dir: &std::path::Path) -> Outcome {
        Esker.destroy(dir)
    }
}

#[test]
fn two_engines_read_the_same_reviews_in_turns() {
    // A megabyte, two rounds: each line on both, a verdict on every goal; and a
    // scenario that one plays alone refuses two.
    let tool = Tool::new();
    let place = tool.path("").display().to_string();
    let line = format!("reviews --scale=0.02 --rounds=2 --dir={place}/s --json={place}/run.json");
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    {
        let mut console = Console::new(&mut out, &mut err, false);
        run_among(&[&Esker, &Twin], &words, &mut console).unwrap();
        let refused = run_among(&[&Esker, &Twin], &["merge-counters".into()], &mut console);
        assert!(refused.unwrap_err().message.contains("one engine alone"));
    }
    let record = json::read(&tool.path("run.json")).unwrap();
    let of = |engine: &str| {
        let all = record.measurements.iter();
        all.filter(|one| one.engine == engine).count()
    };
    // Three lines of the load, and eleven of each round.
    assert_eq!((of("Esker"), of("Twin zstd")), (25, 25));
    // Six beside those of reads: sixteen, speed and tail of each.
    assert_eq!(record.verdicts.len(), 6 + 16);
    assert!(record.verdicts.iter().all(|one| one.is_met.is_some()));
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("best rival (Twin zstd)"), "{out}");
}
