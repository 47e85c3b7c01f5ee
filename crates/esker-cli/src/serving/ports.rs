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

/// So many distinct ports that are free, from `from` on, or from anywhere where nobody says.
///
/// They are below those that the system gives to outgoing connections, unless `from` is above:
/// nodes that are started one after the other open many, and any of them could have the port of a
/// node that is to come. Anywhere is drawn, so that two commands at once do not both see the same
/// ones free.
///
/// Errors: too few are free.
pub fn free(count: usize, from: Option<u16>) -> Outcome<Vec<u16>> {
    let held = hold(count, from)?;
    Ok(held.into_iter().map(|(port, _)| port).collect())
}

/// The same, each with the socket that holds it: all are held until the last is found, so that
/// none is found twice.
fn hold(count: usize, from: Option<u16>) -> Outcome<Vec<(u16, TcpListener)>> {
    let all = match from {
        Some(from) => from..u16::MAX,
        None => choice(&std::fs::read_to_string(GIVEN).unwrap_or_default()),
    };
    let first = match from {
        Some(from) => from,
        None => drawn(&all),
    };
    let bound = (first..all.end).chain(all.start..first).filter_map(|port| {
        let listener = TcpListener::bind(("127.0.0.1", port));
        listener.ok().map(|listener| (port, listener))
    });
    let held: Vec<_> = bound.take(count).collect();
    if held.len() < count {
        let (first, last) = (all.start, all.end.saturating_sub(1));
        let told = format!("too few ports are free between {first} and {last}");
        return Err(Failure::failed(told));
    }
    Ok(held)
}

fn drawn(all: &Range<u16>) -> u16 {
    let count = u64::from(all.end - all.start).max(1);
    all.start + u16::try_from(draw() % count).unwrap_or(0)
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
    fn ports_are_held_until_all_are_found_and_none_is_found_twice() {
        // Not that they are free behind it: whatever is started meanwhile by another thread has
        // copies of these sockets for a moment, between its birth and its program.
        let held = hold(12, None).unwrap();
        for (port, listener) in &held {
            assert_eq!(listener.local_addr().unwrap().port(), *port);
            assert!(TcpListener::bind(("127.0.0.1", *port)).is_err());
        }
        let mut ports: Vec<u16> = held.iter().map(|(port, _)| *port).collect();
        ports.sort_unstable();
        assert!(ports.windows(2).all(|two| two[0] < two[1]), "{ports:?}");
    }

    #[test]
    fn ports_from_one_on_pass_over_those_that_somebody_has() {
        let taken = hold(2, None).unwrap();
        let from = taken[0].0;
        let held = hold(3, Some(from)).unwrap();
        for (port, _) in &held {
            assert!(*port > from && *port != taken[1].0, "{port}");
        }
        let told = hold(2, Some(u16::MAX - 1)).map(|_| ()).unwrap_err();
        let told = format!("{told:?}");
        assert!(told.contains("too few ports are free"), "{told}");
    }

    #[test]
    fn ports_of_outgoing_connections_are_left_alone() {
        assert_eq!(choice("32768\t60999\n"), 10_000..32_768);
        assert_eq!(choice("20000 60999"), 10_000..20_000);
        assert_eq!(choice(""), 10_000..GIVEN_FROM);
        assert_eq!(choice("1024 65535"), 10_000..u16::MAX);
    }
}
