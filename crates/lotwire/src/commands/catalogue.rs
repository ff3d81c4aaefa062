//! Runs `lotwire catalogue import` and `lotwire catalogue merge`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use contract::ItemStatus;
use platform_core::amounts::DecimalMark;
use platform_core::catalogue::{
    CatalogueImport, CatalogueMerge, ColumnMapping, ImportMode, MendedCells, NewConsignors, RowError,
};
use platform_core::{Caller, Outcome};
use serde_json::{Value, json};

use super::{pluralise, print, print_json, require_database};
use crate::cli::Catalogue;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};

pub(super) async fn run(config: &Config, command: &Catalogue) -> Result<ExitCode, CommandError> {
    require_database(config, "platform.db")?;
    match command {
        Catalogue::Import { file, auction, dry_run, json } => {
            let import = CatalogueImport {
                auction: *auction,
                mode: mode(*dry_run),
                status: ItemStatus::Draft,
                expected_version: None,
            };
            run_import(config, file, import, *json).await
        }
        Catalogue::Merge { file, auction, map, decimal_mark, dry_run, json } => {
            let merge = CatalogueMerge {
                auction: *auction,
                mode: mode(*dry_run),
                mapping: mapping(map)?,
                decimal_mark: decimal_mark.as_deref().and_then(DecimalMark::parse),
                mended: MendedCells::default(),
                is_sheet: false,
                new_consignors: NewConsignors::Refused,
            };
            run_merge(config, file, &merge, *json).await
        }
    }
}

fn mode(is_dry_run: bool) -> ImportMode {
    if is_dry_run { ImportMode::DryRun } else { ImportMode::Import }
}

/// The mapping of `HEADER=FIELD` arguments; none without any.
fn mapping(columns: &[String]) -> Result<Option<ColumnMapping>, CommandError> {
    if columns.is_empty() {
        return Ok(None);
    }
    let column = |column: &String| {
        let (header, field) = column
            .rsplit_once('=')
            .ok_or_else(|| CommandError::new(format!("--map {column:?} has no =. Write it like 'Lot #=lot_number'")))?;
        Ok((header.to_owned(), Some(field.to_owned()).filter(|field| !field.is_empty())))
    };
    let columns = columns.iter().map(column).collect::<Result<Vec<_>, CommandError>>()?;
    ColumnMapping::new(columns)
        .map(Some)
        .map_err(|problem| CommandError::new(format!("--map can't be used: {problem}")))
}

async fn run_import(
    config: &Config,
    file: &Path,
    import: CatalogueImport,
    as_json: bool,
) -> Result<ExitCode, CommandError> {
    let is_dry_run = import.mode == ImportMode::DryRun;
    let platform = open_platform(config, &NodeServices::new(config)?).await?;
    let report = platform
        .import_catalogue(&Caller::command_line(), import, open(file)?, None)
        .await
        .and_then(Outcome::fresh)
        .context(format!("importing {}", file.display()))?;
    let imported = if is_dry_run || report.error_count > 0 { 0 } else { report.items };
    if as_json {
        print_json(&json!({
            "rows": report.rows, "imported": imported, "dryRun": is_dry_run, "errorCount": report.error_count,
            "errors": errors(&report.errors),
        }))?;
    } else if report.error_count == 0 && is_dry_run {
        let rows = pluralise(report.rows, "row", "rows");
        print(&format!("{rows} can be imported. This was a dry run: nothing was imported."));
    } else if report.error_count == 0 {
        print(&format!("{} imported.", pluralise(report.items, "item", "items")));
    } else {
        print_errors(file, &report.errors);
        print(&format!("{}; nothing was imported.", pluralise(report.error_count, "error", "errors")));
    }
    Ok(if report.error_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_merge(
    config: &Config,
    file: &Path,
    merge: &CatalogueMerge,
    as_json: bool,
) -> Result<ExitCode, CommandError> {
    let is_dry_run = merge.mode == ImportMode::DryRun;
    let platform = open_platform(config, &NodeServices::new(config)?).await?;
    let report = platform
        .merge_catalogue(&Caller::command_line(), merge, open(file)?)
        .await
        .context(format!("merging {}", file.display()))?;
    if as_json {
        print_json(&json!({
            "rows": report.rows, "new": report.new, "changed": report.changed, "same": report.same, "dryRun": is_dry_run,
            "ignoredColumns": report.ignored_columns, "errorCount": report.error_count, "errors": errors(&report.errors),
        }))?;
    } else if report.error_count == 0 {
        let counts = format!("{} new, {} changed, {} unchanged.", report.new, report.changed, report.same);
        let note = if is_dry_run { " This was a dry run: nothing was changed." } else { "" };
        print(&format!("{}: {counts}{note}", pluralise(report.rows, "row", "rows")));
    } else {
        print_errors(file, &report.errors);
        print(&format!("{}; nothing was changed.", pluralise(report.error_count, "error", "errors")));
    }
    Ok(if report.error_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn errors(errors: &[RowError]) -> Vec<Value> {
    let error = |error: &RowError| json!({ "line": error.line, "column": error.column, "detail": error.message });
    errors.iter().map(error).collect()
}

fn print_errors(file: &Path, errors: &[RowError]) {
    for error in errors {
        let column = error.column.as_deref().map_or(String::new(), |column| format!(", {column}"));
        print(&format!("{}, line {}{column}: {}", file.display(), error.line, error.message));
    }
}

fn open(file: &Path) -> Result<Box<dyn Read + Send>, CommandError> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(File::open(file).context(format!("opening {}", file.display()))?))
}
