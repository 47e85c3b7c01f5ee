//! Tests of `descent`.

use super::*;

type File = (FileNumber, Option<Lineage>);

fn plain(number: u64) -> File {
    (FileNumber(number), None)
}

fn made(number: u64, sources: &[u64], lower: &str, upper: &str) -> File {
    let end = |key: &str| (!key.is_empty()).then(|| Bytes::copy_of(key.as_bytes()));
    let lineage = Lineage {
        sources: sources.iter().copied().map(FileNumber).collect(),
        lower: end(lower),
        upper: end(upper),
    };
    (FileNumber(number), Some(lineage))
}

fn gone(files: &[File]) -> Vec<u64> {
    let replaced = replaced(&Comparator::Bytewise, files);
    replaced.into_iter().map(|number| number.0).collect()
}

#[test]
fn files_that_others_took_the_place_of_count_no_more() {
    let finished = [
        plain(1),
        plain(2),
        made(3, &[1, 2], "", "m"),
        made(4, &[1, 2], "m", ""),
    ];
    assert_eq!(gone(&finished), [1, 2]);
    // Some were removed already.
    assert_eq!(gone(&finished[1..]), [1, 2]);
}

#[test]
fn files_of_work_that_was_never_finished_do_not_count() {
    let begun = [plain(1), plain(2), made(3, &[1, 2], "", "m")];
    assert_eq!(gone(&begun), [3]);
    // A hole in the middle.
    let begun = [plain(1), made(3, &[1], "", "g"), made(5, &[1], "m", "")];
    assert_eq!(gone(&begun), [3, 5]);
}

#[test]
fn where_nothing_is_known_everything_counts() {
    // A source is gone, and so is one of the files that took its place.
    assert!(gone(&[plain(1), made(3, &[1, 2], "", "m")]).is_empty());
    assert!(gone(&[plain(1), plain(2)]).is_empty());
}

#[test]
fn what_was_replaced_twice_is_known_to_whom_it_still_lay_about() {
    // 1 became 3 and 4, which a reader's hold on 1 outlived: 3 became 6 meanwhile.
    let files = [plain(1), made(4, &[1], "m", ""), made(6, &[1, 3], "", "")];
    assert_eq!(gone(&files), [1, 3]);
}
