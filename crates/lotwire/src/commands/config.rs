//! Runs `lotwire config`.

use std::process::ExitCode;

use super::print;
use crate::cli::{Cli, ConfigCommand};
use crate::config::settings::{self, SETTINGS};
use crate::error::CommandError;

pub(crate) fn run(cli: &Cli, command: &ConfigCommand) -> Result<ExitCode, CommandError> {
    match command {
        ConfigCommand::Reference => print(settings::reference().trim_end()),
        ConfigCommand::Check => {
            crate::load(cli)?;
            print("The configuration is valid.");
        }
        ConfigCommand::Show => {
            let resolved = crate::load(cli)?;
            let table = crate::config::table_of(&resolved.config);
            let mut section = "";
            for key in SETTINGS {
                let (section_of_key, name) = key.path.split_once('.').unwrap_or(("", key.path));
                if section_of_key != section {
                    print(&format!("\n[{section_of_key}]"));
                    section = section_of_key;
                }
                let value = crate::config::look_up(&table, key.path).map(ToString::to_string).unwrap_or_default();
                let shown = if key.is_secret() && value != "\"\"" { "\"(not shown)\"".to_owned() } else { value };
                let origin = resolved.origins.get(key.path).map_or("default", String::as_str);
                print(&format!("{:<60} # {origin}", format!("{name} = {shown}")));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
