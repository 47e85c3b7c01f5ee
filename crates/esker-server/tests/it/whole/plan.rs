//! What a run is made of: how many nodes, how much goes wrong, and which mistake is planted.

use std::time::Duration;

use esker::internals::env::random::Random;

use crate::cluster_node::Planted;
use crate::net::Weather;

/// The shape of a run. Rates are one in so many ticks; 0 is never.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub planted: Planted,
    pub places: u64,
    /// Ticks of a tenth of a second with faults, and those after them in which all must be well.
    pub ticks: u64,
    pub heal_ticks: u64,
    pub read_promise: Duration,
    /// Clocks of the day differ by so much at most.
    pub skew_ms: u64,
    pub weather: Weather,
    /// Of each node.
    pub crash: u64,
    pub pause: u64,
    pub full: u64,
    /// Of the cluster.
    pub power_cut: u64,
    /// Of the elections: a power cut in the tick behind it.
    pub behind_election: u64,
    pub cut: u64,
    pub wipe: u64,
    pub administer: u64,
    pub hand_over: u64,
}

impl Plan {
    /// Everything goes wrong, a little differently for each seed.
    pub fn stormy(seed: u64) -> Plan {
        let mut dice = Random::new(seed ^ 0x517a);
        // Some seeds leave out one kind of fault, so that the others do more.
        let mut rate = |one_in: u64| match dice.below(5) {
            0 => 0,
            1 => one_in / 2,
            _ => one_in,
        };
        let (crash, pause, full) = (rate(250), rate(300), rate(900));
        let (power_cut, cut, wipe) = (rate(700), rate(60), rate(40));
        let (administer, hand_over) = (20, rate(40));
        let hours = [0, 1, 1, 3_600_000][usize::try_from(dice.below(4)).unwrap()];
        Plan {
            seed,
            planted: Planted::Nothing,
            places: 3 + seed % 3,
            ticks: 700,
            heal_ticks: 900,
            read_promise: Duration::from_millis(500 * (seed % 3)),
            skew_ms: hours,
            weather: Weather {
                lost_one_in: [10, 30, 1000][usize::try_from(dice.below(3)).unwrap()],
                twice_one_in: 15,
                delay_max: 1 + dice.below(5),
            },
            crash,
            pause,
            full,
            power_cut,
            behind_election: if seed % 4 == 3 { 8 } else { 0 },
            cut,
            wipe,
            administer,
            hand_over,
        }
    }

    /// Nothing goes wrong: nodes join, tables are made and grow.
    pub fn calm(seed: u64) -> Plan {
        Plan {
            crash: 0,
            pause: 0,
            full: 0,
            power_cut: 0,
            behind_election: 0,
            cut: 0,
            wipe: 0,
            hand_over: 0,
            weather: Weather {
                lost_one_in: 1_000_000,
                twice_one_in: 1_000_000,
                delay_max: 1,
            },
            ..Plan::stormy(seed)
        }
    }

    /// With a mistake, and more of what such mistakes need.
    pub fn with(planted: Planted, seed: u64) -> Plan {
        let plan = Plan {
            planted,
            ..Plan::stormy(seed)
        };
        match planted {
            Planted::WipedComesBack => Plan { wipe: 30, ..plan },
            // Where all begin anew at once nobody tells them of a term that no log has.
            Planted::ForgetsTerms => Plan {
                crash: 100,
                cut: 40,
                behind_election: 4,
                ..plan
            },
            _ => Plan {
                crash: 100,
                cut: 40,
                ..plan
            },
        }
    }
}
