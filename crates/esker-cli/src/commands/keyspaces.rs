//! Keyspaces: listed, created, given an operator, dropped.

use clap::{Args, Subcommand};
use esker::KeyspaceOptions;
use esker::internals::base::options::catalog::{find, set_keyspace};
use esker::internals::base::options::setting::Scope;
use serde_json::{Map, Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::{GlobalFlags, keyspace_name};
use crate::open;
use crate::out::Out;
use crate::text::{escape, show_hex};

/// List, create and drop keyspaces
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker keyspaces                      the names, one a line
  esker keyspaces --json               with the settings that each has of its own, and its mark
  esker keyspaces create visits --set merge_operator=uint64add --set ttl=7d
  esker keyspaces operator visits uint64add    one that has none gets its operator
  esker keyspaces drop visits --yes

`esker put` and `esker load` create a keyspace with the settings of a plain one.")]
pub struct Keyspaces {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Action {
    /// List them, as without a word
    List,
    /// Create one, with the settings of keyspaces that --set names
    Create {
        /// Its name
        #[arg(value_parser = keyspace_name)]
        name: String,
    },
    /// Give one that has no merge operator, as after a repair without a manifest, its operator
    Operator {
        /// Its name
        #[arg(value_parser = keyspace_name)]
        name: String,
        /// The operator, which it keeps; `esker settings merge_operator` lists them
        operator: String,
    },
    /// Drop one with all that it holds
    Drop {
        /// Its name
        #[arg(value_parser = keyspace_name)]
        name: String,
        /// Drop it although it holds entries
        #[arg(long)]
        yes: bool,
    },
}

/// Lists, creates or drops.
pub fn keyspaces(shared: &GlobalFlags, args: &Keyspaces) -> Outcome {
    match &args.action {
        None | Some(Action::List) => list(shared),
        Some(Action::Create { name }) => create(shared, name),
        Some(Action::Operator { name, operator }) => give_operator(shared, name, operator),
        Some(Action::Drop { name, yes }) => drop_one(shared, name, *yes),
    }
}

fn list(shared: &GlobalFlags) -> Outcome {
    let db = open::database_for_reading(shared)?;
    let mut out = Out::lock();
    let names = db.keyspaces();
    if shared.json {
        let found = names.iter().filter_map(|name| db.existing_keyspace(name));
        let spelled = found.map(|keyspace| {
            let settings = keyspace.own_settings().into_iter();
            let settings = settings.map(|(name, text)| (name, Value::from(text)));
            let settings: Map<_, _> = settings.collect();
            let mut told = json!({ "name": keyspace.name(), "settings": settings });
            if is_unlogged(&told) {
                let mark = keyspace.flushed_mark()?;
                told["mark"] = mark.as_deref().map(show_hex).into();
            }
            Ok(told)
        });
        out.json_page(&spelled.collect::<esker::Result<_>>()?)?;
    } else {
        for name in names {
            out.line(escape(name.as_bytes()))?;
        }
    }
    Ok(out.finish()?)
}

// Only what is kept out of the log may have a mark.
fn is_unlogged(told: &Value) -> bool {
    told["settings"]["unlogged"] == "true"
}

fn create(shared: &GlobalFlags, name: &str) -> Outcome {
    // Settings of keyspaces are the new one's alone; others are the database's.
    let mut options = KeyspaceOptions::default();
    let mut of_database = shared.clone();
    of_database.settings.clear();
    for pair in &shared.settings {
        let (setting, text) = open::pair(pair)?;
        let scope = find(setting).map(|setting| setting.scope());
        match scope.map_err(|error| Failure::usage(error.message()))? {
            Scope::Keyspace => set_keyspace(&mut options, setting, text)
                .map_err(|error| Failure::usage(error.message()))?,
            Scope::Database => of_database.settings.push(pair.clone()),
        }
    }
    "default".clone_into(&mut of_database.keyspace);
    let opened = open::for_filling(&of_database)?;
    if opened.db.existing_keyspace(name).is_some() {
        return Err(Failure::failed(format!(
            "there is a keyspace \"{}\" already; choose another name, or drop it first",
            escape(name.as_bytes())
        )));
    }
    opened.db.keyspace_with(name, options)?;
    opened.close()?;
    told(shared, "created", name)
}

fn give_operator(shared: &GlobalFlags, name: &str, operator: &str) -> Outcome {
    let mut options = KeyspaceOptions::default();
    set_keyspace(&mut options, "merge_operator", operator)
        .map_err(|error| Failure::usage(error.message()))?;
    if options.merge.is_none() {
        return Err(Failure::usage(
            "`none` is no operator; `esker settings merge_operator` lists them",
        ));
    }
    let mut of_name = shared.clone();
    name.clone_into(&mut of_name.keyspace);
    let opened = open::for_changing(&of_name)?;
    opened.db.keyspace_with(name, options)?;
    opened.close()?;
    told(shared, "given_operator", name)
}

fn drop_one(shared: &GlobalFlags, name: &str, is_insisted: bool) -> Outcome {
    if name == "default" {
        return Err(Failure::failed(
            "the keyspace \"default\" cannot be dropped: every database has it; \
             `esker delete --from ''` removes all that it holds",
        ));
    }
    let mut of_name = shared.clone();
    name.clone_into(&mut of_name.keyspace);
    let opened = open::for_changing(&of_name)?;
    let mut cursor = opened.keyspace.cursor()?;
    if !is_insisted && cursor.seek_to_first()? {
        return Err(Failure::usage(format!(
            "keyspace \"{}\" holds entries; --yes drops it with all of them",
            escape(name.as_bytes())
        )));
    }
    drop(cursor);
    opened.db.drop_keyspace(name)?;
    opened.close()?;
    told(shared, "dropped", name)
}

fn told(shared: &GlobalFlags, done: &str, name: &str) -> Outcome {
    if !shared.json {
        return Ok(());
    }
    let mut out = Out::lock();
    out.json(&json!({ done: name }))?;
    Ok(out.finish()?)
}
