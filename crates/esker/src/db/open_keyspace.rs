//! Keyspaces: opened from a version, created, dropped, given new settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::merge_builtin::builtin;
use crate::base::hooks::retain::RetainRule;
use crate::base::options::automatic::fill_keyspace;
use crate::base::options::catalog::set_keyspace;
use crate::base::options::check::{check_keyspace, missing_compression};
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::pairs::to_pairs;
use crate::base::options::resolve::{Origin, Resolved};
use crate::base::options::setting::Scope;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::limits::{KEYSPACE_COUNT_MAX, KEYSPACE_NAME_BYTES_MAX};
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::file_deletion;
use crate::db::format_raise::raise_format;
use crate::db::install::install;
use crate::db::keyspace::KeyspaceParts;
use crate::db::space;
use crate::db::write_control;
use crate::flow::current::{Current, Sealed};
use crate::flow::flush_hold::FlushHold;
use crate::flow::read::fold::Folder;
use crate::flow::read::view::ViewParts;
use crate::flow::told_clock::ToldClock;
use crate::flow::write::live_table::LiveTable;
use crate::flow::write::replay::ReplayTarget;
use crate::store::mem::memtable::Memtable;
use crate::store::version::apply::apply;
use crate::store::version::edit::{Change, SettingsText};
use crate::store::version::format::{CLOCK_FORMAT, UNLOGGED_FORMAT};
use crate::store::version::needed_format::{needed_format, take_format};
use crate::store::version::state::{Identity, KeyspaceState, Orders, Version};

/// The keyspace on which `Db` itself acts.
pub const DEFAULT_KEYSPACE: &str = "default";

/// The version of a new database: one empty keyspace.
pub fn first_version(
    identity: Identity,
    comparators: Orders,
    resolved: &Resolved,
) -> Result<Version> {
    let empty = Version::empty(identity, comparators);
    let asked = &resolved.keyspace_asked;
    let mut edit = vec![create_change(KeyspaceId::DEFAULT, DEFAULT_KEYSPACE, asked)];
    let raised = take_format(&mut edit, empty.format_version);
    edit.extend(raised);
    apply(&empty, &edit)
}

/// The settings of an existing keyspace: what it was created with; for the keyspace `default`
/// overlaid with what was asked for at this open.
pub fn options_of(
    state: &KeyspaceState,
    resolved: &Resolved,
    rules: &[MergeRule],
) -> Result<KeyspaceOptions> {
    let mut options = state.asked()?;
    options.merge = known_rule(state, rules)?;
    if state.id == KeyspaceId::DEFAULT {
        overlay(&mut options, state, resolved)?;
    }
    refuse_missing_compression(&options, state)?;
    fill_keyspace(&resolved.db, &mut options);
    Ok(options)
}

// Told of what the manifest keeps; what was asked for just now was refused before.
fn refuse_missing_compression(options: &KeyspaceOptions, state: &KeyspaceState) -> Result<()> {
    let Some((setting, missing)) = missing_compression(&options.sst) else {
        return Ok(());
    };
    let missing = missing.name();
    let message = format!(
        "keyspace {:?} has `{setting}` = `{missing}`, which this build of esker does not have; \
         build it with the feature `{missing}`, or with a build that has it give the keyspace \
         another `{setting}`",
        state.name
    );
    Err(Error::new(ErrorKind::NotBuilt, message))
}

fn overlay(options: &mut KeyspaceOptions, state: &KeyspaceState, asked: &Resolved) -> Result<()> {
    let comparator = &asked.keyspace.comparator;
    if !comparator.is_bytewise() && comparator.name() != state.comparator_name() {
        return Err(Error::invalid(format!(
            "keyspace {:?} has its keys in the order of comparator {:?}, not {:?}; \
             a comparator cannot be changed",
            state.name,
            state.comparator_name(),
            comparator.name()
        )));
    }
    if let Some(rule) = &asked.keyspace.merge {
        let name = rule.0.name();
        if let Some(stored) = state.merge_name.as_deref().filter(|stored| *stored != name) {
            return Err(Error::invalid(format!(
                "keyspace {:?} was written with merge operator {stored:?}; {name:?} would read its \
                 operands as something else; open it with {stored:?}",
                state.name
            )));
        }
        options.merge = Some(rule.clone());
    }
    for effective in &asked.effective {
        let is_asked = matches!(effective.origin, Origin::User | Origin::Profile);
        let setting = effective.setting;
        if is_asked && setting.scope() == Scope::Keyspace && setting.name != "merge_operator" {
            set_keyspace(options, setting.name, &effective.text)?;
        }
    }
    Ok(())
}

/// The merge operator that a keyspace was written with, of `rules` or those of the engine.
///
/// Errors: `Unsupported` when it is not known.
pub fn known_rule(state: &KeyspaceState, rules: &[MergeRule]) -> Result<Option<MergeRule>> {
    let Some(name) = state.merge_name.as_deref() else {
        return Ok(None);
    };
    let given = rules.iter().find(|rule| rule.0.name() == name).cloned();
    given.or_else(|| builtin(name)).map(Some).ok_or_else(|| {
        let message = format!(
            "keyspace {:?} was written with merge operator {name:?}, which this program does not \
             have; give it when opening the database",
            state.name
        );
        Error::new(ErrorKind::Unsupported, message)
    })
}

/// `Invalid` when `default` is asked to be unlogged: `Db` itself writes to it, by the database's
/// durability, and it is there before anybody can say that he has a log of his own.
pub fn refuse_unlogged_default(resolved: &Resolved) -> Result<()> {
    match resolved.keyspace_asked.is_unlogged {
        true => Err(Error::invalid(
            "`unlogged` is no setting of the keyspace `default`, nor of all that are to come: give \
             it with each keyspace that is created so (`Db::keyspace_with`, `esker keyspaces \
             create NAME --set unlogged=true`)",
        )),
        false => Ok(()),
    }
}

// The retain rule that was given for the keyspace of that name when the database was opened.
fn known_retain_rule(core: &Core, name: &str) -> Option<Arc<dyn RetainRule>> {
    let mut given = core.retain_rules.iter().rev();
    given
        .find(|(keyspace, _)| keyspace == name)
        .map(|(_, rule)| Arc::clone(rule))
}

/// Opens every keyspace of the current version, with the memtables that replay filled.
pub fn open_all(core: &Core, mut targets: BTreeMap<KeyspaceId, ReplayTarget>) -> Result<()> {
    let _changing = core.keyspaces.change();
    let version = core.history.current();
    let mut opened = Vec::with_capacity(version.keyspaces.len());
    for state in version.keyspaces.values() {
        let mut options = options_of(state, &core.settings.load(), &core.merge_rules)?;
        options.retain = known_retain_rule(core, &state.name);
        let filled = targets
            .remove(&state.id)
            .map_or_else(Vec::new, |target| target.filled);
        let sealed = filled.into_iter().map(|replayed| Sealed {
            table: Arc::clone(replayed.table()),
            first_log: Some(replayed.first_log),
            last_seqno: replayed.last_seqno,
            mark: None,
            clock_ms: None,
            reason: FlushReason::Recovery,
        });
        opened.push(make(core, state, options, sealed.collect()));
    }
    core.keyspaces.add(opened);
    Ok(())
}

/// Opens one keyspace over its part of the current version, for who adds it to the others. While
/// creations are kept away.
fn make(
    core: &Core,
    state: &KeyspaceState,
    options: KeyspaceOptions,
    sealed: Vec<Sealed>,
) -> KeyspaceParts {
    let pages = Arc::clone(&core.env.pages);
    let writer = Memtable::create_in(pages, options.comparator.clone(), options.merge.clone());
    for sealed in sealed
        .iter()
        .filter(|sealed| sealed.table.values().bytes() > 0)
    {
        core.values.name(&sealed.table);
    }
    let older = sealed.iter().rev().map(|sealed| Arc::clone(&sealed.table));
    let view = ViewParts {
        keyspace: state.id,
        comparator: options.comparator.clone(),
        folder: Folder::new(&state.name, options.merge.clone()),
        memtables: std::iter::once(Arc::clone(writer.table()))
            .chain(older)
            .collect(),
        levels: Arc::clone(&state.levels),
        open_files: Arc::clone(&core.files),
        values: Arc::clone(core.values.values()),
    };
    let current = Current::new(view, sealed).telling(Arc::clone(core.keyspaces.sealed()));
    let current = Arc::new(current);
    if options.is_unlogged {
        let held_bytes = state.levels.values().total_bytes();
        core.values.keep_apart(state.id, held_bytes);
    }
    let is_asked_for = options.is_unlogged && core.own_log.is_there();
    let hold: Option<Arc<FlushHold>> = is_asked_for.then(Arc::default);
    let clock = state.clock_ms.map(|told| Arc::new(ToldClock::at(told)));
    let live = LiveTable {
        hold: hold.clone(),
        clock: clock.clone(),
        current: Arc::clone(&current),
        writer,
        first_log: (!options.is_unlogged).then_some(FileNumber(0)),
        mark: state.mark.clone(),
        is_mark_new: false,
        is_plain: options.comparator.is_bytewise() && !options.is_unlogged,
        limit_bytes: options.memtable_bytes,
        values_limit_bytes: core.values.table_bytes_max(),
    };
    core.committer
        .paused(|active| active.add_keyspace(state.id, live));
    KeyspaceParts::new(state.id, &state.name, options, current)
        .held_by(hold)
        .timed_by(clock)
}

/// Writes down what was asked of the keyspace `default` at this open, where it is new.
pub fn apply_asked_settings(core: &Core) -> Result<()> {
    let parts = core.keyspaces.get(DEFAULT_KEYSPACE)?;
    let version = core.history.current();
    let Some(state) = version.keyspace(parts.id) else {
        return Ok(());
    };
    let mut asked = KeyspaceOptions::clone(&parts.options());
    if core.settings.load().keyspace_asked.memtable_bytes == 0
        && !state.settings.contains_key("memtable.size")
    {
        // Derived from the memory limit; written down it would no longer follow it.
        asked.memtable_bytes = 0;
    }
    write_down(core, state, &asked)
}

/// Writes down what is asked of a keyspace, where it is new.
pub fn write_down(core: &Core, state: &KeyspaceState, asked: &KeyspaceOptions) -> Result<()> {
    let settings: SettingsText = to_pairs(asked).into_iter().collect();
    let merge_name = asked.merge.as_ref().map(|rule| rule.0.name().to_string());
    if settings == *state.settings && merge_name.as_deref() == state.merge_name.as_deref() {
        return Ok(());
    }
    let change = Change::ChangeSettings {
        id: state.id,
        settings,
        merge_name,
    };
    let edit = vec![change];
    raise_format(core, needed_format(&edit))?;
    install(core, edit, None).map(drop)
}

/// The keyspace of that name, created with `options` (those given at open where `None`) if it
/// is not there. One that has no merge operator is given theirs.
pub fn find_or_create(
    core: &Core,
    name: &str,
    options: Option<KeyspaceOptions>,
) -> Result<Arc<KeyspaceParts>> {
    if let Some(parts) = core.keyspaces.find(name) {
        refuse_other(&parts, options.as_ref())?;
        if missing_rule(&parts, options.as_ref()).is_none() {
            take_retain_rule(core, &parts, options.as_ref())?;
            return Ok(parts);
        }
    }
    if name.is_empty() || name.len() > KEYSPACE_NAME_BYTES_MAX {
        let message = format!("a keyspace's name has 1 to {KEYSPACE_NAME_BYTES_MAX} bytes");
        return Err(Error::invalid(message));
    }
    user_code::refuse()?;
    core.own_log.refuse_call()?;
    let changing = core.keyspaces.change();
    core.gate.check_write()?;
    if let Some(parts) = core.keyspaces.find(name) {
        refuse_other(&parts, options.as_ref())?;
        if let Some(rule) = missing_rule(&parts, options.as_ref()) {
            take_rule(core, &parts, rule)?;
        }
        drop(changing);
        take_retain_rule(core, &parts, options.as_ref())?;
        return Ok(parts);
    }
    create(core, name, options)
}

/// Creates the keyspace of that name, which is none and not too long, as [`find_or_create`]. Only
/// while `changing` is held.
pub fn create(
    core: &Core,
    name: &str,
    options: Option<KeyspaceOptions>,
) -> Result<Arc<KeyspaceParts>> {
    let version = core.history.current();
    if version.keyspaces.len() >= KEYSPACE_COUNT_MAX {
        let message = format!("a database has at most {KEYSPACE_COUNT_MAX} keyspaces");
        return Err(Error::invalid(message));
    }
    let settings = core.settings.load();
    let asked = options.unwrap_or_else(|| settings.keyspace_asked.clone());
    let mut options = asked.clone();
    options.retain = options.retain.or_else(|| known_retain_rule(core, name));
    fill_keyspace(&settings.db, &mut options);
    // Refused here, because what the manifest refuses ends all writing.
    check_keyspace(&settings.db, &options)?;
    version.comparators.find(options.comparator.name())?;
    let id = version.next_keyspace;
    let edit = vec![create_change(id, name, &asked)];
    let needed = match (options.is_unlogged, options.has_own_clock) {
        (false, _) => needed_format(&edit),
        (true, false) => needed_format(&edit).max(UNLOGGED_FORMAT),
        (true, true) => CLOCK_FORMAT,
    };
    raise_format(core, needed)?;
    install(core, edit, None)?;
    let version = core.history.current();
    let state = version.keyspace(id).expect("it was created just now");
    let parts = make(core, state, options, Vec::new());
    core.keyspaces.add([parts]);
    core.work.state().looks.note(id);
    core.keyspaces.get(name)
}

/// `Invalid` when a keyspace that is there has its keys in another order, its operands meant for
/// another operator, or its writes logged or not otherwise, than who opens it believes.
fn refuse_other(parts: &KeyspaceParts, asked: Option<&KeyspaceOptions>) -> Result<()> {
    let Some(asked) = asked else {
        return Ok(());
    };
    let (name, options) = (&parts.name, parts.options());
    let (there, wanted) = (options.comparator.name(), asked.comparator.name());
    if there != wanted {
        return Err(Error::invalid(format!(
            "keyspace {name:?} has its keys in the order {there:?}, not {wanted:?}; an order \
             cannot be changed"
        )));
    }
    if parts.is_unlogged != asked.is_unlogged {
        let is = |is_unlogged| if is_unlogged { "unlogged" } else { "logged" };
        let (there, wanted) = (is(parts.is_unlogged), is(asked.is_unlogged));
        return Err(Error::invalid(format!(
            "keyspace {name:?} is {there}, not {wanted}, which is settled when a keyspace is \
             created; open it as it is, or by its name alone"
        )));
    }
    if options.has_own_clock != asked.has_own_clock {
        let clock = |is_own| {
            if is_own {
                "a clock of its own"
            } else {
                "the machine's clock"
            }
        };
        let (there, wanted) = (clock(options.has_own_clock), clock(asked.has_own_clock));
        return Err(Error::invalid(format!(
            "keyspace {name:?} goes by {there}, not by {wanted}, which is settled when a keyspace \
             is created; open it as it is, or by its name alone"
        )));
    }
    if let (Some(there), Some(wanted)) = (&options.merge, &asked.merge)
        && there.0.name() != wanted.0.name()
    {
        let (there, wanted) = (there.0.name(), wanted.0.name());
        return Err(Error::invalid(format!(
            "keyspace {name:?} has merge operator {there:?}, not {wanted:?}; open it with {there:?}"
        )));
    }
    Ok(())
}

/// The merge operator that who opens a keyspace believes in, where the keyspace has none.
fn missing_rule<'a>(
    parts: &KeyspaceParts,
    asked: Option<&'a KeyspaceOptions>,
) -> Option<&'a MergeRule> {
    let asked = asked.and_then(|asked| asked.merge.as_ref());
    asked.filter(|_| parts.options().merge.is_none())
}

/// Gives a keyspace that has no merge operator one, for good: it was never given any, or a repair
/// without a manifest could not tell which one its operands are meant for. While changes are kept
/// away.
fn take_rule(core: &Core, parts: &KeyspaceParts, rule: &MergeRule) -> Result<()> {
    let version = core.history.current();
    let dropped = || Error::invalid("the keyspace was dropped");
    let state = version.keyspace(parts.id).ok_or_else(dropped)?;
    let asked = KeyspaceOptions {
        merge: Some(rule.clone()),
        ..state.asked()?
    };
    write_down(core, state, &asked)?;
    // Readers know it before anybody can write an operand.
    core.committer
        .paused(|active| active.take_rule(parts.id, &parts.name, rule));
    parts.set_options(KeyspaceOptions {
        merge: Some(rule.clone()),
        ..KeyspaceOptions::clone(&parts.options())
    });
    Ok(())
}

/// Has a keyspace that is there ask the retain rule that who opens it brings. `Invalid` in a user's
/// code: who keeps changes away may wait for the job that runs it.
fn take_retain_rule(
    core: &Core,
    parts: &KeyspaceParts,
    asked: Option<&KeyspaceOptions>,
) -> Result<()> {
    let Some(rule) = asked.and_then(|asked| asked.retain.as_ref()) else {
        return Ok(());
    };
    user_code::refuse()?;
    let _changing = core.keyspaces.change();
    parts.set_options(KeyspaceOptions {
        retain: Some(Arc::clone(rule)),
        ..KeyspaceOptions::clone(&parts.options())
    });
    parts.retained.begin_anew();
    Ok(())
}

/// Drops a keyspace with everything in it. Readers that have it open go on reading what it was.
pub fn drop_keyspace(core: &Core, name: &str) -> Result<()> {
    user_code::refuse()?;
    core.own_log.refuse_call()?;
    if name == DEFAULT_KEYSPACE {
        return Err(Error::invalid("the keyspace `default` cannot be dropped"));
    }
    let _changing = core.keyspaces.change();
    core.gate.check_upkeep()?;
    let parts = core.keyspaces.get(name)?;
    let _dropping = core.committer.begin_drop(parts.id)?;
    install(core, vec![Change::DropKeyspace { id: parts.id }], None)?;
    core.committer.paused(|active| {
        active.seal(parts.id, FlushReason::Dropped);
        active.remove_keyspace(parts.id);
    });
    core.keyspaces.remove(name);
    write_control::forget_rate(core, &parts);
    // Its memtables will never be flushed, nor what waits in them written: writers who wait for
    // memory go on now. Whoever reads the keyspace still keeps the values, and finds them there.
    let sealed = parts.current.sealed();
    let waiting = sealed
        .iter()
        .flat_map(|sealed| sealed.table.values().kept());
    waiting.for_each(|waiting| {
        waiting.settle();
    });
    write_control::set_memory(core);
    // As after a flush: from now on only who has a handle or a reader of it holds them.
    let now = core.env.clock.monotonic();
    core.pinned_tables.flushed(&sealed, now);
    core.values.forget(parts.id);
    // They would keep the segments that they name, in which nothing else may live.
    drop((sealed, parts));
    file_deletion::remove_obsolete(core);
    space::resume(core);
    // Whoever waits for its flush learns that there is nothing to wait for.
    core.work.ended.raise();
    Ok(())
}

fn create_change(id: KeyspaceId, name: &str, options: &KeyspaceOptions) -> Change {
    Change::CreateKeyspace {
        id,
        name: name.into(),
        comparator_name: options.comparator.name().into(),
        merge_name: options.merge.as_ref().map(|rule| rule.0.name().to_string()),
        settings: to_pairs(options).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests;
