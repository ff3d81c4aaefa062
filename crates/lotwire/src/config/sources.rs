//! Where the configuration comes from, one source laid over the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::{Table, Value};

use super::Config;
use super::keys::{KEYS, Key, Kind};

/// What can be wrong with a configuration. The texts name the place and say what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("can't read the configuration file {path}: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("in the configuration file {path}:\n{error}")]
    File { path: PathBuf, error: String },
    #[error("variable {variable}: {error}")]
    Variable { variable: String, error: String },
    #[error("flag for {key}: {error}")]
    Flag { key: &'static str, error: String },
    #[error("{0}")]
    Value(String),
}

/// Values given by flags, by key path.
#[derive(Debug, Default)]
pub(crate) struct Overrides(Vec<(&'static str, Value)>);

impl Overrides {
    /// Adds a flag's value when it was given.
    pub(crate) fn set(&mut self, path: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.push((path, value.into()));
        }
    }
}

/// A configuration with the source of each value that is not a default.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) config: Config,
    pub(crate) origins: BTreeMap<String, String>,
}

/// Reads file, variables and flags. `variables` are all of the environment; what does not begin with `LOTWIRE_` is
/// none of ours.
pub(crate) fn load(
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (String, String)>,
    overrides: Overrides,
) -> Result<Resolved, ConfigError> {
    let mut merged = Table::new();
    let mut origins = BTreeMap::new();

    if let Some(path) = file {
        let text =
            std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
        let refuse = |error: toml::de::Error| ConfigError::File { path: path.to_owned(), error: error.to_string() };
        toml::from_str::<Config>(&text).map_err(refuse)?;
        let table: Table = toml::from_str(&text).map_err(refuse)?;
        for key in KEYS {
            if let Some(value) = look_up(&table, key.path) {
                put(&mut merged, key.path, value.clone());
                origins.insert(key.path.to_owned(), path.display().to_string());
            }
        }
    }

    let mut variables: Vec<_> = variables.into_iter().filter(|(name, _)| is_ours(name)).collect();
    variables.sort();
    for (variable, text) in variables {
        let refuse = |error: String| ConfigError::Variable { variable: variable.clone(), error };
        let key =
            KEYS.iter().find(|key| key.variable() == variable).ok_or_else(|| refuse(unknown_variable(&variable)))?;
        let value = parse(key, &text).map_err(refuse)?;
        check_alone(key.path, &value).map_err(refuse)?;
        put(&mut merged, key.path, value);
        origins.insert(key.path.to_owned(), variable.clone());
    }

    for (path, value) in overrides.0 {
        check_alone(path, &value).map_err(|error| ConfigError::Flag { key: path, error })?;
        put(&mut merged, path, value);
        origins.insert(path.to_owned(), "flag".to_owned());
    }

    let config = Config::deserialize(merged).map_err(|error| ConfigError::Value(error.to_string()))?;
    config.check().map_err(ConfigError::Value)?;
    Ok(Resolved { config, origins })
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

fn put(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((section, rest)) => {
            let inner = table.entry(section.to_owned()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// `LOTWIRE_TEST_…` belongs to the test suite.
fn is_ours(variable: &str) -> bool {
    variable.starts_with("LOTWIRE_") && !variable.starts_with("LOTWIRE_TEST_")
}

fn unknown_variable(variable: &str) -> String {
    let near = KEYS.iter().map(Key::variable).max_by_key(|known| shared_start(known, variable)).unwrap_or_default();
    format!("there is no such key; did you mean {near}? `lotwire config show` lists them")
}

fn shared_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn parse(key: &Key, text: &str) -> Result<Value, String> {
    match key.kind {
        Kind::Text | Kind::Secret => Ok(Value::String(text.to_owned())),
        Kind::Number => {
            let number = text.trim().parse::<i64>().map_err(|_| format!("{text:?} is not a whole number"))?;
            Ok(Value::Integer(number))
        }
        Kind::Switch => match text.trim() {
            "true" => Ok(Value::Boolean(true)),
            "false" => Ok(Value::Boolean(false)),
            _ => Err(format!("{text:?} is neither true nor false")),
        },
        Kind::List => {
            let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
            Ok(Value::Array(entries.map(|entry| Value::String(entry.to_owned())).collect()))
        }
    }
}

fn check_alone(path: &str, value: &Value) -> Result<(), String> {
    let mut alone = Table::new();
    put(&mut alone, path, value.clone());
    Config::deserialize(alone).map(drop).map_err(|error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn flags_win_over_variables_and_variables_over_the_file() {
        let file = file(
            "[platform]\nlisten = \"127.0.0.1:1\"\n[provider]\nlisten = \"127.0.0.1:2\"\nrequest_timeout = \"3s\"\n",
        );
        let environment = variables(&[
            ("LOTWIRE_PROVIDER__LISTEN", "127.0.0.1:22"),
            ("LOTWIRE_PROVIDER__RETRY_SCHEDULE", "5ms, 1s"),
            ("LOTWIRE_TEST_POSTGRES_URL", "none of ours"),
            ("PATH", "/bin"),
        ]);
        let mut flags = Overrides::default();
        flags.set("provider.listen", Some("127.0.0.1:222"));
        flags.set("data_dir", None::<String>);
        let resolved = load(Some(file.path()), environment, flags).unwrap();
        let config = resolved.config;
        assert_eq!(config.platform.listen.port(), 1);
        assert_eq!(config.provider.listen.port(), 222);
        assert_eq!(config.provider.request_timeout.as_millis(), 3_000);
        assert_eq!(config.provider.retry_schedule.iter().map(|span| span.as_millis()).collect::<Vec<_>>(), [5, 1_000]);
        assert_eq!(resolved.origins["provider.listen"], "flag");
        assert_eq!(resolved.origins["provider.retry_schedule"], "LOTWIRE_PROVIDER__RETRY_SCHEDULE");
        assert!(!resolved.origins.contains_key("data_dir"));
    }

    #[test]
    fn an_error_says_where_it_is_and_what_to_do() {
        let in_file = |text: &str| load(Some(file(text).path()), [], Overrides::default()).unwrap_err().to_string();
        let in_variable =
            |name, value| load(None, variables(&[(name, value)]), Overrides::default()).unwrap_err().to_string();
        for (error, parts) in [
            (in_file("[provider]\nlissten = \"x\"\n"), ["line 2", "unknown field `lissten`"]),
            (in_file("[provider]\nrequest_timeout = \"soon\"\n"), ["line 2", "250ms"]),
            (in_file("[provider]\nallow_subnets = [\"10.0.0.0/40\"]\n"), ["line 2", "invalid IP address"]),
            (in_file("[database]\nurl = \"mysql://x\"\n"), ["database.url", "postgres://"]),
            (in_file("[database]\npool_size = 1\n"), ["database.pool_size is 1", "2 to 1000"]),
            (
                in_variable("LOTWIRE_PROVIDER__LISTN", "x"),
                ["LOTWIRE_PROVIDER__LISTN", "did you mean LOTWIRE_PROVIDER__LISTEN"],
            ),
            (in_variable("LOTWIRE_PLATFORM__LISTEN", "8080"), ["LOTWIRE_PLATFORM__LISTEN", "socket address"]),
            (in_variable("LOTWIRE_DATABASE__POOL_SIZE", "many"), ["LOTWIRE_DATABASE__POOL_SIZE", "whole number"]),
            (in_variable("LOTWIRE_ROLES", "platform,clerk"), ["LOTWIRE_ROLES", "clerk"]),
        ] {
            for part in parts {
                assert!(error.contains(part), "{part:?} is not in: {error}");
            }
        }
    }
}
