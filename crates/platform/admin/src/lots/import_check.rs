//! Maps the columns of an uploaded catalogue, shows what an import would do with each error in its cell, and imports.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::catalogue::{
    CatalogueMerge, CatalogueSample, CatalogueUpload, ColumnMapping, ImportMode, MergeOutcome, MergeReport, MergedRow,
    mappable_fields,
};
use uuid::Uuid;

use super::import_cells::{self, CellError, CellFields, Choices, DoubtfulRow, MendedRow, ValueCell};
use super::import_columns::{self, MappedColumn, words};
use super::imported;
use crate::admin::Admin;
use crate::imports::{Figure, FirstRows};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

/// Errors and rows that the page lists at most.
const LISTED_MAX: usize = 100;

#[derive(Template)]
#[template(path = "lots/import_check.html")]
struct CheckPage {
    frame: Frame,
    title: String,
    path: String,
    upload: Uuid,
    file_name: String,
    /// The sheets of a spreadsheet; empty for another file, or with one sheet.
    sheets: Vec<Choice>,
    /// "Row" of a spreadsheet, "Line" of another file.
    row_word: &'static str,
    columns: Vec<MappedColumn>,
    summary: Vec<Figure>,
    mark: FormField,
    new_consignors: Option<FormField>,
    errors: Vec<CellError>,
    error_count: u64,
    more_errors: u64,
    mended: Vec<MendedRow>,
    doubtful: Vec<DoubtfulRow>,
    more_doubtful: usize,
    other_mark: &'static str,
    /// Headers of the columns whose cells are more than their text.
    value_columns: Vec<String>,
    rows: Vec<CheckedRow>,
    more_rows: u64,
    faults: Vec<String>,
    /// The form was changed after the check, and is checked now.
    is_changed: bool,
    /// Identifies what this page has checked.
    checked: String,
    can_import: bool,
    button: String,
}

struct CheckedRow {
    line: u64,
    /// Id of the first row of its kind.
    id: Option<&'static str>,
    lot_number: String,
    badge: Badge,
    fields: String,
    /// Headers with cells.
    values: Vec<(String, Option<ValueCell>)>,
}

/// The mapping, with the result of a dry run.
pub(super) async fn page(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, upload]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    let file = find(&session, &sale, upload).await?;
    if let (Some(sheet), Ok(place)) = (&file.sheet, query.text("sheet").parse::<usize>())
        && place != sheet.chosen
    {
        let workbook = find(&session, &sale, sheet.workbook).await?;
        let other = session.platform().read_uploaded_workbook(&session.caller, &workbook, Some(place)).await?;
        let other = other.map_err(ErrorPage::bad_request)?;
        return Ok(admin.redirect(&sale.path(&format!("/lots/import/{}", other.uuid))).into_response());
    }
    let (sample, chosen) = mapping(&session, &sale, &file, &query).await?;
    check(&session, &sale, &file, (&sample, &chosen), (Vec::new(), false)).await
}

/// Checks the file again with the chosen columns and the mended cells, or imports it. A change after the last check is checked
/// before it is imported.
pub(super) async fn import(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, upload]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    let file = find(&session, &sale, upload).await?;
    let (sample, chosen) = mapping(&session, &sale, &file, &form).await?;
    let is_checked = !["", &chosen.digest()].contains(&form.text("checked"));
    let is_check = form.text("action") == "check";
    if is_check || is_checked {
        return check(&session, &sale, &file, (&sample, &chosen), (Vec::new(), !is_check)).await;
    }
    let faults = match merge(&session, &sale, &file, (&sample, &chosen), ImportMode::Import).await? {
        Ok(report) if report.error_count == 0 => {
            return Ok(admin.redirect(&sale.path(&imported::path(&sale, &report))).into_response());
        }
        Ok(_) => vec!["Nothing was imported: the auction changed since you checked the file.".to_owned()],
        Err(fault) => vec![fault],
    };
    check(&session, &sale, &file, (&sample, &chosen), (faults, false)).await
}

async fn find(session: &Session, sale: &Sale, upload: Uuid) -> Result<CatalogueUpload, PageError> {
    let found = session.platform().catalogue_upload(&session.caller, sale.auction.uuid, upload).await?;
    let detail = "Uploaded files are kept for half an hour. Upload the file again.";
    Ok(found.ok_or_else(|| ErrorPage::new(StatusCode::GONE, "The file is not here any more", detail))?)
}

async fn sample_of(session: &Session, file: &CatalogueUpload) -> Result<CatalogueSample, PageError> {
    let sample = session.platform().sample_catalogue_upload(file).await?;
    Ok(sample.map_err(|fault| ErrorPage::bad_request(sentence(&fault)))?)
}

/// The headers and first rows of the file, and the field of each column: as chosen, or as proposed.
async fn mapping(
    session: &Session,
    sale: &Sale,
    file: &CatalogueUpload,
    form: &FormFields,
) -> Result<(CatalogueSample, Choices), PageError> {
    let sample = sample_of(session, file).await?;
    if form.text("mapped").is_empty() {
        let proposed = session.platform().propose_mapping(&session.caller, sale.auction.uuid, &sample.headers).await?;
        let fields = proposed.into_iter().map(|(_, field)| field.unwrap_or_default().to_owned()).collect();
        return Ok((sample, Choices::of_fields(fields)));
    }
    let chosen = Choices::read(form, sample.headers.len());
    Ok((sample, chosen))
}

/// Runs the merge. An inner error is a refusal of the whole file.
async fn merge(
    session: &Session,
    sale: &Sale,
    file: &CatalogueUpload,
    (sample, chosen): (&CatalogueSample, &Choices),
    mode: ImportMode,
) -> Result<Result<MergeReport, String>, PageError> {
    let headers = sample.headers.clone();
    let field = |field: &String| Some(field.clone()).filter(|field| !field.is_empty());
    let mapping = match ColumnMapping::new(headers.into_iter().zip(chosen.fields.iter().map(field))) {
        Ok(mapping) => mapping,
        Err(fault) => return Ok(Err(sentence(&fault))),
    };
    let wanted = CatalogueMerge {
        auction: sale.auction.uuid,
        mode,
        mapping: Some(mapping),
        decimal_mark: chosen.mark(),
        mended: chosen.mended.clone(),
        is_sheet: file.sheet.is_some(),
        new_consignors: chosen.consignors(),
    };
    let source = session.platform().read_catalogue_upload(file);
    match session.platform().merge_catalogue(&session.caller, &wanted, source).await {
        Ok(report) => Ok(Ok(report)),
        Err(error) => Ok(Err(refusal::text(error)?)),
    }
}

async fn check(
    session: &Session,
    sale: &Sale,
    file: &CatalogueUpload,
    (sample, chosen): (&CatalogueSample, &Choices),
    (mut faults, is_changed): (Vec<String>, bool),
) -> Result<Response, PageError> {
    let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let report = match merge(session, sale, file, (sample, chosen), ImportMode::DryRun).await? {
        Ok(report) => report,
        Err(fault) => {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
            MergeReport::default()
        }
    };
    let lots = report.new + report.changed;
    let mut cells = CellFields::new(file, &sample.headers, sale, &report.consignors);
    let errors = cells.errors(&report, LISTED_MAX);
    let mended = cells.mended(&report);
    let doubtful = cells.doubtful(&report, LISTED_MAX);
    let value_columns = value_columns(&report);
    let mut first_rows = FirstRows::default();
    let rows = checked_rows(&report, &value_columns, (&mut cells, &mut first_rows));
    let checked = cells.digest(chosen);
    let page = CheckPage {
        frame: session.frame(format!("Import lots · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        upload: file.uuid,
        file_name: file.file_name.clone(),
        sheets: sheets(file),
        row_word: if file.sheet.is_some() { "Row" } else { "Line" },
        columns: import_columns::columns(sample, &chosen.fields, &mappable_fields()),
        mark: FormField::select(
            "decimalMark",
            "Decimal mark of the amounts",
            import_cells::marks(&chosen.decimal_mark),
        )
        .hint(format!(
            "Name it if an amount such as 1.500 can be read in two ways. Amounts are in {}.",
            sale.currency.code()
        )),
        new_consignors: import_cells::new_consignors(&report, &chosen.new_consignors),
        summary: vec![
            Figure::new("Rows", report.rows, None),
            Figure::new("New lots", report.new, first_rows.of(MergeOutcome::New)),
            Figure::new("Changed", report.changed, first_rows.of(MergeOutcome::Changed)),
            Figure::new("Unchanged", report.same, None),
            Figure::new("Errors", report.error_count, Some("errors")),
        ],
        errors,
        error_count: report.error_count,
        more_errors: report.error_count.saturating_sub(LISTED_MAX as u64),
        mended,
        more_doubtful: report.doubtful.len().saturating_sub(doubtful.len()),
        doubtful,
        other_mark: import_cells::other_mark(chosen.mark()),
        value_columns: value_columns
            .iter()
            .map(|place| sample.headers.get(*place).cloned().unwrap_or_default())
            .collect(),
        more_rows: lots.saturating_sub(rows.len() as u64),
        rows,
        can_import: faults.is_empty() && report.error_count == 0 && lots > 0,
        button: format!("Import {}", labels::count(lots, "lot", "lots")),
        faults,
        is_changed,
        checked,
    };
    render_page_as(status, &page)
}

/// Places of the columns whose cells are more than their text.
fn value_columns(report: &MergeReport) -> Vec<usize> {
    let cells = report.outcomes.iter().flat_map(|row| &row.cells);
    cells.map(|cell| cell.column).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The first rows that add or change a lot.
fn checked_rows(
    report: &MergeReport,
    value_columns: &[usize],
    (cells, first_rows): (&mut CellFields<'_>, &mut FirstRows),
) -> Vec<CheckedRow> {
    let changing = report.outcomes.iter().filter(|row| row.outcome != MergeOutcome::Same);
    let row = |row: &MergedRow| CheckedRow {
        line: cells.row_of(row.line),
        id: first_rows.id(row.outcome),
        lot_number: row.lot_number.clone(),
        badge: match row.outcome {
            MergeOutcome::New => Badge::new("good", "New"),
            MergeOutcome::Changed => Badge::new("info", "Changed"),
            MergeOutcome::Same => Badge::new("off", "Unchanged"),
        },
        fields: row.fields.iter().map(|field| words(field)).collect::<Vec<_>>().join(", "),
        values: cells.values(row.line, &row.cells, value_columns),
    };
    changing.take(LISTED_MAX).map(row).collect()
}

/// The sheets of a spreadsheet to choose from.
fn sheets(file: &CatalogueUpload) -> Vec<Choice> {
    let Some(sheet) = file.sheet.as_ref().filter(|sheet| sheet.names.len() > 1) else { return Vec::new() };
    let chosen = sheet.chosen.to_string();
    let names = sheet.names.iter().enumerate();
    names.map(|(place, name)| Choice::of(place.to_string(), name.clone(), &chosen)).collect()
}
