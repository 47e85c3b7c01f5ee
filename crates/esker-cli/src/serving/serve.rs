//! `esker serve`: one node, until somebody stops it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use esker::internals::env::bundle::Env;
use esker_bench::report::date::millis;
use esker_server::log_lines::LogLines;
use esker_server::shell::config::Config;
use esker_server::shell::{Node, StartError};
use serde_json::{Map, json};
use signal_hook::consts::SIGXFSZ;

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::out::Out;
use crate::serving::drawn::draw;
use crate::serving::invitation;
use crate::serving::recover_meta::{Acceptance, recover};

/// How long a node may take until it serves before it says so: a vote takes two seconds at most.
const SERVING_MAX: Duration = Duration::from_secs(10);

/// Threads of the engine behind the stages.
const BACKGROUND_THREADS: usize = 2;

/// Run one node of a cluster: tables over the wire of Apache Pegasus.
#[derive(Debug, Args)]
#[command(after_help = "\
Without any flag it is a cluster of one node: everything in ./esker-data, ports 34601 (meta),
34801 (data) and 34701 (other nodes), on this machine only. The first start makes the directory;
later ones go on with it, also after a crash: what was acknowledged is there.

Examples:
  esker serve                                a node; it prints how to create a table and use it
  esker serve --dir /var/lib/esker           its directory
  esker serve --config node.toml             settings from a file
  esker serve --print-config                 all settings, each with its meaning and origin
  esker serve --set memory_limit=1GiB        one setting; engine.NAME is one of the engine
  esker serve --dir b --meta-port 0 --data-port 0 --peer-port 34702 --join 127.0.0.1:34701
                                             a further node, which joins the first
  esker serve --dir b --recover-meta         what a stopped node has of a meta service of which most
                                             nodes are lost; with --accept-loss it asks the others,
                                             and goes on with it if nobody leads it

With --json, one line on standard output says where it listens, once it serves. Log lines go to
standard error. It ends with 0 when it was stopped, 1 when it could not start or go on; with
--recover-meta with 0 when the node's replica can be the one that goes on, 1 when not, and why.")]
pub struct Serve {
    /// Directory of the node [default: ./esker-data]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Read settings from a TOML file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print all settings with their meaning and origin, and end
    #[arg(long)]
    print_config: bool,
    /// Port for administration; 0 takes any that is free [default: 34601]
    #[arg(long, value_name = "PORT")]
    meta_port: Option<u16>,
    /// Port for reads and writes; 0 takes any that is free [default: 34801]
    #[arg(long, value_name = "PORT")]
    data_port: Option<u16>,
    /// Port for other nodes; 0 takes any that is free [default: 34701]
    #[arg(long, value_name = "PORT")]
    peer_port: Option<u16>,
    /// Peer addresses of nodes of the cluster: a new node joins it by them, and any other finds the
    /// others by them if they are not where they were
    #[arg(long, value_name = "HOST:PORT,…")]
    join: Option<String>,
    /// Look at what this node, which is stopped, has of a meta service that has lost most of its
    /// replicas, and end
    #[arg(long, conflicts_with = "print_config")]
    recover_meta: bool,
    /// With --recover-meta: it goes on with what this node has, and all other replicas of the meta
    /// service are given up, for ever. The other nodes are asked first, and it is refused where one
    /// leads the service, or so many run that they can choose who does
    #[arg(long, requires = "recover_meta")]
    accept_loss: bool,
    /// With --accept-loss: also where it would be refused. Nodes that live lose what they have of
    /// the meta service as soon as they hear of this one, and with it what was decided since this
    /// one stopped: tables made, dropped and set, nodes that joined
    #[arg(long, requires = "accept_loss")]
    despite_living: bool,
}

/// Runs a node until Ctrl-C, `kill`, or a fault.
pub fn serve(shared: &GlobalFlags, args: &Serve) -> Outcome {
    let config = configured(shared, args)?;
    if args.print_config {
        return print(shared, &config);
    }
    let interrupt = Interrupt::watch()?;
    survive_file_limits()?;
    let settings = &config.settings;
    let env = Env::real(BACKGROUND_THREADS);
    if args.recover_meta {
        let accepted = Acceptance {
            accepts_loss: args.accept_loss,
            despite_living: args.despite_living,
        };
        return recover(&env, settings, shared.json, accepted);
    }
    let log = LogLines::new(|level, line| remark!("{} {level:5} {line}", millis(unix_ms())));
    // Before clients come, who may take all descriptors that there are.
    let listener = interrupt.listen()?;
    let started = Node::start(&env, settings, (draw(), log));
    let node = started.map_err(|StartError(why)| Failure::failed(why))?;
    let is_serving = match node.wait_until_serving(SERVING_MAX) {
        Ok(is_serving) => is_serving,
        Err(why) => {
            // What it is to end for comes before what may go wrong as it ends.
            let _ = node.stop();
            return Err(Failure::failed(why));
        }
    };
    if !is_serving && !interrupt.is_raised() {
        remark!(
            "esker: the cluster's meta service does not answer yet: tables that this node has are \
             served, none can be created"
        );
    }
    let dir = settings.dir.display().to_string();
    let mut out = Out::lock();
    match shared.json {
        true => out.json(&invitation::json(&node.place(), &dir))?,
        false => out.line(invitation::words(&node.place(), &dir, node.has_tables()))?,
    }
    out.finish()?;
    let mut raised = Ok(());
    let fault = node.wait(async { raised = listener.raised().await });
    let stopped = node.stop();
    if let Some(why) = fault {
        return Err(Failure::failed(why));
    }
    // Nobody could stop a node that hears no signal: it has ended at once.
    raised.map_err(|error| Failure::system("cannot watch for Ctrl-C", &error))?;
    stopped.map_err(Failure::failed)
}

/// A file that must not grow any more (`ulimit -f`) is an error of the disk, and not the end of the
/// process without a word.
fn survive_file_limits() -> Outcome {
    let unread = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, unread)
        .map_err(|error| Failure::system("cannot watch for files that are too long", &error))?;
    Ok(())
}

fn configured(shared: &GlobalFlags, args: &Serve) -> Outcome<Config> {
    let mut config = Config::default();
    if let Some(path) = &args.config {
        let text = std::fs::read_to_string(path);
        let name = path.display().to_string();
        let text =
            text.map_err(|error| Failure::system(format_args!("cannot read {name}"), &error))?;
        config.take_file(&name, &text).map_err(Failure::usage)?;
    }
    let mut take = |name: &str, text: &str| config.take_word(name, text).map_err(Failure::usage);
    if let Some(dir) = &args.dir {
        take("dir", &dir.display().to_string())?;
    }
    let ports = [
        ("meta_address", args.meta_port),
        ("data_address", args.data_port),
        ("peer_address", args.peer_port),
    ];
    for (name, port) in ports {
        if let Some(port) = port {
            take(name, &format!("127.0.0.1:{port}"))?;
        }
    }
    if let Some(join) = &args.join {
        take("join", join)?;
    }
    for setting in &shared.settings {
        let Some((name, value)) = setting.split_once('=') else {
            let advice = format!("--set {setting}: write it as NAME=VALUE");
            return Err(Failure::usage(advice));
        };
        take(name, value)?;
    }
    config.check().map_err(Failure::usage)?;
    Ok(config)
}

fn print(shared: &GlobalFlags, config: &Config) -> Outcome {
    let mut out = Out::lock();
    match shared.json {
        true => {
            let rows = config.rows().into_iter().map(|(name, value, origin)| {
                (
                    name,
                    json!({ "value": value, "origin": origin.to_string() }),
                )
            });
            out.json_page(&rows.collect::<Map<_, _>>().into())?;
        }
        false => out.text(config.page())?,
    }
    Ok(out.finish()?)
}

fn unix_ms() -> u64 {
    // A clock before 1970 is shown as 1970: the line matters more.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
