//! `mixgraph`: gets, puts and seeks in the proportions of a social graph.

use crate::fail::Outcome;
use crate::run::lane::Lane;
use crate::scenario::db_bench::hot_ranges::{HotRanges, strewn};
use crate::scenario::db_bench::work::{
    Bench, FOUND, PASSED, READ, SEEK, SOUGHT, TRIED, VALUE_BYTES, WRITE, WRITTEN, told,
};

/// Parts into which the shares of gets, puts and seeks are divided.
const PARTS: f64 = 1000.0;

/// Bytes of the shortest value.
const VALUE_BYTES_MIN: u64 = 10;

/// Kinds of request, in the order of their shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Get,
    Put,
    Seek,
}

/// What a command line says of the mix.
struct Mix {
    /// Where the parts of gets, puts and seeks end.
    ends: [u64; 3],
    ranges: Option<HotRanges>,
    key_heat: (f64, f64),
    value: Pareto,
    value_bytes_max: u64,
    scan: Pareto,
    scan_max: u64,
    num: u64,
}

impl Mix {
    fn of(bench: &Bench<'_>) -> Mix {
        let given = &bench.setup.given;
        let number = |name: &str| given.number(name);
        let shares = ["mix_get_ratio", "mix_put_ratio", "mix_seek_ratio"].map(number);
        let sum: f64 = shares.iter().sum();
        let mut end = 0;
        let ends = shares.map(|share| {
            // At most a thousand; without any share everything is a get.
            end += (PARTS * share / sum.max(f64::MIN_POSITIVE)).ceil() as u64;
            end
        });
        let heat = ["a", "b", "c", "d"].map(|name| number(&format!("keyrange_dist_{name}")));
        let has_ranges = heat.iter().any(|one| *one != 0.0);
        let num = bench.numbers.num;
        let pareto = |name: &str| Pareto {
            theta: number(&format!("{name}_theta")),
            k: number(&format!("{name}_k")),
            sigma: number(&format!("{name}_sigma")),
        };
        Mix {
            ends,
            ranges: has_ranges.then(|| HotRanges::new(num, given.count("keyrange_num"), heat)),
            key_heat: (number("key_dist_a"), number("key_dist_b")),
            value: pareto("value"),
            value_bytes_max: given.count("mix_max_value_size"),
            scan: pareto("iter"),
            scan_max: given.count("mix_max_scan_len").max(1),
            num,
        }
    }

    /// Where no heat is told, keys are drawn evenly.
    fn key(&self, random: u64) -> u64 {
        match (self.key_heat, &self.ranges) {
            ((0.0, _) | (_, 0.0), _) => random,
            (heat, Some(ranges)) => ranges.key(random, heat),
            (heat, None) => strewn(random as f64 / self.num as f64, heat, self.num),
        }
    }

    fn request(&self, random: u64) -> Request {
        let part = random % self.ends[2].max(1);
        match part {
            part if part < self.ends[0] => Request::Get,
            part if part < self.ends[1] => Request::Put,
            _ if self.ends[2] > self.ends[1] => Request::Seek,
            _ => Request::Get,
        }
    }

    fn value_bytes(&self, share: f64) -> u64 {
        match self.value.at(share) {
            ..VALUE_BYTES_MIN => VALUE_BYTES_MIN,
            bytes if bytes > self.value_bytes_max => bytes % self.value_bytes_max,
            bytes => bytes,
        }
    }
}

/// A generalised Pareto distribution.
#[derive(Clone, Copy, Debug)]
struct Pareto {
    theta: f64,
    k: f64,
    sigma: f64,
}

impl Pareto {
    /// What a share between 0 and 1 of all is larger than; nothing is negative.
    fn at(&self, share: f64) -> u64 {
        let value = match self.k {
            0.0 => self.theta - self.sigma * share.ln(),
            k => self.theta + self.sigma * (share.powf(-k) - 1.0) / k,
        };
        // A cast of a float keeps to the range of the integer.
        value.ceil() as u64
    }
}

/// Gets, puts and seeks as the shares say.
pub fn run(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mix = Mix::of(bench);
    let mut hands = bench.hands(lane);
    let how = bench.numbers.how;
    while lane.go() {
        let random = hands.pick(mix.num);
        let share = random as f64 / mix.num as f64;
        hands.make_key(mix.key(random));
        match mix.request(random) {
            Request::Get => {
                let mut bytes = 0;
                let got = bench.store.get(&hands.key, &mut |value| {
                    bytes = (hands.key.len() + value.len()) as u64;
                });
                let is_found = got.map_err(|error| told("get", error))?;
                lane.count(TRIED, 1);
                lane.count(FOUND, u64::from(is_found));
                lane.add_bytes(bytes);
                lane.finish(READ, 1);
            }
            Request::Put => {
                let bytes = mix.value_bytes(share);
                let value = hands.feed.bytes(usize::try_from(bytes).unwrap_or(0));
                let put = bench.store.put(&hands.key, value, how);
                put.map_err(|error| told("put", error))?;
                lane.count(WRITTEN, 1);
                lane.count(VALUE_BYTES, bytes);
                lane.finish(WRITE, 1);
            }
            Request::Seek => {
                let mut cursor = bench.store.cursor()?;
                let mut is_there = cursor.seek(&hands.key)?;
                let is_found = is_there && cursor.key() == hands.key;
                lane.count(SOUGHT, 1);
                lane.count(FOUND, u64::from(is_found));
                for _ in 0..mix.scan.at(share) % mix.scan_max {
                    if !is_there {
                        break;
                    }
                    lane.add_bytes((cursor.key().len() + cursor.value().len()) as u64);
                    lane.count(PASSED, 1);
                    is_there = cursor.next()?;
                }
                lane.finish(SEEK, 1);
            }
        }
    }
    say(lane);
    Ok(())
}

fn say(lane: &mut Lane<'_>) {
    let [gets, puts, seeks] = [TRIED, WRITTEN, SOUGHT].map(|one| lane.counted(one));
    let mean = |sum: usize, count: u64| lane.counted(sum) as f64 / count as f64;
    lane.say(format!(
        "( Gets:{gets} Puts:{puts} Seek:{seeks}, reads {} in {} found, avg size: {:.1} value, \
         {:.1} scan)\n",
        lane.counted(FOUND),
        gets + seeks,
        mean(VALUE_BYTES, puts),
        mean(PASSED, seeks)
    ));
}

#[cfg(test)]
mod tests;
