//! Rows that are no state.

use crate::meta::command::Deed;
use crate::meta::epoch::Epoch;
use crate::meta::trial::{Trial, new_table};

use super::*;

#[test]
fn rows_that_no_state_has_are_refused_by_their_key() {
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 2, 3));
    let rows = trial.state.rows();
    assert!(rows.is_sorted());
    for (place, (key, value)) in rows.iter().enumerate() {
        let with = |key: &[u8], value: &[u8]| {
            let mut rows = rows.clone();
            rows[place] = (key.to_vec(), value.to_vec());
            State::load(rows)
        };
        let strange = [&b"x"[..], key].concat();
        assert_eq!(with(&strange, value), Err(LoadError::Key(strange.clone())));
        let later = [&[2][..], &value[1..]].concat();
        let refused = with(key, &later).expect_err("a layout of a later version");
        assert!(refused.to_string().contains("layout"), "{refused}");
        for len in 0..value.len() {
            assert!(matches!(
                with(key, &value[..len]),
                Err(LoadError::Value(..))
            ));
        }
        let longer = [value, &[0][..]].concat();
        assert!(matches!(with(key, &longer), Err(LoadError::Value(..))));
    }
    assert_eq!(State::load(rows), Ok(trial.state));
}

#[test]
fn a_number_that_was_given_and_is_in_no_list_was_let_go_of() {
    let mut trial = Trial::new(4);
    let node = NodeId(3);
    trial.done(Deed::RemoveNode { node });
    let removed = |trial: &Trial| -> Vec<u64> {
        let numbers = (0..200).filter(|node| trial.state.was_removed(NodeId(*node)));
        numbers.collect()
    };
    assert_eq!(removed(&trial), [3]);
    // What a meta service of before may have given is known to nobody.
    let epoch = Epoch {
        number: 1,
        drawn: 5,
        base: ReplicaId(1),
        node: NodeId(1),
        last: ReplicaId(4097),
    };
    trial.done(Deed::RecoverMeta { epoch });
    assert_eq!(removed(&trial), [3]);
    assert!(trial.state.cluster.as_ref().unwrap().next_node > NodeId(100));
    // A cluster that has not begun has given none.
    assert!(!State::default().was_removed(node));
}
