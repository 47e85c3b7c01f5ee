//! Rows that are no state.

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
