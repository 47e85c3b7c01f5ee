//! What a replica that has left says and hears; `leaving.rs` says why it stays for a while.

use crate::alone::Forcing;
use crate::configuration::Configuration;
use crate::group::Group;
use crate::ids::{NodeId, ReplicaId};
use crate::leaving::Leaving;
use crate::message::Body;
use crate::output::{Event, Output};

impl Group {
    /// This replica is in no configuration from `configuration` on.
    pub(crate) fn leave(&mut self, configuration: &Configuration) {
        let known = self
            .leaving
            .as_ref()
            .map_or(0, |leaving| leaving.configuration.version);
        if configuration.version > known {
            let knowing = self.leaving.take().map(|leaving| leaving.knowing);
            let leaving = self.leaving.insert(Leaving::new(configuration.clone()));
            leaving.knowing = knowing.unwrap_or_default();
        }
    }

    /// `from` says that this replica has left, and who the members are.
    pub(crate) fn hear_removed(
        &mut self,
        from: ReplicaId,
        configuration: &Configuration,
        out: &mut Output,
    ) {
        // Whoever knows less, or nothing of it, is wrong.
        if configuration.version < self.configuration.version
            || !configuration.has_left(self.replica)
        {
            return;
        }
        self.leave(configuration);
        let Some(leaving) = &mut self.leaving else {
            return;
        };
        leaving.knowing.insert(from);
        if leaving.is_known() && !leaving.is_told {
            leaving.is_told = true;
            out.events.push(Event::Left(self.id, self.replica));
        }
    }

    /// Asks those who stay whether they know, once for each time that an election takes.
    pub(crate) fn ask_to_leave(&mut self, out: &mut Output) {
        let is_due = self.now.is_multiple_of(self.options.election_ticks as u64);
        let Some(leaving) = self
            .leaving
            .as_ref()
            .filter(|leaving| is_due && !leaving.is_told)
        else {
            return;
        };
        for &voter in leaving.configuration.voters.difference(&leaving.knowing) {
            if let Some(&node) = leaving.configuration.nodes.get(&voter) {
                out.send(node, self.envelope(voter, Body::Leaving));
            }
        }
    }

    /// Tells one that has left so, if this replica will still know it after a crash. One that goes
    /// on alone has forgotten its members before that is written down, and is asked again.
    pub(crate) fn tell_removed(&self, to: ReplicaId, node: NodeId, out: &mut Output) {
        if self.unsure.is_none() && self.forcing == Forcing::No {
            let body = Body::Removed(Box::new(self.configuration.clone()));
            out.send(node, self.envelope(to, body));
        }
    }
}
