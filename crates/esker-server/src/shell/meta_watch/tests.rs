//! Silence of the meta service, told once and not for a pause of this node.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn silence_is_told_once_and_its_end_too() {
    let watch = MetaWatch::default();
    // Nobody is silent yet, and nobody has said anything.
    assert!(!watch.is_away() && !watch.is_led());
    assert_eq!(watch.answered(), None);
    assert!(watch.is_led());
    let told = |seconds: u32| (0..seconds).filter_map(|_| watch.pass(SECOND)).count();
    assert_eq!((told(1), watch.is_away()), (0, false));
    assert_eq!((told(1), watch.is_away()), (0, true));
    assert!(!watch.is_led());
    assert_eq!(told(7), 0);
    let line = watch.pass(SECOND).expect("ten seconds");
    assert!(line.contains("for 10 s"), "{line}");
    assert_eq!(told(100), 0);
    let line = watch.answered().expect("it was told");
    assert!(line.ends_with("after 110 s"), "{line}");
    assert!(!watch.is_away());
    assert_eq!((told(9), watch.answered()), (0, None));
}

#[test]
fn a_pause_of_this_node_is_no_silence() {
    let watch = MetaWatch::default();
    assert_eq!(watch.pass(Duration::from_secs(3600)), None);
    assert!(!watch.is_away());
}

#[test]
fn silence_for_want_of_sound_replicas_says_that_the_own_one_is_damaged() {
    let watch = MetaWatch::default();
    watch.set_damage(Some("a block differs"));
    assert_eq!(watch.damage().as_deref(), Some("a block differs"));
    let line = (0..10).find_map(|_| watch.pass(SECOND)).expect("told");
    assert!(
        line.ends_with("the one of this node is damaged: a block differs"),
        "{line}"
    );
    // It was made anew, and a later silence has another reason.
    watch.set_damage(None);
    assert!(watch.answered().is_some());
    let line = (0..10).find_map(|_| watch.pass(SECOND)).expect("told");
    assert!(line.ends_with("and their nodes run"), "{line}");
}
