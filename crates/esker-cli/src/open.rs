//! From the command line to an open database.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use esker::internals::store::names::FileName;
use esker::{Builder, Db, Event, EventListener, Keyspace};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::text::escape;

/// How often opening for reading is tried while another process writes: files go away seldom, so
/// twice in a row is bad luck and four times is no luck at all.
const OPEN_TRIES: usize = 4;

/// A database and the keyspace that the command line names.
pub struct Opened {
    /// The database.
    pub db: Db,
    /// The keyspace.
    pub keyspace: Keyspace,
}

impl Opened {
    /// Closes the database and says what went wrong with that.
    pub fn close(self) -> Outcome {
        Ok(self.db.close()?)
    }
}

/// Where a range of keys begins and ends.
pub type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// The directory that the command line names.
pub fn directory(shared: &GlobalFlags) -> Outcome<&Path> {
    shared.db.as_deref().ok_or_else(|| {
        Failure::usage("no database was named; give --db DIR or set ESKER_DB to its directory")
    })
}

/// Opens for reading. Nothing is written, and the directory is not held: a look into a database
/// neither changes it nor keeps the program that owns it from starting. Where the log is torn
/// before intact records, which a crash seldom does, standard error says so: older values than the
/// last ones may be seen.
pub fn for_reading(shared: &GlobalFlags) -> Outcome<Opened> {
    with_keyspace(shared, database_for_reading(shared)?)
}

/// As [`for_reading`], for commands that look at the whole database.
pub fn database_for_reading(shared: &GlobalFlags) -> Outcome<Db> {
    let db = try_for_reading(shared)??;
    let stats = db.stats();
    if stats.torn_records > 0 {
        remark!(
            "esker: the log of the database is torn: {} bytes at its end are left out, with {} \
             intact records in them; `esker repair` tells more and changes nothing",
            stats.torn_bytes,
            stats.torn_records
        );
    }
    Ok(db)
}

/// As [`database_for_reading`], for commands to which a database that does not open is a finding:
/// the outer error is the command line's, the inner one the engine's.
pub fn try_for_reading(shared: &GlobalFlags) -> Outcome<esker::Result<Db>> {
    refuse_nothing(shared)?;
    let builder = builder(shared)?.read_only(true);
    for _ in 1..OPEN_TRIES {
        match builder.clone().open() {
            // Another process that has it open removed a file between two looks.
            Err(error) if error.is_missing_file() => {}
            opened => return Ok(opened),
        }
    }
    Ok(builder.open())
}

/// Opens an existing database for changes.
pub fn for_changing(shared: &GlobalFlags) -> Outcome<Opened> {
    with_keyspace(shared, try_for_changing(shared)??)
}

/// As [`for_changing`], of the whole database, for commands that say more of an error of the
/// engine, which is the inner one.
pub fn try_for_changing(shared: &GlobalFlags) -> Outcome<esker::Result<Db>> {
    refuse_nothing(shared)?;
    let opened = builder(shared)?.create_if_missing(false).open();
    Ok(opened.inspect(tell_cut))
}

/// Says what opening for changes cut off the log, if any of it was intact: the last that anybody
/// hears of it.
fn tell_cut(db: &Db) {
    let stats = db.stats();
    if stats.torn_records > 0 {
        remark!(
            "esker: the log of the database was torn: {} bytes were cut off, with {} intact \
             records in them; they are kept in its folder lost/torn",
            stats.torn_bytes,
            stats.torn_records
        );
    }
}

/// Who has the database open, as the engine's error `Locked` tells.
pub fn who_holds(error: &esker::Error) -> &str {
    let told = error.message();
    // Behind it stand calls of the engine's API, which mean nothing in a shell.
    told.split(';').next().unwrap_or(told)
}

/// Opens for new data: database and keyspace are created if they are not there.
pub fn for_filling(shared: &GlobalFlags) -> Outcome<Opened> {
    for_restoring(shared, &[])
}

/// As [`for_filling`]; the keyspace `default` of a new database gets these settings, as far as the
/// command line says nothing else.
pub fn for_restoring(shared: &GlobalFlags, of_default: &[(String, String)]) -> Outcome<Opened> {
    let is_new = !has_database(directory(shared)?)?;
    if is_new {
        refuse_foreign(directory(shared)?)?;
    }
    let mut builder = Db::builder(directory(shared)?);
    for (name, text) in of_default.iter().filter(|_| is_new) {
        builder = builder.set(name, text)?;
    }
    let db = set(builder, shared)?.create_if_missing(true).open()?;
    tell_cut(&db);
    let keyspace = db.keyspace(&shared.keyspace)?;
    Ok(Opened { db, keyspace })
}

/// A builder with what the command line sets.
pub fn builder(shared: &GlobalFlags) -> Outcome<Builder> {
    set(Db::builder(directory(shared)?), shared)
}

/// Writes each event as a line on standard error.
struct EventLines;

impl EventListener for EventLines {
    fn on_event(&self, event: &Event) {
        remark!("{event}");
    }
}

fn set(mut builder: Builder, shared: &GlobalFlags) -> Outcome<Builder> {
    builder = shared.plugins.known_by(builder);
    if shared.events {
        builder = builder.event_listener(Arc::new(EventLines));
    }
    for pair in &shared.settings {
        let (name, text) = self::pair(pair)?;
        let set = builder.set(name, text);
        builder = set.map_err(|error| Failure::usage(error.message()))?;
    }
    Ok(builder)
}

/// Name and text of one `--set`.
pub fn pair(pair: &str) -> Outcome<(&str, &str)> {
    match pair.split_once('=') {
        Some((name, text)) => Ok((name.trim(), text.trim())),
        None => Err(Failure::usage(format!(
            "--set {pair} has no value; write --set name=value"
        ))),
    }
}

/// Bounds of keys from what the command line says.
pub fn bounds(shared: &GlobalFlags, from: Option<&str>, to: Option<&str>) -> Outcome<Bounds> {
    let bound = |word: Option<&str>| word.map(|word| key(shared, word)).transpose();
    let lower = bound(from)?.map_or(Bound::Unbounded, Bound::Included);
    let upper = bound(to)?.map_or(Bound::Unbounded, Bound::Excluded);
    if let (Bound::Included(lower), Bound::Excluded(upper)) = (&lower, &upper)
        && lower > upper
    {
        return Err(Failure::usage("--from lies behind --to; exchange them"));
    }
    Ok((lower, upper))
}

/// A key from a word of the command line.
pub fn key(shared: &GlobalFlags, word: &str) -> Outcome<Vec<u8>> {
    let parsed = shared.key_format().parse_field(word.as_bytes());
    parsed.map_err(|reason| Failure::usage(format!("cannot read the key \"{word}\": {reason}")))
}

fn with_keyspace(shared: &GlobalFlags, db: Db) -> Outcome<Opened> {
    let keyspace = existing_keyspace(shared, &db)?;
    Ok(Opened { db, keyspace })
}

/// The keyspace that the command line names, which must be there.
pub fn existing_keyspace(shared: &GlobalFlags, db: &Db) -> Outcome<Keyspace> {
    let name = &shared.keyspace;
    db.existing_keyspace(name).ok_or_else(|| {
        let names = db.keyspaces().into_iter();
        let names: Vec<String> = names.map(|name| escape(name.as_bytes())).collect();
        Failure::not_found(format!(
            "there is no keyspace \"{}\"; the database has: {}",
            escape(name.as_bytes()),
            names.join(", ")
        ))
    })
}

/// A new database takes its directory for itself, so it is not made among what somebody else keeps
/// there: a wrong word would else scatter files over a home directory.
fn refuse_foreign(dir: &Path) -> Outcome {
    // What cannot be listed, such as a file, the engine tells of.
    let Ok(names) = std::fs::read_dir(dir) else {
        return Ok(());
    };
    let names = names.flatten().map(|entry| entry.file_name());
    let is_foreign = |name: &OsString| {
        let name = name.to_string_lossy();
        !OWN_FOLDERS.contains(&&*name) && FileName::parse(&name).is_none()
    };
    let mut foreign: Vec<OsString> = names.filter(is_foreign).collect();
    foreign.sort();
    let Some(first) = foreign.first() else {
        return Ok(());
    };
    Err(Failure::failed(format!(
        "{} holds no database and is not empty: it has {}; name a directory that is empty or not \
         there, such as {}",
        dir.display(),
        first.display(),
        dir.join("db").display()
    )))
}

/// Folders beside which a database is at home: what a repair put aside, and what file systems begin
/// with.
const OWN_FOLDERS: [&str; 2] = ["lost", "lost+found"];

/// Whether there is a database: the file that names the manifest is the last that is made and the
/// first that is read.
fn has_database(dir: &Path) -> Outcome<bool> {
    match dir.join("CURRENT").try_exists() {
        Ok(is_there) => Ok(is_there),
        // A file where a directory was meant.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Failure::system(
            format!("cannot look into {}", dir.display()),
            &error,
        )),
    }
}

/// Whether there are files of a database, of which the one that names the manifest may be lost.
fn has_files(dir: &Path) -> bool {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names = names.map(|entry| entry.file_name());
    names.any(|name| FileName::parse(&name.to_string_lossy()).is_some())
}

/// A typing error in the name of a database is the commonest of all, so it is told in the words
/// of the command line. Whatever else may be wrong with a directory, the engine tells.
fn refuse_nothing(shared: &GlobalFlags) -> Outcome {
    let dir = directory(shared)?;
    match has_database(dir)? || has_files(dir) {
        true => Ok(()),
        false => Err(no_database(dir)),
    }
}

/// The same for who takes whatever may be left of one.
pub fn refuse_absent(dir: &Path) -> Outcome {
    // What cannot be looked at the engine tells.
    match dir.try_exists() {
        Ok(false) => Err(no_database(dir)),
        Ok(true) | Err(_) => Ok(()),
    }
}

fn no_database(dir: &Path) -> Failure {
    Failure::failed(format!(
        "there is no database in {}; `esker put` and `esker load` create one",
        dir.display()
    ))
}
