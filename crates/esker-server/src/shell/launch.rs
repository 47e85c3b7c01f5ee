//! Starts the parts of a node, and gives each what it needs.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock, Weak};

use esker::Db;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::DirLock;
use esker_raft::NodeId;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::front::{DoorKind, Front, Opening};
use crate::log_lines::{Level, LogLines, Seldom};
use crate::meta::rows::Addresses;
use crate::node::{Applying, Consensus, Found, Identity, Images, Logging, Replicas, Stages};
use crate::peer::format::{Origin, Speaker};
use crate::peer::link::LinkSettings;
use crate::peer::links::Links;
use crate::peer::listener::{PeerListener, PeerOpening};
use crate::peer::registry::Registry;
use crate::reconcile::{Home, Knowledge, Leading, Reporter, Space, Succession};
use crate::shell::apply_thread::{ApplyThread, Order};
use crate::shell::brain::Brain;
use crate::shell::compact_thread::CompactThread;
use crate::shell::complaints::Complaints;
use crate::shell::delays::Delays;
use crate::shell::disk_size::disk_bytes;
use crate::shell::fault::Faults;
use crate::shell::first_start::{FOUNDER, founding, settle};
use crate::shell::image_thread::{ImageThread, Offered};
use crate::shell::inbox::{Inbox, Outlet, Told, inbox};
use crate::shell::known::Known;
use crate::shell::log_thread::LogThread;
use crate::shell::misdirected::Misdirected;
use crate::shell::moments::Moments;
use crate::shell::opening::{
    Listeners, begin_life, door, have_meta, load_knowledge, open_stages, others, succession,
};
use crate::shell::other_cluster::Joining;
use crate::shell::pages::Pages;
use crate::shell::pending::Pending;
use crate::shell::place::Place;
use crate::shell::quick_reads::QuickReads;
use crate::shell::raft_thread::RaftThread;
use crate::shell::read_threads::{ReadQueue, ReadThread, Reader, read_queue};
use crate::shell::service::NodeService;
use crate::shell::settings::Settings;
use crate::shell::shortage::Shortage;
use crate::shell::surroundings::Surroundings;
use crate::shell::threads::{Running, spawn};

/// A node whose parts run.
pub(crate) struct Launched {
    pub(crate) place: Place,
    pub(crate) doors: Doors,
    pub(crate) inbox: Inbox,
    pub(crate) pending: Arc<Pending>,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) raft: Running,
    /// The threads that raft gives work, which end behind it.
    pub(crate) stages: Vec<Running>,
    /// The thread of compactions that were asked for: it ends with this sender, or the database.
    pub(crate) compacting: (Sender<()>, Running),
    pub(crate) db: Db,
    pub(crate) lock: Box<dyn DirLock>,
    pub(crate) faults: Faults,
    pub(crate) known: Arc<Known>,
    pub(crate) serving: watch::Receiver<bool>,
}

/// The sockets: dropping them closes all.
pub(crate) struct Doors {
    pub(crate) meta: Front,
    pub(crate) keys: Front,
    _peers: PeerListener,
}

/// Where tasks run.
#[derive(Clone, Copy)]
pub(crate) struct Handles<'a> {
    /// What comes from clients.
    pub(crate) clients: &'a Handle,
    /// What comes from other nodes, and goes to them.
    pub(crate) links: &'a Handle,
}

/// Starts a node. Errors: why not, in a sentence that says what to do; nothing runs then.
pub(crate) async fn launch(
    env: &Env,
    settings: &Settings,
    (nonce, log): (u64, &LogLines),
    handles: Handles<'_>,
) -> Result<Launched, String> {
    let peers = settings.peer_address;
    let peers = handles.links.spawn(door("other nodes", peers));
    let listeners = Listeners {
        meta: door("administration", settings.meta_address).await?,
        keys: door("reads and writes", settings.data_address).await?,
        peers: peers.await.map_err(|error| error.to_string())??,
    };
    let addresses = listeners.addresses()?;
    settle(env, settings, (&addresses, nonce), log).await?;
    let (mut stages, found) = open_stages(env, settings, (&addresses, nonce), log).await?;
    let knowledge = load_knowledge(&stages)?;
    let joining = Joining {
        join: settings.join.clone(),
        known: others(&knowledge, stages.identity.node),
        own_address: addresses.peer,
        own: stages.identity,
        nonce,
    };
    joining.check().await?;
    begin_life(env, settings, stages.identity)?;
    let succession = succession(&mut stages)?;
    if stages.identity.node == FOUNDER && knowledge.nodes.is_empty() {
        have_meta(&mut stages, env)?;
    }
    let shell = Shell {
        env,
        settings,
        addresses,
        identity: stages.identity,
        log,
        nonce,
        handles,
    };
    shell.launch(
        (stages, found),
        (knowledge, succession),
        (listeners, joining),
    )
}

/// What the parts of a node are made with.
struct Shell<'a> {
    env: &'a Env,
    settings: &'a Settings,
    addresses: Addresses,
    identity: Identity,
    log: &'a LogLines,
    nonce: u64,
    handles: Handles<'a>,
}

/// What several parts share.
struct Shared {
    inbox: Inbox,
    pending: Arc<Pending>,
    replicas: Arc<Replicas>,
    known: Arc<Known>,
    links: Arc<Links>,
    registry: Arc<Registry>,
    faults: Faults,
    moments: Moments,
}

/// What the threads get for themselves.
struct Parts {
    consensus: Consensus,
    logging: Logging,
    applying: Applying,
    reporter: Reporter,
    leading: Leading,
    knowledge: Knowledge,
    succession: Succession,
    serving: watch::Sender<bool>,
    outlet: Outlet,
    db: Db,
}

impl Shell<'_> {
    fn launch(
        self,
        (stages, found): (Stages, Found),
        (knowledge, succession): (Knowledge, Succession),
        (listeners, joining): (Listeners, Joining),
    ) -> Result<Launched, String> {
        let (inbox, outlet) = inbox();
        let shared = self.shared(&stages, &knowledge, inbox);
        // Before anybody is spoken to: who greets it as one of before would tell it of that.
        shared.registry.set_claim(succession.said());
        let (told, serving) = watch::channel(false);
        let parts = Parts {
            consensus: stages.consensus,
            logging: stages.logging,
            applying: stages.applying,
            reporter: self.reporter(&found),
            leading: self.leading(),
            knowledge,
            succession,
            serving: told,
            outlet,
            db: stages.db.clone(),
        };
        let images = parts.applying.images();
        let (reads, reader) = read_queue(
            (&shared.replicas, images),
            (&shared.pending, &shared.inbox),
            (&shared.moments, self.log),
        );
        let (raft, running) = self.threads(&shared, parts, (&reads, &reader))?;
        let pages = self.pages(&shared, (&serving, &stages.db));
        let compacting = self.compact_thread(&shared)?;
        let doors = self.doors(&shared, (listeners, pages), (reads, reader.reader))?;
        let place = self.place();
        let line = format!(
            "node {} of cluster {:016x} listens: meta {}, clients {}, nodes {}",
            place.node, place.cluster, place.meta, place.client, place.peer
        );
        self.log.write(Level::Note, &line);
        let watching = joining.watch(Arc::clone(&shared.links), shared.faults.clone());
        drop(self.handles.links.spawn(watching));
        Ok(Launched {
            place,
            doors,
            inbox: shared.inbox,
            pending: shared.pending,
            replicas: shared.replicas,
            raft,
            stages: running,
            compacting,
            db: stages.db,
            lock: stages.lock,
            faults: shared.faults,
            known: shared.known,
            serving,
        })
    }

    fn place(&self) -> Place {
        let client = SocketAddr::V4(self.addresses.client);
        Place {
            meta: self.addresses.meta.map_or(client, SocketAddr::V4),
            client,
            peer: self.addresses.peer,
            cluster: self.identity.cluster,
            node: self.identity.node.0,
            incarnation: self.identity.incarnation,
        }
    }

    fn shared(&self, stages: &Stages, knowledge: &Knowledge, inbox: Inbox) -> Shared {
        let myself = Speaker {
            cluster: self.identity.cluster,
            node: self.identity.node.0,
            incarnation: self.identity.incarnation,
            instance: self.nonce,
        };
        let origin = Origin {
            address: Some(self.addresses.peer),
            before: self.identity.before,
        };
        let registry = Arc::new(Registry::of(myself, origin));
        let gone = inbox.clone();
        let on_broken = Arc::new(move |node| gone.tell(Told::NodeGone(NodeId(node))));
        let links = Links::new(
            Arc::clone(&registry),
            LinkSettings::default(),
            self.log.clone(),
            on_broken,
        );
        let moments = Moments(Arc::clone(&self.env.clock));
        Shared {
            pending: Arc::new(Pending::new(inbox.clone(), moments.clone())),
            inbox,
            replicas: Arc::clone(&stages.replicas),
            known: Arc::new(Known::new(knowledge.clone())),
            links: Arc::new(links),
            registry,
            faults: Faults::new(self.log.clone()),
            moments,
        }
    }

    fn reporter(&self, found: &Found) -> Reporter {
        let home = Home {
            identity: self.identity,
            addresses: self.addresses.clone(),
            label: self.settings.label.clone(),
        };
        Reporter::new(home, found)
    }

    fn leading(&self) -> Leading {
        // The state of meta refuses a second beginning.
        let is_founder = self.identity.node == FOUNDER;
        let deed = || founding(self.identity.cluster, self.settings, &self.addresses);
        Leading::new(is_founder.then(deed))
    }

    fn threads(
        &self,
        shared: &Shared,
        parts: Parts,
        (reads, reader): (&ReadQueue, &ReadThread),
    ) -> Result<(Running, Vec<Running>), String> {
        let faults = &shared.faults;
        let told = |error: std::io::Error| format!("no thread: {error}");
        let (saves, saves_end) = channel();
        let (orders, orders_end) = channel();
        let (offers, offers_end) = channel();
        let images = Arc::clone(parts.applying.images());
        let image_thread = self.image_thread(shared, (offers_end, parts.db, images));
        let log_thread = LogThread {
            logging: parts.logging,
            saves: saves_end,
            inbox: shared.inbox.clone(),
            moments: shared.moments.clone(),
            faults: faults.clone(),
        };
        let apply_thread = ApplyThread {
            applying: parts.applying,
            orders: orders_end,
            pending: Arc::clone(&shared.pending),
            inbox: shared.inbox.clone(),
            log: self.log.clone(),
            faults: faults.clone(),
            complaints: Complaints::default(),
            unkept: BTreeMap::new(),
        };
        let around = self.surroundings(shared, orders.clone(), parts.serving);
        let (consensus, outlet) = (parts.consensus, parts.outlet);
        let (replicas, pending) = (Arc::clone(&shared.replicas), Arc::clone(&shared.pending));
        let (links, moments) = (Arc::clone(&shared.links), shared.moments.clone());
        let (log, handle) = (self.log.clone(), self.handles.links.clone());
        let sides = (parts.reporter, parts.leading, parts.succession);
        let (knowledge, seeds) = (parts.knowledge, self.settings.join.clone());
        let reads = reads.owned(self.settings.read_threads);
        let raft = spawn("raft", faults, move || {
            // Links are opened from this thread.
            let _runtime = handle.enter();
            let raft = RaftThread {
                consensus,
                brain: Brain::new(around, sides, (knowledge, seeds)),
                outlet,
                replicas,
                pending,
                saves,
                orders,
                reads,
                offers,
                links,
                moments,
                log,
                bad_frames: Seldom::default(),
                shortage: Shortage::default(),
            };
            raft.run();
        });
        let mut running = vec![
            spawn("log", faults, move || log_thread.run()).map_err(told)?,
            spawn("apply", faults, move || apply_thread.run()).map_err(told)?,
            spawn("image", faults, move || image_thread.run()).map_err(told)?,
        ];
        running.extend(self.read_threads(reader, faults).map_err(told)?);
        Ok((raft.map_err(told)?, running))
    }

    fn read_threads(&self, reader: &ReadThread, faults: &Faults) -> std::io::Result<Vec<Running>> {
        let start = |number| {
            let reader = reader.clone();
            spawn(&format!("read-{number}"), faults, move || reader.run())
        };
        (1..=self.settings.read_threads).map(start).collect()
    }

    fn image_thread(
        &self,
        shared: &Shared,
        (offers, db, images): (Receiver<Offered>, Db, Arc<Images>),
    ) -> ImageThread {
        ImageThread {
            offers,
            waiting: BTreeMap::new(),
            db,
            images,
            replicas: Arc::clone(&shared.replicas),
            links: Arc::clone(&shared.links),
            inbox: shared.inbox.clone(),
            log: self.log.clone(),
            complaints: Complaints::default(),
        }
    }

    fn surroundings(
        &self,
        shared: &Shared,
        orders: Sender<Order>,
        serving: watch::Sender<bool>,
    ) -> Surroundings {
        let (fs, dir) = (Arc::clone(&self.env.fs), self.settings.dir.clone());
        Surroundings {
            replicas: Arc::clone(&shared.replicas),
            pending: Arc::clone(&shared.pending),
            inbox: shared.inbox.clone(),
            orders,
            links: Arc::clone(&shared.links),
            known: Arc::clone(&shared.known),
            faults: shared.faults.clone(),
            log: self.log.clone(),
            serving,
            // A report without it is a report: the balancer counts replicas then.
            space: Box::new(move || Space {
                total: disk_bytes(&dir),
                free: fs.free_bytes(&dir).unwrap_or(0),
            }),
        }
    }

    fn compact_thread(&self, shared: &Shared) -> Result<(Sender<()>, Running), String> {
        let (stop, end) = channel();
        let thread = CompactThread {
            stop: end,
            known: Arc::clone(&shared.known),
            replicas: Arc::clone(&shared.replicas),
            moments: shared.moments.clone(),
            log: self.log.clone(),
            since_s: shared.moments.now().unix_s(),
        };
        let running = spawn("compact", &shared.faults, move || thread.run());
        let running = running.map_err(|error| format!("no thread: {error}"))?;
        Ok((stop, running))
    }

    fn pages(&self, shared: &Shared, (serving, db): (&watch::Receiver<bool>, &Db)) -> Pages {
        Pages {
            node: self.identity.node.0,
            cluster: self.identity.cluster,
            incarnation: self.identity.incarnation,
            started_s: shared.moments.now().unix_s(),
            replicas: Arc::clone(&shared.replicas),
            known: Arc::clone(&shared.known),
            pending: Arc::clone(&shared.pending),
            delays: Delays::new(self.handles.clients),
            faults: shared.faults.clone(),
            serving: serving.clone(),
            db: db.clone(),
            misdirected: Misdirected::new(self.log.clone()),
            doors: OnceLock::new(),
        }
    }

    fn doors(
        &self,
        shared: &Shared,
        (listeners, pages): (Listeners, Pages),
        (reads, reader): (ReadQueue, Reader),
    ) -> Result<Doors, String> {
        let service = Arc::new_cyclic(|myself_again| NodeService {
            again: Weak::clone(myself_again),
            delays: pages.delays.clone(),
            pages,
            myself: self.identity.node,
            cluster: self.identity.cluster,
            replicas: Arc::clone(&shared.replicas),
            known: Arc::clone(&shared.known),
            pending: Arc::clone(&shared.pending),
            inbox: shared.inbox.clone(),
            links: Arc::clone(&shared.links),
            moments: shared.moments.clone(),
            reads,
            reader,
            quick_reads: QuickReads::default(),
            slow_query: self.settings.slow_query,
        });
        let front = |kind, listener| {
            let opened = Front::open(Opening {
                kind,
                listener,
                service: Arc::clone(&service),
                bounds: self.settings.bounds.clone(),
                log: self.log.clone(),
            });
            opened.map_err(|error| format!("no door: {error}"))
        };
        let peers = {
            let _runtime = self.handles.links.enter();
            let opening = PeerOpening {
                listener: listeners.peers,
                service: Arc::clone(&service),
                registry: Arc::clone(&shared.registry),
                log: self.log.clone(),
            };
            PeerListener::open(opening, self.settings.peer_bounds.clone())
        };
        let doors = Doors {
            meta: front(DoorKind::Meta, listeners.meta)?,
            keys: front(DoorKind::Keys, listeners.keys)?,
            _peers: peers.map_err(|error| format!("no door: {error}"))?,
        };
        let counted = [("meta", &doors.meta), ("keys", &doors.keys)];
        let counted = counted.map(|(name, door)| (name, Arc::clone(door.counters())));
        // Nobody has told them before.
        let _ = service.pages.doors.set(counted);
        Ok(doors)
    }
}
