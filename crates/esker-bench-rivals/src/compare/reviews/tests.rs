//! Reviews in turns, as small as they get.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_page_needs_a_record() {
    // The page alone is refused; with the record both are known, and the scenario hears of one.
    assert!(Asked::of(&words("--html=a.html")).is_err());
    let asked = Asked::of(&words("--html=a.html --json=a.json --rounds=1")).unwrap();
    assert_eq!(
        asked.words,
        words("reviews --limit_by=either --json=a.json --rounds=1")
    );
    assert_eq!(asked.html, Some("a.html".into()));
}

#[test]
fn help_is_told_and_nothing_is_played() {
    // Behind the words that `make reviews` gives, which name a record and a page that help makes
    // neither of, and without any rival built in.
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = "--dir=nowhere --json=nowhere/run.json --html=nowhere/run.html --help";
    let outcome = play(&words(line), &mut Console::new(&mut out, &mut err, false));
    assert_eq!(outcome, Ok(()));
    assert!(String::from_utf8(out).unwrap().contains("--scale"));
}

#[cfg(feature = "rocksdb")]
#[test]
fn three_contenders_read_the_same_reviews() {
    // A megabyte of made text, one round: every line thrice, verdicts, page, no store.
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().display();
    let line = format!(
        "--scale=0.02 --rounds=1 --limit_by=setting --dir={place}/stores \
         --json={place}/run.json --html={place}/run.html"
    );
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let outcome = {
        let mut console = Console::new(&mut out, &mut err, false);
        play(&words(&line), &mut console)
    };
    let (out, err) = (
        String::from_utf8(out).unwrap(),
        String::from_utf8(err).unwrap(),
    );
    assert_eq!(outcome, Ok(()), "{out} {err}");
    let record = json::read(&dir.path().join("run.json")).unwrap();
    for engine in ["Esker", "RocksDB lz4", "RocksDB zstd"] {
        let mine = record
            .measurements
            .iter()
            .filter(|one| one.engine == engine);
        // Insert, settle, compact, scan, two lines of one thread, four limits of two choices.
        assert_eq!(mine.count(), 14, "{engine}");
        assert!(out.contains(engine), "{out}");
    }
    assert!(record.verdicts.iter().all(|one| one.is_met.is_some()));
    let page = std::fs::read_to_string(dir.path().join("run.html")).unwrap();
    assert!(page.contains("Operations a second over memory"));
    let left = std::fs::read_dir(dir.path().join("stores/reviews-rocksdb-zstd")).unwrap();
    assert_eq!(left.count(), 1, "only the mark is left");
}
