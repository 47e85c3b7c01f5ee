//! Tests of `placing`.

use std::net::{Ipv4Addr, SocketAddrV4};

use super::*;

fn at(port: u16) -> Address {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into()
}

fn partition(primary: Address, secondaries: &[Address]) -> PartitionConfiguration {
    PartitionConfiguration {
        max_replica_count: 3,
        primary,
        secondaries: secondaries.to_vec(),
        ..PartitionConfiguration::default()
    }
}

#[test]
fn a_partition_that_lacks_something_says_what() {
    // Three of three, two of three, none that leads.
    let whole = partition(at(1), &[at(2), at(3)]);
    assert_eq!(health(&whole), "healthy");
    assert_eq!(health(&partition(at(1), &[at(2)])), "too few replicas");
    assert_eq!(health(&partition(Address::NONE, &[at(2)])), "no leader");
    assert_eq!(spell(&whole)["primary"], "127.0.0.1:1");
    assert_eq!(
        spell(&partition(Address::NONE, &[]))["primary"],
        Value::Null
    );
}

#[test]
fn what_a_node_has_is_counted_by_role() {
    // One leads one and follows one; a partition without a leader counts for nobody.
    let mut shares = BTreeMap::new();
    let partitions = [
        partition(at(1), &[at(2)]),
        partition(at(2), &[at(1)]),
        partition(Address::NONE, &[at(2)]),
    ];
    add_shares(&mut shares, &partitions);
    let of = |port: u16| shares[&address(at(port))];
    assert_eq!((of(1).primary_count, of(1).secondary_count), (1, 1));
    assert_eq!((of(2).primary_count, of(2).secondary_count), (1, 2));
    assert_eq!(shares.len(), 2);
}
