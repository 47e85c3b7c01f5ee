//! Opens a node's directory, and finds out of each replica whether it may take part.
//!
//! `NODE` says whose it is, `LOCK` keeps a second process out, `raft` has the raft log, `db` the
//! engine's database. Which replica may take part is found in `rejoining`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::fs::DirLock;
use esker::{Builder, Db, Error, Result};
use esker_raft::{GroupId, LogState, Options, Shard};
use esker_rpc::value::CLUSTER_MAX;

use crate::disk_log::{DiskLog, DiskLogOptions, LogReader, Opened};
use crate::node::applying::{Applying, Disk, Voice};
use crate::node::consensus::Consensus;
use crate::node::identity::{Identity, begin_life, next_life, settle};
use crate::node::keyspace_name::ReplicaKeyspace;
use crate::node::limits::KEPT_ENTRIES;
use crate::node::logging::Logging;
use crate::node::rejoining::{Kept, begin_all};
use crate::node::replicas::{RaftLogHooks, Replicas};
use crate::node::reserve;
use crate::node::stages::{Found, Stages};
use crate::node::switch::{Switch, Switches};

/// The name of the fact that says whose the database is.
const IDENTITY: &str = "identity";

/// The file by which one process has the directory for itself.
pub const LOCK: &str = "LOCK";

/// The folder of the raft log.
pub const RAFT: &str = "raft";

/// The folder of the database.
pub const DB: &str = "db";

/// The keyspace with the switch records.
const NODE_KEYSPACE: &str = "node";

/// How a node is kept.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The address for clients, as answers tell it.
    pub server: String,
    /// The number that this process drew, by which it is told from others; 0 for none.
    pub instance: u64,
    /// The number of the cluster in time tags, at most 127.
    pub cluster_number: u8,
    /// Of consensus; incarnation is that of the directory.
    pub raft: Options,
    /// Bytes of a segment of the raft log.
    pub log_segment_bytes: u64,
    /// Bytes of the raft log at the most, before writers are told that the node is busy.
    pub log_bytes_max: u64,
    /// Entries of each group that are kept though nobody lacks them.
    pub kept_entries: u64,
    /// Whether room on the disk is kept for the next opening.
    pub keeps_reserve: bool,
    /// Whether a life of the node begins with this opening. Whoever says nothing to anybody, or
    /// knows only then whether it may, begins it later or never.
    pub begins_life: bool,
    /// Where the lock of this opening lies, of whoever only looks: nothing is written into the
    /// directory itself then, and its folders are led elsewhere by the file system.
    pub beside: Option<PathBuf>,
    /// Settings of the engine by their names.
    pub engine: Vec<(String, String)>,
}

impl Default for NodeOptions {
    fn default() -> NodeOptions {
        NodeOptions {
            server: String::new(),
            instance: 0,
            cluster_number: 1,
            raft: Options::default(),
            log_segment_bytes: DiskLogOptions::default().segment_bytes,
            log_bytes_max: 4 << 30,
            kept_entries: KEPT_ENTRIES,
            keeps_reserve: false,
            begins_life: true,
            beside: None,
            engine: Vec::new(),
        }
    }
}

/// Opens the directory of a node, which was given to it before.
///
/// Errors: `Locked` while somebody else has it open; those of
/// [`next_life`], the raft log and the engine. A replica that has lost something is no error.
pub fn open(env: &Env, dir: &Path, options: NodeOptions) -> Result<(Stages, Found)> {
    if options.cluster_number > CLUSTER_MAX {
        let message = format!("the number of a cluster is at most {CLUSTER_MAX}");
        return Err(Error::invalid(message));
    }
    let lock = locked(env, dir, options.beside.as_deref())?;
    let has_given_up = options.keeps_reserve && reserve::give_up(env, dir)?;
    let identity = next_life(env, dir, options.instance)?;
    let segment_bytes = options.log_segment_bytes;
    let (log, opened) = DiskLog::open(env, &dir.join(RAFT), DiskLogOptions { segment_bytes })?;
    let Opened { loss, aside, .. } = opened;
    let replicas = Arc::<Replicas>::default();
    let db = open_engine(env, dir, &options.engine, &replicas)?;
    let switches = Switches::new(&db.keyspace(NODE_KEYSPACE)?);
    let reader = log.reader().clone();
    let raft = Options {
        incarnation: identity.incarnation,
        ..options.raft
    };
    let destroyed: BTreeMap<_, _> = reader.index().all_destroyed().collect();
    let shard = Shard::new(identity.node, raft, Arc::new(reader.clone()), destroyed);
    let disk = Disk {
        db: db.clone(),
        switches,
        log: reader.clone(),
    };
    let voice = Voice {
        server: options.server,
        node: identity.node.0,
        incarnation: identity.incarnation,
    };
    let mut stages = Stages {
        identity,
        consensus: Consensus::new(
            shard,
            Arc::clone(&replicas),
            (options.cluster_number, options.kept_entries),
        ),
        logging: Logging::new(log, Arc::clone(&replicas), options.log_bytes_max),
        applying: Applying::new(disk, Arc::clone(&replicas), voice),
        replicas,
        db,
        lock,
    };
    let mut found = Found {
        is_short_of_space: has_given_up,
        loss: loss.as_ref().map(|loss| match &aside {
            Some(folder) if options.beside.is_none() => {
                format!("{} (segments kept in {})", loss.error, folder.display())
            }
            _ => loss.error.to_string(),
        }),
        ..Found::default()
    };
    let (switches, logs) = (stages.applying.switches()?, all_logs(&reader));
    refuse_lost_rows(&stages.db, &switches, &logs)?;
    let settled = settled_identity(dir, &stages, (&switches, &logs))?;
    if settled != stages.identity && options.beside.is_none() {
        settle(env, dir, stages.identity)?;
    }
    stages.identity = settled;
    let lost = loss.map(|loss| loss.groups);
    let keyspaces = begin_all(&mut stages, (switches, logs, lost), &mut found)?;
    drop_unowned(&stages.db, &keyspaces, &mut found)?;
    if options.begins_life {
        begin_life(env, dir, stages.identity)?;
    }
    if options.keeps_reserve {
        reserve::take(env, dir)?;
    }
    Ok((stages, found))
}

/// Keeps everybody else from the directory; by a file elsewhere for whoever only looks.
fn locked(env: &Env, dir: &Path, beside: Option<&Path>) -> Result<Box<dyn DirLock>> {
    if let Some(folder) = beside {
        return env.fs.lock(&folder.join(LOCK));
    }
    env.fs.create_dir_all(dir)?;
    env.fs.lock(&dir.join(LOCK))
}

fn drop_unowned(db: &Db, kept: &Kept, found: &mut Found) -> Result<()> {
    for name in db.keyspaces() {
        let keyspace = ReplicaKeyspace::parse(&name);
        if keyspace.is_some_and(|keyspace| !kept.keeps(keyspace)) {
            db.drop_keyspace(&name)?;
            found.dropped.push(name);
        }
    }
    Ok(())
}

fn all_logs(reader: &LogReader) -> BTreeMap<GroupId, LogState> {
    let index = reader.index();
    let groups = index.groups();
    groups.map(|(id, known)| (id, known.state())).collect()
}

// Rows that are gone while what they speak of is here: whatever became of them, nothing is thrown
// away.
fn refuse_lost_rows(
    db: &Db,
    switches: &[Switch],
    logs: &BTreeMap<GroupId, LogState>,
) -> Result<()> {
    for name in db.keyspaces() {
        let Some(ReplicaKeyspace { member, .. }) = ReplicaKeyspace::parse(&name) else {
            continue;
        };
        let is_living = |state: &LogState| state.replica == member.replica;
        let is_named = switches.iter().any(|it| it.member.group == member.group);
        if !is_named && logs.get(&member.group).is_some_and(is_living) {
            let message = format!(
                "the keyspace `node` has nothing of {member}, of which rows and a raft log are \
                 here: it has lost records, bring the database back as it was"
            );
            return Err(Error::corruption(message));
        }
    }
    Ok(())
}

// A directory whose database and raft log were wiped under it would vote again in terms in which
// it has voted: it is refused. The database says whose it is from its first life on.
fn settled_identity(
    dir: &Path,
    stages: &Stages,
    (switches, logs): (&[Switch], &BTreeMap<GroupId, LogState>),
) -> Result<Identity> {
    let identity = stages.identity;
    let rows = stages.applying.own_rows();
    let word = format!("{:016x} {}", identity.cluster, identity.node.0).into_bytes();
    match rows.fact(IDENTITY)? {
        Some(known) if known == word => {}
        Some(_) => {
            let message = "the database in the directory is another node's: bring back its own";
            return Err(Error::invalid(message).in_file(dir.display()));
        }
        None if identity.is_settled || !switches.is_empty() || !logs.is_empty() => {
            let message = "the database of the node was wiped: it must not speak under its old \
                           number, take an empty directory and have it join as a new node";
            return Err(Error::corruption(message).in_file(dir.display()));
        }
        None => rows.keep_fact(IDENTITY, &word)?,
    }
    Ok(Identity {
        is_settled: true,
        ..identity
    })
}

fn open_engine(
    env: &Env,
    dir: &Path,
    settings: &[(String, String)],
    replicas: &Arc<Replicas>,
) -> Result<Db> {
    let hooks = RaftLogHooks(Arc::clone(replicas));
    let mut builder: Builder = Db::builder(dir.join(DB)).env(env.clone());
    for (name, text) in settings {
        builder = builder.set(name, text)?;
    }
    builder.own_log(Arc::new(hooks)).open()
}
