//! The name that somebody probably meant.

/// The one of `names` that is nearest to `wrong`, if one is near: at most a third of its letters
/// differ.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = (wrong.chars().count() / 3).max(1);
    names
        .map(|name| (distance(wrong, name), name))
        .filter(|(distance, _)| *distance <= far)
        // Of two that are as near, the one with the same first letter was meant more likely.
        .min_by_key(|(distance, name)| (*distance, !wrong.starts_with(&name[..1]), *name))
        .map(|(_, name)| name)
}

/// Letters to insert, remove or change to make one word of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = place + 1;
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
