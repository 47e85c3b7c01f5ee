//! Tests of what a node knows of the cluster.

use crate::meta::rows::Addresses;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use super::*;

fn facts(number: u32, is_dropped: bool) -> TableFacts {
    TableFacts {
        table: TableId(number),
        name: format!("table {number}"),
        partition_count: 8,
        is_dropped,
        default_ttl_s: 60,
        validates_hash: true,
        envs: BTreeMap::from([("default_ttl".to_owned(), "60".to_owned())]),
    }
}

fn told() -> [Directive; 2] {
    let at = |port| SocketAddrV4::new([127, 0, 0, 1].into(), port);
    let addresses = Addresses {
        client: at(1),
        meta: None,
        peer: at(2).into(),
    };
    [
        Directive::Tables {
            revision: 7,
            tables: vec![facts(1, false), facts(2, true)],
        },
        Directive::Nodes {
            revision: 9,
            nodes: vec![KnownNode {
                node: NodeId(3),
                incarnation: 2,
                addresses,
            }],
        },
    ]
}

#[test]
fn what_was_learned_is_known_in_the_next_life() {
    let mut knowledge = Knowledge::default();
    let kept: Vec<_> = told()
        .iter()
        .filter_map(|directive| knowledge.learn(directive))
        .collect();
    let names: Vec<_> = kept.iter().map(|fact| fact.0).collect();
    assert_eq!(names, FACTS);
    assert_eq!(
        (knowledge.tables_revision, knowledge.nodes_revision),
        (7, 9)
    );
    let again = Knowledge::load(kept.iter().map(|fact| &fact.1[..])).unwrap();
    assert_eq!(again, knowledge);
}

#[test]
fn a_list_takes_the_place_of_the_one_before() {
    let mut knowledge = Knowledge::default();
    for directive in told() {
        knowledge.learn(&directive);
    }
    let (revision, tables) = (8, vec![facts(3, false)]);
    knowledge.learn(&Directive::Tables { revision, tables });
    assert!(knowledge.open_table(TableId(1)).is_none());
    assert!(knowledge.open_table(TableId(3)).is_some());
    assert_eq!(knowledge.nodes.len(), 1);
}

#[test]
fn a_dropped_table_answers_nobody() {
    let mut knowledge = Knowledge::default();
    for directive in told() {
        knowledge.learn(&directive);
    }
    assert!(knowledge.open_table(TableId(1)).is_some());
    assert!(knowledge.open_table(TableId(2)).is_none());
}

#[test]
fn what_is_no_list_is_no_fact_and_a_damaged_fact_is_refused() {
    let mut knowledge = Knowledge::default();
    let why = "stop".to_owned();
    assert!(knowledge.learn(&Directive::Stop { why }).is_none());
    assert!(Knowledge::load([&b"\x01\xff\xff\xff\xff"[..]]).is_err());
}

#[test]
fn of_numbers_at_one_address_the_one_that_is_up_counts_and_then_the_last() {
    let mut knowledge = Knowledge::default();
    let [_, nodes] = told();
    knowledge.learn(&nodes);
    let facts = knowledge.nodes[&NodeId(3)].clone();
    let address = facts.addresses.client;
    // The old number goes once nothing counts on it, and is dead meanwhile.
    for node in [4, 7].map(NodeId) {
        let facts = KnownNode {
            node,
            ..facts.clone()
        };
        knowledge.nodes.insert(node, facts);
    }
    let at = |up: &[u64]| knowledge.node_at(address, |node| up.contains(&node.0));
    assert_eq!(at(&[4]), Some(NodeId(4)));
    assert_eq!(at(&[3, 4]), Some(NodeId(4)));
    assert_eq!(at(&[]), Some(NodeId(7)));
    let nobody = SocketAddrV4::new([127, 0, 0, 1].into(), 9);
    assert_eq!(knowledge.node_at(nobody, |_| true), None);
}

#[test]
fn a_node_that_is_missing_before_others_was_let_go_of() {
    let mut knowledge = Knowledge::default();
    assert!(!knowledge.was_removed(NodeId(1)), "nobody was told of");
    told().iter().for_each(|directive| {
        knowledge.learn(directive);
    });
    let removed = (0..9).filter(|node| knowledge.was_removed(NodeId(*node)));
    let removed: Vec<u64> = removed.collect();
    // A later one may have come since.
    assert_eq!(removed, [1, 2]);
}
