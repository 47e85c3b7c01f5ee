//! Settings of a keyspace as pairs of name and text, as the manifest keeps them.
//!
//! Kept is what differs from the default: a better default of a later version then reaches
//! keyspaces that never asked for anything, and thousands of plain keyspaces cost nothing.
//! The default is that of a build with every compressor, in every build: a keyspace that was made
//! without one says so, and is written that way by builds that have it, so that both can read it.
//! Order and merge operator are not among the pairs; the manifest has places of their own for
//! their names.

use crate::base::options::catalog;
use crate::base::options::codec::Shape;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::sst::SstOptions;
use crate::base::types::error::{Error, ErrorKind, Result};

/// The settings that differ from their default, as name and text.
///
/// Give it what was asked for, not what `automatic` made of it: a derived value written down
/// would no longer follow what it was derived from.
pub fn to_pairs(options: &KeyspaceOptions) -> Vec<(String, String)> {
    let defaults = KeyspaceOptions {
        sst: SstOptions::of_full_build(),
        ..KeyspaceOptions::default()
    };
    catalog::keyspace_values(options)
        .zip(catalog::keyspace_values(&defaults))
        .filter(|((setting, value), (_, default))| {
            setting.shape != Shape::Operator && value != default
        })
        .map(|((setting, value), _)| (setting.name.into(), setting.shape.show(&value)))
        .collect()
}

/// The options that the pairs of a manifest describe; all else is at its default. A compressor that
/// this build does not have is not refused here: who opens the keyspace may choose another.
///
/// `Unsupported` for a name or a value that this version does not know: a newer one wrote it.
pub fn from_pairs<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<KeyspaceOptions> {
    let mut options = KeyspaceOptions::default();
    for (name, text) in pairs {
        catalog::set_keyspace(&mut options, name, text).map_err(|error| {
            let message = format!(
                "the keyspace was written with `{name}` = `{text}`, which this version does not \
                 know; open it with the version that wrote it or a newer one"
            );
            Error::new(ErrorKind::Unsupported, message).caused_by(error)
        })?;
    }
    Ok(options)
}

#[cfg(test)]
mod tests;
