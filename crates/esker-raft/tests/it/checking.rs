//! What the checks of the simulation ask of a leader, and what they do not.

use esker_raft::{
    Committed, Configuration, Effect, Mark, NodeId, Point, Record, ReplicaId, Save, SaveNumber,
};

use crate::rig::GROUP;
use crate::sim::checks::Checks;
use crate::sim::disk::Disk;
use crate::sim::machine::State;
use crate::sim::plan::Planted;

/// The disk of a replica with no entry.
fn empty() -> Disk {
    let mut disk = Disk::new(Planted::Nothing);
    let record = Record::Begin {
        group: GROUP,
        replica: ReplicaId(2),
        index: 1,
        term: 1,
        configuration: Configuration::first(1, &[(ReplicaId(2), NodeId(2))]),
    };
    let number = SaveNumber(1);
    disk.save(&Save {
        number,
        records: vec![record],
        must_sync: true,
    });
    disk.sync(number);
    disk
}

/// An entry of term 2 is known to be committed in `term`; then its lack in who leads in term 3.
fn leads_without_it(term: u64) {
    let entry = Committed {
        index: 2,
        term: 2,
        effect: Effect::Nothing,
        token: None,
    };
    let mark = Mark {
        applied: Point { index: 2, term: 2 },
        ..Mark::default()
    };
    let mut checks = Checks::new(0);
    checks.applied(GROUP, term, &entry, &State { mark, hash: 0 });
    checks.leads(GROUP, 3, ReplicaId(2), &empty());
}

#[test]
#[should_panic(expected = "leads in term 3")]
fn who_leads_has_all_that_was_committed_in_terms_before() {
    leads_without_it(2);
}

#[test]
fn an_entry_that_a_later_leader_committed_is_not_asked_of_one_between() {
    // Its votes came late: the leader of term 4 has overtaken it, with an old entry that counts as
    // committed by way of a new one.
    leads_without_it(4);
}
