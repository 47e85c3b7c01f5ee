//! A node that runs: started, watched, stopped.

use std::fmt;
use std::sync::mpsc::channel;
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker_raft::GroupId;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, interval, timeout};

use crate::log_lines::{Level, LogLines};
use crate::shell::descriptors::fitted;
use crate::shell::inbox::Told;
use crate::shell::launch::{Handles, Launched, launch};
use crate::shell::place::Place;
use crate::shell::settings::Settings;

/// Most threads for sockets that a node takes by itself.
const SOCKET_THREADS_MAX: usize = 8;

/// How long others may take to lead what a node led that stops, and as long those who wait to be
/// answered.
const STOPPING_MAX: Duration = Duration::from_secs(2);

/// How often that is looked at: nothing tells when the last one has gone.
const LOOK: Duration = Duration::from_millis(10);

/// Why a node does not start, in a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(pub String);

impl fmt::Display for StartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// How many threads sockets have: they copy, and the stages need the other processors.
#[allow(
    clippy::disallowed_methods,
    reason = "a node's threads are of the real world"
)]
fn socket_threads(settings: &Settings) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match usize::try_from(settings.socket_threads) {
        Ok(0) | Err(_) => (processors() / 2).clamp(1, SOCKET_THREADS_MAX),
        Ok(count) => count,
    }
}

fn threads(name: &str, count: usize) -> Result<Runtime, StartError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(count)
        .thread_name(name)
        .enable_all()
        .build();
    runtime.map_err(|error| StartError(format!("no threads: {error}")))
}

/// A node that runs. One that is dropped ends as by a kill.
pub struct Node {
    launched: Launched,
    runtime: Runtime,
    /// What nodes say to one another. A thread for this alone: a client's read that waits for the
    /// disk may hold up those of sockets, and heartbeats that wait for it would end a lead.
    links: Runtime,
    log: LogLines,
}

impl Node {
    /// Starts a node as `settings` say. `nonce` is a number that was drawn for this call.
    ///
    /// Errors: a port that is taken, a directory of another cluster or one that is open elsewhere;
    /// nothing runs then.
    pub fn start(
        env: &Env,
        settings: &Settings,
        (nonce, log): (u64, LogLines),
    ) -> Result<Node, StartError> {
        let runtime = threads("sockets", socket_threads(settings))?;
        let links = threads("links", 1)?;
        let handles = Handles {
            clients: runtime.handle(),
            links: links.handle(),
        };
        let (settings, scarce) = fitted(settings);
        if let Some(line) = scarce {
            log.write(Level::Warning, &line);
        }
        let launching = launch(env, &settings, (nonce, &log), handles);
        let launched = runtime.block_on(launching).map_err(StartError)?;
        Ok(Node {
            launched,
            runtime,
            links,
            log,
        })
    }

    /// Where it is, and who.
    pub fn place(&self) -> Place {
        self.launched.place
    }

    /// Whether the cluster has a table, as far as this node was told.
    pub fn has_tables(&self) -> bool {
        let known = self.launched.known.get();
        known.tables.values().any(|facts| !facts.is_dropped)
    }

    /// Waits until the leader of meta has told the node what there is; false if that takes longer
    /// than `patience`.
    ///
    /// Errors: why it must end instead.
    pub fn wait_until_serving(&self, patience: Duration) -> Result<bool, String> {
        let mut serving = self.launched.serving.clone();
        let told = async { serving.wait_for(|serving| *serving).await.is_ok() };
        self.runtime.block_on(async {
            tokio::select! {
                // A node that is refused was told so, and may have been told what there is as well.
                biased;
                why = self.launched.faults.wait() => Err(why),
                told = timeout(patience, told) => Ok(told.unwrap_or(false)),
            }
        })
    }

    /// Waits until the node must end, and says why; `None` once `asked` has come.
    pub fn wait(&self, asked: impl Future<Output = ()>) -> Option<String> {
        self.runtime.block_on(async {
            tokio::select! {
                why = self.launched.faults.wait() => Some(why),
                () = asked => None,
            }
        })
    }

    /// Stops it: nobody new comes in, others lead what it led, what is under way is answered, the
    /// log is synced, and what is in memory is flushed.
    ///
    /// Errors: why not all of that was done. What was acknowledged is durable in any case.
    pub fn stop(self) -> Result<(), String> {
        let Node {
            launched,
            runtime,
            links,
            log,
        } = self;
        log.write(Level::Note, "stopping: nobody new is let in");
        launched.doors.meta.stop_accepting();
        launched.doors.keys.stop_accepting();
        let handed = hand_over(&launched);
        look_until(&runtime, || {
            let views = handed
                .iter()
                .filter_map(|group| launched.replicas.view(*group));
            views.filter(|view| view.is_leader()).count() == 0
        });
        look_until(&runtime, || launched.pending.count() == 0);
        drop(launched.doors);
        launched.inbox.tell(Told::Stop);
        launched.raft.join()?;
        // Each ends when nobody is left who could give it work.
        for stage in launched.stages {
            stage.join()?;
        }
        if let Some(why) = launched.faults.told() {
            return Err(why);
        }
        let (stop, compacting) = launched.compacting;
        drop(stop);
        // What it is in the midst of ends with the database, which flushes what is in memory, many
        // keyspaces by one edit: a thousand, one by one, take longer than whoever stops a node
        // waits.
        let closed = launched.db.close().map_err(|error| error.to_string());
        compacting.join()?;
        closed?;
        links.shutdown_timeout(STOPPING_MAX);
        runtime.shutdown_timeout(STOPPING_MAX);
        drop(launched.lock);
        log.write(Level::Note, "stopped");
        Ok(())
    }
}

/// The groups whose lead is on its way to others.
fn hand_over(launched: &Launched) -> Vec<GroupId> {
    let (tell, told) = channel();
    // Nobody waits for a thread that has ended.
    let tell = Box::new(move |groups| drop(tell.send(groups)));
    launched.inbox.tell(Told::HandOver(tell));
    told.recv_timeout(STOPPING_MAX).unwrap_or_default()
}

fn look_until(runtime: &Runtime, is_so: impl Fn() -> bool) {
    runtime.block_on(async {
        let deadline = Instant::now() + STOPPING_MAX;
        let mut looks = interval(LOOK);
        while !is_so() && Instant::now() < deadline {
            looks.tick().await;
        }
    });
}
