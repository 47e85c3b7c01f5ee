//! Tests of `neighbour`.

use std::net::{SocketAddr, TcpListener};

use super::*;

#[test]
fn who_listens_is_found_and_its_work_is_counted() {
    // This process itself, by a socket of its own; a loop moves its clock; nobody listens at the
    // port of a socket that is closed.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let SocketAddr::V4(address) = listener.local_addr().expect("its address") else {
        panic!("asked for IPv4");
    };
    let process = listener_at(address).expect("this one");
    assert_eq!(process, std::process::id());
    let before = used_by(process);
    let mut sum = 0_u64;
    while used_by(process).cpu_ms < before.cpu_ms + 30 {
        sum = std::hint::black_box((0..100_000).fold(sum, u64::wrapping_add));
    }
    drop(listener);
    assert_eq!(listener_at(address), None);
    let elsewhere = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), address.port());
    assert_eq!(listener_at(elsewhere), None);
}

#[test]
fn a_table_of_the_system_is_read_by_its_columns() {
    // Loopback, everywhere, another port, a connection; a name with blanks and brackets.
    let line = |local: &str, state: &str| {
        format!(
            "   1: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 0 0 77 1"
        )
    };
    let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 34_601);
    if cfg!(target_endian = "little") {
        assert_eq!(inode_of(&line("0100007F:8729", "0A"), at), Some("77"));
    }
    assert_eq!(inode_of(&line("00000000:8729", "0A"), at), Some("77"));
    assert_eq!(inode_of(&line("00000000:8728", "0A"), at), None);
    assert_eq!(inode_of(&line("00000000:8729", "01"), at), None);
    assert_eq!(inode_of("", at), None);
    let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13";
    assert_eq!(ticks_of(stat), Some(11 + 12));
    assert_eq!(ticks_of("7 (a"), None);
}
