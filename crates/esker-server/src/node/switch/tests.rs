//! Switch records come back as they went, and nothing else is taken for one.

use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;

use super::*;

fn switch(state: State, count: u64) -> Switch {
    Switch {
        member: Member {
            group: GroupId(7 << 32 | 3),
            replica: ReplicaId(12),
        },
        state,
        first: (1..=count).map(|id| (ReplicaId(id), NodeId(id))).collect(),
    }
}

#[test]
fn a_record_comes_back_and_a_cut_one_is_refused() {
    let cases = [
        (State::Beginning, 0),
        (State::Living, 3),
        (State::Retired, 1),
        (State::Purging, 16),
    ];
    for (state, count) in cases {
        let record = switch(state, count);
        let (key, value) = (key_of(record.member.group), record.encode());
        assert_eq!(Switch::decode(&key, &value).unwrap(), record);
        for len in 0..value.len() {
            let error = Switch::decode(&key, &value[..len]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption);
        }
        let mut newer = value.clone();
        newer[0] = 2;
        let error = Switch::decode(&key, &newer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn any_bytes_are_refused_or_come_back_as_they_are() {
    let mut dice = Random::new(3);
    let record = switch(State::Living, 3);
    let key = key_of(record.member.group);
    for _ in 0..20_000 {
        let mut value = record.encode();
        let at = usize::try_from(dice.below(value.len() as u64)).unwrap();
        value[at] ^= 1 << dice.below(8);
        if let Ok(read) = Switch::decode(&key, &value) {
            assert_eq!(read.encode(), value);
        }
    }
}

#[test]
fn records_and_facts_lie_beside_each_other_through_an_opening() {
    let world = SimWorld::new(1);
    let open = || {
        let db = esker::Db::builder("/db").env(world.env()).open().unwrap();
        let switches = Switches::new(&db.keyspace("node").unwrap());
        (db, switches)
    };
    let record = switch(State::Beginning, 3);
    {
        let (_db, switches) = open();
        switches.set(&record).unwrap();
        switches.keep_fact("tables", b"three of them").unwrap();
    }
    let (_db, switches) = open();
    let all = switches.all().unwrap();
    assert_eq!(all, std::slice::from_ref(&record));
    let found = switches.get(record.member.group).unwrap();
    assert_eq!(found, Some(record.clone()));
    switches.remove(record.member.group).unwrap();
    assert_eq!(switches.all().unwrap(), []);
    let fact = switches.fact("tables").unwrap();
    assert_eq!(fact.as_deref(), Some(&b"three of them"[..]));
}

#[test]
fn a_reason_is_of_one_replica_and_goes_with_its_record() {
    let world = SimWorld::new(2);
    let db = esker::Db::builder("/db").env(world.env()).open().unwrap();
    let switches = Switches::new(&db.keyspace("node").unwrap());
    let record = switch(State::Retired, 0);
    let member = record.member;
    assert_eq!(switches.reason(member).unwrap(), None);
    switches.keep_reason(member, "a block differs").unwrap();
    switches.set(&record).unwrap();
    let why = switches.reason(member).unwrap();
    assert_eq!(why.as_deref(), Some("a block differs"));
    assert_eq!(switches.all().unwrap(), [record]);
    // Of the next one of its group nothing is known.
    let replica = ReplicaId(13);
    let next = Member { replica, ..member };
    assert_eq!(switches.reason(next).unwrap(), None);
    switches.remove(member.group).unwrap();
    assert_eq!(switches.reason(member).unwrap(), None);
}
