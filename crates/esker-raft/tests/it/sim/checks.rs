//! What must hold at every step, whatever goes wrong.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{
    Body, Committed, Effect, Envelope, Event, GroupId, LogRead, Outcome, Record, ReplicaId, Token,
};

use crate::sim::disk::Disk;
use crate::sim::machine::State;
use crate::sim::rng::mix_bytes;

/// All that is known of all replicas, to hold them against one another.
#[derive(Default)]
pub struct Checks {
    pub now: u64,
    pub seed: u64,
    leaders: BTreeMap<(GroupId, u64), ReplicaId>,
    /// What the state is behind each committed index, and the entry's term.
    states: BTreeMap<(GroupId, u64), (u64, u64)>,
    /// The smallest term in which somebody knew that an index is committed.
    known: BTreeMap<(GroupId, u64), u64>,
    configurations: BTreeMap<(GroupId, u64), Vec<u8>>,
    /// Every entry ever saved: what is in it, and the term of the one before.
    entries: BTreeMap<(GroupId, u64, u64), u64>,
    pub committed_max: BTreeMap<GroupId, u64>,
    applied: BTreeMap<Token, (GroupId, u64)>,
    overwritten: BTreeSet<Token>,
    acknowledged: BTreeMap<Token, GroupId>,
    reads: BTreeMap<Token, (GroupId, u64)>,
    destroyed: BTreeSet<(GroupId, ReplicaId)>,
    pub read_count: u64,
    pub apply_count: u64,
    pub lease_count: u64,
    pub image_count: u64,
    pub change_count: u64,
}

impl Checks {
    pub fn new(seed: u64) -> Checks {
        Checks {
            seed,
            ..Checks::default()
        }
    }

    pub fn fail(&self, what: &str) -> ! {
        panic!("seed {} tick {}: {what}", self.seed, self.now);
    }

    /// Election safety, and leader completeness against what was committed in smaller terms: an
    /// entry of a smaller term may be committed by the leader of a larger one, and then nobody who
    /// leads in between needs it.
    pub fn leads(&mut self, group: GroupId, term: u64, replica: ReplicaId, disk: &Disk) {
        let first = *self.leaders.entry((group, term)).or_insert(replica);
        if first != replica {
            self.fail(&format!(
                "{group}: {first} and {replica} lead in term {term}"
            ));
        }
        let known = self.known.range((group, 0)..=(group, u64::MAX)).rev();
        let mut older = known.filter(|row| *row.1 < term).map(|row| row.0.1);
        let Some(index) = older.next() else {
            return;
        };
        let (_, its_term) = self.states[&(group, index)];
        match disk.term(group, index) {
            Ok(found) if found == its_term => {}
            Err(esker_raft::ReadError::Compacted) => {}
            other => self.fail(&format!(
                "{group}: {replica} leads in term {term} and has {other:?} where {its_term} \
                 is committed at {index}"
            )),
        }
    }

    /// A state machine has applied `entry`, whose replica is in `term` by now.
    pub fn applied(&mut self, group: GroupId, term: u64, entry: &Committed, state: &State) {
        self.apply_count += 1;
        let known = self.known.entry((group, entry.index)).or_insert(term);
        *known = term.min(*known);
        if let Effect::Write(payload) = &entry.effect {
            let token = token_of(payload);
            if self.overwritten.contains(&token) {
                self.fail(&format!(
                    "{group}: {token:?} was called overwritten, and is applied"
                ));
            }
            let before = self.applied.insert(token, (group, entry.index));
            if before.is_some_and(|before| before != (group, entry.index)) {
                self.fail(&format!("{group}: {token:?} is applied at two indices"));
            }
            if entry.token.is_some_and(|told| told != token) {
                self.fail("an answer goes to another one than asked");
            }
        }
        if let Effect::Configuration(configuration) = &entry.effect {
            self.change_count += 1;
            let mut bytes = Vec::new();
            configuration.encode(&mut bytes);
            let key = (group, entry.index);
            let first = self
                .configurations
                .entry(key)
                .or_insert_with(|| bytes.clone());
            if *first != bytes {
                self.fail(&format!("{group}: two configurations at {}", entry.index));
            }
        }
        self.state_is(group, state);
    }

    /// The state behind an index is the same everywhere.
    pub fn state_is(&mut self, group: GroupId, state: &State) {
        let at = state.mark.applied;
        let found = (state.hash, at.term);
        let first = *self.states.entry((group, at.index)).or_insert(found);
        if first != found {
            let index = at.index;
            self.fail(&format!(
                "{group}: two states at {index}: {first:?} and {found:?}"
            ));
        }
        let max = self.committed_max.entry(group).or_default();
        *max = (*max).max(at.index);
    }

    /// Log matching: an entry of an index and a term is the same everywhere, and so is all before
    /// it. Of what was never durable nothing is left: the only voter of a group leads at once, and
    /// may lead in the same term again after a crash, as long as nobody has heard of it.
    pub fn saved(&mut self, record: &Record) {
        let Record::Append { group, entries } = record else {
            return;
        };
        for entry in entries {
            let mut bytes = Vec::new();
            esker_raft::entry::encode(entry, &mut bytes);
            let hash = mix_bytes(0, &bytes);
            let key = (*group, entry.index, entry.term);
            if *self.entries.entry(key).or_insert(hash) != hash {
                self.fail(&format!(
                    "{group}: two entries of one term at {}",
                    entry.index
                ));
            }
        }
    }

    pub fn acknowledged(&mut self, group: GroupId, token: Token) {
        self.acknowledged.insert(token, group);
    }

    pub fn read_begins(&mut self, group: GroupId, token: Token) {
        let floor = self.committed_max.get(&group).copied().unwrap_or(0);
        self.reads.insert(token, (group, floor));
    }

    pub fn read_served(&mut self, token: Token, index: u64, applied: u64) {
        self.read_count += 1;
        let Some((group, floor)) = self.reads.remove(&token) else {
            self.fail("a read is served twice, or was never asked for");
        };
        if index < floor || applied < index {
            self.fail(&format!(
                "{group}: a read is served at {index}, applied {applied}, and {floor} was committed"
            ));
        }
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Proposal(group, token, Outcome::Overwritten) => {
                self.overwritten.insert(*token);
                if self.applied.contains_key(token) {
                    self.fail(&format!(
                        "{group}: {token:?} is applied, and called overwritten"
                    ));
                }
            }
            Event::Lease(_, Some(_)) => self.lease_count += 1,
            Event::Damaged(..) | Event::PeerDamaged(..) => self.fail(&format!("{event:?}")),
            _ => {}
        }
    }

    pub fn destroyed(&mut self, group: GroupId, replica: ReplicaId) {
        self.destroyed.insert((group, replica));
    }

    /// Who is destroyed is silent.
    pub fn sent(&self, envelope: &Envelope) {
        let speaks = matches!(envelope.body, Body::Step(_));
        if speaks && self.destroyed.contains(&(envelope.group, envelope.from)) {
            self.fail(&format!("{} {} speaks on", envelope.group, envelope.from));
        }
    }

    /// All that was acknowledged is in the states that all agree upon.
    pub fn nothing_is_lost(&self) {
        for (token, group) in &self.acknowledged {
            if !self.applied.contains_key(token) {
                self.fail(&format!("{group}: {token:?} was acknowledged and is lost"));
            }
        }
    }

    pub fn acknowledged_count(&self) -> usize {
        self.acknowledged.len()
    }
}

fn token_of(payload: &[u8]) -> Token {
    let bytes = payload[..8]
        .try_into()
        .expect("a payload begins with its token");
    Token(u64::from_le_bytes(bytes))
}
