//! A node that may have few descriptors: clients do not take those of nodes and files.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Duration;

use crate::cluster_identity::ByHand;
use crate::tool::Bench;

/// Longest that a node takes to look at a connection, on a busy machine.
const SOON: Duration = Duration::from_secs(120);

#[test]
fn clients_that_say_nothing_leave_descriptors_to_nodes_and_files() {
    // They took every one, and no node could speak to this one while they stood there.
    let bench = Bench::new();
    // What somebody says of files by another name is one setting with what is said here.
    let words = ["--dir", "a", "--peer-port", "0"];
    let words = [&words[..], &["--set", "engine.max_open_files=100"]].concat();
    let mut node = ByHand::limited(&bench, 64, &words);
    let told = node.serves().unwrap();
    let word = |name: &str| told[name].as_str().unwrap().to_owned();
    let doors = [word("meta"), word("data")];
    let mut held: Vec<Vec<TcpStream>> = Vec::new();
    for door in &doors {
        let all = (0..100).map(|_| TcpStream::connect(door).unwrap());
        held.push(all.collect());
    }
    // They are taken in the order in which they came: once the last is turned away nobody waits.
    for of_door in &mut held {
        let last = of_door.last_mut().unwrap();
        last.set_read_timeout(Some(SOON)).unwrap();
        match last.read(&mut [0; 16]) {
            Ok(read) => assert_eq!(read, 0),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    // At the port for nodes they are sent away, and have few places meanwhile.
    let peer = word("peer");
    let strangers = (0..20).map(|_| TcpStream::connect(&peer).unwrap());
    held.push(strangers.collect());
    let words = ["--dir", "b", "--peer-port", "0", "--join", &peer];
    let mut other = ByHand::start(&bench, &words);
    assert_eq!(
        other.serves().map(|told| told["node"].clone()),
        Some(2.into())
    );
    drop(held);
    let lines = node.stop();
    for part in [
        "may have 64 files and connections (ulimit -n)",
        "as many as may be were open",
    ] {
        assert!(lines.contains(part), "{lines}");
    }
    assert!(!lines.contains("could not accept"), "{lines}");
}
