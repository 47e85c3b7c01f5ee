//! Tests of `positions`.

use std::collections::BTreeMap;

use esker::internals::env::random::Random;

use super::*;

fn place(at: u64) -> Place {
    Place {
        segment: FileNumber(1 + at / 10),
        offset: at * 100,
    }
}

#[test]
fn entries_lie_where_they_were_put_last_whatever_is_cut_and_compacted() {
    for seed in 0..300 {
        let mut dice = Random::new(seed);
        let mut positions = Positions::default();
        let mut model: BTreeMap<u64, (Place, u64)> = BTreeMap::new();
        let (mut last, mut compacted) = (0, 0);
        for step in 0..60 {
            if dice.one_in(4) && last > compacted {
                compacted += dice.below(last - compacted + 1);
                positions.compact(compacted);
                model = model.split_off(&(compacted + 1));
                continue;
            }
            let back = dice.below(last - compacted + 1) * u64::from(dice.one_in(3));
            let first = last + 1 - back;
            let mut term = model.get(&(first - 1)).map_or(1, |(_, term)| *term);
            let points = (first..=first + dice.below(5)).map(|index| {
                term += dice.below(2);
                Point { index, term }
            });
            let points: Vec<_> = points.collect();
            positions.append(&points, place(step));
            model.split_off(&first);
            model.extend(points.iter().map(|at| (at.index, (place(step), at.term))));
            last = points.last().expect("one at least").index;
        }
        for index in compacted.saturating_sub(2)..last + 3 {
            let known = model.get(&index);
            let found = positions.find(index);
            assert_eq!(found.map(|(place, _)| place), known.map(|it| it.0));
            assert_eq!(positions.term(index), known.map(|it| it.1), "{seed}");
            // The last one that lies in the same record, and none further on.
            if let (Some((there, until)), Some(_)) = (found, known) {
                assert!((index..=until).all(|at| model[&at].0 == there));
                assert!(model.get(&(until + 1)).is_none_or(|next| next.0 != there));
            }
        }
        let segments = || model.values().map(|(place, _)| place.segment);
        assert_eq!(positions.oldest_segment(), segments().min());
        if let Some(oldest) = segments().min() {
            let of_oldest = model.iter().rev();
            let last_there = of_oldest.clone().find(|(_, it)| it.0.segment <= oldest);
            assert_eq!(
                positions.last_in(oldest),
                last_there.map(|(index, _)| *index)
            );
        }
    }
}
