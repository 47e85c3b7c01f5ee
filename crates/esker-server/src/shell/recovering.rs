//! An operator's deliberate act: the meta service goes on with the replica of a stopped node.
//!
//! Most of the others are lost for ever (docs/decisions/0037).
//! Whoever looks first changes nothing. The act writes one fact, durably, and nothing else:
//! everything follows from it when the node is started the next time, however often that is cut
//! short. So the act is whole or was not done.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;
use std::path::Path;
use std::sync::Arc;

use esker::Error;
use esker::internals::env::bundle::Env;
use esker::internals::env::overlay::OverlayFs;
use esker_raft::{NodeId, ReplicaId, Status};
use tokio::runtime::Builder;

use crate::meta::epoch::{self, Epoch};
use crate::meta::ids::META;
use crate::meta::limits::FORGOTTEN_REPLICAS_MAX;
use crate::meta::live::REMOVED_FACT;
use crate::meta::state::State;
use crate::node::opening::{DB, LOCK, RAFT};
use crate::node::{Found, NodeOptions, Now, Stages, identity};
use crate::shell::apply_thread::ENTRIES_A_ROUND;
use crate::shell::moments::Moments;
use crate::shell::opening::{
    faults_of, load_epoch, load_knowledge, node_options, open_patiently, patiently,
};
use crate::shell::running::StartError;
use crate::shell::settings::Settings;

/// How often it is tried to apply some.
const ROUNDS_MAX: usize = 100_000;

/// What a node that is stopped has of the meta service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaFound {
    /// The cluster.
    pub cluster: u64,
    /// The node.
    pub node: NodeId,
    /// Its replica.
    pub replica: ReplicaId,
    /// The members that it knows of, and where they are; it is one of them.
    pub members: BTreeMap<ReplicaId, NodeId>,
    /// Those that vote, in one set; or in two, each of which counts for itself.
    pub voters: Vec<BTreeSet<ReplicaId>>,
    /// The other nodes that it knows of, with their addresses for clients.
    pub others: BTreeMap<NodeId, SocketAddrV4>,
    /// The last entry of its log, and the term of that: of several nodes, the one of which the term
    /// is greatest, and the entry among those, has most.
    pub last: (u64, u64),
    /// How many tables it knows of.
    pub table_count: usize,
    /// How many nodes.
    pub node_count: usize,
    /// It goes on alone when the node is started.
    pub is_accepted: bool,
    /// What is wrong with the directory, a sentence each. Where the loss is accepted that opening
    /// has found it, and a later one may not find it again.
    pub faults: Vec<String>,
}

impl MetaFound {
    /// Whether it has a vote. One that has none yet may be behind those that had one.
    pub fn votes(&self) -> bool {
        self.voters.iter().any(|set| set.contains(&self.replica))
    }

    /// Whether these alone can choose a leader.
    pub fn can_elect(&self, replicas: &BTreeSet<ReplicaId>) -> bool {
        let mut sets = self.voters.iter();
        sets.all(|set| set.intersection(replicas).count() * 2 > set.len())
    }
}

/// Says what is there. What an opening writes goes to `scratch`, an empty directory elsewhere that
/// the caller removes: in the node's own nothing changes, and nobody opens it meanwhile.
///
/// Errors: why its replica cannot be the one that goes on, what to do instead, and what was found.
pub fn look_at_meta(
    env: &Env,
    settings: &Settings,
    scratch: &Path,
) -> Result<MetaFound, StartError> {
    let told = |error: Error| StartError(error.to_string());
    refuse_nobody(env, settings)?;
    let lock = patiently(settings, || env.fs.lock_unwritten(&settings.dir.join(LOCK)));
    // Where no lock lies nobody has ever opened it.
    let _held = waited(lock)?;
    let mut aside = env.clone();
    for folder in [RAFT, DB] {
        let upper = scratch.join(folder);
        env.fs.create_dir_all(&upper).map_err(told)?;
        let lower = settings.dir.join(folder);
        aside.fs = Arc::new(OverlayFs::new(aside.fs, &lower, &upper, None));
    }
    let options = NodeOptions {
        keeps_reserve: false,
        beside: Some(scratch.to_owned()),
        ..node_options(settings, String::new(), 0)
    };
    visit(&aside, settings, options, |stages, found| {
        settle(stages, found, None)
    })
}

/// Has it go on alone from the next start on: the loss of all others is accepted. `drawn` is a
/// number that was drawn for this call.
///
/// Errors: why not, what to do instead, and what the opening found; nothing is given up then.
pub fn recover_meta(env: &Env, settings: &Settings, drawn: u64) -> Result<MetaFound, StartError> {
    refuse_nobody(env, settings)?;
    // It says nothing to anybody, so it is no life of the node.
    let options = node_options(settings, String::new(), drawn);
    // Of two that were decided beside one another the last word holds.
    let drawn = (env.clock.unix_time().as_secs() << 20) | (drawn & 0xf_ffff);
    visit(env, settings, options, |stages, found| {
        settle(stages, found, Some(drawn))
    })
}

fn refuse_nobody(env: &Env, settings: &Settings) -> Result<(), StartError> {
    let dir = &settings.dir;
    let owner = identity::read(env, dir).map_err(|error| StartError(error.to_string()))?;
    match owner {
        Some(_) => Ok(()),
        None => Err(StartError(format!(
            "{} is no node's directory",
            dir.display()
        ))),
    }
}

/// Waits for what a process that was killed a moment ago may hold yet.
fn waited<T>(opening: impl Future<Output = Result<T, String>>) -> Result<T, StartError> {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| StartError(error.to_string()))?;
    runtime.block_on(opening).map_err(StartError)
}

/// Opens the directory, and closes it behind `look`.
fn visit(
    env: &Env,
    settings: &Settings,
    options: NodeOptions,
    look: impl FnOnce(&Stages, &Found) -> Result<MetaFound, String>,
) -> Result<MetaFound, StartError> {
    let (mut stages, found) = waited(open_patiently(env, settings, options))?;
    let done = take_up_log(&mut stages, Moments(Arc::clone(&env.clock)).now());
    let done = done.and_then(|()| look(&stages, &found));
    let closed = stages.db.close().map_err(|error| error.to_string());
    // What was accepted is kept, durably: it holds whatever becomes of the rest.
    let done = done.and_then(|done| match done.is_accepted {
        true => Ok(done),
        false => closed.map(|()| done),
    });
    done.map_err(|why| {
        let faults = faults_of(&found).into_iter();
        let sentences: Vec<String> = std::iter::once(why).chain(faults).collect();
        StartError(sentences.join("; "))
    })
}

/// Has the replica of meta apply what its log knows to be committed: its rows on the disk may be
/// older, and know other members. Nobody votes meanwhile, and nobody hears anything.
fn take_up_log(stages: &mut Stages, now: Now) -> Result<(), String> {
    stages.hold(META);
    let mut applied = (0, 0);
    for idle_count in 0..ROUNDS_MAX {
        let Some(status) = stages.consensus.status(META) else {
            return Ok(());
        };
        if status.applied >= status.commit {
            return Ok(());
        }
        if status.applied > applied.0 {
            applied = (status.applied, idle_count);
        }
        // A replica that the engine told to wait is tried again in a tick.
        let _nobody_hears = stages.turn(now, idle_count > applied.1 + 1);
        let written = stages.write_log(now);
        let done = written.and_then(|()| stages.apply(now, ENTRIES_A_ROUND));
        done.map_err(|error| error.to_string())?;
    }
    let why = stages.replicas.view(META).and_then(|view| view.stall());
    Err(format!(
        "its replica of the meta service cannot take up its log: {}",
        why.unwrap_or_else(|| "the database is busy, ask again".to_owned())
    ))
}

fn settle(stages: &Stages, found: &Found, accepted: Option<u64>) -> Result<MetaFound, String> {
    let node = stages.identity.node;
    if let Some(why) = told_removed(stages)? {
        // What the others have decided since is no less than what it has.
        return Err(format!("{why}; {}", elsewhere(stages)?));
    }
    let status = sound(stages, found)?;
    let replica = status.replica;
    let members = &status.configuration;
    let known = load_epoch(stages, epoch::FACT)?;
    // Whoever was about to go on may have, and have given numbers.
    let latest = load_epoch(stages, epoch::HEARD)?.number.max(known.number);
    let is_accepted =
        (known.node, known.base) == (node, replica) && members.replica_max < known.last.0;
    if members.nodes.len() == 1 && !is_accepted {
        return Err(format!(
            "{replica} on node {} is the only replica of the meta service: nothing is to be given \
             up, start the node",
            node.0
        ));
    }
    if let Some(drawn) = accepted.filter(|_| !is_accepted) {
        let number = latest + 1;
        let times = Epoch::left_out(known, number);
        let epoch = Epoch {
            number,
            drawn,
            base: replica,
            node,
            last: ReplicaId(members.replica_max + times * FORGOTTEN_REPLICAS_MAX),
        };
        let kept = stages.applying.own_rows();
        let kept = kept.keep_fact(epoch::FACT, &epoch.encode());
        kept.map_err(|error| error.to_string())?;
    }
    let state = stages.replicas.meta_state();
    Ok(MetaFound {
        cluster: stages.identity.cluster,
        node,
        replica,
        members: members.nodes.clone(),
        voters: [&members.voters, &members.outgoing]
            .into_iter()
            .filter(|set| !set.is_empty())
            .cloned()
            .collect(),
        others: others(stages, &state)?,
        last: (status.last_term, status.last),
        table_count: open_tables(&state),
        node_count: state.nodes.len(),
        is_accepted: is_accepted || accepted.is_some(),
        faults: faults_of(found),
    })
}

/// The other nodes, as its rows of meta name them, or as it was told last.
fn others(stages: &Stages, state: &State) -> Result<BTreeMap<NodeId, SocketAddrV4>, String> {
    let rows = state.nodes.iter();
    let mut others: BTreeMap<NodeId, SocketAddrV4> = rows
        .map(|(node, row)| (*node, row.addresses.client))
        .collect();
    let told = load_knowledge(stages)?.nodes.into_iter();
    others.extend(told.map(|(node, facts)| (node, facts.addresses.client)));
    others.remove(&stages.identity.node);
    Ok(others)
}

/// What a node that was removed was told, if it was started since.
fn told_removed(stages: &Stages) -> Result<Option<String>, String> {
    let fact = stages.applying.own_rows().fact(REMOVED_FACT);
    let fact = fact.map_err(|error| error.to_string())?;
    Ok(fact.map(|why| String::from_utf8_lossy(&why).into_owned()))
}

fn open_tables(state: &State) -> usize {
    let tables = state.tables.values();
    tables.filter(|table| !table.is_dropped()).count()
}

/// The replica of meta here, if it can be the one that goes on.
fn sound(stages: &Stages, found: &Found) -> Result<Status, String> {
    let node = stages.identity.node.0;
    let mut damaged = found.damaged.iter();
    if let Some((_, why)) = damaged.find(|row| row.0.group == META) {
        return Err(format!(
            "the replica of the meta service on node {node} takes no part any more: {why}; \
             {}",
            elsewhere(stages)?
        ));
    }
    let Some(status) = stages.consensus.status(META) else {
        return Err(format!(
            "node {node} has no replica of the meta service; {}",
            elsewhere(stages)?
        ));
    };
    // One without a vote may have everything: those that gave it that may be lost since.
    if status.applied == 0 {
        return Err(format!(
            "the replica of the meta service on node {node} is new, and has nothing yet; {}",
            elsewhere(stages)?
        ));
    }
    Ok(status)
}

/// Where else to look.
fn elsewhere(stages: &Stages) -> Result<String, String> {
    let knowledge = load_knowledge(stages)?;
    let others = knowledge.metas();
    let others = others.filter(|facts| facts.node != stages.identity.node);
    let others: Vec<String> = others
        .map(|facts| format!("node {} ({})", facts.node.0, facts.addresses.peer))
        .collect();
    Ok(match others.is_empty() {
        true => "it knows of no other node".to_owned(),
        false => format!(
            "try the directories of the others that are left of these: {}",
            others.join(", ")
        ),
    })
}
