//! Every struct against the protocol's tables, there and back, and changed by strangers.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::{balance, data, level, meta, node, not_offered, own, service};
use crate::codec::described::Table;
use crate::codec::frame::{self, RequestHead};
use crate::codec::reply_reader::ReplyReader;
use crate::codec::request_reader::RequestReader;
use crate::codec::scalars::Blob;
use crate::codec::thrift::{MEMORY_BASE, MEMORY_PER_BYTE_MAX, Reader, Wire};
use crate::dice::Dice;
use crate::error::ErrorCode;
use crate::message::call::{Access, Silence, Unreadable};
use crate::message::data::{KeyAnswer, KeyCall};
use crate::message::meta::MetaCall;
use crate::message::node::NodeCall;

/// One check, for whichever struct.
trait Check {
    fn run<T: Table + PartialEq + Debug>(&mut self);
}

/// Runs a check for every struct and enumeration.
fn for_each_table(check: &mut impl Check) {
    macro_rules! run {
        ($($module:ident: $($name:ident)*;)*) => {
            $($(check.run::<$module::$name>();)*)*
        };
    }
    run! {
        data: FilterType CasCheckType MutateOperation UpdateType UpdateRequest UpdateResponse
            ReadResponse TtlResponse CountResponse KeyValue MultiPutRequest MultiRemoveRequest
            MultiRemoveResponse MultiGetRequest MultiGetResponse FullKey BatchGetRequest FullRow
            BatchGetResponse IncrRequest IncrResponse CheckAndSetRequest CheckAndSetResponse Mutate
            CheckAndMutateRequest CheckAndMutateResponse GetScannerRequest ScanRequest ScanResponse;
        meta: TableStatus PartitionConfiguration QueryConfigRequest QueryConfigResponse
            TableDescription NodeStatus EnvOperation PatternMatch CreateTableOptions
            CreateTableRequest CreateTableResponse DropTableOptions DropTableRequest
            DropTableResponse ListTablesRequest ListTablesResponse NodeDescription ListNodesRequest
            ListNodesResponse DescribeClusterRequest DescribeClusterResponse UpdateTableEnvRequest
            UpdateTableEnvResponse ControlMetaRequest ControlMetaResponse RecallTableRequest
            RecallTableResponse RenameTableRequest RenameTableResponse;
        level: MetaLevel;
        balance: ProposalKind BalanceKind ProposalAction ProposeBalancerRequest
            ProposeBalancerResponse GetReplicaCountRequest GetReplicaCountResponse
            SetReplicaCountRequest SetReplicaCountResponse;
        own: NodeStay NodeDeed NodeFacts ShowNodesRequest ShowNodesResponse ChangeNodeRequest
            ChangeNodeResponse MoveReplicaRequest MoveReplicaResponse BalanceRequest BalanceStep
            BalanceResponse SetMetaReplicasRequest SetMetaReplicasResponse PartitionStanding
            PartitionFacts RecoverTableRequest RecoverTableResponse;
        node: QueryTablesRequest QueryTablesResponse;
        service: RemoteCommand NegotiationStatus NegotiationRequest NegotiationResponse;
        frame: RequestMeta;
    }
}

fn protocol() -> BTreeSet<String> {
    let text = include_str!("protocol.txt").replace("\n  ", " ");
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn structs_and_calls_are_those_of_the_protocol() {
    #[derive(Default)]
    struct Tables(BTreeSet<String>);
    impl Check for Tables {
        fn run<T: Table + PartialEq + Debug>(&mut self) {
            let table = T::table().replace("r#", "");
            assert!(self.0.insert(table.trim_end().to_owned()));
        }
    }
    let mut ours = Tables::default();
    for_each_table(&mut ours);
    let count = ours.0.len();
    ours.0.extend(KeyCall::table());
    ours.0.extend(MetaCall::table());
    ours.0.extend(NodeCall::table());
    let protocol = protocol();
    for line in ours.0.difference(&protocol) {
        println!("not in the protocol: {line}");
    }
    for line in protocol.difference(&ours.0) {
        println!("not in the code: {line}");
    }
    assert!(ours.0 == protocol, "the lines above differ");

    // No struct of the sources is missing in the list above.
    let sources = [
        include_str!("data.rs"),
        include_str!("meta.rs"),
        include_str!("level.rs"),
        include_str!("balance.rs"),
        include_str!("own.rs"),
        include_str!("node.rs"),
        include_str!("service.rs"),
        include_str!("../codec/frame.rs"),
    ];
    let declared: usize = sources
        .iter()
        .map(|source| {
            source.matches("\nwire_struct! {").count() + source.matches("\nwire_enum! {").count()
        })
        .sum();
    assert_eq!(count, declared);
}

fn bytes_of<T: Wire>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

#[test]
fn every_struct_comes_back_as_it_went() {
    struct ThereAndBack;
    impl Check for ThereAndBack {
        fn run<T: Table + PartialEq + Debug>(&mut self) {
            for seed in 0..200 {
                let value = T::draw(&mut Dice::new(seed));
                let bytes = bytes_of(&value);
                let mut reader = Reader::new(&bytes);
                assert_eq!(T::take(&mut reader).as_ref(), Ok(&value), "seed {seed}");
                reader.end().unwrap();
            }
        }
    }
    for_each_table(&mut ThereAndBack);
}

#[test]
fn a_struct_that_is_cut_off_is_refused_wherever_it_is_cut() {
    struct Cut;
    impl Check for Cut {
        fn run<T: Table + PartialEq + Debug>(&mut self) {
            for seed in 0..20 {
                let bytes = bytes_of(&T::draw(&mut Dice::new(seed)));
                for len in 0..bytes.len() {
                    assert!(T::take(&mut Reader::new(&bytes[..len])).is_err());
                }
            }
        }
    }
    for_each_table(&mut Cut);
}

/// Takes a `T` out of `bytes`, whatever they are, and holds the memory against the bound.
fn take_any<T: Wire>(bytes: &[u8]) -> bool {
    let mut is_ok = false;
    let measured = allocation_counter::measure(|| is_ok = T::take(&mut Reader::new(bytes)).is_ok());
    let allowed = MEMORY_BASE + MEMORY_PER_BYTE_MAX * bytes.len();
    assert!(
        measured.bytes_max <= u64::try_from(allowed).unwrap(),
        "{bytes:?}"
    );
    is_ok
}

#[test]
fn edges_in_place_of_any_length_take_no_memory() {
    // Every word of every struct becomes, in turn, each number that lengths and counts break at.
    struct Edges(usize);
    impl Check for Edges {
        fn run<T: Table + PartialEq + Debug>(&mut self) {
            for seed in 0..4 {
                let bytes = bytes_of(&T::draw(&mut Dice::new(seed)));
                for at in 0..bytes.len().saturating_sub(3) {
                    for edge in [
                        u32::MAX,
                        0x8000_0000,
                        0x7fff_ffff,
                        0x00ff_ffff,
                        200,
                        20,
                        1,
                        0,
                    ] {
                        let mut bytes = bytes.clone();
                        bytes[at..at + 4].copy_from_slice(&edge.to_be_bytes());
                        take_any::<T>(&bytes);
                        self.0 += 1;
                    }
                }
            }
        }
    }
    let mut edges = Edges(0);
    for_each_table(&mut edges);
    assert!(edges.0 > 100_000);
}

#[test]
fn any_changed_bytes_are_read_or_refused_within_the_memory_of_a_message() {
    struct Changed(usize);
    impl Check for Changed {
        fn run<T: Table + PartialEq + Debug>(&mut self) {
            let mut dice = Dice::new(9);
            for _ in 0..300 {
                let mut bytes = bytes_of(&T::draw(&mut dice));
                for _ in 0..=dice.below(4) {
                    let at = dice.below(bytes.len());
                    bytes[at] = dice.draw().to_le_bytes()[0];
                }
                let piece = bytes[dice.below(bytes.len())..].to_vec();
                bytes.splice(dice.below(bytes.len()).., piece);
                self.0 += usize::from(take_any::<T>(&bytes));
            }
        }
    }
    let mut changed = Changed(0);
    for_each_table(&mut changed);
    assert!(
        changed.0 > 100,
        "{} of the changed structs are read",
        changed.0
    );
}

#[test]
fn small_maps_take_no_more_memory_than_a_message_may() {
    // A map's first node has room for eleven pairs, whatever is in it.
    let table = b"\x0d\0\x06\x0b\x0b\0\0\0\x01\0\0\0\0\0\0\0\0\0";
    let list = |count: u32| {
        let tables = table.repeat(usize::try_from(count).unwrap());
        [b"\x0f\0\x02\x0c", &count.to_be_bytes()[..], &tables, &[0]].concat()
    };
    for count in [1, 3, 10, 1000] {
        take_any::<meta::ListTablesResponse>(&list(count));
    }
    let honest = meta::ListTablesResponse {
        infos: vec![
            meta::TableDescription {
                app_type: "pegasus".to_owned(),
                app_name: "t".to_owned(),
                envs: [("default_ttl".to_owned(), "100".to_owned())].into(),
                ..meta::TableDescription::default()
            };
            1000
        ],
        ..meta::ListTablesResponse::default()
    };
    assert!(take_any::<meta::ListTablesResponse>(&bytes_of(&honest)));
}

#[test]
fn calls_are_told_apart_by_their_names() {
    let arguments = |call: &KeyCall| {
        let mut reader = RequestReader::new(1 << 20);
        call.put(reader.buffer(), &RequestHead::default(), 7);
        reader.next().unwrap().unwrap()
    };
    let clear = arguments(&KeyCall::ClearScanner(9));
    assert_eq!(clear.name, "RPC_RRDB_RRDB_CLEAR_SCANNER");
    let read = KeyCall::read(&clear.name, &clear.arguments.unwrap());
    assert_eq!(read, Ok(KeyCall::ClearScanner(9)));
    let remove = arguments(&KeyCall::Remove(Blob::of(b"\0\0")));
    let read = KeyCall::read(&remove.name, &remove.arguments.clone().unwrap());
    assert_eq!(read, Ok(KeyCall::Remove(Blob::of(b"\0\0"))));
    let elsewhere = MetaCall::read(&remove.name, &remove.arguments.unwrap());
    assert_eq!(elsewhere, Err(Unreadable::NoSuchCall));
    let malformed = KeyCall::read("RPC_RRDB_RRDB_GET", &[0]);
    assert!(matches!(malformed, Err(Unreadable::Malformed(_))));
}

#[test]
fn a_cleared_scanner_is_never_answered() {
    let mut bytes = Vec::new();
    KeyAnswer::ClearScanner(Silence).put(&mut bytes, 7);
    assert!(bytes.is_empty());
    let silent: Vec<&str> = KeyCall::ROWS
        .iter()
        .filter(|row| !row.is_answered)
        .map(|row| row.name)
        .collect();
    assert_eq!(silent, [frame::SILENT_CALL]);
    // Nor is it refused.
    frame::put_refusal(&mut bytes, (silent[0], 7), &ErrorCode::Busy.into());
    frame::put_reply(&mut bytes, (silent[0], 7), &data::ReadResponse::default());
    assert!(bytes.is_empty());
    let answer = KeyAnswer::Get(data::ReadResponse::default());
    let mut reader = ReplyReader::new(1 << 20);
    answer.put(reader.buffer(), 7);
    assert_eq!(reader.next().unwrap().unwrap().sequence, 7);
}

#[test]
fn calls_that_may_not_be_sent_twice_are_marked() {
    let updates: Vec<&str> = KeyCall::ROWS
        .iter()
        .filter(|row| row.access == Access::Updates)
        .map(|row| row.name.trim_start_matches("RPC_RRDB_RRDB_"))
        .collect();
    assert_eq!(updates, ["INCR", "CHECK_AND_SET", "CHECK_AND_MUTATE"]);
    let writes = KeyCall::ROWS
        .iter()
        .filter(|row| row.access == Access::Writes);
    assert_eq!(writes.count(), 4);
}

#[test]
fn what_is_not_offered_is_offered_nowhere() {
    let offered: BTreeSet<&str> = [KeyCall::ROWS, MetaCall::ROWS, NodeCall::ROWS]
        .concat()
        .iter()
        .map(|row| row.name)
        .collect();
    let others = [
        not_offered::OF_META,
        not_offered::OF_NODES,
        not_offered::BETWEEN_SERVERS,
    ];
    for name in others.concat() {
        assert!(!offered.contains(name));
        assert!(name.len() <= frame::NAME_LEN_MAX);
    }
}
