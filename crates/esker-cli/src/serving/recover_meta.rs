//! `esker serve --recover-meta`: a stopped node's replica of the meta service goes on alone.

use esker::internals::env::bundle::Env;
use esker_server::shell::living::{Asked, objection};
use esker_server::shell::settings::Settings;
use esker_server::shell::{MetaFound, StartError, look_at_meta, recover_meta};
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::out::Out;
use crate::quantity::counted;
use crate::scratch::Scratch;
use crate::serving::drawn::draw;
use crate::serving::living::{self, ask};

/// What a person says of the loss.
#[derive(Clone, Copy, Debug)]
pub struct Acceptance {
    /// It is accepted.
    pub accepts_loss: bool,
    /// Also if other nodes live.
    pub despite_living: bool,
}

/// Looks, asks the others, and has it go on if the loss is accepted and nobody lives who has lost
/// nothing.
pub fn recover(env: &Env, settings: &Settings, is_json: bool, accepted: Acceptance) -> Outcome {
    let mut asked = Vec::new();
    let found = match look(env, settings) {
        Ok(found) if accepted.accepts_loss => {
            if !found.is_accepted {
                asked = ask(&found);
                heed(&found, &asked, accepted)?;
            }
            go_on(env, settings)?
        }
        Ok(found) => found,
        // A look needs room of its own, which must not be in the way of what needs none.
        Err(why) if accepted.accepts_loss && accepted.despite_living => {
            // With what the process ends is for the act to say.
            let _ = why.report();
            remark!("esker: nobody is asked, and it goes on all the same: --despite-living");
            go_on(env, settings)?
        }
        Err(why) => return Err(why),
    };
    for line in &found.faults {
        remark!("esker: {line}");
    }
    let mut out = Out::lock();
    match is_json {
        true => out.json(&page(&found, &asked))?,
        false => out.text(words(&found))?,
    }
    Ok(out.finish()?)
}

fn look(env: &Env, settings: &Settings) -> Outcome<MetaFound> {
    let scratch = Scratch::make("look")?;
    look_at_meta(env, settings, scratch.path()).map_err(|StartError(why)| {
        let folder = std::env::temp_dir();
        Failure::failed(format!(
            "{why} (what a look writes goes to {}: TMPDIR)",
            folder.display()
        ))
    })
}

fn go_on(env: &Env, settings: &Settings) -> Outcome<MetaFound> {
    recover_meta(env, settings, draw()).map_err(|StartError(why)| Failure::failed(why))
}

/// Ends where those that were asked are against it; who they are is told in any case.
fn heed(found: &MetaFound, asked: &[Asked], accepted: Acceptance) -> Outcome {
    let objection = objection(found, asked);
    let lines = living::told(asked).join("; ");
    match objection {
        Some(why) if !accepted.despite_living => Err(Failure::failed(format!(
            "{why}. Nothing was given up. Asked: {lines}. (--despite-living does it all the same; \
             `esker serve --help` says what is lost then)"
        ))),
        Some(why) => {
            remark!("esker: {why}. It goes on all the same: --despite-living. Asked: {lines}");
            Ok(())
        }
        None if asked.is_empty() => Ok(()),
        None => {
            remark!("esker: nobody has a leader of the meta service. Asked: {lines}");
            Ok(())
        }
    }
}

fn words(found: &MetaFound) -> String {
    let MetaFound { node, replica, .. } = found;
    let (term, entry) = found.last;
    let others = others(found);
    let mut words = format!(
        "\
{replica} of the meta service, on node {} of cluster {:016x}:

  log             up to entry {entry} of term {term}
  vote            {}
  knows           {}, {}
  other members   {}

",
        node.0,
        found.cluster,
        match found.votes() {
            true => "yes",
            false => "not yet: take it only where none that has one is left",
        },
        counted(found.table_count as u64, "table"),
        counted(found.node_count as u64, "node"),
        others.join(", "),
    );
    words += match found.is_accepted {
        true => {
            "\
It goes on alone when this node is started, as it always is. The other members are given up: where
they come back, what they have of the meta service is deleted. Then `esker cluster status` shows who
answers, and `esker table recover NAME` which partitions have lost most replicas as well.
"
        }
        false => {
            "\
If most members are lost for ever, the meta service can go on with this one. What was decided last
may be in the others alone, and is lost then: tables made, dropped or set, nodes that joined. Rows
of tables are not touched. Where several members are left, look at each: the one that has most has
the greatest term, and the greatest entry of that. The others must not run until this one does.
Nothing was given up, and nothing in the directory has changed: --accept-loss gives up all other
replicas of the meta service, once it has asked the other nodes whether anybody leads it.
"
        }
    };
    words
}

fn others(found: &MetaFound) -> Vec<String> {
    let others = found.members.iter().filter(|row| *row.0 != found.replica);
    let others = others.map(|(replica, node)| format!("{replica} on node {}", node.0));
    others.collect()
}

fn page(found: &MetaFound, asked: &[Asked]) -> Value {
    let members = found
        .members
        .iter()
        .map(|(replica, node)| json!({ "replica": replica.0, "node": node.0 }));
    json!({
        "cluster": format!("{:016x}", found.cluster),
        "node": found.node.0,
        "replica": found.replica.0,
        "members": members.collect::<Vec<_>>(),
        "votes": found.votes(),
        "last_term": found.last.0,
        "last_entry": found.last.1,
        "tables": found.table_count,
        "nodes": found.node_count,
        "accepted": found.is_accepted,
        "faults": found.faults,
        "asked": living::page(asked),
    })
}
