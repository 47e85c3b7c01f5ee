//! What is said of nodes.

use esker_rpc::codec::scalars::Address;

use super::*;

fn node(number: i64) -> NodeFacts {
    let port = 34_800 + u16::try_from(number).unwrap();
    let at = |port: u16| {
        Address(Some(std::net::SocketAddrV4::new(
            [127, 0, 0, 1].into(),
            port,
        )))
    };
    NodeFacts {
        node: number,
        address: at(port),
        meta: at(port - 200),
        peer: format!("127.0.0.1:{}", port - 100),
        is_alive: true,
        replicas: 24,
        replaced_in_ms: -1,
        ..NodeFacts::default()
    }
}

fn silent(number: i64, replaced_in_ms: i64) -> NodeFacts {
    NodeFacts {
        is_alive: false,
        silent_ms: 12_345,
        replaced_in_ms,
        ..node(number)
    }
}

#[test]
fn a_node_is_found_by_number_and_by_each_of_its_addresses() {
    let mut nodes = [node(1), silent(2, 0), node(4)];
    nodes[2].address = nodes[1].address;
    for (word, number) in [
        ("1", 1),
        ("127.0.0.1:34801", 1),
        ("127.0.0.1:34602", 2),
        ("2", 2),
    ] {
        assert_eq!(find(&nodes, word).unwrap().node, number, "{word}");
    }
    // Two at one address: the one that lives.
    assert_eq!(find(&nodes, "127.0.0.1:34802").unwrap().node, 4);
    for word in ["3", "-1", "localhost:34801", ""] {
        let told = format!("{:?}", find(&nodes, word).unwrap_err());
        assert!(told.contains("the cluster has nodes 1, 2, 4"), "{told}");
    }
}

#[test]
fn a_silent_node_is_told_with_the_hour_and_what_to_do() {
    // 1 700 000 000 s is 22:13:20.
    let now_ms = 1_700_000_000_000;
    let said = |one: &NodeFacts| note(one, now_ms).unwrap();
    assert_eq!(
        said(&silent(3, 60_000)),
        "node 3 is silent for 12 s; its 24 replicas are made anew elsewhere at 22:14:20 UTC, or \
         now by `esker node remove 3`"
    );
    assert_eq!(
        said(&silent(3, 0)),
        "node 3 is silent for 12 s; its 24 replicas are being made anew elsewhere"
    );
    let replaced = NodeFacts {
        successor: 4,
        ..silent(3, 0)
    };
    assert!(said(&replaced).contains("node 4 is at its address now"));
    // That it is removed is not promised where that is refused.
    let needed = |leaderless| NodeFacts {
        leaderless,
        kept_for: "2 partitions have no leader without node 3: start it again".to_owned(),
        ..silent(3, 60_000)
    };
    assert_eq!(
        said(&needed(2)),
        "node 3 is silent for 12 s; 22 of its replicas are made anew elsewhere at 22:14:20 UTC; 2 \
         partitions have no leader without node 3: start it again"
    );
    assert_eq!(
        said(&needed(24)),
        "node 3 is silent for 12 s; 2 partitions have no leader without node 3: start it again"
    );
    let just = NodeFacts {
        silent_ms: 6_500,
        ..silent(3, 60_000)
    };
    assert!(said(&just).ends_with("22:14:20 UTC, or in 4 s by `esker node remove 3`"));
    let one = NodeFacts {
        replicas: 1,
        ..silent(3, 0)
    };
    assert!(said(&one).ends_with("its 1 replica is being made anew elsewhere"));
    // A small cluster has no other host for them.
    let alone = NodeFacts {
        waits_for: "24 of its replicas wait for another node".to_owned(),
        ..silent(3, 587_655)
    };
    let told = said(&alone);
    assert!(told.contains("12 s; 24 of its replicas wait for another node: start it again"));
    assert!(
        !told.contains("elsewhere") && !told.contains("node remove"),
        "{told}"
    );
    // Of some there is one, and what becomes of those is told as well.
    let some = NodeFacts {
        waits_for: "4 of its replicas wait for another node".to_owned(),
        stuck: 4,
        ..silent(3, 60_000)
    };
    assert_eq!(
        said(&some),
        "node 3 is silent for 12 s; 20 of its replicas are made anew elsewhere at 22:14:20 UTC, \
         or now by `esker node remove 3`; 4 of its replicas wait for another node: start it \
         again, or bring another node (`esker serve --join`)"
    );
    let empty = NodeFacts {
        replicas: 0,
        ..silent(3, 0)
    };
    assert!(said(&empty).contains("`esker node remove 3` forgets it"));
}

#[test]
fn one_that_is_to_go_says_how_far_it_is() {
    let stay = |stay, replicas| NodeFacts {
        stay,
        replicas,
        ..node(2)
    };
    assert_eq!(note(&stay(NodeStay::NS_STAYS, 5), 0), None);
    let told = [
        stay(NodeStay::NS_DRAINS, 5),
        stay(NodeStay::NS_DRAINS, 0),
        stay(NodeStay::NS_LEAVES, 1),
    ]
    .map(|one| (state(&one), note(&one, 0).unwrap()));
    assert_eq!(
        told[0],
        (
            "draining",
            "node 2 is being emptied: 5 replicas left".to_owned()
        )
    );
    assert_eq!(told[1].0, "drained");
    assert!(told[1].1.contains("`esker node remove 2` lets go of it"));
    assert_eq!(
        told[2],
        (
            "leaving",
            "node 2 is let go of once it is empty: 1 replica left".to_owned()
        )
    );
}

#[test]
fn a_clock_that_is_wrong_is_told_beside_what_else_there_is() {
    let apart = |clock_ahead_ms, stay| NodeFacts {
        clock_ahead_ms,
        stay,
        replicas: 5,
        ..node(2)
    };
    assert_eq!(
        note(&apart(3_600_400, NodeStay::NS_STAYS), 0).unwrap(),
        "the clock of node 2 is 3600 s ahead of that of the leader of the meta service: records \
         end early where it leads"
    );
    let told = note(&apart(-7_000, NodeStay::NS_DRAINS), 0).unwrap();
    assert!(told.starts_with("node 2 is being emptied: 5 replicas left; the clock of node 2"));
    assert!(told.ends_with(
        "7 s behind that of the leader of the meta service: records end late where it leads"
    ));
}

#[test]
fn what_nobody_knows_is_not_empty() {
    let one = |replicas, copies| NodeFacts {
        stay: NodeStay::NS_DRAINS,
        replicas,
        copies,
        ..node(2)
    };
    let left = [(0, 0), (5, 2), (0, 3), (0, -1), (7, -1)].map(|(a, b)| left_on(&one(a, b)));
    assert_eq!(left, [0, 5, 3, 1, 7]);
    let unknown = one(0, -1);
    assert_eq!(state(&unknown), "draining");
    assert_eq!(
        note(&unknown, 0).unwrap(),
        "node 2 is being emptied: nobody knows yet what it has"
    );
    assert_eq!(
        note(&one(0, 3), 0).unwrap(),
        "node 2 is being emptied: 3 replicas left"
    );
}
