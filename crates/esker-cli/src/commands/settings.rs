//! The catalogue of settings, with the values in effect.

use clap::Args;
use esker::internals::base::options::catalog;
use esker::internals::base::options::profile::Profile;
use esker::internals::base::options::resolve::resolve;
use esker::internals::base::options::setting::{Rank, Scope, Setting};
use esker_bench::table::Table;
use serde_json::{Value, json};

use crate::commands::settings_page;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;

/// List the settings: value, origin, range, meaning
#[derive(Debug, Args)]
#[command(after_help = "\
With --db the values are those of the database, else those a new one would have. The origin says
who chose a value: default, profile, user (--set), or automatic.

Examples:
  esker settings                              the settings most people meet
  esker settings --all                        the others too
  esker settings memory_limit                 all about one
  esker settings --set profile=read_heavy     what a profile changes
  esker settings --all --markdown             all of them and the profiles, as a page")]
pub struct Settings {
    /// Only this one
    #[arg(value_name = "SETTING")]
    name: Option<String>,
    /// Expert settings, too
    #[arg(long)]
    all: bool,
    /// In Markdown: a table; with --all the whole page
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// One setting with its value in effect.
struct Line {
    setting: &'static Setting,
    value: String,
    origin: &'static str,
}

/// Prints the settings.
pub fn settings(shared: &GlobalFlags, args: &Settings) -> Outcome {
    let mut lines = match shared.db {
        Some(_) => of_database(shared)?,
        None => of_new_database(shared)?,
    };
    let mut out = Out::lock();
    if let Some(name) = &args.name {
        let setting = catalog::find(name).map_err(|error| {
            let message = error.message();
            Failure::usage(format!("{message}; `esker settings --all` lists them"))
        })?;
        lines.retain(|line| line.setting.name == setting.name);
        if !shared.json && !args.markdown {
            for line in &lines {
                one(&mut out, line)?;
            }
            return Ok(out.finish()?);
        }
    } else if !args.all && !shared.json {
        lines.retain(|line| line.setting.rank == Rank::Normal);
    }
    if shared.json {
        out.json_page(&lines.iter().map(to_json).collect())?;
    } else if args.markdown && args.all && args.name.is_none() {
        settings_page::page(&mut out)?;
    } else if args.markdown {
        let settings: Vec<&Setting> = lines.iter().map(|line| line.setting).collect();
        settings_page::table(&mut out, &settings)?;
    } else {
        page(&mut out, &lines)?;
        if !args.all {
            out.line("")?;
            out.line("`esker settings --all` lists the others, `esker settings NAME` tells more")?;
        }
    }
    Ok(out.finish()?)
}

fn of_database(shared: &GlobalFlags) -> Outcome<Vec<Line>> {
    let db = open::database_for_reading(shared)?;
    let known = db.stats().settings.into_iter();
    let lines = known.filter_map(|(name, value, origin)| {
        let setting = catalog::settings().find(|setting| setting.name == name)?;
        Some(Line {
            setting,
            value,
            origin,
        })
    });
    Ok(lines.collect())
}

fn of_new_database(shared: &GlobalFlags) -> Outcome<Vec<Line>> {
    let mut pairs = Vec::new();
    for pair in &shared.settings {
        pairs.push(open::pair(pair)?);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let resolved = resolve(Profile::default(), &pairs, cores);
    let resolved = resolved.map_err(|error| Failure::usage(error.message()))?;
    let lines = resolved.effective.into_iter().map(|effective| Line {
        setting: effective.setting,
        value: effective.text,
        origin: effective.origin.name(),
    });
    Ok(lines.collect())
}

fn page(out: &mut Out, lines: &[Line]) -> Outcome {
    let heads = ["setting", "value", "origin", "meaning"];
    let mut table = Table::new(&heads).with_sides("<<<<");
    for line in lines {
        table.add([
            line.setting.name.into(),
            line.value.clone(),
            line.origin.into(),
            line.setting.doc.into(),
        ]);
    }
    for line in table.lines() {
        out.line(line)?;
    }
    Ok(())
}

fn one(out: &mut Out, line: &Line) -> Outcome {
    let setting = line.setting;
    let rows = [
        ("setting", setting.name.to_owned()),
        ("value", format!("{} ({})", line.value, line.origin)),
        ("default", setting.default_text()),
        ("takes", setting.shape.allowed()),
        (
            "example",
            format!("--set {}={}", setting.name, setting.example),
        ),
        ("of", scope(setting).to_owned()),
        ("changes", live(setting).to_owned()),
        ("meaning", setting.doc.to_owned()),
        ("why", setting.reason.to_owned()),
    ];
    for (name, text) in rows {
        out.line(format!("{name:<9}{text}"))?;
    }
    Ok(())
}

fn scope(setting: &Setting) -> &'static str {
    match setting.scope() {
        Scope::Database => "the database",
        Scope::Keyspace => "each keyspace",
    }
}

fn live(setting: &Setting) -> &'static str {
    if setting.is_live {
        "take effect at once"
    } else {
        "take effect when the database is opened"
    }
}

fn to_json(line: &Line) -> Value {
    let setting = line.setting;
    json!({
        "name": setting.name,
        "value": line.value,
        "origin": line.origin,
        "default": setting.default_text(),
        "unit": setting.shape.unit_word(),
        "takes": setting.shape.allowed(),
        "example": setting.example,
        "is_expert": setting.rank == Rank::Expert,
        "is_live": setting.is_live,
        "of": scope(setting),
        "doc": setting.doc,
        "reason": setting.reason,
    })
}
