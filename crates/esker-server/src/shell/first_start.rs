//! How a directory becomes a node's: it founds a cluster, or asks one for a number.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker_raft::NodeId;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::log_lines::{Level, LogLines, Seldom};
use crate::meta::command::{Deed, NewNode, Registered};
use crate::meta::ids::ClusterId;
use crate::meta::rows::Addresses;
use crate::node::identity;
use crate::peer::ask::{Answer, Ask, Asker};
use crate::peer::format::Speaker;
use crate::peer::link::{Link, LinkOpening, LinkSettings};
use crate::peer::registry::Registry;
use crate::shell::settings::Settings;

/// How long a new node asks the cluster that it joins.
const JOINING_MAX: Duration = Duration::from_secs(30);

/// How long one node of it is given to answer.
const ATTEMPT: Duration = Duration::from_secs(5);

/// How long until the next one is asked, when one could not say.
const BETWEEN: Duration = Duration::from_millis(200);

/// The number of the first node of a cluster.
pub(crate) const FOUNDER: NodeId = NodeId(1);

/// Makes the directory a node's, if it is nobody's yet.
///
/// `nonce` is drawn for this call. Errors: in one sentence, what to do about it.
pub(crate) async fn settle(
    env: &Env,
    settings: &Settings,
    (addresses, nonce): (&Addresses, u64),
    log: &LogLines,
) -> Result<(), String> {
    let dir = Path::new(&settings.dir);
    let told = |error: esker::Error| error.to_string();
    if identity::read(env, dir).map_err(told)?.is_some() {
        return Ok(());
    }
    let (cluster, node) = match settings.join.is_empty() {
        // Never 0, which is nobody's.
        true => (nonce | 1, FOUNDER),
        false => register(settings, (addresses, nonce), log).await?,
    };
    identity::create(env, dir, cluster, node).map_err(told)
}

/// What begins the cluster of that number: proposed by its first node until it has begun.
pub(crate) fn founding(cluster: u64, settings: &Settings, addresses: &Addresses) -> Deed {
    Deed::Begin {
        cluster: ClusterId(cluster),
        name: settings.cluster_name.clone(),
        node: NewNode {
            nonce: cluster,
            addresses: addresses.clone(),
            label: settings.label.clone(),
        },
    }
}

async fn register(
    settings: &Settings,
    (addresses, nonce): (&Addresses, u64),
    log: &LogLines,
) -> Result<(u64, NodeId), String> {
    let node = NewNode {
        nonce,
        addresses: addresses.clone(),
        label: settings.label.clone(),
    };
    let ask = Ask::Register(node.encode()).encode();
    let deadline = Instant::now() + JOINING_MAX;
    let mut last = String::new();
    let tries = Seldom::default();
    while Instant::now() < deadline {
        for address in &settings.join {
            let (answer, said) = ask_one(*address, &ask, nonce).await;
            last = match answer {
                Answer::Done(bytes) => return numbers(&bytes),
                Answer::NotLeader(_) => format!("{address} knows no leader of the meta service"),
                Answer::Unknown if said.is_empty() => format!("{address} does not answer"),
                Answer::Refused(error) if said.is_empty() => format!("{address} answers {error}"),
                Answer::Unknown | Answer::Refused(_) => said,
            };
        }
        if let Some(count) = tries.count() {
            let line = format!("no node gives this one a number yet: {last} ({count} tries)");
            log.write(Level::Warning, &line);
        }
        sleep(BETWEEN).await;
    }
    Err(format!(
        "no node of the cluster gives this one a number: {last}"
    ))
}

fn numbers(bytes: &[u8]) -> Result<(u64, NodeId), String> {
    let told = Registered::decode(bytes);
    let told = told.map_err(|_| "the cluster's answer makes no sense".to_owned())?;
    Ok((told.cluster.0, told.node))
}

/// Asks one node; what the link has said last of why it does not stand is beside the answer.
async fn ask_one(address: SocketAddr, ask: &[u8], instance: u64) -> (Answer, String) {
    let said: Arc<Mutex<String>> = Arc::default();
    let hear = Arc::clone(&said);
    let log = LogLines::new(move |_, line| {
        // A text is whole whatever a thread that panicked was about to do; here and below.
        let mut said = hear.lock().unwrap_or_else(PoisonError::into_inner);
        line.clone_into(&mut said);
    });
    let nobody = Speaker {
        cluster: 0,
        node: 0,
        incarnation: 0,
        instance,
    };
    let settings = LinkSettings::default();
    let link = Link::open(LinkOpening {
        node: 0,
        address,
        registry: Arc::new(Registry::new(nobody)),
        settings: settings.clone(),
        log,
        on_broken: Arc::new(|_| {}),
    });
    let (tell, told) = oneshot::channel();
    // The receiver waits right below.
    let asker = Asker::new(move |answer| drop(tell.send(answer)));
    link.sending().ask(ask.to_vec(), ATTEMPT, asker, &settings);
    let answer = told.await.unwrap_or(Answer::Unknown);
    let said = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (answer, said)
}
