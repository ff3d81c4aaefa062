//! Maps the columns of an uploaded catalogue, shows what an import would do with each error in its cell, and imports.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use platform_core::catalogue::{
    CatalogueMerge, CatalogueSample, CatalogueUpload, ColumnMapping, ImportMode, MergeOutcome, MergeReport,
    mappable_fields,
};
use uuid::Uuid;

use crate::admin::Admin;
use crate::auctions::labels::{self, Badge};
use crate::auctions::list::{Choice, writable};
use crate::auctions::refusal;
use crate::auctions::sale::Sale;
use crate::page_error::PageError;
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
    summary: Vec<(&'static str, String)>,
    errors: Vec<CellError>,
    error_count: u64,
    more_errors: u64,
    rows: Vec<CheckedRow>,
    faults: Vec<String>,
    can_import: bool,
    button: String,
}

/// A column of the file with the field that it is mapped to.
struct MappedColumn {
    name: String,
    header: String,
    samples: String,
    fields: Vec<Choice>,
}

struct CellError {
    line: u64,
    column: String,
    message: String,
}

struct CheckedRow {
    line: u64,
    lot_number: String,
    badge: Badge,
    fields: String,
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
    check(&session, &sale, &file, (&sample, &chosen), Vec::new(), StatusCode::OK).await
}

/// Imports the file as it is mapped, or shows the page again with what is wrong.
pub(super) async fn import(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, upload]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    let file = find(&session, &sale, upload).await?;
    let (sample, chosen) = mapping(&session, &sale, &file, &form).await?;
    let faults = match merge(&session, &sale, &file, (&sample, &chosen), ImportMode::Import).await? {
        Ok(report) if report.error_count == 0 => {
            return Ok(admin.redirect(&sale.path("/lots?done=imported")).into_response());
        }
        Ok(_) => vec!["Nothing was imported: the auction changed since you checked the file.".to_owned()],
        Err(fault) => vec![fault],
    };
    check(&session, &sale, &file, (&sample, &chosen), faults, StatusCode::UNPROCESSABLE_ENTITY).await
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
) -> Result<(CatalogueSample, Vec<String>), PageError> {
    let sample = sample_of(session, file).await?;
    if form.text("mapped").is_empty() {
        let proposed = session.platform().propose_mapping(&session.caller, sale.auction.uuid, &sample.headers).await?;
        return Ok((sample, proposed.into_iter().map(|(_, field)| field.unwrap_or_default().to_owned()).collect()));
    }
    let chosen = (0..sample.headers.len()).map(|place| form.text(&format!("c{place}")).to_owned()).collect();
    Ok((sample, chosen))
}

/// Runs the merge. An inner error is a refusal of the whole file.
async fn merge(
    session: &Session,
    sale: &Sale,
    file: &CatalogueUpload,
    (sample, chosen): (&CatalogueSample, &[String]),
    mode: ImportMode,
) -> Result<Result<MergeReport, String>, PageError> {
    let headers = sample.headers.clone();
    let field = |field: &String| Some(field.clone()).filter(|field| !field.is_empty());
    let mapping = match ColumnMapping::new(headers.into_iter().zip(chosen.iter().map(field))) {
        Ok(mapping) => mapping,
        Err(fault) => return Ok(Err(sentence(&fault))),
    };
    let wanted = CatalogueMerge {
        auction: sale.auction.uuid,
        mode,
        mapping: Some(mapping),
        decimal_mark: None,
        is_sheet: file.sheet.is_some(),
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
    (sample, chosen): (&CatalogueSample, &[String]),
    mut faults: Vec<String>,
    status: StatusCode,
) -> Result<Response, PageError> {
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
    let page = CheckPage {
        frame: session.frame(format!("Import lots · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        upload: file.uuid,
        file_name: file.file_name.clone(),
        sheets: sheets(file),
        row_word: if file.sheet.is_some() { "Row" } else { "Line" },
        columns: columns(sample, chosen),
        summary: vec![
            ("Rows", labels::number(report.rows)),
            ("New lots", labels::number(report.new)),
            ("Changed", labels::number(report.changed)),
            ("Unchanged", labels::number(report.same)),
            ("Errors", labels::number(report.error_count)),
        ],
        errors: report
            .errors
            .iter()
            .take(LISTED_MAX)
            .map(|error| CellError {
                line: row_of(file, error.line),
                column: error.column.clone().unwrap_or_default(),
                message: sentence(&error.message),
            })
            .collect(),
        error_count: report.error_count,
        more_errors: report.error_count.saturating_sub(LISTED_MAX as u64),
        rows: report
            .outcomes
            .iter()
            .filter(|row| row.outcome != MergeOutcome::Same)
            .take(LISTED_MAX)
            .map(|row| CheckedRow {
                line: row_of(file, row.line),
                lot_number: row.lot_number.clone(),
                badge: match row.outcome {
                    MergeOutcome::New => Badge::new("good", "New"),
                    MergeOutcome::Changed => Badge::new("info", "Changed"),
                    MergeOutcome::Same => Badge::new("off", "Unchanged"),
                },
                fields: row.fields.iter().map(|field| words(field)).collect::<Vec<_>>().join(", "),
            })
            .collect(),
        can_import: faults.is_empty() && report.error_count == 0 && lots > 0,
        button: format!("Import {}", labels::count(lots, "lot", "lots")),
        faults,
    };
    render_page_as(status, &page)
}

/// The row of the spreadsheet for a line of the file; the line itself without a spreadsheet.
fn row_of(file: &CatalogueUpload, line: u64) -> u64 {
    file.sheet.as_ref().map_or(line, |sheet| sheet.rows.row_of(line))
}

/// The sheets of a spreadsheet to choose from.
fn sheets(file: &CatalogueUpload) -> Vec<Choice> {
    let Some(sheet) = file.sheet.as_ref().filter(|sheet| sheet.names.len() > 1) else { return Vec::new() };
    let chosen = sheet.chosen.to_string();
    let names = sheet.names.iter().enumerate();
    names.map(|(place, name)| Choice::new(place.to_string(), name.clone(), &chosen)).collect()
}

fn columns(sample: &CatalogueSample, chosen: &[String]) -> Vec<MappedColumn> {
    let fields = mappable_fields();
    let column = |(place, header): (usize, &String)| {
        let own = chosen.get(place).map(String::as_str).unwrap_or_default();
        let none = std::iter::once(Choice::new("", "Not imported", own));
        let samples: Vec<&str> = sample.rows.iter().filter_map(|row| row.get(place)).map(String::as_str).collect();
        MappedColumn {
            name: format!("c{place}"),
            header: header.clone(),
            samples: samples.into_iter().filter(|text| !text.is_empty()).take(3).collect::<Vec<_>>().join(" · "),
            fields: none.chain(fields.iter().map(|field| Choice::new(*field, words(field), own))).collect(),
        }
    };
    sample.headers.iter().enumerate().map(column).collect()
}

/// The name of a field in words: `low_estimate` and `lowEstimate` are "Low estimate".
fn words(field: &str) -> String {
    let mut out = String::new();
    for (place, char) in field.chars().enumerate() {
        match char {
            '_' => out.push(' '),
            upper if upper.is_uppercase() => out.extend(std::iter::once(' ').chain(upper.to_lowercase())),
            first if place == 0 => out.extend(first.to_uppercase()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn fields_are_named_in_words() {
        assert_eq!(
            [words("low_estimate"), words("lowEstimate"), words("title")],
            ["Low estimate", "Low estimate", "Title"]
        );
    }
}
