//! Shrinks a failing list by leaving parts out (Zeller, Hildebrandt 2002: ddmin).

/// Runs that one shrinking may take: a program of a few hundred operations needs about as many.
const RUNS_MAX: usize = 2000;

/// The shortest list found that still fails.
pub fn shortest<T: Clone>(list: &[T], fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut list = list.to_vec();
    let mut chunk = list.len() / 2;
    let mut run_count = 0;
    while chunk > 0 {
        let mut start = 0;
        let mut has_shrunk = false;
        while start < list.len() && run_count < RUNS_MAX {
            let end = (start + chunk).min(list.len());
            let shorter = [&list[..start], &list[end..]].concat();
            run_count += 1;
            if fails(&shorter) {
                list = shorter;
                has_shrunk = true;
            } else {
                start = end;
            }
        }
        if !(chunk == 1 && has_shrunk) {
            chunk /= 2;
        }
    }
    list
}

#[test]
fn only_what_matters_is_left() {
    // A list fails while 3 comes before 7: nothing else may be left of a hundred numbers.
    let list: Vec<u32> = (0..100).collect();
    let fails = |list: &[u32]| {
        let place = |wanted| list.iter().position(|number| *number == wanted);
        matches!((place(3), place(7)), (Some(three), Some(seven)) if three < seven)
    };
    assert_eq!(shortest(&list, fails), [3, 7]);
}
