//! What comes before the parts of a node: its ports, its directory, and what it knows already.

use std::io::ErrorKind::AddrInUse;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use esker::ErrorKind;
use esker::internals::env::bundle::Env;
use esker_raft::{Member, NodeId, Options, ReplicaId};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::front::listen;
use crate::log_lines::{Level, LogLines, counted};
use crate::meta::epoch::{self, Epoch};
use crate::meta::ids::{META, ReplicaName};
use crate::meta::rows::Addresses;
use crate::node::{Create, Found, Identity, NodeOptions, Stages, identity, open};
use crate::reconcile::knowledge::FACTS;
use crate::reconcile::{Knowledge, Succession};
use crate::shell::first_start::FOUNDER;
use crate::shell::moments::Moments;
use crate::shell::raft_thread::TICK;
use crate::shell::settings::Settings;

/// How long a process that was killed may keep its ports and its directory.
const DYING_MAX: Duration = Duration::from_secs(1);

/// How often they are tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// What the engine says of a damaged log of its own.
const ADVICE_OF_ENGINE: &str = "; `esker repair --dry-run` tells what would be lost";

/// What becomes of a replica of the meta service that is damaged.
const META_DAMAGED: &str = "; as long as most others are sound it is made anew from them, else see \
                            the guide (serving, \"When two of three nodes are lost\")";

/// Sockets that listen, and accept nobody yet.
pub(crate) struct Listeners {
    pub(crate) meta: TcpListener,
    pub(crate) keys: TcpListener,
    pub(crate) peers: TcpListener,
}

impl Listeners {
    /// As others are to call them.
    pub(crate) fn addresses(&self) -> Result<Addresses, String> {
        let address = |listener: &TcpListener| {
            listener
                .local_addr()
                .map_err(|error| format!("no address: {error}"))
        };
        Ok(Addresses {
            client: v4(address(&self.keys)?)?,
            meta: Some(v4(address(&self.meta)?)?),
            peer: address(&self.peers)?,
        })
    }
}

fn v4(address: SocketAddr) -> Result<SocketAddrV4, String> {
    match address {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(address) => Err(format!("{address} cannot be told to clients: IPv4 only")),
    }
}

/// Listens at `address`, which is for `what`. A port that is taken is tried again: the process that
/// had it may have been killed a moment ago.
pub(crate) async fn door(what: &str, address: SocketAddr) -> Result<TcpListener, String> {
    let until = Instant::now() + DYING_MAX;
    let listened = loop {
        match listen(address).await {
            Err(error) if error.kind() == AddrInUse && Instant::now() < until => {
                sleep(AGAIN).await;
            }
            listened => break listened,
        }
    };
    listened.map_err(|error| match error.kind() {
        AddrInUse => format!(
            "{address}, for {what}, is taken by another program: end that one, or choose another \
             port (0 takes any that is free)"
        ),
        _ => format!("{address}, for {what}: {error}"),
    })
}

/// Opens the directory, as soon as a process that was killed has let go of it, and tells what was
/// found. The life of the node has not begun yet: it may be refused for that.
pub(crate) async fn open_stages(
    env: &Env,
    settings: &Settings,
    (addresses, instance): (&Addresses, u64),
    log: &LogLines,
) -> Result<(Stages, Found), String> {
    let options = node_options(settings, addresses.client.to_string(), instance);
    let (stages, found) = open_patiently(env, settings, options).await?;
    tell_found(&found, log);
    Ok((stages, found))
}

/// The same, of a node that is kept like that.
pub(crate) async fn open_patiently(
    env: &Env,
    settings: &Settings,
    options: NodeOptions,
) -> Result<(Stages, Found), String> {
    patiently(settings, || open(env, &settings.dir, options.clone())).await
}

/// Tries again what another process is in the way of, for as long as one may take to die.
pub(crate) async fn patiently<T>(
    settings: &Settings,
    open: impl Fn() -> esker::Result<T>,
) -> Result<T, String> {
    let until = Instant::now() + DYING_MAX;
    let opened = loop {
        match open() {
            Err(error) if error.kind() == ErrorKind::Locked && Instant::now() < until => {
                sleep(AGAIN).await;
            }
            opened => break opened,
        }
    };
    opened.map_err(|error| match error.kind() {
        ErrorKind::Locked => format!(
            "another process has {} open: a node has its directory for itself",
            settings.dir.display()
        ),
        _ => error.to_string(),
    })
}

/// From now on the node may say who it is.
pub(crate) fn begin_life(env: &Env, settings: &Settings, own: Identity) -> Result<(), String> {
    let begun = identity::begin_life(env, &settings.dir, own);
    begun.map_err(|error| error.to_string())
}

/// How a node is kept whose answers tell that address of it.
pub(crate) fn node_options(settings: &Settings, server: String, instance: u64) -> NodeOptions {
    let ticks = |duration: Duration| {
        usize::try_from(duration.as_millis() / TICK.as_millis()).unwrap_or(usize::MAX)
    };
    let memory = ("memory_limit".to_owned(), settings.memory_limit.to_string());
    NodeOptions {
        server,
        instance,
        raft: Options {
            seed: settings.seed,
            election_ticks: ticks(settings.election_timeout),
            heartbeat_ticks: ticks(settings.heartbeat),
            read_promise: settings.read_promise,
            ..Options::default()
        },
        log_segment_bytes: settings.log_segment,
        log_bytes_max: settings.log_max,
        keeps_reserve: true,
        begins_life: false,
        engine: [vec![memory], settings.engine.clone()].concat(),
        ..NodeOptions::default()
    }
}

/// Tells what an opening found.
fn tell_found(found: &Found, log: &LogLines) {
    let faults = faults_of(found).into_iter();
    faults.for_each(|line| log.write(Level::Error, &line));
    let running = counted(found.running.len(), "replica");
    let line = format!("opened: {running} here");
    log.write(Level::Note, &line);
}

/// What is wrong with what an opening found.
pub(crate) fn faults_of(found: &Found) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(loss) = &found.loss {
        // The engine's advice is for a database that somebody has opened by itself.
        let loss = loss.replace(ADVICE_OF_ENGINE, "");
        lines.push(format!(
            "the raft log has lost something: {loss}. Replicas that may lack entries take no part \
             any more; each is made anew from the others of its partition, as long as most of \
             those are sound. A partition of which most are lost stays away: bring back the \
             directory of a node as it was, or read what to do in the guide (serving, \"When most \
             replicas are lost\"). Remove nothing here"
        ));
    }
    if found.is_short_of_space {
        let line = "the disk is full: the room that was kept for this opening is used; make some \
                    before the next one";
        lines.push(line.to_owned());
    }
    for (member, why) in &found.damaged {
        let name = ReplicaName(*member);
        let advice = match member.group {
            META => META_DAMAGED,
            _ => "",
        };
        lines.push(format!("{name} takes no part any more: {why}{advice}"));
    }
    lines
}

/// The first node of a cluster begins with the group of meta, whose only voter it is. May be said
/// again.
pub(crate) fn have_meta(stages: &mut Stages, env: &Env) -> Result<(), String> {
    let replica = ReplicaId(1);
    let member = Member {
        group: META,
        replica,
    };
    let first = vec![(replica, FOUNDER)];
    let now = Moments(Arc::clone(&env.clock)).now();
    let created = stages.create(Create { member, first }, now);
    created.map_err(|error| error.to_string())
}

/// Which meta service the node knows of. A replica of it here is held until the others were asked.
pub(crate) fn succession(stages: &mut Stages) -> Result<Succession, String> {
    let meta = stages.consensus.status(META);
    stages.hold(META);
    let epoch = load_epoch(stages, epoch::FACT)?;
    let succession = Succession::new(stages.identity.node, epoch, meta.is_some());
    let mut succession = succession.refusing(load_epoch(stages, epoch::REFUSED)?);
    let rows = stages.replicas.view(META).and_then(|view| view.meta());
    let known = rows.map_or(Epoch::default(), |rows| rows.epoch());
    succession.greet((meta.as_ref(), known));
    Ok(succession)
}

/// The latest epoch that the node has kept, or has heard of: as the name of the fact says.
pub(crate) fn load_epoch(stages: &Stages, name: &str) -> Result<Epoch, String> {
    let fact = stages.applying.own_rows().fact(name);
    let fact = fact.map_err(|error| error.to_string())?;
    let kept = fact.map_or(Ok(Epoch::default()), |bytes| Epoch::decode(&bytes));
    kept.map_err(|error| format!("which meta service there is cannot be read: {error}"))
}

/// Where the other nodes are, as the node was told.
pub(crate) fn others(knowledge: &Knowledge, myself: NodeId) -> Vec<SocketAddr> {
    let others = knowledge.nodes.iter().filter(|row| *row.0 != myself);
    others.map(|row| row.1.addresses.peer).collect()
}

/// What the node was told before.
pub(crate) fn load_knowledge(stages: &Stages) -> Result<Knowledge, String> {
    let rows = stages.applying.own_rows();
    let mut facts = Vec::new();
    for name in FACTS {
        facts.extend(rows.fact(name).map_err(|error| error.to_string())?);
    }
    let knowledge = Knowledge::load(facts.iter().map(Vec::as_slice));
    knowledge.map_err(|error| format!("what the node was told cannot be read: {error}"))
}
