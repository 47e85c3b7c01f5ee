//! Settings of a table that are taken away, of which a name that it has not is a slip.

use esker_bench::flags::nearest::nearest;

use crate::fail::{Failure, Outcome};
use crate::remote::link::{Link, shown};
use crate::remote::refusal::change_failure;

/// Removes settings of the table; none, where one of them is none that it has.
pub fn unset(link: &Link, name: &str, keys: &[String]) -> Outcome {
    let table = link.description(name)?;
    let of_table = || table.envs.keys().map(String::as_str);
    for key in keys {
        if of_table().all(|set| set != key) {
            let near = nearest(
                key,
                of_table().filter(|set| set.is_ascii() && !set.is_empty()),
            );
            let advice = near.map_or_else(
                || format!("`esker table describe {}` shows those it has", shown(name)),
                |near| format!("did you mean {}?", shown(near)),
            );
            return Err(Failure::failed(format!(
                "table \"{}\" has no setting \"{}\"; {advice}",
                shown(name),
                shown(key)
            )));
        }
    }
    let done = link.attempt(link.admin().remove_envs(name, keys));
    done.map_err(|error| change_failure("cannot remove the setting", &error))
}
