//! What is said of a configuration that can't be used: where it stands, which key, which value, what the key takes, and an example.

use std::fmt::{self, Display};
use std::path::PathBuf;

use super::settings::{SETTINGS, Setting};

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// A line of the configuration file, from 1.
    File(PathBuf, usize),
    /// A variable of this name.
    Variable(String),
    Flag,
}

impl Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingSource::File(path, line) => write!(f, "in the configuration file {}, line {line}", path.display()),
            SettingSource::Variable(name) => write!(f, "variable {name}"),
            SettingSource::Flag => f.write_str("a flag"),
        }
    }
}

/// Why a value was refused.
#[derive(Debug)]
pub(crate) struct InvalidSetting {
    /// None for a default, which another value speaks against.
    pub(crate) source: Option<SettingSource>,
    pub(crate) key: &'static Setting,
    /// As it was written; it is not shown when it is a secret.
    pub(crate) given: Option<String>,
    /// Without the value, because it may be a secret.
    pub(crate) why: String,
}

impl Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, key, given, why } = self;
        if let Some(source) = source {
            write!(f, "{source}: ")?;
        }
        let given = given.as_deref().filter(|_| !key.is_secret()).unwrap_or("(not shown)");
        let format = key.value_format();
        let by_default = if source.is_none() { " by default" } else { "" };
        write!(f, "{} is {given}{by_default}: {why}; it takes {}", key.path, format.words)?;
        if format.example.is_empty() {
            return Ok(());
        }
        f.write_str(", such as ")?;
        match source {
            Some(SettingSource::Variable(name)) => write!(f, "{name}={}", format.example),
            Some(SettingSource::Flag) => f.write_str(format.example),
            Some(SettingSource::File(..)) | None => f.write_str(&key.example_line()),
        }
    }
}

/// A name that is none of a key's or a section's.
#[derive(Debug)]
pub(crate) struct UnknownSetting {
    pub(crate) source: SettingSource,
    /// As it was written: a path in a file, a variable's name.
    pub(crate) name: String,
}

impl Display for UnknownSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, name } = self;
        if SETTINGS.iter().any(|key| section(key) == Some(name)) {
            return write!(f, "{source}: {name} is a section: its keys stand in the lines after [{name}]");
        }
        let near = match source {
            SettingSource::Variable(_) => nearest(name, SETTINGS.iter().map(Setting::variable)),
            SettingSource::File(..) | SettingSource::Flag => nearest(
                name,
                SETTINGS.iter().flat_map(|key| [Some(key.path), section(key)]).flatten().map(str::to_owned),
            ),
        };
        write!(f, "{source}: there is no key {name}")?;
        if let Some(near) = near {
            write!(f, "; did you mean {near}?")?;
        }
        f.write_str(" (`lotwire config reference` lists them all)")
    }
}

/// The section that a key is in.
pub(crate) fn section(key: &Setting) -> Option<&'static str> {
    key.path.split_once('.').map(|(section, _)| section)
}

/// What is like it: with at most a third of its letters to be written otherwise, not counting what all variables begin with.
fn nearest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let near = known.map(|known| (edit_distance(name, &known), known)).min()?;
    (near.0 * 3 <= name.trim_start_matches("LOTWIRE_").chars().count()).then_some(near.1)
}

/// Letters to put in, leave out or exchange, to make one of the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, of_a) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (index, of_b) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(of_a != *of_b);
            diagonal = row[index + 1];
            row[index + 1] = exchanged.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
