//! There and back, cut short, changed, and as the bytes have been from the first version on.

use std::fmt::Debug;

use esker_raft::ChangeStep;

use crate::meta::command::{Command, Deed, EnvChange, NewNode, Recover, Registered, Wish};
use crate::meta::directive::{
    Directive, KnownNode, TableFacts, decode_directives, encode_directives,
};
use crate::meta::epoch::Epoch;
use crate::meta::ids::{ClusterId, TableId};
use crate::meta::outcome::{Cause, Outcome, Refusal};
use crate::meta::report::{Leaderless, ReplicaReport, Report, Role};
use crate::meta::rows::{EpochRow, Level, PartitionRow, RecoveryRow, TableRow, TableStatus};
use crate::meta::trial::{Trial, addresses, new_node, new_table, report};

use super::*;

fn members() -> Configuration {
    let mut members =
        Configuration::first(1, &[(ReplicaId(1), NodeId(4)), (ReplicaId(2), NodeId(5))]);
    members.replica_max = 9;
    members
}

fn deeds() -> Vec<Deed> {
    let node = new_node(3, "rack");
    let (id, table, name) = (NodeId(3), TableId(7), "a name".to_owned());
    let envs: BTreeMap<String, String> =
        [("k".into(), "v".into()), ("l".into(), "w".into())].into();
    let set = |change| Deed::SetEnvs {
        name: "t".into(),
        change,
    };
    vec![
        Deed::Begin {
            cluster: ClusterId(5),
            name: name.clone(),
            node: node.clone(),
        },
        Deed::RegisterNode { node },
        Deed::UpdateNode {
            node: id,
            incarnation: 2,
            addresses: crate::meta::rows::Addresses {
                meta: None,
                peer: "[::1]:9".parse().expect("an address"),
                ..addresses(8)
            },
            label: String::new(),
        },
        Deed::DrainNode {
            node: id,
            is_draining: true,
        },
        Deed::LeaveNode { node: id },
        Deed::RemoveNode { node: id },
        Deed::CreateTable {
            table: new_table("t", 4, 3),
        },
        Deed::OpenTable { table },
        Deed::DropTable {
            name: name.clone(),
            reserve_s: 1,
            or_absent: false,
        },
        Deed::RecallTable {
            table,
            name: name.clone(),
        },
        Deed::RenameTable {
            old: name.clone(),
            new: "n".into(),
        },
        set(EnvChange::Set { envs }),
        set(EnvChange::Remove {
            keys: vec!["a".into(), "b".into()],
        }),
        set(EnvChange::Clear { prefix: "p".into() }),
        Deed::SetReplicaCount {
            name,
            count: 2,
            hosts: 3,
        },
        Deed::ForgetTable { table },
        Deed::Wish {
            wish: Wish {
                group: GroupId(8),
                version: 2,
                add: vec![id],
                adopt: vec![(ReplicaId(1), id)],
                drop: vec![ReplicaId(2), ReplicaId(3)],
            },
        },
        Deed::NoteMade {
            replicas: vec![(GroupId(1), ReplicaId(2))],
        },
        Deed::SetLevel {
            level: Level::Lively,
        },
        Deed::SetMetaReplicas { count: 5 },
        Deed::Recover {
            recover: Recover {
                group: GroupId(8),
                version: 2,
                base: ReplicaId(1),
                node: id,
            },
        },
        Deed::NoteRecovered {
            groups: vec![(GroupId(1), ReplicaId(2))],
        },
        Deed::RecoverMeta { epoch: epoch() },
        Deed::MakeAnew {
            table,
            candidates: vec![id, NodeId(4)],
        },
    ]
}

fn epoch() -> Epoch {
    Epoch {
        number: 1,
        drawn: 0x2345,
        base: ReplicaId(2),
        node: NodeId(3),
        last: ReplicaId(4),
    }
}

fn outcomes() -> Vec<Outcome> {
    vec![
        Outcome::Done,
        Outcome::Table { table: TableId(1) },
        Outcome::Node { node: NodeId(2) },
        Outcome::Level {
            before: Level::Stopped,
        },
        Outcome::Replicas {
            replicas: vec![ReplicaId(4)],
        },
        Outcome::Count { before: 3 },
        Refusal::new(Cause::TooFewCopies, "because").into(),
    ]
}

fn some_report() -> Report {
    let replica = |configuration: Option<Configuration>, damage: Option<&str>| ReplicaReport {
        stall: None,
        leaderless: None,
        group: GroupId(1 << 32),
        replica: ReplicaId(2),
        role: match configuration {
            Some(_) => Role::Leader,
            None => Role::Learner,
        },
        term: 4,
        applied: 5,
        bytes: 6,
        damage: damage.map(str::to_owned),
        configuration,
    };
    let leaderless = Leaderless {
        last_term: 7,
        last: 8,
        configuration: members(),
    };
    let without = ReplicaReport {
        leaderless: Some(leaderless),
        ..replica(None, None)
    };
    Report {
        asks: 12,
        unix_ms: 1_700_000_000_000,
        replicas: vec![
            replica(Some(members()), None),
            replica(None, Some("a bit")),
            without,
        ],
        lost: vec![(GroupId(4), ReplicaId(3))],
        ..report(3)
    }
}

fn newer_directives() -> Vec<Directive> {
    let (group, replica) = (GroupId(9), ReplicaId(3));
    vec![
        Directive::Free {
            asked: 4,
            held: vec![GroupId(5), group],
        },
        Directive::Recover {
            group,
            replica,
            last: ReplicaId(8),
        },
        Directive::Fence { group, replica },
    ]
}

fn some_directives() -> Vec<Directive> {
    let (group, replica) = (GroupId(9), ReplicaId(3));
    let facts = TableFacts {
        table: TableId(1),
        name: "t".into(),
        partition_count: 4,
        is_dropped: false,
        default_ttl_s: 9,
        validates_hash: true,
        envs: [("k".into(), "v".into())].into(),
    };
    vec![
        Directive::Tables {
            revision: 4,
            tables: vec![facts],
        },
        Directive::Nodes {
            revision: 5,
            nodes: vec![KnownNode {
                node: NodeId(1),
                incarnation: 3,
                addresses: addresses(1),
            }],
        },
        Directive::Create {
            group,
            replica,
            first: vec![(replica, NodeId(1))],
        },
        Directive::Destroy {
            group,
            replica,
            without: Some(members()),
        },
        Directive::Destroy {
            group,
            replica,
            without: None,
        },
        Directive::Change {
            group,
            version: 3,
            change: Change::of(ChangeStep::AddLearner(replica, NodeId(2))),
        },
        Directive::Discard { group, replica },
        Directive::Transfer { group, to: replica },
        Directive::Stop {
            why: "elsewhere".into(),
        },
    ]
}

fn registered() -> Registered {
    let (cluster, node) = (ClusterId(5), NodeId(7));
    Registered { cluster, node }
}

/// Every beginning of the bytes is refused, and so is more; a changed byte is refused, or the value
/// is another one that is written as it was read.
fn holds<T: PartialEq + Debug>(
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
) {
    let bytes = encode(value);
    assert_eq!(decode(&bytes).as_ref(), Ok(value));
    for len in 0..bytes.len() {
        decode(&bytes[..len]).expect_err("cut short");
    }
    decode(&[&bytes[..], &[0]].concat()).expect_err("more than there is");
    for place in 0..bytes.len() {
        for change in [1, 2, 0x10, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[place] ^= change;
            if let Ok(other) = decode(&changed) {
                assert_ne!(&other, value);
                assert_eq!(encode(&other), changed);
            }
        }
    }
}

#[test]
fn what_travels_is_read_as_it_was_written_or_refused() {
    for deed in deeds() {
        holds(
            &Command { unix_ms: 77, deed },
            Command::encode,
            Command::decode,
        );
    }
    for outcome in outcomes() {
        holds(&outcome, Outcome::encode, Outcome::decode);
    }
    holds(&some_report(), Report::encode, Report::decode);
    holds(&new_node(3, "rack"), NewNode::encode, NewNode::decode);
    holds(&registered(), Registered::encode, Registered::decode);
    let directives = some_directives();
    holds(&directives, |all| encode_directives(all), decode_directives);
    let directives = [some_directives(), newer_directives()].concat();
    holds(&directives, |all| encode_directives(all), decode_directives);
}

#[test]
fn every_row_is_read_as_it_was_written_or_refused() {
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("t", 1, 3));
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1,
        or_absent: false,
    });
    let row: &TableRow = &trial.state.tables[&table];
    assert!(matches!(row.status, TableStatus::Dropped { .. }));
    holds(row, |row| encode(1, row), |bytes| decode(1, bytes, 4096));
    let row = PartitionRow::begun(&[NodeId(1), NodeId(2)]);
    holds(&row, |row| encode(1, row), |bytes| decode(1, bytes, 4096));
    let row = &trial.state.nodes[&NodeId(2)];
    holds(row, |row| encode(1, row), |bytes| decode(1, bytes, 4096));
    let row = RecoveryRow {
        base: ReplicaId(2),
        node: NodeId(3),
        last: ReplicaId(4),
        decided_ms: 5,
        is_done: true,
    };
    holds(&row, |row| encode(1, row), |bytes| decode(1, bytes, 4096));
    let row = EpochRow {
        epoch: epoch(),
        decided_ms: 6,
        tables_from: TableId(7),
        tables_to: TableId(8),
        nodes_from: NodeId(9),
        nodes_to: NodeId(10),
    };
    holds(&row, |row| encode(1, row), |bytes| decode(1, bytes, 4096));
    let row = trial.state.cluster.as_ref().expect("begun");
    holds(row, |row| encode(1, row), |bytes| decode(1, bytes, 4096));
}

#[test]
fn a_list_takes_no_memory_for_what_is_not_there() {
    // Four thousand million directives, says the count.
    let refused = decode_directives(&[2, 0xff, 0xff, 0xff, 0xff, 2]);
    assert_eq!(refused.expect_err("so many").expected, "list");
    let refused = Report::decode(&vec![1; 2 << 20]);
    assert_eq!(refused.expect_err("so long").offset, 0);
}

#[test]
fn keys_out_of_their_order_are_refused() {
    let map = |keys: [u64; 2]| {
        let mut bytes = vec![1];
        bytes.put_u32(2);
        for key in keys {
            bytes.put_u64(key);
            bytes.put_u64(0);
        }
        decode::<BTreeMap<ReplicaId, NodeId>>(1, &bytes, 100)
    };
    assert!(map([1, 2]).is_ok());
    assert!(map([2, 1]).is_err() && map([2, 2]).is_err());
}

/// A change of these bytes is a new layout, with a number of its own.
#[test]
fn bytes_are_what_they_were() {
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let row = PartitionRow::begun(&[NodeId(3)]);
    assert_eq!(
        hex(&encode(1, &row)),
        concat!(
            "01",
            "0100000000000000",
            "0100000000000000",
            "01000000",
            "0100000000000000",
            "0300000000000000",
            "01000000",
            "0100000000000000",
            "01000000",
            "0100000000000000",
            "0300000000000000",
        )
    );
    let command = Command {
        unix_ms: 258,
        deed: Deed::DrainNode {
            node: NodeId(2),
            is_draining: true,
        },
    };
    assert_eq!(
        hex(&command.encode()),
        "010201000000000000030200000000000000".to_owned() + "01"
    );
    assert_eq!(
        hex(&encode(1, &addresses(1))),
        "01047f000001d184".to_owned() + "01047f000002d184" + "047f000003d184"
    );
    assert_eq!(
        hex(&Outcome::Level {
            before: Level::Steady
        }
        .encode()),
        "010303"
    );
    let facts = Directive::Transfer {
        group: GroupId(1),
        to: ReplicaId(2),
    };
    assert_eq!(
        hex(&encode_directives(&[facts])),
        "02010000000501000000000000000200000000000000"
    );
    // What a node of before reads has a layout that it knows.
    let groups = vec![(GroupId(1), ReplicaId(2))];
    let command = Command {
        unix_ms: 258,
        deed: Deed::NoteRecovered { groups },
    };
    assert_eq!(
        hex(&command.encode()),
        "03020100000000000013010000000100000000000000".to_owned() + "0200000000000000"
    );
    let command = Command {
        unix_ms: 258,
        deed: Deed::RecoverMeta { epoch: epoch() },
    };
    assert_eq!(
        hex(&command.encode()),
        "0402010000000000001401000000000000004523000000000000".to_owned()
            + "020000000000000003000000000000000400000000000000"
    );
    let command = Command {
        unix_ms: 258,
        deed: Deed::MakeAnew {
            table: TableId(6),
            candidates: vec![NodeId(7)],
        },
    };
    assert_eq!(
        hex(&command.encode()),
        "0502010000000000001506000000010000000700000000000000"
    );
    let (asked, held) = (2, vec![GroupId(1)]);
    assert_eq!(
        hex(&encode_directives(&[Directive::Free { asked, held }])),
        "0301000000080200000000000000010000000100000000000000"
    );
    assert_eq!(
        hex(&new_node(3, "rack").encode()),
        "018703000000000000".to_owned()
            + "047f000001d38401047f000002d384047f000003d384"
            + "040000007261636b"
    );
    assert_eq!(
        hex(&registered().encode()),
        "05000000000000000700000000000000"
    );
}
