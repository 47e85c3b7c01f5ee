//! Writes and reads of fifty connections, beside etcd where it is asked for, in turns.

use std::time::Duration;

use crate::fail::Outcome;
use crate::measure::neighbour::Used;
use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::record::Verdict;
use crate::run::calls::{Called, Span, call_all};
use crate::scenario::suite::service::ground::{
    CONNECTIONS, Ground, LEASES, PARTITIONS, VALUE_BYTES, costs_us, failures, keep, records, span,
};
use crate::scenario::suite::service::table_calls::{Load, connect, connect_etcd};
use crate::scenario::suite::service_line::{CAUTION, Line};
use crate::scenario::suite::stage::Stage;
use crate::table::Table;
use crate::target::etcd::Etcd;
use crate::target::own_cluster::{OwnCluster, used, used_since};
use crate::target::pegasus_cluster::Cluster;

/// Times etcd's writes, and reads, that are asked for.
const WRITES_GOAL: f64 = 5.0;
const READS_GOAL: f64 = 10.0;

/// What another tool's clusters are called in the record: without leases, with them.
const OTHERS: [&str; 2] = ["the other Esker", "the other Esker, leases"];

/// Rounds, unless the command line says otherwise: a median of three, of five beside another.
const ROUNDS: [usize; 2] = [3, 5];

/// Done before each measurement, and not counted.
const WARM_UP: Duration = Duration::from_millis(300);

/// One who takes part.
struct Player {
    /// What it is called.
    name: String,
    engine: &'static str,
    version: String,
    processes: Vec<u32>,
    /// Whether it is measured writing; one is there for its reads only.
    writes: bool,
    play: Box<Play>,
}

/// Runs calls that write or read.
type Play = dyn FnMut(&Ground, bool, Span) -> Outcome<Called>;

/// What one measurement came to.
struct Round {
    player: usize,
    is_write: bool,
    called: Called,
    used: Used,
}

/// Runs the lines that are asked for.
pub fn run(stage: &mut Stage<'_, '_>, ground: &Ground, lines: &[Line]) -> Outcome {
    let wants = |line| lines.contains(&line);
    let mut clusters = Vec::new();
    for tool in [Some(ground.tool()), stage.request.against.as_deref()] {
        let Some(tool) = tool else { continue };
        let sets = [("asking", &[][..]), ("leases", &[LEASES][..])];
        for (name, settings) in sets.into_iter().take(1 + usize::from(wants(Line::Reads))) {
            let place = format!("{name}{}", clusters.len());
            clusters.push(ground.cluster_of(tool, &place, (3, settings))?);
        }
    }
    let etcd = match stage.request.beside {
        Some(_) => {
            let place = ground.place("etcd");
            // What an interrupted run left there is of members that are gone.
            let _ = std::fs::remove_dir_all(&place);
            Some(Etcd::start(&ground.runtime, &place, 3)?)
        }
        None => None,
    };
    let mut players = Vec::new();
    let per_tool = 1 + usize::from(wants(Line::Reads));
    for (at, cluster) in clusters.iter().enumerate() {
        let is_leasing = at % per_tool == 1;
        players.push(own(ground, cluster, (at < per_tool, is_leasing))?);
    }
    if let Some(etcd) = &etcd {
        players.push(other(ground, etcd)?);
    }
    let rounds = stage.request.rounds;
    let rounds = rounds.unwrap_or(ROUNDS[usize::from(etcd.is_some())]);
    stage.say(&format!(
        "{CONNECTIONS} connections, values of {VALUE_BYTES} bytes, {} records, three processes \
         each, rounds of {} s in turns\n",
        quantity::grouped(records(stage)),
        quantity::three_digits(span(stage).as_secs_f64()),
    ))?;
    for player in &mut players {
        let loaded = (player.play)(ground, true, Span::Each(records(stage)))?;
        say_failures(stage, player, &loaded)?;
    }
    let mut all = Vec::new();
    for round in 0..rounds {
        stage.round = round;
        for is_write in [true, false] {
            let line = if is_write { Line::Writes } else { Line::Reads };
            if !lines.contains(&line) {
                continue;
            }
            for step in 0..players.len() {
                let at = (step + round) % players.len();
                if is_write && !players[at].writes {
                    continue;
                }
                all.push(measure(stage, ground, (&mut players[at], at), is_write)?);
            }
        }
    }
    stage.round = 0;
    tell(stage, &players, &all, lines)?;
    drop(players);
    let is_kept = stage.request.keeps_stores;
    if etcd.is_some() {
        drop(etcd);
        if !is_kept {
            // What is left of it is in nobody's way.
            let _ = std::fs::remove_dir_all(ground.place("etcd"));
        }
    }
    clusters.into_iter().try_for_each(|one| one.end(is_kept))
}

fn own(
    ground: &Ground,
    cluster: &OwnCluster,
    (is_ours, is_leasing): (bool, bool),
) -> Outcome<Player> {
    let tables = Cluster::connect(&cluster.address())?;
    let table = tables.create_fresh("service", PARTITIONS, 3)?;
    let connections = connect(&ground.runtime, cluster, &table, CONNECTIONS)?;
    Ok(Player {
        name: match (is_ours, is_leasing) {
            (true, false) => "asking a majority",
            (true, true) => "with leases",
            (false, false) => "the other, asking",
            (false, true) => "the other, leases",
        }
        .to_owned(),
        engine: match (is_ours, is_leasing) {
            (true, false) => "Esker",
            (true, true) => "Esker, leases",
            (false, false) => OTHERS[0],
            (false, true) => OTHERS[1],
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        processes: cluster.processes(),
        writes: !is_leasing,
        play: play(connections),
    })
}

fn other(ground: &Ground, etcd: &Etcd) -> Outcome<Player> {
    let connections = connect_etcd(&ground.runtime, etcd)?;
    Ok(Player {
        name: "etcd".to_owned(),
        engine: "etcd",
        version: etcd.version.clone(),
        processes: etcd.processes(),
        writes: true,
        play: play(connections),
    })
}

fn play<C: Load>(connections: Vec<C>) -> Box<Play> {
    let mut kept = Some(connections);
    Box::new(move |ground, is_write, span| {
        let mut connections = kept.take().unwrap_or_default();
        connections
            .iter_mut()
            .for_each(|one| one.set_write(is_write));
        let (called, connections) = call_all(&ground.runtime, connections, span)?;
        kept = Some(connections);
        Ok(called)
    })
}

fn measure(
    stage: &mut Stage<'_, '_>,
    ground: &Ground,
    (player, at): (&mut Player, usize),
    is_write: bool,
) -> Outcome<Round> {
    let records = records(stage);
    (player.play)(ground, is_write, Span::Random(records, WARM_UP))?;
    let before = used(&player.processes);
    let called = (player.play)(ground, is_write, Span::Random(records, span(stage)))?;
    let used = used_since(&player.processes, &before);
    say_failures(stage, player, &called)?;
    let line = if is_write { Line::Writes } else { Line::Reads };
    let about = (player.engine, &player.version[..]);
    keep(stage, line.name(), about, (&called, used));
    Ok(Round {
        player: at,
        is_write,
        called,
        used,
    })
}

fn say_failures(stage: &mut Stage<'_, '_>, player: &Player, called: &Called) -> Outcome {
    match failures(called) {
        none if none.is_empty() => Ok(()),
        told => stage.say(&format!("{}: {told}\n", player.name)),
    }
}

/// The table of medians, and what came of the goals.
fn tell(stage: &mut Stage<'_, '_>, players: &[Player], all: &[Round], lines: &[Line]) -> Outcome {
    let mut told = Table::new(&[
        "",
        "median/s",
        "least",
        "most",
        "50 % µs",
        "99 % µs",
        "server µs/op",
        "client µs/op",
        "written B/op",
    ]);
    let mut compared = Vec::new();
    for line in lines {
        let is_write = *line == Line::Writes;
        let rates = |at: usize| -> Vec<f64> {
            of(all, at, is_write).map(|one| one.called.rate()).collect()
        };
        for (at, player) in players.iter().enumerate() {
            let Some(rate) = Summary::of(rates(at)) else {
                continue;
            };
            let median = |pick: &dyn Fn(&Round) -> f64| {
                let all = Summary::of(of(all, at, is_write).map(pick));
                quantity::three_digits(all.map_or(f64::NAN, |all| all.median))
            };
            let micros = |percent: f64| {
                median(&|round| round.called.latencies.percentile_ns(percent) as f64 / 1e3)
            };
            let mut cells = vec![format!("{}, {}", line.name(), player.name)];
            cells.extend([rate.median, rate.min, rate.max].map(quantity::rate));
            cells.extend([micros(50.0), micros(99.0)]);
            cells.push(median(&|round| costs_us(&round.called, round.used)[0]));
            cells.push(median(&|round| costs_us(&round.called, round.used)[1]));
            cells.push(median(&|round| {
                round.used.device_write_bytes as f64 / round.called.ops.max(1) as f64
            }));
            told.add(cells);
        }
        let rates_of = |engine: &str| {
            let found = players.iter().position(|player| player.engine == engine);
            found.map(rates)
        };
        for (ours, other) in ["Esker", "Esker, leases"].into_iter().zip(OTHERS) {
            let pair = rates_of(ours).zip(rates_of(other));
            let ratio = pair.and_then(|(ours, other)| Summary::of_ratios(&ours, &other));
            if let Some(ratio) = ratio {
                let ratio = ratio.text_in(" ×", quantity::ratio);
                compared.push(format!("{}, {ours}: {ratio} the other\n", line.name()));
            }
        }
        let Some(theirs) = rates_of("etcd") else {
            continue;
        };
        for (at, player) in players.iter().enumerate() {
            let ratio = Summary::of_ratios(&rates(at), &theirs);
            let is_ours = !OTHERS.contains(&player.engine) && player.engine != "etcd";
            if !is_ours || ratio.is_none() {
                continue;
            }
            let goal = if is_write { WRITES_GOAL } else { READS_GOAL };
            let name = format!("{}, {}", line.name(), player.name);
            let asked = format!("{goal} × etcd");
            let verdict = Verdict::at_least(&name, asked, ratio, goal);
            stage.record.verdicts.push(verdict);
        }
    }
    stage.say(&format!("\n{}{}\n", told.text(), compared.concat()))?;
    let is_beside = players.iter().any(|player| player.engine == "etcd");
    stage.say(if is_beside { CAUTION } else { "" })
}

fn of(all: &[Round], player: usize, is_write: bool) -> impl Iterator<Item = &Round> {
    all.iter()
        .filter(move |round| round.player == player && round.is_write == is_write)
}
