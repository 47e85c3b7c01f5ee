//! Ports of this machine that nobody uses and that the system gives to nobody by itself.

use std::net::TcpListener;
use std::ops::Range;

use crate::fail::{Failure, Outcome};
use crate::serving::drawn::draw;

/// The first one that is taken: below are those of well-known services.
const FIRST: u16 = 10_000;

/// Where the system says from which port on it gives them to connections.
const GIVEN: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// From where it does so where it does not say.
const GIVEN_FROM: u16 = 32_768;

/// Distinct free ports.
///
/// They are below those that the system gives to outgoing connections: nodes that are started one
/// after the other open many, and any of them could have the port of a node that is to come. They
/// begin anywhere, so that two commands at once do not both see the same ones free.
pub fn free<const N: usize>() -> Outcome<[u16; N]> {
    let all = choice(&std::fs::read_to_string(GIVEN).unwrap_or_default());
    let start = draw();
    let count = u64::from(all.end - all.start);
    // Held until all are found, so that none is found twice.
    let mut held = Vec::new();
    for step in 0..count {
        if held.len() == N {
            break;
        }
        let port = all.start + u16::try_from((start % count + step) % count).unwrap_or(0);
        held.extend(
            TcpListener::bind(("127.0.0.1", port))
                .ok()
                .map(|listener| (port, listener)),
        );
    }
    let ports: Vec<u16> = held.iter().map(|(port, _)| *port).collect();
    let (first, last) = (all.start, all.end - 1);
    ports
        .try_into()
        .map_err(|_| Failure::failed(format!("too few ports are free between {first} and {last}")))
}

/// Where to look, of what the system says of the ports that it gives.
fn choice(given: &str) -> Range<u16> {
    let from = given
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    let from: u16 = from.unwrap_or(GIVEN_FROM);
    match from > FIRST {
        true => FIRST..from,
        // All are given, so none is better than another.
        false => FIRST..u16::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_and_distinct() {
        let mut ports = free::<12>().unwrap();
        for port in ports {
            TcpListener::bind(("127.0.0.1", port)).unwrap();
        }
        ports.sort_unstable();
        assert!(ports.windows(2).all(|two| two[0] < two[1]), "{ports:?}");
    }

    #[test]
    fn ports_of_outgoing_connections_are_left_alone() {
        assert_eq!(choice("32768\t60999\n"), 10_000..32_768);
        assert_eq!(choice("20000 60999"), 10_000..20_000);
        assert_eq!(choice(""), 10_000..GIVEN_FROM);
        assert_eq!(choice("1024 65535"), 10_000..u16::MAX);
    }
}
