//! Settings changed while the database is open.

use std::sync::Arc;

use crate::base::options::automatic::fill_keyspace;
use crate::base::options::catalog;
use crate::base::options::check::check_keyspace;
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::resolve::{Resolved, change_keyspace};
use crate::base::options::setting::{Scope, Setting};
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::db::open_keyspace;
use crate::db::space;
use crate::db::worker;
use crate::db::write_control;
use crate::store::version::state::KeyspaceState;

/// Changes a setting of the database, or one of the keyspace `default` and of those to come.
pub fn set(core: &Arc<Core>, default: &KeyspaceParts, name: &str, text: &str) -> Result<()> {
    user_code::refuse()?;
    let setting = live(name)?;
    let _changing = core.keyspaces.change();
    core.gate.check_upkeep()?;
    let next = core.settings.load().with(setting, text)?;
    match setting.scope() {
        Scope::Database => refill(core, &next.db)?,
        Scope::Keyspace => change(core, default, &next.db, setting, text)?,
    }
    core.settings.store(next);
    take_effect(core);
    Ok(())
}

/// Changes a setting of one keyspace.
pub fn set_of_keyspace(
    core: &Arc<Core>,
    parts: &KeyspaceParts,
    name: &str,
    text: &str,
) -> Result<()> {
    let setting = live(name)?;
    if parts.id == KeyspaceId::DEFAULT && setting.scope() == Scope::Keyspace {
        return set(core, parts, name, text);
    }
    user_code::refuse()?;
    let _changing = core.keyspaces.change();
    core.gate.check_upkeep()?;
    change(core, parts, &core.settings.load().db, setting, text)?;
    take_effect(core);
    Ok(())
}

fn live(name: &str) -> Result<&'static Setting> {
    let setting = catalog::find(name)?;
    match setting.is_live {
        true => Ok(setting),
        false => Err(Error::invalid(format!(
            "`{name}` takes effect when a database is opened and cannot be changed while it is \
             open; close it, and open it with the new value"
        ))),
    }
}

/// Changes and writes down one setting of one keyspace.
fn change(
    core: &Core,
    parts: &KeyspaceParts,
    db: &DbOptions,
    setting: &Setting,
    text: &str,
) -> Result<()> {
    let version = core.history.current();
    let state = state_of(version.keyspace(parts.id))?;
    let mut asked = asked_of(parts, state)?;
    change_keyspace(&mut asked, setting.name, text)?;
    let mut options = asked.clone();
    fill_keyspace(db, &mut options);
    check_keyspace(db, &options)?;
    open_keyspace::write_down(core, state, &asked)?;
    adopt(core, parts, options);
    Ok(())
}

/// Derives again, for every keyspace, what was left to the engine and follows from `db`.
fn refill(core: &Core, db: &DbOptions) -> Result<()> {
    let version = core.history.current();
    let mut all = Vec::new();
    for parts in core.keyspaces.all() {
        let mut options = asked_of(&parts, state_of(version.keyspace(parts.id))?)?;
        fill_keyspace(db, &mut options);
        check_keyspace(db, &options).map_err(|error| {
            let message = format!("in keyspace {:?}: {}", parts.name, error.message());
            Error::invalid(message)
        })?;
        all.push((parts, options));
    }
    for (parts, options) in all {
        adopt(core, &parts, options);
    }
    Ok(())
}

fn adopt(core: &Core, parts: &KeyspaceParts, options: KeyspaceOptions) {
    let limit_bytes = options.memtable_bytes;
    parts.set_options(options);
    core.committer
        .paused(|active| active.set_limit(parts.id, limit_bytes));
}

/// What was asked of a keyspace: what was left to the engine is still left to it.
fn asked_of(parts: &KeyspaceParts, state: &KeyspaceState) -> Result<KeyspaceOptions> {
    Ok(KeyspaceOptions {
        merge: parts.options().merge.clone(),
        retain: parts.options().retain.clone(),
        ..state.asked()?
    })
}

fn state_of(state: Option<&Arc<KeyspaceState>>) -> Result<&KeyspaceState> {
    let state = state.map(Arc::as_ref);
    state.ok_or_else(|| Error::invalid("the keyspace was dropped"))
}

/// What is written down of a keyspace: its settings that differ from the default, and its merge
/// operator. None for one that was dropped.
pub fn own_settings(core: &Core, parts: &KeyspaceParts) -> Vec<(String, String)> {
    let version = core.history.current();
    let Some(state) = version.keyspace(parts.id) else {
        return Vec::new();
    };
    let operator = state.merge_name.as_deref();
    let operator = operator.map(|name| ("merge_operator".to_owned(), name.to_owned()));
    let settings = state.settings.iter();
    let settings = settings.map(|(name, text)| (name.to_string(), text.to_string()));
    operator.into_iter().chain(settings).collect()
}

/// Tells everyone who keeps a number of the settings, and wakes the work that they may call for.
/// While changes are kept away: whoever closes the database comes behind, and lifts the rate.
fn take_effect(core: &Arc<Core>) {
    let settings: Arc<Resolved> = core.settings.load_full();
    let db = &settings.db;
    core.memory_budget.set_limit_bytes(db.memory_limit);
    core.write_controller
        .set_budget(settings.memtable_budget_bytes(), db.wal_total_bytes);
    core.files.keep_open(db.open_files_max);
    let values = core.values.values();
    values.keep_open(db.value_segments_open_max());
    let (size, flush) = (db.value_buffer_bytes, db.value_flush_bytes);
    values.pool().set_size(size, flush);
    core.values.watch().set_flush_bytes(flush);
    // Who waited for room may have some now.
    core.gate.changed.raise();
    core.background_rate.set_rate(db.compaction_rate_bytes);
    write_control::set_memory(core);
    write_control::set_rates(core);
    space::resume(core);
    core.work.state().looks.note_all();
    worker::wake(core);
}
