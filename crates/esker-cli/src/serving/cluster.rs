//! `esker cluster`: several nodes as processes of this machine, to try, to test, to measure.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::out::Out;
use crate::serving::roster::{Condition, Roster, Row};

/// Ports of the node before the first: meta, data, other nodes.
const PORTS: [u16; 3] = [34600, 34800, 34700];

/// Most nodes: the ports of one kind must not meet those of another.
const NODES_MAX: u64 = 50;

/// How long a node may take until it serves.
const SERVING_MAX: Duration = Duration::from_secs(60);

/// How long one may take to stop before it is killed.
const STOPPING_MAX: Duration = Duration::from_secs(30);

/// How often a process is looked at, which can tell nobody that it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Run a cluster of several nodes on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker cluster start                        three nodes in ./esker-cluster; returns when they serve
  esker table create temp --partitions 8     three replicas of each partition
  esker cluster status                       which nodes run
  esker cluster kill 2                       as a crash: the others go on
  esker cluster restart 2                    it catches up
  esker cluster pause 1                      frozen, as by a long pause; `resume 1` goes on
  esker cluster add                          one more node
  esker cluster stop                         all of them; start goes on with the same data

Each node is a process of its own, `esker serve`, with a directory and a log file below --dir.")]
pub struct Cluster {
    /// Directory of the cluster
    #[arg(
        long,
        value_name = "DIR",
        default_value = "./esker-cluster",
        global = true
    )]
    dir: PathBuf,
    #[command(subcommand)]
    action: Action,
}

/// What to do with the cluster.
#[derive(Debug, Subcommand)]
enum Action {
    /// Start the nodes, and make them first if there are none
    Start {
        /// How many nodes a new cluster has
        #[arg(long, value_name = "N", default_value_t = 3)]
        nodes: u64,
        /// Take ports that are free instead of 34601, 34602, …
        #[arg(long)]
        free_ports: bool,
    },
    /// Show which nodes run, and where
    Status,
    /// End a node at once, as a crash does (SIGKILL)
    Kill {
        /// Its number
        node: u64,
    },
    /// Freeze a node (SIGSTOP)
    Pause {
        /// Its number
        node: u64,
    },
    /// Let a frozen node go on (SIGCONT)
    Resume {
        /// Its number
        node: u64,
    },
    /// Stop a node, if it runs, and start it again
    Restart {
        /// Its number
        node: u64,
    },
    /// Start one more node
    Add,
    /// Stop all nodes
    Stop,
}

/// Does it.
pub fn cluster(shared: &GlobalFlags, args: &Cluster) -> Outcome {
    let dir = std::path::absolute(&args.dir)
        .map_err(|error| Failure::system("cannot tell where that is", &error))?;
    match args.action {
        Action::Start { nodes, free_ports } => {
            let roster = match Roster::read(&dir)? {
                Some(roster) => roster,
                None => new_roster(dir, (nodes, free_ports))?,
            };
            start_all(shared, roster)
        }
        Action::Status => show(shared, &Roster::existing(&dir)?),
        Action::Kill { node } => signal_one(&Roster::existing(&dir)?, node, "-KILL"),
        Action::Pause { node } => signal_one(&Roster::existing(&dir)?, node, "-STOP"),
        Action::Resume { node } => signal_one(&Roster::existing(&dir)?, node, "-CONT"),
        Action::Restart { node } => restart(shared, Roster::existing(&dir)?, node),
        Action::Add => add(shared, Roster::existing(&dir)?),
        Action::Stop => {
            let roster = Roster::existing(&dir)?;
            roster
                .rows
                .iter()
                .rev()
                .try_for_each(|row| stop(&roster, row))
        }
    }
}

fn new_roster(dir: PathBuf, (nodes, free_ports): (u64, bool)) -> Outcome<Roster> {
    if !(1..=NODES_MAX).contains(&nodes) {
        return Err(Failure::usage(format!(
            "a cluster here has 1 to {NODES_MAX} nodes"
        )));
    }
    let made = std::fs::create_dir_all(&dir);
    made.map_err(|error| Failure::system(format!("cannot make {}", dir.display()), &error))?;
    let mut roster = Roster {
        dir,
        rows: Vec::new(),
    };
    for number in 1..=nodes {
        roster.rows.push(new_row(number, free_ports)?);
    }
    roster.write()?;
    Ok(roster)
}

fn new_row(number: u64, free_ports: bool) -> Outcome<Row> {
    let step = u16::try_from(number).unwrap_or(u16::MAX);
    let ports = match free_ports {
        true => [free_port()?, free_port()?, free_port()?],
        false => PORTS.map(|port| port.saturating_add(step)),
    };
    Ok(Row {
        number,
        pid: 0,
        ports,
    })
}

// Somebody else may take it before the node does, which then says so.
fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    let address = listener.and_then(|listener| listener.local_addr());
    let address = address.map_err(|error| Failure::system("no port is free", &error))?;
    Ok(address.port())
}

fn start_all(shared: &GlobalFlags, mut roster: Roster) -> Outcome {
    let idle: Vec<u64> = roster
        .rows
        .iter()
        .filter(|row| roster.condition(row) == Condition::Dead)
        .map(|row| row.number)
        .collect();
    // A new node asks one that runs for its number; those of before need one another.
    let (old, new): (Vec<u64>, Vec<u64>) = idle
        .into_iter()
        .partition(|number| roster.dir_of(*number).join("NODE").exists());
    for number in &old {
        spawn(shared, &mut roster, *number)?;
    }
    for number in &old {
        wait_until_serving(&roster, *number)?;
    }
    for number in new {
        spawn(shared, &mut roster, number)?;
        wait_until_serving(&roster, number)?;
    }
    show(shared, &roster)
}

fn restart(shared: &GlobalFlags, mut roster: Roster, number: u64) -> Outcome {
    stop(&roster, roster.row(number)?)?;
    spawn(shared, &mut roster, number)?;
    wait_until_serving(&roster, number)
}

fn add(shared: &GlobalFlags, mut roster: Roster) -> Outcome {
    let number = roster.rows.len() as u64 + 1;
    let first = roster.row(1)?.ports[0];
    roster.rows.push(new_row(number, first != PORTS[0] + 1)?);
    roster.write()?;
    spawn(shared, &mut roster, number)?;
    wait_until_serving(&roster, number)?;
    show(shared, &roster)
}

/// Starts the process of a node, which goes on when this one has ended.
fn spawn(shared: &GlobalFlags, roster: &mut Roster, number: u64) -> Outcome {
    let row = roster.row(number)?.clone();
    let told =
        |error: &std::io::Error| Failure::system(format!("cannot start node {number}"), error);
    let program = std::env::current_exe().map_err(|error| told(&error))?;
    let log = File::options()
        .create(true)
        .append(true)
        .open(roster.log_of(number));
    let out = File::create(roster.told_of(number));
    let mut command = Command::new(program);
    command
        .args(["serve", "--json", "--dir"])
        .arg(roster.dir_of(number));
    for (flag, port) in ["--meta-port", "--data-port", "--peer-port"]
        .iter()
        .zip(row.ports)
    {
        command.args([flag, port.to_string().as_str()]);
    }
    for setting in &shared.settings {
        command.args(["--set", setting]);
    }
    if number != 1 {
        let others = roster.rows.iter().filter(|row| row.number != number);
        let others: Vec<String> = others
            .map(|row| format!("127.0.0.1:{}", row.ports[2]))
            .collect();
        command.args(["--join", &others.join(",")]);
    }
    command
        .stdin(Stdio::null())
        .stdout(out.map_err(|error| told(&error))?)
        .stderr(log.map_err(|error| told(&error))?)
        // Ctrl-C in this terminal is not meant for it.
        .process_group(0);
    let child = command.spawn().map_err(|error| told(&error))?;
    for row in &mut roster.rows {
        if row.number == number {
            row.pid = child.id();
        }
    }
    roster.write()
}

fn wait_until_serving(roster: &Roster, number: u64) -> Outcome {
    let interrupt = Interrupt::watch()?;
    let row = roster.row(number)?;
    let deadline = Instant::now() + SERVING_MAX;
    loop {
        let told = std::fs::read_to_string(roster.told_of(number)).unwrap_or_default();
        if told.ends_with('\n') {
            return Ok(());
        }
        let log = roster.log_of(number).display().to_string();
        if interrupt.is_raised() {
            return Err(Failure::stopped(
                interrupt.code(),
                "stopped; nodes may run on",
            ));
        }
        if roster.condition(row) == Condition::Dead {
            return Err(Failure::failed(format!(
                "node {number} has ended; {log} says why"
            )));
        }
        if Instant::now() >= deadline {
            return Err(Failure::failed(format!(
                "node {number} does not serve; see {log}"
            )));
        }
        pause();
    }
}

fn signal_one(roster: &Roster, number: u64, signal: &str) -> Outcome {
    let row = roster.row(number)?;
    if roster.condition(row) == Condition::Dead {
        let message = format!("node {number} does not run: `esker cluster restart {number}`");
        return Err(Failure::failed(message));
    }
    signal_process(row, signal)
}

fn signal_process(row: &Row, signal: &str) -> Outcome {
    let sent = Command::new("kill")
        .args([signal, &row.pid.to_string()])
        .status();
    match sent {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::failed(format!(
            "node {} takes no signal",
            row.number
        ))),
        Err(error) => Err(Failure::system("cannot send a signal", &error)),
    }
}

fn stop(roster: &Roster, row: &Row) -> Outcome {
    match roster.condition(row) {
        Condition::Dead => return Ok(()),
        Condition::Paused => signal_process(row, "-CONT")?,
        Condition::Running => {}
    }
    signal_process(row, "-TERM")?;
    let deadline = Instant::now() + STOPPING_MAX;
    while roster.condition(row) != Condition::Dead {
        if Instant::now() >= deadline {
            remark!("esker: node {} does not stop, and is killed", row.number);
            return signal_process(row, "-KILL");
        }
        pause();
    }
    Ok(())
}

fn show(shared: &GlobalFlags, roster: &Roster) -> Outcome {
    let mut out = Out::lock();
    let address = |port: u16| format!("127.0.0.1:{port}");
    if shared.json {
        let rows = roster.rows.iter().map(|row| {
            json!({
                "node": row.number,
                "state": roster.condition(row).word(),
                "pid": row.pid,
                "meta": address(row.ports[0]),
                "data": address(row.ports[1]),
                "peer": address(row.ports[2]),
                "dir": roster.dir_of(row.number).display().to_string(),
            })
        });
        out.json_page(&Value::Array(rows.collect()))?;
        return Ok(out.finish()?);
    }
    out.line("node  state    process  meta             data             log")?;
    for row in &roster.rows {
        let word = roster.condition(row).word();
        let (meta, data_door) = (address(row.ports[0]), address(row.ports[1]));
        let log = roster.log_of(row.number);
        let (number, pid, log) = (row.number, row.pid, log.display());
        out.line(format!(
            "{number:<5} {word:<8} {pid:<8} {meta:<16} {data_door:<16} {log}"
        ))?;
    }
    let metas: Vec<String> = roster
        .rows
        .iter()
        .map(|row| address(row.ports[0]))
        .collect();
    out.line(format!("\nexport ESKER_META={}", metas.join(",")))?;
    Ok(out.finish()?)
}

fn pause() {
    // Another process tells nobody when it has ended or written a line.
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    // Nobody sends: it is the deadline that is waited for.
    let _ = never.recv_timeout(LOOK);
}
