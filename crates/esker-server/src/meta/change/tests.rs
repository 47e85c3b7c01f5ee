//! Commands: what they do, what they refuse, and that replicas agree.

use std::collections::BTreeMap;

use esker_raft::{GroupId, ReplicaId};

use crate::meta::command::{EnvChange, Wish};
use crate::meta::rows::TableStatus;
use crate::meta::trial::{Trial, UNIX_MS, group, new_node, new_table};

use super::*;

#[test]
fn nothing_but_a_beginning_begins_a_cluster_and_only_once() {
    let mut state = State::default();
    let deed = Deed::SetLevel {
        level: Level::Steady,
    };
    let command = Command {
        unix_ms: UNIX_MS,
        deed,
    };
    let (outcome, rows) = state.apply_command(&command);
    let Outcome::Refused { refusal } = outcome else {
        panic!("refused")
    };
    assert_eq!((refusal.cause, rows.len()), (Cause::Begun, 0));
    let mut trial = Trial::new(1);
    let again = Deed::Begin {
        cluster: crate::meta::ids::ClusterId(8),
        name: "again".to_owned(),
        node: new_node(5, ""),
    };
    assert_eq!(trial.refused(again), Cause::Begun);
    assert_eq!(
        trial.state.partitions[&META].wished,
        BTreeMap::from([(ReplicaId(1), NodeId(1))])
    );
}

#[test]
fn a_node_gets_one_number_however_often_it_asks() {
    let mut trial = Trial::new(2);
    let again = trial.done(Deed::RegisterNode {
        node: new_node(2, "elsewhere"),
    });
    assert_eq!(again, Outcome::Node { node: NodeId(2) });
    trial.done(Deed::UpdateNode {
        node: NodeId(2),
        incarnation: 1,
        addresses: crate::meta::trial::addresses(2),
        label: String::new(),
    });
    // It runs: whoever has its nonce now is a copy.
    let node = new_node(2, "");
    assert_eq!(trial.refused(Deed::RegisterNode { node }), Cause::NodeInUse);
    trial.done(Deed::RemoveNode { node: NodeId(2) });
    // A number is never given twice.
    let new = trial.done(Deed::RegisterNode {
        node: new_node(3, ""),
    });
    assert_eq!(new, Outcome::Node { node: NodeId(3) });
    assert_eq!(
        trial.refused(Deed::RemoveNode { node: NodeId(2) }),
        Cause::NoNode
    );
    assert_eq!(
        trial.refused(Deed::RemoveNode { node: NodeId(1) }),
        Cause::NodeInUse
    );
    let node = new_node(4, &"x".repeat(65));
    assert_eq!(
        trial.refused(Deed::RegisterNode { node }),
        Cause::BadArgument
    );
}

#[test]
fn a_table_is_placed_evenly_with_first_nodes_by_turns() {
    let mut trial = Trial::new(4);
    trial.done(Deed::CreateTable {
        table: new_table("t", 64, 3),
    });
    let counts = trial.state.wished_counts();
    let (least, most) = (counts.values().min(), counts.values().max());
    assert!(
        most.zip(least)
            .is_some_and(|(most, least)| most - least <= 1),
        "{counts:?}"
    );
    let mut firsts: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (_, row) in trial.state.groups(TableId(1)) {
        assert_eq!(row.wished, row.first);
        *firsts.entry(row.wished[&ReplicaId(1)]).or_default() += 1;
    }
    assert_eq!(firsts.values().copied().collect::<Vec<_>>(), [16; 4]);
}

#[test]
fn no_two_replicas_share_a_host() {
    let mut trial = Trial::new(1);
    for (number, label) in [(2, "a"), (3, "a"), (4, "b"), (5, "b")] {
        trial.done(Deed::RegisterNode {
            node: new_node(number, label),
        });
    }
    let fourth = Deed::CreateTable {
        table: new_table("t", 4, 4),
    };
    assert_eq!(trial.refused(fourth), Cause::TooFewNodes);
    trial.done(Deed::CreateTable {
        table: new_table("t", 16, 3),
    });
    for (_, row) in trial.state.groups(TableId(1)) {
        let hosts: Vec<_> = row
            .wished
            .values()
            .map(|node| trial.state.host(*node))
            .collect();
        let mut apart = hosts.clone();
        apart.sort();
        apart.dedup();
        assert_eq!((apart.len(), hosts.len()), (3, 3));
    }
}

#[test]
fn tables_are_refused_with_the_cause() {
    let mut trial = Trial::new(3);
    let create = |table| Deed::CreateTable { table };
    for bad in [
        new_table("", 4, 3),
        new_table("two words", 4, 3),
        new_table(&"x".repeat(129), 4, 3),
        new_table("t", 0, 3),
        new_table("t", 3, 3),
        new_table("t", 2048, 3),
        new_table("t", 4, 0),
        new_table("t", 4, 6),
    ] {
        assert_eq!(trial.refused(create(bad)), Cause::BadArgument);
    }
    let env = |value: &str| [("default_ttl".to_owned(), value.to_owned())].into();
    let bad = crate::meta::command::NewTable {
        envs: env("soon"),
        ..new_table("t", 4, 3)
    };
    assert_eq!(trial.refused(create(bad)), Cause::BadSetting);
    assert_eq!(
        trial.refused(create(new_table("t", 4, 4))),
        Cause::TooFewNodes
    );
    trial.done(Deed::DrainNode {
        node: NodeId(3),
        is_draining: true,
    });
    assert_eq!(
        trial.refused(create(new_table("t", 4, 3))),
        Cause::TooFewNodes
    );
    trial.done(Deed::DrainNode {
        node: NodeId(3),
        is_draining: false,
    });
    trial.done(Deed::SetLevel {
        level: Level::Frozen,
    });
    assert_eq!(trial.refused(create(new_table("t", 4, 3))), Cause::Frozen);
    let raised = trial.done(Deed::SetLevel {
        level: Level::Steady,
    });
    assert_eq!(
        raised,
        Outcome::Level {
            before: Level::Frozen
        }
    );
    let made = trial.done(create(new_table("t", 4, 3)));
    assert_eq!(
        trial.refused(create(new_table("t", 4, 3))),
        Cause::TableExists
    );
    let or_same = |table| crate::meta::command::NewTable {
        or_same: true,
        ..table
    };
    assert_eq!(trial.done(create(or_same(new_table("t", 4, 3)))), made);
    let other = create(or_same(new_table("t", 8, 3)));
    assert_eq!(trial.refused(other), Cause::OtherTableExists);
}

#[test]
fn a_dropped_table_frees_its_name_and_comes_back_until_its_end() {
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("t", 4, 3));
    let dropping = |reserve_s, or_absent| Deed::DropTable {
        name: "t".to_owned(),
        reserve_s,
        or_absent,
    };
    trial.done(dropping(100, false));
    assert_eq!(trial.refused(dropping(100, false)), Cause::NoTable);
    assert_eq!(trial.done(dropping(100, true)), Outcome::Done);
    let second = trial.table(new_table("t", 4, 1));
    assert_ne!(second, table);
    let recall = |name: &str| Deed::RecallTable {
        table,
        name: name.to_owned(),
    };
    assert_eq!(trial.refused(recall("")), Cause::OtherTableExists);
    trial.done(recall("u"));
    assert_eq!(trial.state.tables[&table].status, TableStatus::Open);
    assert_eq!(trial.refused(recall("u")), Cause::NotDropped);
    let rename = |old: &str, new: &str| Deed::RenameTable {
        old: old.into(),
        new: new.into(),
    };
    assert_eq!(trial.refused(rename("t", "u")), Cause::OtherTableExists);
    trial.done(rename("t", "v"));
    trial.done(rename("u", "t"));
    trial.done(dropping(100, false));
    let at = |s: u64, deed| Command {
        unix_ms: UNIX_MS + s * 1000,
        deed,
    };
    let early = trial.apply_command(&at(99, Deed::ForgetTable { table }));
    assert!(matches!(early, Outcome::Refused { refusal } if refusal.cause == Cause::Timing));
    let late = trial.apply_command(&at(100, recall("")));
    assert!(matches!(late, Outcome::Refused { refusal } if refusal.cause == Cause::NoTable));
    trial.apply_command(&at(100, Deed::ForgetTable { table }));
    assert!(!trial.state.tables.contains_key(&table));
    assert_eq!(trial.state.groups(table).count(), 0);
    // Its number is not given again.
    assert!(trial.table(new_table("w", 4, 3)) > second);
}

#[test]
fn a_table_that_never_opened_is_gone_when_it_is_dropped() {
    let mut trial = Trial::new(3);
    trial.done(Deed::CreateTable {
        table: new_table("t", 4, 3),
    });
    let (name, or_absent) = ("t".to_owned(), false);
    let reserve_s = 9999;
    trial.done(Deed::DropTable {
        name,
        reserve_s,
        or_absent,
    });
    let table = TableId(1);
    let name = String::new();
    assert_eq!(
        trial.refused(Deed::RecallTable { table, name }),
        Cause::NoTable
    );
    assert_eq!(trial.rounds(20), 0);
    assert!(!trial.state.tables.contains_key(&table));
}

#[test]
fn settings_are_set_removed_and_cleared() {
    let mut trial = Trial::new(1);
    let table = trial.table(new_table("t", 1, 1));
    let revision = |trial: &Trial| trial.state.cluster.as_ref().expect("begun").tables_revision;
    let before = revision(&trial);
    let mut change = |change| {
        trial.apply(Deed::SetEnvs {
            name: "t".into(),
            change,
        })
    };
    let set = |pairs: &[(&str, &str)]| EnvChange::Set {
        envs: pairs
            .iter()
            .map(|pair| (pair.0.to_owned(), pair.1.to_owned()))
            .collect(),
    };
    let split = "replica.split.validate_partition_hash";
    change(set(&[
        ("default_ttl", "5"),
        (split, "true"),
        ("business.info", "x"),
    ]));
    change(EnvChange::Remove {
        keys: vec!["business.info".into(), "nothing".into()],
    });
    change(EnvChange::Clear {
        prefix: "replica".into(),
    });
    let refused = change(set(&[("default_ttl", "6"), ("colour", "red")]));
    assert!(matches!(refused, Outcome::Refused { refusal } if refusal.why.contains("colour")));
    let envs = BTreeMap::from([("default_ttl".to_owned(), "5".to_owned())]);
    assert_eq!(trial.state.tables[&table].envs, envs);
    // Nodes are told.
    assert_eq!(revision(&trial), before + 3);
    trial.done(Deed::SetEnvs {
        name: "t".into(),
        change: EnvChange::Clear {
            prefix: String::new(),
        },
    });
    assert_eq!(trial.state.tables[&table].envs.len(), 0);
}

fn wish(group: GroupId, version: u64) -> Wish {
    Wish {
        group,
        version,
        add: vec![],
        adopt: vec![],
        drop: vec![],
    }
}

#[test]
fn ids_of_replicas_rise_for_ever() {
    let mut trial = Trial::new(6);
    let table = trial.table(new_table("t", 1, 3));
    let group = group(table.0, 0);
    let mut ids = vec![3];
    for round in 1..20 {
        let row = &trial.state.partitions[&group];
        assert_eq!(row.version, round);
        let spare = |node: &NodeId| !row.wished.values().any(|at| at == node);
        let node = (1..=6).map(NodeId).find(spare).expect("a spare node");
        let drop = vec![*row.wished.keys().next().expect("a replica")];
        let wish = Wish {
            add: vec![node],
            drop,
            ..wish(group, row.version)
        };
        let Outcome::Replicas { replicas } = trial.done(Deed::Wish { wish: wish.clone() }) else {
            panic!("replicas");
        };
        ids.extend(replicas.iter().map(|id| id.0));
        // The same wish came twice.
        assert_eq!(trial.refused(Deed::Wish { wish }), Cause::Stale);
    }
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
}

#[test]
fn unsound_wishes_are_refused() {
    let mut trial = Trial::new(5);
    trial.done(Deed::UpdateNode {
        node: NodeId(5),
        incarnation: 1,
        addresses: crate::meta::trial::addresses(5),
        label: "a".into(),
    });
    trial.done(Deed::UpdateNode {
        node: NodeId(4),
        incarnation: 1,
        addresses: crate::meta::trial::addresses(4),
        label: "a".into(),
    });
    for number in [4, 5] {
        trial
            .reports
            .get_mut(&NodeId(number))
            .expect("a node")
            .label = "a".into();
    }
    trial.done(Deed::CreateTable {
        table: new_table("t", 1, 3),
    });
    let group = group(1, 0);
    let made = Deed::Wish {
        wish: Wish {
            add: vec![NodeId(5)],
            ..wish(group, 1)
        },
    };
    assert_eq!(trial.refused(made), Cause::Stale, "it is being made");
    trial.rounds(3);
    let wished = trial.state.partitions[&group].wished.clone();
    let at: Vec<NodeId> = wished.values().copied().collect();
    let has_shared = at.iter().find(|node| node.0 >= 4).copied();
    let mut refused = |wish: Wish| trial.refused(Deed::Wish { wish });
    let base = || wish(group, 1);
    let drop = vec![ReplicaId(1)];
    assert_eq!(refused(Wish { drop, ..base() }), Cause::TooFewCopies);
    assert_eq!(
        refused(Wish {
            add: vec![at[0]],
            ..base()
        }),
        Cause::BadArgument
    );
    assert_eq!(
        refused(Wish {
            add: vec![NodeId(9)],
            ..base()
        }),
        Cause::NoNode
    );
    let drop = vec![ReplicaId(7)];
    assert_eq!(refused(Wish { drop, ..base() }), Cause::BadArgument);
    let adopt = vec![(ReplicaId(4), NodeId(5))];
    assert_eq!(refused(Wish { adopt, ..base() }), Cause::BadArgument);
    assert_eq!(refused(wish(GroupId(99), 1)), Cause::NoTable);
    let twins = match has_shared {
        Some(NodeId(4)) => vec![NodeId(5)],
        Some(_) => vec![NodeId(4)],
        None => vec![NodeId(4), NodeId(5)],
    };
    assert_eq!(
        refused(Wish {
            add: twins,
            ..base()
        }),
        Cause::BadArgument
    );
}

#[test]
fn any_prefix_and_its_rows_lead_to_the_same_state() {
    let mut trial = Trial::new(4);
    let table = trial.table(new_table("t", 4, 3));
    trial.table(new_table("u", 2, 2));
    trial.done(Deed::SetReplicaCount {
        name: "u".into(),
        count: 3,
        hosts: 4,
    });
    trial.done(Deed::DrainNode {
        node: NodeId(2),
        is_draining: true,
    });
    trial.rounds(20);
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1,
        or_absent: false,
    });
    let unix_ms = UNIX_MS + 5000;
    trial.apply_command(&Command {
        unix_ms,
        deed: Deed::ForgetTable { table },
    });
    assert!(trial.entries.len() > 20);
    for cut in 0..trial.entries.len() {
        let (before, after) = trial.entries.split_at(cut);
        let mut one = State::default();
        for entry in before {
            one.apply(entry).expect("a known layout");
        }
        let mut loaded = State::load(one.rows()).expect("rows of its own");
        assert_eq!(loaded, one);
        for entry in after {
            let answers = (loaded.apply(entry), one.apply(entry));
            assert_eq!(answers.0, answers.1);
        }
        assert_eq!((&loaded, &one), (&trial.state, &trial.state));
    }
}

#[test]
fn an_entry_of_another_layout_stops_and_a_broken_one_is_refused() {
    let mut trial = Trial::new(1);
    let later = VERSION + 1;
    assert_eq!(trial.state.apply(&[later, 0]), Err(UnknownLayout(later)));
    let sound = trial.entries[0].clone();
    let before = trial.state.clone();
    let mut broken = vec![Vec::new()];
    broken.extend((1..sound.len()).map(|len| sound[..len].to_vec()));
    broken.push([&sound[..], &[0]].concat());
    broken.push(vec![1; (1 << 20) + 1]);
    for entry in broken {
        let applied = trial.state.apply(&entry).expect("refused");
        let Ok(Outcome::Refused { refusal }) = Outcome::decode(&applied.answer) else {
            panic!("refused")
        };
        assert_eq!((refusal.cause, applied.rows.len()), (Cause::Unreadable, 0));
    }
    assert_eq!(trial.state, before);
}
