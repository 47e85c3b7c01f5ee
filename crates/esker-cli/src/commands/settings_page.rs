//! Every setting on one page in Markdown, from the catalogue: docs/settings.md.

use esker::internals::base::options::catalog;
use esker::internals::base::options::profile::Profile;
use esker::internals::base::options::setting::{Rank, Scope, Setting};

use crate::fail::Outcome;
use crate::out::Out;

const HEAD: &str = "\
# Settings

This page is written by `esker settings --all --markdown`, from the catalogue of the engine; a test
holds it against the program. Set one with `--set name=value` on the command line, or with
`Db::builder(path).set(name, value)`. What is live can be changed while the database is open, with
`Db::set(name, value)` or, for one keyspace, `Keyspace::set(name, value)`; the rest takes effect
when a database is opened. `esker settings` shows the values in effect and who chose them.";

const PROFILES: &str = "\
A profile changes the defaults of other settings; what is set by name wins. `balanced` changes
none; an empty cell is the default, too.";

/// Prints the page.
pub fn page(out: &mut Out) -> Outcome {
    out.line(HEAD)?;
    for (title, rank) in [
        ("For everyone", Rank::Normal),
        ("For those who have measured", Rank::Expert),
    ] {
        out.line(format!("\n## {title}\n"))?;
        let of_rank: Vec<&Setting> = catalog::settings()
            .filter(|setting| setting.rank == rank)
            .collect();
        table(out, &of_rank)?;
    }
    out.line(format!("\n## Profiles\n\n{PROFILES}\n"))?;
    profiles(out)
}

/// Prints a table of some settings.
pub fn table(out: &mut Out, settings: &[&Setting]) -> Outcome {
    row(
        out,
        [
            "setting",
            "unit",
            "default",
            "takes",
            "of",
            "live",
            "meaning",
            "why it is a setting",
        ],
    )?;
    row(out, ["---"; 8])?;
    for setting in settings {
        let of = match setting.scope() {
            Scope::Database => "database",
            Scope::Keyspace => "keyspace",
        };
        let name = format!("`{}`", setting.name);
        let default = format!("`{}`", setting.default_text());
        let takes = setting.shape.allowed();
        row(
            out,
            [
                name.as_str(),
                setting.shape.unit_word(),
                default.as_str(),
                takes.as_str(),
                of,
                if setting.is_live { "yes" } else { "no" },
                setting.doc,
                setting.reason,
            ],
        )?;
    }
    Ok(())
}

// Their values side by side, then the reasons.
fn profiles(out: &mut Out) -> Outcome {
    let names = Profile::NAMES.map(|(name, _)| format!("`{name}`"));
    let head = ["setting".to_owned()].into_iter().chain(names);
    row(out, head)?;
    row(out, ["---"; Profile::NAMES.len() + 1])?;
    let value_in = |profile: Profile, name: &str| {
        let mut lines = profile.lines().iter();
        let line = lines.find(|line| line.setting == name);
        line.map_or(String::new(), |line| format!("`{}`", line.value))
    };
    for setting in catalog::settings() {
        let mut values = Profile::NAMES.map(|(_, profile)| value_in(profile, setting.name));
        if values.iter().all(|value| value.is_empty()) {
            continue;
        }
        for (value, (_, profile)) in values.iter_mut().zip(Profile::NAMES) {
            if profile == Profile::default() {
                *value = format!("`{}`", setting.default_text());
            }
        }
        let name = format!("`{}`", setting.name);
        row(out, [name].into_iter().chain(values))?;
    }
    for (name, profile) in Profile::NAMES {
        if profile.lines().is_empty() {
            continue;
        }
        out.line(format!("\nWhy, in `{name}`:\n"))?;
        for line in profile.lines() {
            let (setting, value, reason) = (line.setting, line.value, line.reason);
            out.line(format!("- `{setting}={value}`: {reason}."))?;
        }
    }
    Ok(())
}

fn row(out: &mut Out, cells: impl IntoIterator<Item = impl AsRef<str>>) -> Outcome {
    let safe: Vec<String> = cells
        .into_iter()
        .map(|cell| cell.as_ref().replace('|', "\\|"))
        .collect();
    Ok(out.line(format!("| {} |", safe.join(" | ")))?)
}
