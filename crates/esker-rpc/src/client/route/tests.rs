//! Routes out of what a meta server says.

use super::Routing;
use crate::codec::scalars::{Address, Gpid};
use crate::message::meta::{PartitionConfiguration, QueryConfigResponse};

fn partition(partition_index: i32, ballot: i64, port: u16) -> PartitionConfiguration {
    PartitionConfiguration {
        pid: Gpid {
            app_id: 2,
            partition_index,
        },
        ballot,
        primary: match port {
            0 => Address::NONE,
            port => std::net::SocketAddrV4::new([127, 0, 0, 1].into(), port).into(),
        },
        ..PartitionConfiguration::default()
    }
}

fn routing(partition_count: i32, partitions: Vec<PartitionConfiguration>) -> Option<Routing> {
    let answer = QueryConfigResponse {
        app_id: 2,
        partition_count,
        partitions,
        ..QueryConfigResponse::default()
    };
    Routing::of(&answer, 1).ok()
}

#[test]
fn partitions_are_found_by_their_ids_in_whatever_order() {
    let routing = routing(2, vec![partition(1, 3, 11), partition(0, 3, 10)]).unwrap();
    let port = |index| routing.primary(index).map(|address| address.port());
    assert_eq!([port(0), port(1), port(2)], [Some(10), Some(11), None]);
    assert_eq!([routing.partition_of(4), routing.partition_of(7)], [0, 1]);
}

#[test]
fn a_child_that_is_not_ready_is_served_by_its_parent() {
    let all = vec![
        partition(0, 3, 10),
        partition(1, 3, 11),
        partition(2, -1, 0),
        partition(3, 1, 13),
    ];
    let routing = routing(4, all).unwrap();
    let chosen: Vec<u32> = (0..4).map(|hash| routing.partition_of(hash)).collect();
    assert_eq!(chosen, [0, 1, 0, 3]);
}

#[test]
fn what_is_left_out_has_no_leader_and_what_is_too_much_is_ignored() {
    let routing = routing(
        2,
        vec![partition(7, 3, 17), partition(-1, 3, 9), partition(0, 3, 0)],
    );
    let routing = routing.unwrap();
    assert_eq!((routing.primary(0), routing.primary(1)), (None, None));
}

#[test]
fn counts_that_cannot_be_are_refused() {
    for count in [0, -1, i32::MIN, i32::MAX, (1 << 16) + 1] {
        assert_eq!(routing(count, Vec::new()), None);
    }
}
