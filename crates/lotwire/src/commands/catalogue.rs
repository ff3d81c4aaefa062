//! `lotwire catalogue import`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use platform::Caller;
use platform::catalogue::ImportMode;
use serde_json::json;

use super::{print, print_json};
use crate::cli::Catalogue;
use crate::config::Config;
use crate::fault::{Fault, While as _};
use crate::node::{Ground, open_platform};

pub(super) async fn run(config: &Config, command: &Catalogue) -> Result<ExitCode, Fault> {
    let Catalogue::Import { file, auction, dry_run, json } = command;
    let platform = open_platform(config, &Ground::new(config)?).await?;
    let mode = if *dry_run { ImportMode::DryRun } else { ImportMode::Import };
    let report = platform
        .import_catalogue(&Caller::command_line(), *auction, open(file)?, mode)
        .await
        .while_(format!("importing {}", file.display()))?;
    let errors: Vec<_> = report
        .errors
        .iter()
        .map(|error| json!({ "line": error.line, "column": error.column, "detail": error.detail }))
        .collect();
    if *json {
        print_json(&json!({
            "rows": report.rows, "imported": report.imported, "dryRun": dry_run, "errorCount": report.error_count, "errors": errors,
        }))?;
    } else if report.error_count == 0 && *dry_run {
        print(&format!("All {} rows can be imported. Nothing was: this was a dry run.", report.rows));
    } else if report.error_count == 0 {
        print(&format!("{} items imported.", report.imported));
    } else {
        for error in &report.errors {
            let column = error.column.as_deref().map_or(String::new(), |column| format!(", {column}"));
            print(&format!("{}, line {}{column}: {}", file.display(), error.line, error.detail));
        }
        print(&format!("{} errors; nothing was imported.", report.error_count));
    }
    Ok(if report.error_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open(file: &Path) -> Result<Box<dyn Read + Send>, Fault> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(File::open(file).while_(format!("opening {}", file.display()))?))
}
