//! Tests of `Touched`.

use super::*;
use crate::env::random::Random;

#[test]
fn each_is_listed_once_in_the_order_of_first_entries() {
    // Against a list that is looked through: few, many, and back to fewer by a rollback.
    let mut random = Random::new(1);
    for _ in 0..200 {
        let among = [1, 2, 5, 40][random.below(4) as usize];
        let (mut touched, mut list) = (Touched::default(), Vec::new());
        for _ in 0..random.below(100) {
            if random.one_in(20) {
                let count = random.below(list.len() as u64 + 1) as usize;
                touched.truncate(count);
                list.truncate(count);
            }
            let keyspace = KeyspaceId(random.below(among) as u32);
            touched.add(keyspace);
            if !list.contains(&keyspace) {
                list.push(keyspace);
            }
            assert_eq!(touched.list(), list);
        }
    }
}
