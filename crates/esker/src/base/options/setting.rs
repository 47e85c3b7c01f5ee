//! What is told of one setting: name, shape, default, doc, reason, and where its value lives.

use crate::base::codec::compress::CompressionType;
use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::merge_builtin::builtin;
use crate::base::options::call::Durability;
use crate::base::options::codec::{Shape, Value};
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::profile::Profile;
use crate::base::options::sst::Compression;
use crate::base::types::error::Result;

/// Whom a setting is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// Everyone: the few that most users meet.
    Normal,
    /// Those who have measured: the engine's own choice is right nearly always.
    Expert,
}

/// What a setting belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The database: one value for all keyspaces.
    Database,
    /// A keyspace: each has its own.
    Keyspace,
}

/// Where the value of a setting lives.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// Nowhere: the profile acts on the values of other settings.
    Profile,
    /// In the settings of a database.
    Db {
        get: fn(&DbOptions) -> Value,
        set: fn(&mut DbOptions, Value),
    },
    /// In the settings of a keyspace.
    Keyspace {
        get: fn(&KeyspaceOptions) -> Value,
        set: fn(&mut KeyspaceOptions, Value),
    },
}

/// One setting, told once.
pub struct Setting {
    /// Name, as in `sst.block_size`.
    pub name: &'static str,
    /// Whom it is for.
    pub rank: Rank,
    /// Whether a change takes effect while the database is open. What exists already, such as
    /// files and log segments, stays as it was made.
    pub is_live: bool,
    /// What values it takes.
    pub shape: Shape,
    /// A value that makes sense, as text.
    pub example: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Why the engine cannot choose by itself.
    pub reason: &'static str,
    pub(crate) access: Access,
}

impl Setting {
    /// What the setting belongs to.
    pub fn scope(&self) -> Scope {
        match self.access {
            Access::Profile | Access::Db { .. } => Scope::Database,
            Access::Keyspace { .. } => Scope::Keyspace,
        }
    }

    /// The value that `text` spells; `Invalid` when it spells none that is allowed.
    pub fn parse(&self, text: &str) -> Result<Value> {
        self.shape.parse(self.name, self.example, text)
    }

    /// The default as text, when neither profile nor user says otherwise.
    pub fn default_text(&self) -> String {
        self.text_in(
            Profile::default(),
            &DbOptions::default(),
            &KeyspaceOptions::default(),
        )
    }

    /// The value as text that the setting has in these options.
    pub fn text_in(&self, profile: Profile, db: &DbOptions, keyspace: &KeyspaceOptions) -> String {
        match self.access {
            Access::Profile => profile.name().into(),
            Access::Db { get, .. } => self.shape.show(&get(db)),
            Access::Keyspace { get, .. } => self.shape.show(&get(keyspace)),
        }
    }

    /// `Invalid` when a value that was put into the options in code is not one the setting takes.
    pub(crate) fn check(&self, value: &Value) -> Result<()> {
        if self.shape.allows(value) {
            return Ok(());
        }
        Err(self
            .shape
            .refusal(self.name, self.example, &self.shape.show(value)))
    }
}

/// A type of field that settings can live in.
pub(crate) trait Field: Sized {
    /// The field as a value.
    fn to_value(&self) -> Value;

    /// The field from a value of the right type and range. Panics on any other: the shape in the
    /// catalogue was checked before, and a test holds every shape against its field.
    fn from_value(value: Value) -> Self;
}

const MISMATCH: &str = "the catalogue gives each field a shape whose values fit it";

macro_rules! whole_fields {
    ($($field:ty),+) => {$(
        impl Field for $field {
            fn to_value(&self) -> Value {
                // What does not fit is beyond every range, and is refused as such.
                Value::Whole(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn from_value(value: Value) -> $field {
                match value {
                    Value::Whole(whole) => <$field>::try_from(whole).expect(MISMATCH),
                    _ => panic!("{MISMATCH}"),
                }
            }
        }
    )+};
}

whole_fields!(u64, usize, u32, i32);

impl Field for f64 {
    fn to_value(&self) -> Value {
        Value::Decimal(*self)
    }

    fn from_value(value: Value) -> f64 {
        match value {
            Value::Decimal(number) => number,
            _ => panic!("{MISMATCH}"),
        }
    }
}

impl Field for bool {
    fn to_value(&self) -> Value {
        Value::Flag(*self)
    }

    fn from_value(value: Value) -> bool {
        match value {
            Value::Flag(flag) => flag,
            _ => panic!("{MISMATCH}"),
        }
    }
}

fn word_of(value: Value) -> String {
    match value {
        Value::Word(word) => word,
        _ => panic!("{MISMATCH}"),
    }
}

/// The value that goes by `name` in a table of names.
pub(crate) fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value)
}

impl Field for Durability {
    fn to_value(&self) -> Value {
        Value::Word(self.name().into())
    }

    fn from_value(value: Value) -> Durability {
        named(&Durability::NAMES, &word_of(value)).expect(MISMATCH)
    }
}

impl Field for CompressionType {
    fn to_value(&self) -> Value {
        Value::Word(self.name().into())
    }

    fn from_value(value: Value) -> CompressionType {
        named(&CompressionType::NAMES, &word_of(value)).expect(MISMATCH)
    }
}

impl Field for Compression {
    fn to_value(&self) -> Value {
        Value::Word(self.name().into())
    }

    fn from_value(value: Value) -> Compression {
        named(&Compression::NAMES, &word_of(value)).expect(MISMATCH)
    }
}

impl Field for Option<MergeRule> {
    fn to_value(&self) -> Value {
        let name = self.as_ref().map_or("none", |rule| rule.0.name());
        Value::Word(name.into())
    }

    fn from_value(value: Value) -> Option<MergeRule> {
        match word_of(value).as_str() {
            "none" => None,
            name => Some(builtin(name).expect(MISMATCH)),
        }
    }
}
