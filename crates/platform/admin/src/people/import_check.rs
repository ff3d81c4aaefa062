//! Maps the columns of a register file, shows what an import would do with each error at its row, and imports.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use contract::models::CurrencyCode;
use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::catalogue::{CatalogueSample, CatalogueUpload, ImportMode, MergeOutcome};
use platform_core::register_files::{
    LikelyOther, RegisterImport, RegisterReport, WithoutReference, register_fields, register_mapping,
};
use uuid::Uuid;

use super::Houses;
use super::edit::currency_of;
use super::likely::reasons_in_words;
use crate::auctions::CURRENCIES;
use crate::imports::{Counts, Figure, FirstRows, LINKED_MAX};
use crate::lots::import_columns::{self, MappedColumn};
use crate::page_error::PageError;
use crate::sale::labels::{self, Badge};
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

/// Errors and rows that the page lists at most.
const LISTED_MAX: usize = 100;

#[derive(Template)]
#[template(path = "people/import_check.html")]
struct CheckPage {
    frame: Frame,
    house: Uuid,
    upload: Uuid,
    file_name: String,
    /// "Row" of a spreadsheet, "Line" of another file.
    row_word: &'static str,
    faults: Vec<String>,
    /// The form was changed after the check, and is checked now.
    is_changed: bool,
    summary: Vec<Figure>,
    choices: [FormField; 3],
    columns: Vec<MappedColumn>,
    errors: Vec<CheckError>,
    error_count: u64,
    more_errors: u64,
    likely: Vec<LikelyLine>,
    more_likely: u64,
    rows: Vec<CheckedRow>,
    more_rows: u64,
    /// Identifies what this page has checked.
    checked: String,
    can_import: bool,
    button: String,
}

struct CheckError {
    line: u64,
    column: String,
    message: String,
}

/// A new record that is likely about a person whom the register or the file has already.
struct LikelyLine {
    line: u64,
    label: String,
    /// The record, and its label; or the line of the file in words.
    other: (Option<Uuid>, String),
    reasons: String,
}

struct CheckedRow {
    line: u64,
    /// Id of the first row of its kind.
    id: Option<&'static str>,
    label: String,
    badge: Badge,
}

/// What a person chose.
struct Chosen {
    /// The field of each column; empty for a column that is not imported.
    fields: Vec<String>,
    /// `email`, or `new`.
    without: String,
    /// `bidder`, `consignor` or `both`.
    role: String,
    /// Code of the currency of amounts that name none; may be empty.
    currency: String,
}

impl Chosen {
    async fn read(
        session: &Session,
        house: Uuid,
        form: &FormFields,
        sample: &CatalogueSample,
    ) -> Result<Self, PageError> {
        let text = |name: &str, usual: &str| form.non_empty(name).unwrap_or(usual).to_owned();
        let is_first = form.text("mapped").is_empty();
        let fields = if is_first {
            let proposed = session.platform().propose_register_mapping(&session.caller, house, &sample.headers).await?;
            proposed.into_iter().map(|field| field.unwrap_or_default().to_owned()).collect()
        } else {
            (0..sample.headers.len()).map(|place| form.text(&format!("c{place}")).to_owned()).collect()
        };
        let currency = if is_first { currency_of(session, house).await? } else { form.text("currency").to_uppercase() };
        Ok(Self { fields, without: text("without", "email"), role: text("role", "bidder"), currency })
    }

    /// Identifies the choices, to recognise those that were checked.
    fn digest(&self) -> String {
        format!("{} {} {} {}", self.without, self.role, self.currency, self.fields.join(" "))
    }
}

/// The house and the file that the address names.
async fn find(
    session: &Session,
    fields: &FormFields,
    upload: Uuid,
) -> Result<(Uuid, CatalogueUpload, CatalogueSample), PageError> {
    let house = Houses::load(session, fields).await?.chosen.ok_or(PlatformError::NotFound("customer"))?;
    let found = session.platform().register_upload(&session.caller, house, upload).await?;
    let detail = "Uploaded files are kept for half an hour. Upload the file again.";
    let file = found.ok_or_else(|| ErrorPage::new(StatusCode::GONE, "The file is not here any more", detail))?;
    let sample = session.platform().sample_catalogue_upload(&file).await?;
    Ok((house, file, sample.map_err(|fault| ErrorPage::bad_request(sentence(&fault)))?))
}

/// The mapping, with the result of a dry run.
pub(super) async fn page(
    session: Session,
    PathIds([upload]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (house, file, sample) = find(&session, &query, upload).await?;
    let chosen = Chosen::read(&session, house, &query, &sample).await?;
    check(&session, (house, &file), (&sample, &chosen), (Vec::new(), false)).await
}

/// Checks the file again with the chosen columns, or imports it. A change after the last check is checked before it is imported.
pub(super) async fn import(
    session: Session,
    PathIds([upload]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (house, file, sample) = find(&session, &form, upload).await?;
    let chosen = Chosen::read(&session, house, &form, &sample).await?;
    let is_check = form.text("action") == "check";
    if is_check || ![String::new(), chosen.digest()].contains(&form.text("checked").to_owned()) {
        return check(&session, (house, &file), (&sample, &chosen), (Vec::new(), !is_check)).await;
    }
    let faults = match run(&session, (house, &file), (&sample, &chosen), ImportMode::Import).await? {
        Ok(report) if report.error_count == 0 => {
            return Ok(session.admin.redirect(&path_after(house, &report)).into_response());
        }
        Ok(_) => vec!["Nothing was imported: the register changed since you checked the file.".to_owned()],
        Err(fault) => vec![fault],
    };
    check(&session, (house, &file), (&sample, &chosen), (faults, false)).await
}

/// Path of the page that follows an import, with the counts, and the records that its notice links to.
fn path_after(house: Uuid, report: &RegisterReport) -> String {
    let counts = Counts { rows: report.rows, new: report.new, changed: report.changed, same: report.same };
    let linked = report.outcomes.iter().take(LINKED_MAX).map(|row| format!("&record={}", row.party));
    format!("/people?house={house}&done=people-imported&{}{}", counts.query(), linked.collect::<String>())
}

/// Runs the import. An inner error is a refusal of the whole file.
async fn run(
    session: &Session,
    (house, file): (Uuid, &CatalogueUpload),
    (sample, chosen): (&CatalogueSample, &Chosen),
    mode: ImportMode,
) -> Result<Result<RegisterReport, String>, PageError> {
    let field = |field: &String| Some(field.clone()).filter(|field| !field.is_empty());
    let columns = sample.headers.iter().cloned().zip(chosen.fields.iter().map(field));
    let mapping = match register_mapping(columns) {
        Ok(mapping) => mapping,
        Err(fault) => return Ok(Err(sentence(&fault))),
    };
    let currency = match chosen.currency.as_str() {
        "" => None,
        code => match code.parse::<CurrencyCode>() {
            Ok(currency) => Some(currency),
            Err(_) => return Ok(Err(format!("“{code}” is not a currency: write its three letters, such as GBP."))),
        },
    };
    let wanted = RegisterImport {
        customer: house,
        mode,
        mapping: Some(mapping),
        without_reference: if chosen.without == "new" { WithoutReference::New } else { WithoutReference::ByEmail },
        currency,
        is_bidder: chosen.role != "consignor",
        is_consignor: chosen.role != "bidder",
    };
    let source = session.platform().read_catalogue_upload(file);
    match session.platform().import_register(&session.caller, &wanted, source).await {
        Ok(report) => Ok(Ok(report)),
        Err(error) => Ok(Err(refusal::text(error)?)),
    }
}

async fn check(
    session: &Session,
    (house, file): (Uuid, &CatalogueUpload),
    (sample, chosen): (&CatalogueSample, &Chosen),
    (mut faults, is_changed): (Vec<String>, bool),
) -> Result<Response, PageError> {
    let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let report = match run(session, (house, file), (sample, chosen), ImportMode::DryRun).await? {
        Ok(report) => report,
        Err(fault) => {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
            RegisterReport::default()
        }
    };
    let row_of = |line: u64| file.sheet.as_ref().map_or(line, |sheet| sheet.rows.row_of(line));
    let records = report.new + report.changed;
    let errors = report.errors.iter().take(LISTED_MAX).map(|error| CheckError {
        line: row_of(error.line),
        column: error.column.clone().unwrap_or_default(),
        message: sentence(&error.message),
    });
    let mut first_rows = FirstRows::default();
    let rows = report.outcomes.iter().take(LISTED_MAX).map(|row| CheckedRow {
        line: row_of(row.line),
        id: first_rows.id(row.outcome),
        label: row.label.clone(),
        badge: if row.outcome == MergeOutcome::New { Badge::new("good", "New") } else { Badge::new("info", "Changed") },
    });
    let rows: Vec<CheckedRow> = rows.collect();
    let row_word = if file.sheet.is_some() { "Row" } else { "Line" };
    let likely = report.likely.iter().take(LISTED_MAX).map(|row| LikelyLine {
        line: row_of(row.line),
        label: row.label.clone(),
        other: match &row.other {
            LikelyOther::Record(uuid, label) => (Some(*uuid), label.clone()),
            LikelyOther::Line(line) => (None, format!("{row_word} {} of this file", row_of(*line))),
        },
        reasons: reasons_in_words(&row.reasons),
    });
    let likely: Vec<LikelyLine> = likely.collect();
    let page = CheckPage {
        frame: session.frame("Import people", Section::People),
        house,
        upload: file.uuid,
        file_name: file.file_name.clone(),
        row_word,
        more_likely: report.likely_count.saturating_sub(likely.len() as u64),
        likely,
        choices: choices(chosen),
        columns: import_columns::columns(sample, &chosen.fields, &register_fields()),
        summary: vec![
            Figure::new("Rows", report.rows, None),
            Figure::new("New records", report.new, first_rows.of(MergeOutcome::New)),
            Figure::new("Changed", report.changed, first_rows.of(MergeOutcome::Changed)),
            Figure::new("Unchanged", report.same, None),
            Figure::new("Errors", report.error_count, Some("errors")),
        ],
        errors: errors.collect(),
        error_count: report.error_count,
        more_errors: report.error_count.saturating_sub(LISTED_MAX as u64),
        more_rows: records.saturating_sub(rows.len() as u64),
        rows,
        checked: chosen.digest(),
        can_import: faults.is_empty() && report.error_count == 0 && records > 0,
        button: format!("Import {}", labels::count(records, "record", "records")),
        faults,
        is_changed,
    };
    render_page_as(status, &page)
}

/// What applies to the whole file.
fn choices(chosen: &Chosen) -> [FormField; 3] {
    let without = [("email", "Update by e-mail, or add"), ("new", "Add a new record")];
    let roles = [("bidder", "Bidders"), ("consignor", "Consignors"), ("both", "Bidders and consignors")];
    let select = |name: &'static str, label: &'static str, all: &[(&'static str, &'static str)], own: &str| {
        FormField::select(name, label, all.iter().map(|(value, words)| Choice::of(*value, *words, own)).collect())
    };
    [
        select("without", "A row without a reference", &without, &chosen.without).hint(
            "A row with a reference updates the record that has it. A row of an export updates its own record. \
                 “Update by e-mail” adds a record where none has the address.",
        ),
        select("role", "New records without a role are", &roles, &chosen.role),
        FormField::text("currency", "Amounts without a currency are in", chosen.currency.as_str())
            .chars_max(3)
            .optional()
            .hint("ISO 4217, such as GBP. Empty: such an amount is an error.")
            .suggesting(CURRENCIES.iter().copied()),
    ]
}
