//! Five nodes as processes, of which two are lost with most replicas of some partitions.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster_nodes::Cluster;

/// The nodes of each partition.
fn placing(cluster: &Cluster) -> Vec<Vec<i64>> {
    let nodes = cluster.nodes();
    let numbers: BTreeMap<&str, i64> = nodes
        .iter()
        .map(|one| {
            (
                one["address"].as_str().unwrap(),
                one["node"].as_i64().unwrap(),
            )
        })
        .collect();
    let told = cluster.ok(&["table", "describe", "ships", "--json"]).json();
    let partitions = told["placing"].as_array().unwrap().iter();
    let nodes_of = |one: &Value| {
        let others = one["secondaries"].as_array().unwrap().iter();
        let all = others.chain([&one["primary"]]);
        all.map(|node| numbers[node.as_str().unwrap()]).collect()
    };
    partitions.map(nodes_of).collect()
}

/// The nodes that vote in the meta service.
fn metas(cluster: &Cluster) -> Vec<i64> {
    let nodes = cluster.nodes().into_iter();
    let metas = nodes.filter(|one| one["votes_in_meta"] == true);
    metas.map(|one| one["node"].as_i64().unwrap()).collect()
}

/// Two nodes without which most partitions have no majority, and the meta service has one; and how
/// many partitions that are.
fn two_of_most(placing: &[Vec<i64>], metas: &[i64]) -> ([i64; 2], usize) {
    let pairs = (1..=5).flat_map(|one| (one + 1..=5).map(move |other| [one, other]));
    let pairs = pairs.filter(|pair| pair.iter().filter(|one| metas.contains(one)).count() < 2);
    let counted = pairs.map(|pair| {
        let has_both = |nodes: &&Vec<i64>| pair.iter().all(|node| nodes.contains(node));
        (pair, placing.iter().filter(has_both).count())
    });
    counted.max_by_key(|pair| pair.1).unwrap()
}

#[test]
fn a_table_goes_on_without_two_nodes_and_they_come_back_without_a_word_in_it() {
    let cluster = Cluster::start();
    cluster.create_ships();
    cluster.until("whole", Cluster::is_whole);
    cluster.write_ships();
    let told = cluster.ok(&["table", "recover", "ships"]).text().to_owned();
    assert!(told.starts_with("every partition of \"ships\""), "{told}");

    cluster.until("the meta service has its replicas", |cluster| {
        metas(cluster).len() == 3
    });
    cluster.until("nothing moves any more", |cluster| {
        cluster.is_settled() && cluster.is_whole()
    });
    let placing = placing(&cluster);
    let metas = metas(&cluster);
    let (lost, count) = two_of_most(&placing, &metas);
    assert!(count > 0);
    let names = lost.map(|node| node.to_string());
    for name in &names {
        cluster.command(&["kill", name]);
    }
    // Not before they were silent for a while, and not without a word.
    let words = ["table", "recover", "ships", "--accept-loss"];
    cluster.until("some can be given up", |cluster| {
        // Another leader of the meta service says nothing before it has listened for a while.
        let told = cluster.run(&["table", "recover", "ships", "--json"]);
        if told.code != 0 {
            return false;
        }
        let told = told.json();
        let all = told["leaderless"].as_array().unwrap();
        let lost = all.iter().filter(|one| one["state"] == "lost");
        lost.count() == count
    });
    // Notes are not waited for as an answer is.
    cluster.until("the description says where to ask", |cluster| {
        let described = cluster.ok(&["table", "describe", "ships"]);
        described
            .text()
            .contains("`esker table recover ships` says why")
    });
    let asked = cluster.run(&words).exits(2);
    assert!(asked.err.contains("--yes says so"), "{asked:?}");
    let done = cluster.ok(&[&words[..], &["--yes", "--wait", "--json"]].concat());
    let recovered = done.json()["recovered"]["partitions"]
        .as_array()
        .map(Vec::len);
    assert_eq!(recovered, Some(count));
    cluster.read_ships();
    cluster.write_ships();

    // They are back with what they had: of these partitions it goes, all else goes on.
    cluster.command(&["restart", &names[0], &names[1]]);
    cluster.until("whole again", Cluster::is_whole);
    cluster.read_ships();
    for name in names {
        let log = cluster.bench.path(&format!("cluster/node{name}.log"));
        let log = std::fs::read_to_string(log).unwrap();
        let line = format!("but for {count} whose groups go on without them");
        assert!(log.contains(&line), "{log}");
    }
}
