//! From a file and words to settings, and where each value came from.

use std::collections::BTreeMap;
use std::fmt;

use toml::de::{DeTable, DeValue};

use crate::shell::catalog::{SETTINGS, near, setting};
use crate::shell::settings::Settings;

/// Table of the file that has settings of the engine.
const ENGINE: &str = "engine";

/// Where a value came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said otherwise.
    #[default]
    Default,
    /// A file, and the line in it.
    File(String, usize),
    /// The command line.
    Words,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => out.write_str("default"),
            Origin::File(name, line) => write!(out, "{name}:{line}"),
            Origin::Words => out.write_str("command line"),
        }
    }
}

/// Settings, and where each came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The settings.
    pub settings: Settings,
    origins: BTreeMap<String, Origin>,
}

impl Config {
    /// Takes what the TOML file `name` says; its `text` was read. A path in it is as it stands.
    ///
    /// Errors: the first mistake, with its line and what to do, in one sentence.
    pub fn take_file(&mut self, name: &str, text: &str) -> Result<(), String> {
        let parsed = DeTable::parse(text);
        let table = parsed.map_err(|error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            format!("{name}:{line}: {}", error.message().replace('\n', ", "))
        })?;
        for (key, value) in table.get_ref() {
            let line = line_of(text, key.span().start);
            let told = |why: String| format!("{name}:{line}: {why}");
            if let (ENGINE, DeValue::Table(engine)) = (key.get_ref().as_ref(), value.get_ref()) {
                for (key, value) in engine {
                    let line = line_of(text, key.span().start);
                    let told = |why: String| format!("{name}:{line}: {why}");
                    let text = text_of(value.get_ref()).map_err(told)?;
                    let origin = Origin::File(name.to_owned(), line);
                    self.take_engine(key.get_ref(), &text, origin)
                        .map_err(told)?;
                }
                continue;
            }
            let text = text_of(value.get_ref()).map_err(told)?;
            let origin = Origin::File(name.to_owned(), line);
            self.take(key.get_ref(), &text, origin).map_err(told)?;
        }
        Ok(())
    }

    /// Takes one setting from the command line; `engine.NAME` is one of the engine.
    pub fn take_word(&mut self, name: &str, text: &str) -> Result<(), String> {
        match name.split_once('.') {
            Some((ENGINE, name)) => self.take_engine(name, text, Origin::Words),
            _ => self.take(name, text, Origin::Words),
        }
    }

    /// Whether the settings fit one another.
    pub fn check(&self) -> Result<(), String> {
        let settings = &self.settings;
        match settings.heartbeat < settings.election_timeout {
            true => Ok(()),
            false => Err("heartbeat is to be below election_timeout".to_owned()),
        }
    }

    /// All settings as a file that says the same, with the origin and the meaning of each.
    pub fn page(&self) -> String {
        let mut page = String::new();
        for setting in SETTINGS {
            let value = (setting.show)(&self.settings);
            let origin = self.origins.get(setting.name).cloned().unwrap_or_default();
            page += &format!("# {}\n", setting.doc);
            page += &format!("# {}; from: {origin}\n", setting.unit);
            page += &format!("{} = {}\n\n", setting.name, quoted(setting.unit, &value));
        }
        page += "# Settings of the engine; `esker settings` lists them.\n[engine]\n";
        for (name, value) in &self.settings.engine {
            let key = format!("{ENGINE}.{name}");
            let origin = self.origins.get(&key).cloned().unwrap_or_default();
            page += &format!("# from: {origin}\n{name} = {}\n", quoted("text", value));
        }
        page
    }

    /// Each setting with its value and where that came from.
    pub fn rows(&self) -> Vec<(String, String, Origin)> {
        let row = |name: String, value| {
            let origin = self.origins.get(&name).cloned().unwrap_or_default();
            (name, value, origin)
        };
        let own = SETTINGS.iter().map(|setting| {
            let value = (setting.show)(&self.settings);
            row(setting.name.to_owned(), value)
        });
        let engine = self.settings.engine.iter();
        let engine = engine.map(|(name, value)| row(format!("{ENGINE}.{name}"), value.clone()));
        own.chain(engine).collect()
    }

    fn take(&mut self, name: &str, text: &str, origin: Origin) -> Result<(), String> {
        let Some(found) = setting(name) else {
            return Err(match near(name) {
                Some(near) => format!("there is no setting \"{name}\": did you mean {near}?"),
                None => format!("there is no setting \"{name}\": --print-config lists them"),
            });
        };
        (found.take)(&mut self.settings, text).map_err(|why| format!("{name}: {why}"))?;
        self.origins.insert(name.to_owned(), origin);
        Ok(())
    }

    fn take_engine(&mut self, name: &str, text: &str, origin: Origin) -> Result<(), String> {
        // The engine's own builder says whether it has such a setting, and such a value.
        let builder = esker::Db::builder("never opened").set(name, text);
        builder.map_err(|error| error.to_string())?;
        self.settings.engine.retain(|row| row.0 != name);
        self.settings
            .engine
            .push((name.to_owned(), text.to_owned()));
        self.origins.insert(format!("{ENGINE}.{name}"), origin);
        Ok(())
    }
}

/// The text of a value of TOML, as the catalogue reads it.
fn text_of(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(number.as_str().replace('_', "")),
        DeValue::Boolean(flag) => Ok(flag.to_string()),
        DeValue::Array(values) => {
            let texts: Result<Vec<String>, String> = values
                .iter()
                .map(|value| text_of(value.get_ref()))
                .collect();
            Ok(texts?.join(","))
        }
        other => Err(format!("no setting is a {}", other.type_str())),
    }
}

fn quoted(unit: &str, value: &str) -> String {
    match unit {
        "number" => value.to_owned(),
        "list of host:port" => {
            let words = value.split(',').filter(|word| !word.is_empty());
            let words: Vec<String> = words.map(|word| quoted("text", word)).collect();
            format!("[{}]", words.join(", "))
        }
        _ => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;
