//! Memory follows the text, and nobody gets less than our engine takes.

use super::*;

#[test]
fn a_limit_leaves_the_server_room_beside_the_cache() {
    let limited = memory(Some(0.45), 1_000_000_000);
    assert_eq!(limited.cache_bytes, 450_000_000);
    assert_eq!(limited.group_bytes, Some(450_000_000 + SERVER_BYTES));
    assert_eq!(memory(None, 1_000_000_000).group_bytes, None);
    assert_eq!(memory(Some(0.22), 1000).cache_bytes, CACHE_BYTES_MIN);
}

#[test]
fn every_limit_of_every_size_is_another_one() {
    // Were a limit below what our engine takes, two lines would measure the same thing.
    for size in Size::ALL {
        let caches = SHARES.map(|share| memory(share, raw_bytes(size)).cache_bytes);
        assert!(caches.is_sorted_by(|more, less| more > less), "{caches:?}");
        assert!(caches[3] > CACHE_BYTES_MIN, "{caches:?}");
    }
}

#[test]
fn lines_have_names_of_their_own() {
    let mut names: Vec<String> = SHARES
        .into_iter()
        .flat_map(|share| CHOICES.map(|(choice, _)| read_line(choice, share)))
        .collect();
    assert_eq!(names[1], "sql-read-zipf-unlimited");
    assert_eq!(names[2], "sql-read-uniform-0.90-of-raw");
    names.dedup();
    assert_eq!(names.len(), 8);
}

#[test]
fn the_table_with_more_indexes_is_larger_than_its_memory() {
    for size in Size::ALL {
        let rows = indexed_rows(size, 1.0);
        let memory = indexed_memory(rows);
        assert!(memory.cache_bytes > CACHE_BYTES_MIN, "{memory:?}");
        assert!(
            rows * INDEXED_ROW_BYTES > 4 * memory.cache_bytes,
            "{memory:?}"
        );
    }
}
