//! Tables and nodes of a cluster, through the tool.

use std::net::TcpListener;

use serde_json::json;

use crate::double::Double;
use crate::tool::Bench;

#[test]
fn a_table_is_created_described_renamed_dropped_and_recalled() {
    // Its rows are there through all of it, and its name and number tell which one it is.
    let double = Double::new();
    let created = double.ok(&["table", "create", "ships", "--partitions", "4"]);
    assert_eq!(
        created.text(),
        "created table \"ships\": 4 partitions, 3 replicas of each\n"
    );
    double.ok(&["kv", "--table", "ships", "set", "a", "", "1"]);
    let list = double.ok(&["table", "list"]);
    assert!(list.text().contains("ships") && list.text().contains("temp"));
    let told = double.ok(&["table", "describe", "ships", "--json"]).json();
    assert_eq!(told["placing"].as_array().unwrap().len(), 4);
    assert_eq!(told["placing"][0]["state"], "healthy");
    assert_eq!(
        told["placing"][0]["secondaries"].as_array().unwrap().len(),
        2
    );
    let told = double.ok(&["table", "describe", "ships"]);
    assert!(
        told.text().contains("partitions  4, 4 of them healthy"),
        "{}",
        told.text()
    );
    double.ok(&["table", "rename", "ships", "boats"]);
    double.fails(&["table", "describe", "ships"], 1, "no table \"ships\"");
    double.ok(&["table", "drop", "boats", "--yes", "--keep", "1h"]);
    double.fails(
        &["kv", "--table", "boats", "get", "a"],
        1,
        "no table \"boats\"",
    );
    let dropped = double.ok(&["table", "list", "--dropped", "--json"]).json();
    assert_eq!(dropped[0]["name"], "boats");
    assert!(dropped[0]["recall_until"].as_i64().unwrap() > 1_700_000_000);
    assert_eq!(
        double
            .ok(&["table", "list", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    double.ok(&["table", "recall", "boats", "--as", "ships"]);
    assert_eq!(
        double.ok(&["kv", "--table", "ships", "get", "a"]).text(),
        "1\n"
    );
}

#[test]
fn nothing_is_dropped_without_a_word() {
    // Nobody at a terminal to ask: refused, told what it would cost, and the table is there.
    let double = Double::new();
    double.fails(
        &["table", "drop", "temp"],
        2,
        "all of its 8 partitions? --yes",
    );
    double.fails(
        &["table", "drop", "tmep", "--yes"],
        1,
        "did you mean \"temp\"?",
    );
    double.ok(&["table", "describe", "temp"]);
}

#[test]
fn a_refused_setting_shows_the_servers_hint() {
    // One that is taken and removed again; one that the server does not have, in its own words.
    let double = Double::new();
    double.ok(&["table", "set", "temp", "default_ttl", "60"]);
    let envs = || double.ok(&["table", "describe", "temp", "--json"]).json()["envs"].clone();
    assert_eq!(envs(), json!({ "default_ttl": "60" }));
    double.ok(&["kv", "set", "a", "", "1"]);
    assert_ne!(double.ok(&["kv", "ttl", "a"]).text(), "never\n");
    let slip = &["table", "unset", "temp", "default_ttl", "default_tll"];
    double.fails(slip, 1, "\"default_tll\"; did you mean default_ttl?");
    assert_eq!(envs(), json!({ "default_ttl": "60" }));
    double.ok(&["table", "unset", "temp", "default_ttl"]);
    assert_eq!(envs(), json!({}));
    double.fails(
        &["table", "set", "temp", "default_tll", "60"],
        1,
        "ERR_INVALID_PARAMETERS: no such setting, or not that value",
    );
    double.fails(
        &["table", "set", "tmep", "default_ttl", "60"],
        1,
        "did you mean",
    );
}

#[test]
fn a_table_is_not_created_twice_unless_it_may_be_there() {
    // The same again, another one of that name, and numbers that no client could find rows with.
    let double = Double::new();
    let create = ["table", "create", "temp"];
    double.fails(&create, 1, "there is such a table already");
    let there = double.ok(&[&create[..], &["--if-not-exists"]].concat());
    assert_eq!(there.text(), "table \"temp\" is there already\n");
    let nodes = "1 at least, and as many as there are nodes at most; the cluster has 3 nodes";
    for wrong in ["0", "9", "-1"] {
        double.fails(
            &["table", "create", "x", &format!("--replicas={wrong}")],
            2,
            nodes,
        );
    }
    double.ok(&["table", "create", "other"]);
    let taken = "there is a table \"temp\" already; choose another name";
    double.fails(&["table", "rename", "other", "temp"], 1, taken);
    double.ok(&["table", "drop", "other", "--yes"]);
    double.fails(&["table", "recall", "other", "--as", "temp"], 1, taken);
    let other = ["--if-not-exists", "--partitions", "16"];
    double.fails(&[&create[..], &other].concat(), 1, "of another kind");
    for wrong in ["0", "1", "6", "-8"] {
        double.fails(
            &["table", "create", "x", &format!("--partitions={wrong}")],
            2,
            "power of two",
        );
    }
    double.fails(&["table", "create", "x", "--env", "a"], 2, "KEY=VALUE");
    let limits = "takes up to 1024 partitions, 5 replicas of each, and 128 bytes of a name";
    let nonsense = ["table", "create", "x", "--env", "nonsense=1"];
    double.fails(&nonsense, 1, limits);
}

#[test]
fn a_server_that_lets_nobody_in_is_told_from_one_that_is_not_there() {
    // It has as many connections as it takes, and closes further ones.
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = full.local_addr().unwrap().to_string();
    std::thread::spawn(move || full.incoming().for_each(drop));
    let words = [
        "kv",
        "--table",
        "temp",
        "--meta",
        &address,
        "--timeout",
        "4s",
        "get",
        "a",
    ];
    let ran = Bench::new().run(&words).exits(1);
    let told = format!("the server at {address} closes new connections at once");
    assert!(ran.err.contains(&told), "{}", ran.err);
}

#[test]
fn of_several_dropped_tables_one_is_recalled_by_its_number() {
    // Two of one name were dropped: the name alone is refused with their numbers.
    let double = Double::new();
    for _ in 0..2 {
        double.ok(&["table", "create", "x"]);
        double.ok(&["table", "drop", "x", "--yes"]);
    }
    double.fails(&["table", "recall", "x"], 2, "is meant: 2, 3");
    let back = double.ok(&["table", "recall", "3", "--json"]).json();
    assert_eq!(back, json!({ "recalled": { "name": "x", "number": 3 } }));
    double.fails(&["table", "recall", "77"], 3, "no dropped table number 77");
    double.fails(&["table", "recall", "y"], 3, "no table \"y\" was dropped");
}

#[test]
fn one_meta_server_that_can_be_asked_is_enough() {
    // Names that do not resolve, blanks and a data server beside it; a data server alone says so.
    let double = Double::new();
    let metas = format!("no.such.host.invalid:1,,{}", double.meta);
    let ran = double.ok(&["table", "list", "--meta", &metas]);
    assert!(ran.err.contains("no.such.host.invalid"), "{}", ran.err);
    let node = double.cluster.state().nodes[0].address.to_string();
    double.fails(
        &["node", "list", "--meta", &node],
        1,
        "is there a meta server",
    );
}

#[test]
fn nodes_are_listed_with_what_they_have() {
    // Eight partitions with three replicas over three nodes: all of them are somebody's.
    let double = Double::new();
    let nodes = double.ok(&["node", "list", "--json"]).json();
    let nodes = nodes.as_array().unwrap();
    let sum = |name: &str| {
        nodes
            .iter()
            .map(|one| one[name].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(
        (nodes.len(), sum("primaries"), sum("secondaries")),
        (3, 8, 16)
    );
    let list = double.ok(&["node", "list"]);
    assert_eq!(list.text().matches("alive").count(), 3);
    // One of Pegasus tells less of them, and has none of the other calls.
    double.cluster.state().knows_own = false;
    let less = double.ok(&["node", "list", "--json"]).json();
    assert_eq!(
        (
            less.as_array().unwrap().len(),
            less[0]["primaries"].as_u64()
        ),
        (3, Some(3))
    );
    assert_eq!(
        double.ok(&["node", "list"]).text().matches("alive").count(),
        3
    );
    for words in [
        &["node", "drain", "1"][..],
        &["balance"],
        &["node", "meta-replicas", "1"],
    ] {
        double.fails(words, 1, "as one of Apache Pegasus does not");
    }
}

#[test]
fn nodes_are_drained_and_removed_by_whoever_says_so() {
    // By number or address; a slip names those there are; for ever only with a yes.
    let double = Double::new();
    let address = double.cluster.state().nodes[1].address.to_string();
    double.ok(&["node", "drain", &address, "--wait"]);
    let list = double.ok(&["node", "list"]);
    assert!(list.text().contains("drained"), "{}", list.text());
    assert!(
        list.text()
            .contains("node 2 is empty: `esker node remove 2`"),
        "{}",
        list.text()
    );
    let told = double
        .ok(&["node", "drain", "2", "--undo", "--json"])
        .json();
    assert_eq!(
        told,
        json!({ "drained": { "node": 2, "is_draining": false, "is_empty": false } })
    );
    double.fails(&["node", "drain", "7"], 1, "the cluster has nodes 1, 2, 3");
    double.fails(&["node", "remove", "3"], 2, "for ever, whose");
    let told = double
        .ok(&["node", "remove", "3", "--yes", "--wait", "--json"])
        .json();
    assert_eq!(told, json!({ "removed": { "node": 3, "is_gone": true } }));
    double.fails(&["node", "remove", "3", "--yes"], 1, "there is no node 3");
    double.fails(
        &["node", "move", "tmep", "0", "1", "2"],
        1,
        "there is no such table",
    );
}

#[test]
fn who_waits_for_a_node_reads_what_it_waits_for() {
    // What is to come of it, then once why it does not go on, and at last that it is done.
    for (words, doing, done) in [
        (
            &["node", "drain", "1", "--wait"][..],
            "emptying node 1",
            "node 1 is empty\n",
        ),
        (
            &["node", "remove", "1", "--yes", "--wait"],
            "letting go of node 1",
            "node 1 is removed\n",
        ),
    ] {
        let double = Double::new();
        double.cluster.state().holds = 4;
        let ran = double.ok(words);
        assert_eq!(ran.text(), done);
        let why = format!("esker: {doing}: there is no room anywhere\n");
        assert_eq!(ran.err, format!("esker: its replicas are to go\n{why}"));
        // Who does not wait reads it at once, and so does who asks later.
        let double = Double::new();
        double.cluster.state().holds = 4;
        let words = &words[..words.len() - 1];
        let told = double.ok(words);
        let both = "its replicas are to go; there is no room anywhere\n";
        assert_eq!(told.text(), both);
        let list = double.ok(&["node", "list"]);
        assert!(list.text().contains("; there is no room anywhere"));
    }
}

#[test]
fn a_table_is_described_though_nobody_tells_of_nodes() {
    // Who leads the meta service has not heard of all nodes for some seconds after it was chosen.
    let double = Double::new();
    double.cluster.state().knows_nodes = false;
    double.fails(
        &["node", "list", "--timeout", "4s"],
        1,
        "cannot ask for the nodes",
    );
    let words = ["table", "describe", "temp", "--timeout", "4s"];
    let told = double.ok(&words);
    let note = "what keeps replicas from going on cannot be told: the meta service cannot say that \
                yet: its leader was chosen a moment ago";
    assert!(told.text().contains("8 of them healthy"), "{}", told.text());
    assert!(told.text().contains(note), "{}", told.text());
    let told = double.ok(&[&words[..], &["--json"]].concat()).json();
    assert!(told["notes"][0].as_str().unwrap().starts_with(note));
    assert_eq!(told["placing"].as_array().unwrap().len(), 8);
    // A node that has no page says so; one of Pegasus is not asked.
    double.cluster.state().knows_nodes = true;
    // A port that no test is given.
    double.cluster.state().nodes[2].address = "127.0.0.1:1".parse().unwrap();
    let told = double.ok(&words);
    let note = "node 3 does not tell how its replicas are: ";
    assert!(told.text().contains(note), "{}", told.text());
    double.cluster.state().knows_own = false;
    let told = double.ok(&[&words[..], &["--json"]].concat()).json();
    assert_eq!(told["notes"], json!([]));
}

#[test]
fn replicas_are_a_setting_and_the_level_is_a_word() {
    let double = Double::new();
    let told = double.ok(&["table", "set", "temp", "replicas", "2", "--wait"]);
    assert_eq!(
        told.text(),
        "the partitions of \"temp\" have 2 replicas; before: 3\n"
    );
    let told = double
        .ok(&["table", "set", "temp", "replicas", "3", "--json"])
        .json();
    assert_eq!(
        told,
        json!({ "set": { "table": "temp", "replicas": 3, "before": 2 } })
    );
    double.fails(
        &["table", "set", "temp", "replicas", "two"],
        2,
        "a number from 1 to 5",
    );
    double.fails(
        &["table", "set", "tmep", "replicas", "2"],
        1,
        "did you mean \"temp\"?",
    );
    assert_eq!(double.ok(&["balance", "--level"]).text(), "steady\n");
    let told = double
        .ok(&["balance", "--level", "lively", "--json"])
        .json();
    assert_eq!(told, json!({ "level": "lively", "before": "steady" }));
    assert_eq!(
        double.ok(&["balance", "--plan"]).text(),
        "every node has its share\n"
    );
    double.run(&["balance", "--level", "loud"]).exits(2);
}
