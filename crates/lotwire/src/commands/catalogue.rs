//! Runs `lotwire catalogue import`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use contract::ItemStatus;
use platform_core::catalogue::{CatalogueImport, ImportMode};
use platform_core::{Caller, Outcome};
use serde_json::json;

use super::{pluralise, print, print_json, require_database};
use crate::cli::Catalogue;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};

pub(super) async fn run(config: &Config, command: &Catalogue) -> Result<ExitCode, CommandError> {
    let Catalogue::Import { file, auction, dry_run, json } = command;
    require_database(config, "platform.db")?;
    let platform = open_platform(config, &NodeServices::new(config)?).await?;
    let mode = if *dry_run { ImportMode::DryRun } else { ImportMode::Import };
    let import = CatalogueImport { auction: *auction, mode, status: ItemStatus::Draft, expected_version: None };
    let report = platform
        .import_catalogue(&Caller::command_line(), import, open(file)?, None)
        .await
        .and_then(Outcome::fresh)
        .context(format!("importing {}", file.display()))?;
    let imported = if *dry_run || report.error_count > 0 { 0 } else { report.items };
    let errors: Vec<_> = report
        .errors
        .iter()
        .map(|error| json!({ "line": error.line, "column": error.column, "detail": error.message }))
        .collect();
    if *json {
        print_json(&json!({
            "rows": report.rows, "imported": imported, "dryRun": dry_run, "errorCount": report.error_count, "errors": errors,
        }))?;
    } else if report.error_count == 0 && *dry_run {
        let rows = pluralise(report.rows, "row", "rows");
        print(&format!("{rows} can be imported. This was a dry run: nothing was imported."));
    } else if report.error_count == 0 {
        print(&format!("{} imported.", pluralise(report.items, "item", "items")));
    } else {
        for error in &report.errors {
            let column = error.column.as_deref().map_or(String::new(), |column| format!(", {column}"));
            print(&format!("{}, line {}{column}: {}", file.display(), error.line, error.message));
        }
        print(&format!("{}; nothing was imported.", pluralise(report.error_count, "error", "errors")));
    }
    Ok(if report.error_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open(file: &Path) -> Result<Box<dyn Read + Send>, CommandError> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(File::open(file).context(format!("opening {}", file.display()))?))
}
