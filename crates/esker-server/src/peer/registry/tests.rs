//! Who holds which identity.

use esker_raft::{NodeId, ReplicaId};

use super::*;

const ME: Speaker = Speaker {
    cluster: 77,
    node: 1,
    incarnation: 5,
    instance: 100,
};

fn greeting(node: u64, incarnation: u64, instance: u64) -> Greeting {
    Greeting {
        speaker: Speaker {
            cluster: 77,
            node,
            incarnation,
            instance,
        },
        wants: 1,
        origin: Origin::default(),
        claim: Claim::default(),
    }
}

fn after(mut greeting: Greeting, before: &[u64]) -> Greeting {
    greeting.origin.before[..before.len()].copy_from_slice(before);
    greeting
}

#[test]
fn a_restart_is_told_from_a_copy() {
    let registry = Registry::new(ME);
    let first = greeting(2, 8, 200);
    assert_eq!(registry.admit(&first), Ok(()));
    assert_eq!(registry.admit(&first), Ok(()), "it may connect again");
    assert_eq!(
        registry.admit(&greeting(2, 8, 201)),
        Err(Stranger::SecondHolder)
    );
    assert!(registry.is_current(&first.speaker));
    let restarted = greeting(2, 9, 202);
    assert_eq!(registry.admit(&restarted), Ok(()));
    assert!(
        !registry.is_current(&first.speaker),
        "what it said before is of the past"
    );
    assert_eq!(registry.admit(&first), Err(Stranger::Outdated(9)));
}

#[test]
fn whoever_is_meant_or_is_of_another_cluster_is_told_apart() {
    let registry = Registry::new(ME);
    let mut other = greeting(2, 1, 1);
    other.speaker.cluster = 78;
    assert_eq!(registry.admit(&other), Err(Stranger::OtherCluster(78)));
    let mut lost = greeting(2, 1, 1);
    lost.wants = 3;
    assert_eq!(registry.admit(&lost), Err(Stranger::WrongNode(3)));
    assert_eq!(registry.admit(&greeting(1, 5, 101)), Err(Stranger::Twin));
    assert_eq!(
        registry.admit(&greeting(1, 5, 100)),
        Ok(()),
        "it may dial itself"
    );
    assert!(registry.is_current(&greeting(1, 5, 100).speaker));
    assert!(!registry.is_current(&greeting(1, 5, 101).speaker));
    let mut nameless = greeting(0, 0, 9);
    nameless.speaker.cluster = 0;
    assert_eq!(registry.admit(&nameless), Ok(()), "it may ask for a number");
    assert_eq!(
        registry.recognize(3, &greeting(2, 1, 1)),
        Err(Stranger::WrongNode(2))
    );
    assert_eq!(registry.recognize(2, &greeting(2, 1, 1)), Ok(()));
}

#[test]
fn a_node_that_is_told_of_another_holder_is_ousted() {
    let refusal = |stranger: Stranger| Refusal {
        reason: stranger.into(),
        words: stranger.to_string(),
    };
    let registry = Registry::new(ME);
    for harmless in [
        Stranger::OtherCluster(5),
        Stranger::WrongNode(3),
        Stranger::TooMany,
    ] {
        registry.hear(&refusal(harmless));
    }
    assert_eq!(registry.ousted(), None);
    registry.hear(&refusal(Stranger::Outdated(9)));
    registry.hear(&refusal(Stranger::SecondHolder));
    let words = registry.ousted().unwrap();
    assert!(words.contains("incarnation 9"), "{words}");
}

#[test]
fn a_process_that_comes_while_the_one_before_speaks_is_a_copy() {
    // The earlier one has a connection here: the later one asks again, and is refused for good once
    // the earlier one has spoken a second later. It does not matter how often it was opened.
    let registry = Arc::new(Registry::new(ME));
    let original = greeting(2, 8, 200);
    registry.admit(&original).unwrap();
    let standing = registry.stand(original.speaker);
    let copy = after(greeting(2, 9, 201), &[200]);
    assert_eq!(registry.admit(&copy), Err(Stranger::EarlierLives(8)));
    assert!(registry.hears(&original.speaker));
    assert_eq!(
        registry.admit(&copy),
        Err(Stranger::EarlierLives(8)),
        "what came at once may have been under way"
    );
    {
        let mut seen = registry.lock();
        let rival = &mut seen.get_mut(&2).unwrap().rival;
        *rival = Some((201, Instant::now() - PROOF));
    }
    assert!(registry.hears(&original.speaker));
    assert_eq!(registry.admit(&copy), Err(Stranger::Impostor(8)));
    assert!(!registry.hears(&copy.speaker));
    // Once the original is gone, one that comes after it is a restart.
    drop(standing);
    let restarted = after(greeting(2, 9, 202), &[200]);
    assert_eq!(registry.admit(&restarted), Ok(()));
    assert_eq!(registry.admit(&copy), Err(Stranger::SecondHolder));
}

#[test]
fn a_restart_is_let_in_as_soon_as_the_connection_of_before_has_ended() {
    let registry = Arc::new(Registry::new(ME));
    let first = greeting(2, 8, 200);
    registry.admit(&first).unwrap();
    let connections = [registry.stand(first.speaker), registry.stand(first.speaker)];
    let restarted = after(greeting(2, 9, 201), &[200]);
    assert_eq!(registry.admit(&restarted), Err(Stranger::EarlierLives(8)));
    drop(connections);
    assert_eq!(registry.admit(&restarted), Ok(()));
}

#[test]
fn directories_that_have_parted_are_told_apart_however_often_they_were_opened() {
    let registry = Registry::new(ME);
    registry.admit(&after(greeting(2, 9, 201), &[200])).unwrap();
    // One that was copied before that, and opened more often since.
    let copy = after(greeting(2, 11, 302), &[301, 300, 200]);
    assert_eq!(registry.admit(&copy), Err(Stranger::Parted(9)));
    // One that this one did not hear from for two openings.
    let own = after(greeting(2, 12, 204), &[203, 202, 201, 200]);
    assert_eq!(registry.admit(&own), Ok(()));
    // So many openings later nobody can say.
    let far = after(greeting(2, 99, 402), &[401, 400]);
    assert_eq!(registry.admit(&far), Ok(()));
}

#[test]
fn a_node_is_where_its_last_process_says() {
    let registry = Registry::new(ME);
    let at = |port: u16| Some(SocketAddr::from(([127, 0, 0, 1], port)));
    let mut first = greeting(2, 8, 200);
    registry.admit(&first).unwrap();
    assert_eq!(registry.address(2), None, "it does not say");
    first.origin.address = at(1);
    registry.recognize(2, &first).unwrap();
    assert_eq!(registry.address(2), at(1).map(|address| (8, address)));
    let mut restarted = after(greeting(2, 9, 201), &[200]);
    restarted.origin.address = at(2);
    registry.admit(&restarted).unwrap();
    assert_eq!(registry.admit(&first), Err(Stranger::Outdated(9)));
    assert_eq!(registry.address(2), at(2).map(|address| (9, address)));
}

fn of_epoch(mut greeting: Greeting, number: u64) -> Greeting {
    greeting.claim = claim(number);
    greeting
}

/// That of a meta service that has gone on.
fn claim(number: u64) -> Claim {
    Claim {
        epoch: epoch(number),
        has_gone_on: true,
    }
}

fn epoch(number: u64) -> Epoch {
    Epoch {
        number,
        drawn: 9,
        base: ReplicaId(number),
        node: NodeId(number),
        last: ReplicaId(4096 + number),
    }
}

#[test]
fn nodes_of_two_meta_services_part_and_the_one_of_before_is_told() {
    let later = of_epoch(greeting(2, 1, 7), 1);
    for is_dialled in [false, true] {
        let registry = Registry::new(ME);
        let hear = |greeting: &Greeting| match is_dialled {
            true => registry.recognize(greeting.speaker.node, greeting),
            false => registry.admit(greeting),
        };
        // It has conversed with both.
        let three = greeting(3, 1, 8);
        hear(&greeting(2, 1, 7)).unwrap();
        hear(&three).unwrap();
        assert_eq!(registry.later_claims(), []);
        // The second one has heard of another meta service since.
        let parted = Err(Stranger::OtherEpoch(later.claim.epoch));
        assert_eq!(hear(&later), parted);
        assert_eq!(registry.later_claims(), [later.claim]);
        assert!(!registry.is_current(&later.speaker) && registry.is_current(&three.speaker));
        // It says the same from now on, and parts from the third one, at once.
        registry.set_claim(later.claim);
        assert_eq!(registry.later_claims(), []);
        assert!(registry.is_current(&later.speaker) && !registry.is_current(&three.speaker));
        assert_eq!(hear(&later), Ok(()));
        let parted = Err(Stranger::OtherEpoch(Epoch::default()));
        assert_eq!(hear(&three), parted);
        assert_eq!(registry.later_claims(), []);
        assert_eq!(hear(&of_epoch(three, 1)), Ok(()));
        assert!(registry.is_current(&three.speaker));
    }
}

#[test]
fn all_later_meta_services_are_remembered_and_whether_they_have_gone_on() {
    let registry = Registry::new(ME);
    let mut coming = of_epoch(greeting(2, 1, 7), 2);
    coming.claim.has_gone_on = false;
    let parted = Err(Stranger::OtherEpoch(epoch(2)));
    assert_eq!(registry.admit(&coming), parted);
    assert_eq!(registry.later_claims(), [coming.claim]);
    let parted = Err(Stranger::OtherEpoch(epoch(1)));
    assert_eq!(registry.admit(&of_epoch(greeting(3, 1, 8), 1)), parted);
    assert_eq!(registry.later_claims(), [claim(1), coming.claim]);
    registry.set_claim(claim(1));
    assert_eq!(registry.later_claims(), [coming.claim]);
    let parted = Err(Stranger::OtherEpoch(epoch(2)));
    assert_eq!(registry.admit(&of_epoch(greeting(2, 1, 7), 2)), parted);
    assert_eq!(registry.later_claims(), [claim(2)]);
    // One that has only heard of it takes nothing back.
    assert_eq!(registry.admit(&coming), parted);
    assert_eq!(registry.later_claims(), [claim(2)]);
    // Of one service those that have heard that it went on and the one that says so converse.
    registry.set_claim(coming.claim);
    assert_eq!(registry.admit(&of_epoch(greeting(2, 1, 7), 2)), Ok(()));
    assert_eq!(registry.later_claims(), []);
    // A stranger that invents some fills no memory.
    for number in 3..1000 {
        let _parted = registry.admit(&of_epoch(greeting(2, 1, 7), number));
    }
    let later = registry.later_claims();
    assert_eq!((later.len(), later[15]), (EPOCHS_MAX, claim(999)));
}

#[test]
fn a_copy_of_a_directory_has_no_word_in_which_meta_service_there_is() {
    let registry = Registry::new(ME);
    registry.admit(&greeting(2, 5, 7)).unwrap();
    let older = of_epoch(greeting(2, 4, 6), 1);
    assert_eq!(registry.admit(&older), Err(Stranger::Outdated(5)));
    let mine = of_epoch(greeting(1, 6, 6), 1);
    assert_eq!(registry.admit(&mine), Err(Stranger::Twin));
    assert_eq!(registry.later_claims(), []);
}

#[test]
fn one_without_a_number_is_answered_by_any_meta_service() {
    let nobody = Speaker {
        cluster: 0,
        node: 0,
        incarnation: 0,
        instance: 3,
    };
    let registry = Registry::new(nobody);
    let later = of_epoch(greeting(2, 1, 7), 1);
    registry.recognize(0, &later).unwrap();
    assert!(registry.hears(&later.speaker));
    let registry = Registry::new(ME);
    registry.set_claim(claim(1));
    let mut asks = greeting(2, 1, 7);
    asks.speaker = nobody;
    registry.admit(&asks).unwrap();
}

// A process of node 1, with those that had its directory open before.
fn mine(incarnation: u64, instance: u64, before: &[u64]) -> Greeting {
    after(greeting(1, incarnation, instance), before)
}

fn registry_of(greeting: &Greeting) -> Registry {
    Registry::of(greeting.speaker, greeting.origin)
}

// That process has dialled this one, and hears what this one answers; whether each is to end.
fn dials(dialler: &Greeting, listener: &Registry) -> [bool; 2] {
    let there = registry_of(dialler);
    let stranger = listener.admit(dialler).unwrap_err();
    there.hear(&Refusal {
        reason: Reason::from(stranger),
        words: stranger.to_string(),
    });
    [&there, listener].map(|one| one.ousted().is_some())
}

#[test]
fn of_a_node_and_its_copy_that_meet_one_lives() {
    // The original runs; the copy was made of it since.
    let mut original = mine(5, 100, &[40, 30]);
    original.wants = 0;
    let mut copy = mine(6, 101, &[100, 40, 30]);
    copy.wants = 0;
    assert_eq!(dials(&copy, &registry_of(&original)), [true, false]);
    // In another node's place, where the original dials it.
    let there = registry_of(&copy);
    assert_eq!(dials(&original, &there), [false, true]);
    let why = there.ousted().unwrap();
    assert!(why.contains("this is a copy of its directory"), "{why}");
    // Both were opened since the one was copied from the other: nobody can tell by that, and who
    // is known to others stays.
    let mut other = mine(6, 102, &[40, 30]);
    other.wants = 0;
    let listener = Arc::new(registry_of(&original));
    assert_eq!(dials(&other, &listener), [false, false]);
    let peer = greeting(3, 1, 9);
    listener.admit(&peer).unwrap();
    let _standing = listener.stand(peer.speaker);
    assert_eq!(dials(&other, &listener), [true, false]);
    // Numbers that nobody has drawn say nothing.
    let mut unknown = mine(6, 103, &[]);
    unknown.wants = 0;
    let nameless = mine(5, 0, &[]);
    assert_eq!(dials(&unknown, &registry_of(&nameless)), [false, false]);
}
