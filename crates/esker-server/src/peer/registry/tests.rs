//! Who holds which identity.

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
    }
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
    assert_eq!(registry.admit(&greeting(1, 5, 101)), Err(Stranger::Myself));
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
