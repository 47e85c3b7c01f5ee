//! Prepared transactions: what a program left undecided is listed and decided by hand.

use crate::tool::Bench;

/// Prepares a transaction for each id, as a program that then ended.
pub fn prepare(bench: &Bench, ids: &[&str]) {
    let db = esker::Db::open(bench.path("db")).unwrap();
    for id in ids {
        let mut tx = db.begin();
        tx.put(&db, id, "value").unwrap();
        drop(tx.prepare(id).unwrap());
    }
    db.close().unwrap();
}

#[test]
fn what_is_prepared_is_listed_and_ended_by_its_id() {
    let bench = Bench::new();
    prepare(&bench, &["arrival 7", "tab\there", "arrival 8"]);
    let listed = bench.ok(&["prepared"]);
    let lines: Vec<&str> = listed.text().lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("arrival 7\t1 write\t"), "{}", lines[0]);
    assert!(lines[2].starts_with("tab\\there\t"), "{}", lines[2]);
    // But for its age, each line is the same again.
    let but_age = |text: &str| {
        let lines = text.lines().map(|line| {
            let cells = line.split('\t').enumerate();
            cells
                .filter(|cell| cell.0 != 3)
                .map(|cell| cell.1.to_owned())
        });
        lines.map(Vec::from_iter).collect::<Vec<_>>()
    };
    let again = bench.ok(&["prepared", "list"]);
    assert_eq!(but_age(again.text()), but_age(listed.text()));
    bench.ok(&["prepared", "commit", "arrival 7"]);
    bench.ok(&["prepared", "rollback", "tab\\there"]);
    assert_eq!(bench.ok(&["get", "arrival 7"]).text(), "value\n");
    bench.run(&["get", "tab\\there"]).exits(3);
    let page = bench.ok(&["prepared", "--json"]).json();
    assert_eq!(page[0]["id"], "arrival 8");
    assert_eq!(page[0]["entries"], 1);
    assert_eq!(page[0]["keyspaces"][0], "default");
    assert_eq!(page[0]["claims"], 1);
    assert!(page[0]["age_seconds"].is_f64());
    let stats = bench.ok(&["stats", "--json"]).json();
    assert_eq!(stats["prepared"][0]["id"], "arrival 8");
    let refused = bench.run(&["prepared", "commit", "arrival 7"]).exits(1);
    // In words of the shell, too.
    assert!(refused.err.contains("`esker prepared`"), "{refused:?}");
    let told = bench
        .ok(&["prepared", "commit", "arrival 8", "--json"])
        .json();
    assert_eq!(told["committed"], "arrival 8");
    assert_eq!(bench.ok(&["prepared"]).text(), "");
}
