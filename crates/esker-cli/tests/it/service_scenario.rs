//! The scenario that starts clusters by this tool, as small as it gets.

use crate::tool::Bench;

#[test]
fn a_scenario_starts_its_clusters_measures_them_and_clears_up() {
    // Three processes are written to; one is killed and reads what was only in its log; one loses
    // its disk, and all copies come back. The record has the writes, each line its goal, and
    // nothing is left of the clusters.
    let bench = Bench::new();
    let (dir, json) = (bench.path("nodes"), bench.path("run.json"));
    let words = format!(
        "bench scenario service --only writes --only recovery --only rebuild --scale 0.002 \
         --rounds 1 --dir {} --json {}",
        dir.display(),
        json.display()
    );
    let words: Vec<&str> = words.split(' ').collect();
    let ran = bench.run(&words).exits(0);
    let text = ran.text();
    for told in [
        "-- writes",
        "writes, asking a majority",
        "-- recovery",
        "0 failed to load",
        "15 s with 1 GiB",
        "-- rebuild",
        "lacked a copy without the disk of node 3, and none did after",
        "60 s with 1 GB",
    ] {
        assert!(text.contains(told), "{told}: {ran:?}");
    }
    // The title says that it can be had beside it, and no figure is.
    let (_, figures) = text.split_once('\n').expect("a title and figures");
    assert!(!figures.contains("etcd"), "{ran:?}");
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let measured = record["measurements"].as_array().unwrap();
    assert_eq!(measured.len(), 1, "{record}");
    assert_eq!(measured[0]["name"], "writes");
    assert_eq!(measured[0]["message"], "");
    assert!(measured[0]["ops"].as_u64().unwrap() > 0, "{record}");
    let left = std::fs::read_dir(dir.join("service")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["esker-bench.marker"]);
}

#[test]
fn its_help_teaches_the_lines() {
    // Its own page, not the list of all.
    let bench = Bench::new();
    let ran = bench
        .run(&["bench", "scenario", "service", "--help"])
        .exits(0);
    for told in [
        "writes ",
        "failover ",
        "what is left for the",
        "--beside etcd",
    ] {
        assert!(ran.text().contains(told), "{told}: {ran:?}");
    }
    assert!(!ran.text().contains("merge-counters"), "{ran:?}");
    let ran = bench.run(&["bench", "scenario", "service", "--only", "nothing"]);
    assert!(ran.exits(2).err.contains("--only"));
}
