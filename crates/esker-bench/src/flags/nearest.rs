//! The name that somebody probably meant.

/// The one of `names` that is nearest to `wrong`, if one is near: at most a third of its letters
/// differ, two neighbours that changed places counting as one.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = (wrong.chars().count() / 3).max(1);
    names
        .map(|name| (strsim::osa_distance(wrong, name), name))
        .filter(|(distance, _)| *distance <= far)
        // Of two that are as near, the one with the same first letter was meant more likely.
        .min_by_key(|(distance, name)| (*distance, !wrong.starts_with(&name[..1]), *name))
        .map(|(_, name)| name)
}
