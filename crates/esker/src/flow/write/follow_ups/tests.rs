//! Tests of `follow_ups`.

use super::*;

const ALL: [FollowUp; 6] = [
    FollowUp::Flush,
    FollowUp::PrepareSegment,
    FollowUp::ShareMemory,
    FollowUp::LookAtSpace,
    FollowUp::FlushValues,
    FollowUp::WatchValues,
];

#[test]
fn a_set_holds_what_was_added_and_nothing_else() {
    // Every subset: it has its own, and without one of them the others.
    for subset in 0..1_u32 << ALL.len() {
        let is_in = |place: usize| subset & (1 << place) != 0;
        let mut set = FollowUps::default();
        for (place, one) in ALL.into_iter().enumerate() {
            set.add_if(is_in(place), one);
            set.add_if(false, one);
        }
        assert_eq!(set.is_empty(), subset == 0);
        for (place, one) in ALL.into_iter().enumerate() {
            assert_eq!(set.has(one), is_in(place), "{one:?} of {subset:b}");
            let less = set.without(one);
            assert!(!less.has(one));
            let others = ALL.into_iter().filter(|other| *other != one);
            others.for_each(|other| assert_eq!(less.has(other), set.has(other)));
        }
    }
}
