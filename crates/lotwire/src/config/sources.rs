//! Loads the configuration: file, then environment variables, then flags. A later source overrides an earlier one.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::de::DeTable;
use toml::{Spanned, Table, Value};

use super::Config;
use super::setting_error::{InvalidSetting, SettingSource, UnknownSetting, section};
use super::settings::{SETTINGS, Setting, SettingKind};

/// Every mistake of a configuration, at least one.
#[derive(Debug)]
pub(crate) struct ConfigErrors(Vec<ConfigError>);

impl Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(f);
        }
        write!(f, "the configuration has {} mistakes:", self.0.len())?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

/// Why a configuration can't be loaded. Each message names the source and what to change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("can't read the configuration file {path}: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// The file is not valid TOML.
    #[error("in the configuration file {path}:\n{error}")]
    File { path: PathBuf, error: String },
    #[error("{0}")]
    Unknown(UnknownSetting),
    #[error("{0}")]
    Invalid(InvalidSetting),
    /// An error that concerns no single setting.
    #[error("{0}")]
    Other(String),
}

/// Values that flags set, by setting path.
#[derive(Debug, Default)]
pub(crate) struct Overrides(Vec<(&'static str, Value)>);

impl Overrides {
    /// Adds a flag's value if the flag was given.
    pub(crate) fn set(&mut self, path: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.push((path, value.into()));
        }
    }
}

/// A configuration, and the source of each value that is not a default.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) config: Config,
    pub(crate) origins: BTreeMap<String, String>,
}

/// Reads file, variables and flags, and reports every mistake. `variables` is the whole environment; names that do not
/// begin with `LOTWIRE_` are ignored.
pub(crate) fn load(
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (String, String)>,
    overrides: Overrides,
) -> Result<Resolved, ConfigErrors> {
    let mut merged = Merged::default();
    if let Some(path) = file {
        merged.add_file(path);
    }
    let mut variables: Vec<_> = variables.into_iter().filter(|(name, _)| is_lotwire_variable(name)).collect();
    variables.sort();
    for (variable, text) in variables {
        merged.add_variable(variable, &text);
    }
    for (path, value) in overrides.0 {
        let Some(key) = SETTINGS.iter().find(|key| key.path == path) else { continue };
        let given = value.to_string();
        merged.add(key, Ok(value), SettingSource::Flag, given);
    }
    merged.finish()
}

/// The values of the sources that were read so far, and the mistakes in them. A refused value counts as not given.
#[derive(Default)]
struct Merged {
    table: Table,
    sources: BTreeMap<&'static str, SettingSource>,
    mistakes: Vec<ConfigError>,
    refused: Vec<&'static str>,
}

impl Merged {
    fn add_file(&mut self, path: &Path) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.mistakes.push(ConfigError::Unreadable { path: path.to_owned(), error }),
        };
        let entries = match entries(&text) {
            Ok(entries) => entries,
            Err(error) => return self.mistakes.push(ConfigError::File { path: path.to_owned(), error }),
        };
        for FileEntry { name, line, value } in entries {
            let source = SettingSource::File(path.to_owned(), line);
            let given = value.to_string();
            match SETTINGS.iter().find(|key| key.path == name) {
                Some(key) => self.add(key, Ok(value), source, given),
                None => self.mistakes.push(ConfigError::Unknown(UnknownSetting { source, name })),
            }
        }
    }

    fn add_variable(&mut self, variable: String, text: &str) {
        let source = SettingSource::Variable(variable.clone());
        match SETTINGS.iter().find(|key| key.variable() == variable) {
            Some(key) => self.add(key, parse(key, text), source, Value::String(text.to_owned()).to_string()),
            None => self.mistakes.push(ConfigError::Unknown(UnknownSetting { source, name: variable })),
        }
    }

    fn add(&mut self, key: &'static Setting, value: Result<Value, String>, source: SettingSource, given: String) {
        let checked = value.and_then(|value| check_value(key, &value).map(|()| value));
        match checked {
            Ok(value) => {
                set_path(&mut self.table, key.path, value);
                self.sources.insert(key.path, source);
            }
            Err(why) => {
                self.refused.push(key.path);
                let invalid = InvalidSetting { source: Some(source), key, given: Some(given), why };
                self.mistakes.push(ConfigError::Invalid(invalid));
            }
        }
    }

    /// Checks the values together.
    fn finish(self) -> Result<Resolved, ConfigErrors> {
        let Merged { table, sources, mut mistakes, refused: refused_paths } = self;
        match Config::deserialize(table) {
            Ok(config) => {
                // A comparison with the default of a refused setting would name a mistake that no file and no variable has.
                let is_refused = |text: &String| refused_paths.iter().any(|path| text.contains(path));
                let found = config.mistakes().into_iter().filter(|text| !is_refused(text));
                mistakes.extend(found.map(|text| refused(&config, &sources, text)));
                if mistakes.is_empty() {
                    let origins = sources.into_iter().map(|(path, source)| (path.to_owned(), origin(&source)));
                    return Ok(Resolved { config, origins: origins.collect() });
                }
            }
            Err(error) => mistakes.push(ConfigError::Other(error.to_string())),
        }
        Err(ConfigErrors(mistakes))
    }
}

/// The source of a value, as `lotwire config show` prints it.
fn origin(source: &SettingSource) -> String {
    match source {
        SettingSource::File(path, _) => path.display().to_string(),
        SettingSource::Variable(name) => name.clone(),
        SettingSource::Flag => "flag".to_owned(),
    }
}

/// Turns an entry of [`Config::mistakes`], `key: why`, into one that also names the source, the value and the accepted
/// values.
fn refused(config: &Config, sources: &BTreeMap<&'static str, SettingSource>, text: String) -> ConfigError {
    let named =
        text.split_once(": ").and_then(|(path, why)| Some((SETTINGS.iter().find(|key| key.path == path)?, why)));
    let Some((key, why)) = named else { return ConfigError::Other(text) };
    let given = look_up(&table_of(config), key.path).map(ToString::to_string);
    ConfigError::Invalid(InvalidSetting { source: sources.get(key.path).cloned(), key, given, why: why.to_owned() })
}

/// A value in the configuration file.
struct FileEntry {
    /// `section.key`.
    name: String,
    /// Counted from 1.
    line: usize,
    value: Value,
}

/// The values of a file in its order, those of sections included.
fn entries(text: &str) -> Result<Vec<FileEntry>, String> {
    let spans = DeTable::parse(text).map_err(|error| error.to_string())?;
    let table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let line = |name: &Spanned<std::borrow::Cow<'_, str>>| text[..name.span().start].matches('\n').count() + 1;
    let mut found = Vec::new();
    for (name, value) in spans.get_ref().iter() {
        let Some(parsed) = table.get(name.get_ref().as_ref()) else { continue };
        let is_section = SETTINGS.iter().any(|key| section(key) == Some(name.get_ref().as_ref()));
        match (value.get_ref().as_table(), parsed) {
            (Some(inner), Value::Table(values)) if is_section => {
                for inner in inner.keys() {
                    let Some(value) = values.get(inner.get_ref().as_ref()) else { continue };
                    let name = format!("{}.{}", name.get_ref(), inner.get_ref());
                    found.push(FileEntry { name, line: line(inner), value: value.clone() });
                }
            }
            _ => found.push(FileEntry { name: name.get_ref().to_string(), line: line(name), value: parsed.clone() }),
        }
    }
    found.sort_by_key(|entry| entry.line);
    Ok(found)
}

/// A configuration as a TOML table.
pub(crate) fn table_of(config: &Config) -> Table {
    Table::try_from(config).unwrap_or_default()
}

/// The value at `section.key`.
pub(crate) fn look_up<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((section, rest)) => look_up(table.get(section)?.as_table()?, rest),
    }
}

fn set_path(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((section, rest)) => {
            let inner = table.entry(section.to_owned()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                set_path(inner, rest, value);
            }
        }
    }
}

/// Whether a variable configures Lotwire. `LOTWIRE_TEST_…` belongs to the test suite.
fn is_lotwire_variable(variable: &str) -> bool {
    variable.starts_with("LOTWIRE_") && !variable.starts_with("LOTWIRE_TEST_")
}

fn parse(key: &Setting, text: &str) -> Result<Value, String> {
    match key.kind {
        SettingKind::Text | SettingKind::Secret => Ok(Value::String(text.to_owned())),
        SettingKind::Number => {
            let number = text.trim().parse::<i64>().map_err(|_| "it is not a whole number".to_owned())?;
            Ok(Value::Integer(number))
        }
        SettingKind::Switch => match text.trim() {
            "true" => Ok(Value::Boolean(true)),
            "false" => Ok(Value::Boolean(false)),
            _ => Err("it is neither true nor false".to_owned()),
        },
        SettingKind::List => {
            let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
            Ok(Value::Array(entries.map(|entry| Value::String(entry.to_owned())).collect()))
        }
    }
}

/// Checks one value by itself. For a list, the error names the wrong entry.
fn check_value(key: &Setting, value: &Value) -> Result<(), String> {
    let Err(error) = deserialize_value(key, value) else { return Ok(()) };
    if key.is_secret() {
        return Err("it is not a text".to_owned());
    }
    match (key.kind, value) {
        (SettingKind::List, Value::Array(entries)) => {
            let alone = |entry: &Value| deserialize_value(key, &Value::Array(vec![entry.clone()]));
            let wrong = entries.iter().find_map(|entry| Some((entry, alone(entry).err()?)));
            Err(wrong.map_or(error, |(entry, error)| format!("entry {entry}: {error}")))
        }
        (SettingKind::Number, Value::Integer(_)) => Err("it is out of range".to_owned()),
        _ => Err(error),
    }
}

fn deserialize_value(key: &Setting, value: &Value) -> Result<(), String> {
    let mut alone = Table::new();
    set_path(&mut alone, key.path, value.clone());
    Config::deserialize(alone).map(drop).map_err(|error| error.message().to_owned())
}

#[cfg(test)]
mod tests;
