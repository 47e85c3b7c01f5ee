//! Waiting for what a cluster does by itself, with signs of life.

use std::time::{Duration, Instant};

use esker_rpc::client::ClientError;

use crate::fail::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::remote::link::Link;
use crate::remote::refusal::failure;

/// How often the cluster is asked: it looks at what is due each second.
const LOOK: Duration = Duration::from_millis(500);

/// How long the cluster may give no answer: another leader of its meta service is chosen in less.
const SILENT_MAX: Duration = Duration::from_secs(30);

/// How often a line says how far it is, where no bar is drawn.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// What is still to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How much.
    pub count: u64,
    /// Why it does not go on for now; empty if it does.
    pub waits_for: String,
}

impl From<u64> for Left {
    fn from(count: u64) -> Left {
        Left {
            count,
            ..Left::default()
        }
    }
}

/// Waits until nothing is `left`. `doing` reads like "emptying node 3". What it waits for is said
/// whenever that changes.
pub fn wait_for<L: Into<Left>>(
    link: &Link,
    doing: &str,
    left: impl Fn(&Link) -> Result<L, ClientError>,
) -> Outcome {
    let interrupt = Interrupt::watch()?;
    let mut bar: Option<(Bar, u64)> = None;
    let (mut answered, mut said) = (Instant::now(), Instant::now());
    let mut waited_for = String::new();
    loop {
        match left(link).map(L::into) {
            Ok(Left { count: 0, .. }) => return Ok(()),
            Ok(Left { count, waits_for }) => {
                answered = Instant::now();
                let (bar, most) =
                    bar.get_or_insert_with(|| (Bar::things(doing, Some(count)), count));
                bar.set(most.saturating_sub(count));
                if waits_for != waited_for {
                    if !waits_for.is_empty() {
                        bar.say(&format!("esker: {doing}: {waits_for}"));
                    }
                    waited_for = waits_for;
                }
                if said.elapsed() >= SAY_EVERY {
                    said = Instant::now();
                    bar.say(&format!("{doing}: {count} left"));
                }
            }
            Err(error) if answered.elapsed() >= SILENT_MAX => {
                return Err(failure(&format!("cannot see how far {doing} is"), &error));
            }
            Err(_) => {}
        }
        if interrupt.is_raised() {
            let told = format!("stopped waiting; {doing} goes on without this command");
            return Err(Failure::stopped(interrupt.code(), told));
        }
        link.rest(LOOK);
    }
}
