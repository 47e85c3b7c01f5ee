//! Every setting of the engine, found by name.

use crate::base::options::catalog_db::DB_SETTINGS;
use crate::base::options::catalog_keyspace::KEYSPACE_SETTINGS;
use crate::base::options::codec::Value;
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::setting::{Access, Setting};
use crate::base::types::error::{Error, Result};

/// Every setting: those of the database, then those of a keyspace.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    DB_SETTINGS.iter().chain(KEYSPACE_SETTINGS)
}

/// The setting of that name. `Invalid` when there is none, with the nearest name as a hint.
pub fn find(name: &str) -> Result<&'static Setting> {
    settings()
        .find(|setting| setting.name == name)
        .ok_or_else(|| unknown(name))
}

/// Sets a setting of the database from text. `Invalid`, and nothing changed, for any other name
/// and for text that spells no allowed value.
pub fn set_db(options: &mut DbOptions, name: &str, text: &str) -> Result<()> {
    let setting = find(name)?;
    match setting.access {
        Access::Db { set, .. } => {
            set(options, setting.parse(text)?);
            Ok(())
        }
        _ => Err(misplaced(setting, "database")),
    }
}

/// The value of a setting of the keyspace, as text. `Invalid` for any other name.
pub fn get_keyspace(options: &KeyspaceOptions, name: &str) -> Result<String> {
    let setting = find(name)?;
    match setting.access {
        Access::Keyspace { get, .. } => Ok(setting.shape.show(&get(options))),
        _ => Err(misplaced(setting, "keyspace")),
    }
}

/// Sets a setting of the keyspace from text. `Invalid`, and nothing changed, for any other name
/// and for text that spells no allowed value.
pub fn set_keyspace(options: &mut KeyspaceOptions, name: &str, text: &str) -> Result<()> {
    let setting = find(name)?;
    match setting.access {
        Access::Keyspace { set, .. } => {
            set(options, setting.parse(text)?);
            Ok(())
        }
        _ => Err(misplaced(setting, "keyspace")),
    }
}

/// The known name nearest to a mistyped one, if any is near: a third of the letters wrong at
/// most, and always two. The part behind the dot counts as a name too, since it is what people
/// remember.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let distance = |candidate: &str| {
        let leaf = candidate.rsplit('.').next().unwrap_or(candidate);
        edit_distance(&name, candidate).min(edit_distance(&name, leaf))
    };
    let (near, candidate) = known
        .map(|candidate| (distance(candidate), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (near <= (name.len() / 3).max(2)).then_some(candidate)
}

/// Letters to insert, remove or replace to make one text of the other (Levenshtein).
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, from) in left.chars().enumerate() {
        let mut diagonal = above;
        let mut before = above + 1;
        for (cell, to) in row[1..].iter_mut().zip(&right) {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = *cell;
            before = replaced.min(diagonal + 1).min(before + 1);
            *cell = before;
        }
        row[0] = above + 1;
    }
    row[right.len()]
}

#[track_caller]
fn unknown(name: &str) -> Error {
    let names = settings().map(|setting| setting.name);
    let hint = nearest(name, names).map_or(String::new(), |near| format!("; `{near}` exists"));
    Error::invalid(format!("there is no setting `{name}`{hint}"))
}

#[track_caller]
fn misplaced(setting: &Setting, here: &str) -> Error {
    let name = setting.name;
    Error::invalid(match (&setting.access, here) {
        (Access::Profile, _) => format!(
            "`{name}` has no value of its own: it chooses the defaults of other settings when \
             the database is opened"
        ),
        (Access::Db { .. }, _) => {
            format!("`{name}` is a setting of the database, not of a {here}")
        }
        (Access::Keyspace { .. }, _) => {
            format!("`{name}` is a setting of each keyspace, not of the {here}")
        }
    })
}

/// The values of all settings of the database with their settings.
pub(crate) fn db_values(options: &DbOptions) -> impl Iterator<Item = (&'static Setting, Value)> {
    DB_SETTINGS
        .iter()
        .filter_map(|setting| match setting.access {
            Access::Db { get, .. } => Some((setting, get(options))),
            _ => None,
        })
}

/// The values of all settings of the keyspace with their settings.
pub(crate) fn keyspace_values(
    options: &KeyspaceOptions,
) -> impl Iterator<Item = (&'static Setting, Value)> {
    KEYSPACE_SETTINGS
        .iter()
        .filter_map(|setting| match setting.access {
            Access::Keyspace { get, .. } => Some((setting, get(options))),
            _ => None,
        })
}

#[cfg(test)]
mod tests;
