//! Runs `lotwire config`.

use std::path::Path;
use std::process::ExitCode;

use super::serve::warnings;
use super::{pluralise, print, warn};
use crate::cli::{Cli, ConfigCommand};
use crate::config::Resolved;
use crate::config::settings::{self, SETTINGS};
use crate::error::CommandError;

pub(crate) fn run(cli: &Cli, command: &ConfigCommand) -> Result<ExitCode, CommandError> {
    match command {
        ConfigCommand::Reference => print(settings::reference().trim_end()),
        ConfigCommand::Check => {
            let resolved = crate::load(cli)?;
            warnings::of(&resolved.config).iter().for_each(|warning| warn(warning));
            print(&checked(&resolved, cli.common.config.as_deref()));
        }
        ConfigCommand::Show => {
            print(&show(&crate::load(cli)?));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Names the checked sources. Without `--config` the command reads no file, and the operator should not take the result for that
/// of the file in /etc.
fn checked(resolved: &Resolved, file: Option<&Path>) -> String {
    let count = pluralise(resolved.origins.len(), "setting", "settings");
    let sources = match file {
        Some(file) => format!("from {}, variables and flags", file.display()),
        None => "from variables and flags, and no file, because there is no --config".to_owned(),
    };
    format!("The configuration is valid: {count} {sources}. The others have their defaults.")
}

/// The configuration as a file that `lotwire config check` accepts, with the source of each value. A secret stands in a
/// comment, so that no text takes its place.
pub(super) fn show(resolved: &Resolved) -> String {
    let table = crate::config::table_of(&resolved.config);
    let mut lines = Vec::new();
    let mut section = "";
    for key in SETTINGS {
        let (section_of_key, name) = key.path.split_once('.').unwrap_or(("", key.path));
        if section_of_key != section {
            lines.push(format!("\n[{section_of_key}]"));
            section = section_of_key;
        }
        let value = crate::config::look_up(&table, key.path).map(ToString::to_string).unwrap_or_default();
        let hidden = key.is_secret() && value != "\"\"";
        let line = if hidden { format!("# {name} = (not shown)") } else { format!("{name} = {value}") };
        let origin = resolved.origins.get(key.path).map_or("default", String::as_str);
        lines.push(format!("{line:<60} # {origin}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::config::{self, Overrides};

    #[test]
    fn a_check_says_whether_it_read_a_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"[log]\nlevel = \"debug\"\n").unwrap();
        let variables = [("LOTWIRE_LOG__FORMAT".to_owned(), "json".to_owned())];
        let both = config::load(Some(file.path()), variables.clone(), Overrides::default()).unwrap();
        let text = checked(&both, Some(file.path()));
        assert!(text.contains("2 settings") && text.contains(file.path().to_str().unwrap()), "{text}");
        let text = checked(&config::load(None, variables, Overrides::default()).unwrap(), None);
        assert!(text.contains("1 setting ") && text.contains("no file"), "{text}");
    }

    #[test]
    fn the_shown_configuration_loads_again_with_the_same_values_except_secrets() {
        let variables = [
            ("LOTWIRE_DATABASE__URL", "postgres://user:hush@db/lotwire"),
            ("LOTWIRE_SECRETS__KEY", &"07".repeat(32)),
            ("LOTWIRE_PROVIDER__PROXY", "http://user:hush@proxy.example.com:3128"),
            ("LOTWIRE_PROVIDER__LISTEN", "localhost:8071"),
            ("LOTWIRE_PROVIDER__RETRY_SCHEDULE", "5s,1m"),
            ("LOTWIRE_METRICS__LISTEN", "localhost:9090"),
            ("LOTWIRE_LOG__LEVEL", "info,platform=debug"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let first = config::load(None, variables, Overrides::default()).unwrap();
        let text = show(&first);
        assert!(!text.contains("hush") && !text.contains("0707"), "{text}");
        assert_eq!(text.matches("(not shown)").count(), 3, "{text}");
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mut again = config::load(Some(file.path()), [], Overrides::default()).unwrap().config;
        assert!(again.secrets.key.is_empty() && again.database.url.is_empty() && again.provider.proxy.is_empty());
        again.secrets = first.config.secrets.clone();
        again.database.url = first.config.database.url.clone();
        again.provider.proxy = first.config.provider.proxy.clone();
        assert_eq!(again, first.config);
    }
}
