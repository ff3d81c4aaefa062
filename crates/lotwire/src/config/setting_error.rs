//! Error messages for invalid settings. Each names the source, the setting, the value, the accepted values and an
//! example.

use std::fmt::{self, Display};
use std::path::PathBuf;

use super::settings::{SETTINGS, Setting};

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// A line of the configuration file, counted from 1.
    File(PathBuf, usize),
    /// The environment variable of this name.
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

/// A value that was refused.
#[derive(Debug)]
pub(crate) struct InvalidSetting {
    /// None for a default that conflicts with another value.
    pub(crate) source: Option<SettingSource>,
    pub(crate) key: &'static Setting,
    /// The value as written. The message hides a secret, and a URL with a password.
    pub(crate) given: Option<String>,
    /// The reason, without the value, which may be a secret.
    pub(crate) why: String,
}

impl Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, key, given, why } = self;
        if let Some(source) = source {
            write!(f, "{source}: ")?;
        }
        let is_shown = |given: &&str| !key.is_secret() && !has_login(given.trim_matches('"'));
        let given = given.as_deref().filter(is_shown).unwrap_or("(not shown)");
        let format = key.value_format();
        let by_default = if source.is_none() { " by default" } else { "" };
        write!(f, "{} is {given}{by_default}: {why}. It must be {}", key.path, format.words)?;
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

/// Whether a text is a URL with a user name or a password.
pub(super) fn has_login(url: &str) -> bool {
    let parsed = url::Url::parse(url).ok();
    parsed.is_some_and(|url| !url.username().is_empty() || url.password().is_some())
}

/// A name that is neither a setting nor a section.
#[derive(Debug)]
pub(crate) struct UnknownSetting {
    pub(crate) source: SettingSource,
    /// The name as written: a path in a file, or a variable's name.
    pub(crate) name: String,
}

impl Display for UnknownSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, name } = self;
        if SETTINGS.iter().any(|key| section(key) == Some(name)) {
            return write!(f, "{source}: {name} is a section. Write its settings on the lines after [{name}]");
        }
        let near = match source {
            SettingSource::Variable(_) => nearest(name, SETTINGS.iter().map(Setting::variable)),
            SettingSource::File(..) | SettingSource::Flag => nearest(
                name,
                SETTINGS.iter().flat_map(|key| [Some(key.path), section(key)]).flatten().map(str::to_owned),
            ),
        };
        write!(f, "{source}: unknown setting {name}")?;
        if let Some(near) = near {
            return write!(f, ". Did you mean {near}? `lotwire config reference` lists all settings");
        }
        f.write_str(". `lotwire config reference` lists all settings")
    }
}

/// The section of a setting.
pub(crate) fn section(key: &Setting) -> Option<&'static str> {
    key.path.split_once('.').map(|(section, _)| section)
}

/// The known name with the smallest edit distance, if that is at most a third of the name's length. The prefix
/// `LOTWIRE_` does not count.
fn nearest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let near = known.map(|known| (edit_distance(name, &known), known)).min()?;
    (near.0 * 3 <= name.trim_start_matches("LOTWIRE_").chars().count()).then_some(near.1)
}

/// Levenshtein distance: the least number of insertions, deletions and replacements that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, a_char) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (index, b_char) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(a_char != *b_char);
            diagonal = row[index + 1];
            row[index + 1] = exchanged.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
