//! Every property that is known, and the one that somebody probably meant.

use crate::flags::nearest::nearest;
use crate::scenario::ycsb::properties::Properties;

/// A property: its name, its default as text, what it means.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its default; empty where there is none.
    pub default: &'static str,
    /// What it means, or why it has no effect here.
    pub doc: &'static str,
    /// Whether it is accepted only for its files' sake.
    pub is_unused: bool,
}

/// What properties that are settings of our engine begin with.
pub const OWN: &str = "esker.";

/// Every property, as the table `properties.tsv` tells it.
pub fn known() -> impl Iterator<Item = Known> {
    let lines = include_str!("properties.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, default, meaning] = fields[..] else {
            panic!("no property is told by: {line}");
        };
        let why = meaning.strip_prefix("no effect: ");
        Known {
            name,
            default,
            doc: why.unwrap_or(meaning),
            is_unused: why.is_some(),
        }
    })
}

/// One note for each property that has no effect and asks for something else than what is done.
pub fn notes(properties: &Properties) -> Vec<String> {
    let note = |(name, value): (&str, &str)| match known().find(|known| known.name == name) {
        Some(known) => {
            // A class is written with or without its package.
            let is_default = !known.default.is_empty() && value.ends_with(known.default);
            let is_told = known.is_unused && !is_default;
            is_told.then(|| format!("note: {name} has no effect: {}", known.doc))
        }
        None if name.starts_with(OWN) || name.starts_with("htrace.") => None,
        None => Some(match nearest(name, known().map(|known| known.name)) {
            Some(near) => {
                format!("note: there is no property {name}; did you mean {near}?")
            }
            None => format!("note: there is no property {name}; it has no effect"),
        }),
    };
    properties.iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests;
