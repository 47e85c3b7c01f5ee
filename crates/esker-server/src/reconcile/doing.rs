//! What a node does of what it is told must be true.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{Configuration, GroupId, Member, ReplicaId, Status};

use crate::meta::directive::Directive;
use crate::meta::ids::META;
use crate::node::{Ask, Create, RequestId};

/// What is to be done on this node.
#[derive(Debug)]
pub enum Action {
    /// Tables or nodes are like that from now on: to be learned, and kept.
    Learn(Directive),
    /// A replica is to be here.
    Create(Create),
    /// A replica is to go, for good.
    Purge(Member),
    /// Consensus is asked. Nobody waits for what comes of it: meta sees it in the next report.
    Ask(Ask),
    /// Replicas that were held are free, but for those groups, if that answers the last report.
    Free(u64, BTreeSet<GroupId>),
    /// The node must stop, and say why.
    Stop(String),
}

/// What follows from `directives` on a node with such groups. What is done already, or must not be
/// done here, comes to nothing: whoever said it may have been deposed, or have heard an old report.
///
/// `statuses` are those of all groups, from consensus; `draw` names requests.
pub fn actions(
    directives: Vec<Directive>,
    statuses: &BTreeMap<GroupId, Status>,
    draw: &mut dyn FnMut() -> RequestId,
) -> Vec<Action> {
    let action = |directive| match directive {
        learned @ (Directive::Tables { .. } | Directive::Nodes { .. }) => {
            Some(Action::Learn(learned))
        }
        Directive::Create {
            group,
            replica,
            first,
        } => {
            let member = Member { group, replica };
            let here = statuses.get(&group).map(|status| status.replica);
            (here < Some(replica)).then_some(Action::Create(Create { member, first }))
        }
        Directive::Destroy {
            group,
            replica,
            without,
        } => {
            let status = statuses.get(&group);
            may_go((group, replica), without.as_ref(), status)
                .then_some(Action::Purge(Member { group, replica }))
        }
        Directive::Discard { group, replica } => {
            // One that is damaged has no status; it was never a member, or meta would not say so.
            let status = statuses.get(&group);
            let waits = status.is_none_or(|status| {
                let is_it = status.replica == replica;
                is_it && status.applied == 0 && !status.configuration.votes(replica)
            });
            // Of the meta group only what says itself that it has applied nothing and has no vote.
            (waits && (group != META || status.is_some()))
                .then_some(Action::Purge(Member { group, replica }))
        }
        Directive::Change {
            group,
            version,
            change,
        } => {
            let led = led_here(statuses, group)?;
            let request = (led.configuration.version == version).then(&mut *draw)?;
            Some(Action::Ask(Ask::Change {
                request,
                group,
                change,
            }))
        }
        Directive::Transfer { group, to } => {
            let led = led_here(statuses, group)?;
            let may_lead = led.replica != to && led.configuration.votes(to);
            let request = may_lead.then(&mut *draw)?;
            Some(Action::Ask(Ask::Transfer { request, group, to }))
        }
        Directive::Free { asked, held } => Some(Action::Free(asked, held.into_iter().collect())),
        Directive::Recover {
            group,
            replica,
            last,
        } => {
            let status = statuses.get(&group);
            let here = status.filter(|status| status.replica == replica && group != META);
            here.map(|_| Action::Ask(Ask::GoOnAlone(Member { group, replica }, last)))
        }
        Directive::Fence { group, .. } if group == META => None,
        Directive::Fence { group, replica } => Some(Action::Purge(Member { group, replica })),
        Directive::Stop { why } => Some(Action::Stop(why)),
    };
    directives.into_iter().filter_map(action).collect()
}

fn led_here(statuses: &BTreeMap<GroupId, Status>, group: GroupId) -> Option<&Status> {
    let status = statuses.get(&group)?;
    (status.leader == Some(status.replica) && status.damage.is_none()).then_some(status)
}

// Whether a replica may be destroyed because somebody says so: its group has let it go, in a
// configuration that is not older than the one it knows itself, or its table is forgotten. The
// meta group is never forgotten.
fn may_go(
    (group, replica): (GroupId, ReplicaId),
    without: Option<&Configuration>,
    status: Option<&Status>,
) -> bool {
    let here = status.filter(|status| status.replica == replica);
    match without {
        Some(members) => {
            members.has_left(replica)
                && here.is_none_or(|here| here.configuration.version <= members.version)
        }
        None => group != META,
    }
}

#[cfg(test)]
mod tests;
