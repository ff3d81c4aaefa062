//! Merging a house's own file into an auction, by lot number.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use kit_http::problem::ProblemError;
use platform_core::Platform;
use platform_core::amounts::DecimalMark;
use platform_core::catalogue::{
    CatalogueMerge, ColumnMapping, ImportMode, MendedCells, MergeOutcome, MergeReport, MergedRow, NewConsignors,
    RowError,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::response;
use crate::upload::Upload;

/// How to merge.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MergeQuery {
    /// True: report what the file would do, and change nothing. Default: false.
    #[serde(default)]
    dry_run: bool,
    /// `point` or `comma`: what separates decimals in the file. Needed where an amount can be read in two ways, such as
    /// `1.500` in a currency of three decimals.
    decimal_mark: Option<String>,
    /// A JSON object from header to field, such as `{"Lot #":"lot_number","Notes":null}`; other columns are ignored.
    /// Default: the last mapping of the customer, and headers that are known.
    mapping: Option<String>,
}

impl MergeQuery {
    fn decimal_mark(&self) -> Result<Option<DecimalMark>, ApiError> {
        let Some(word) = self.decimal_mark.as_deref() else { return Ok(None) };
        let mark = DecimalMark::parse(word);
        mark.map(Some).ok_or_else(|| ApiError::invalid_query("decimalMark", "must be point or comma"))
    }

    fn mapping(&self) -> Result<Option<ColumnMapping>, ApiError> {
        let Some(text) = &self.mapping else { return Ok(None) };
        let columns: BTreeMap<String, Option<String>> = serde_json::from_str(text)
            .map_err(|_| ApiError::invalid_query("mapping", "must be a JSON object from header to field or null"))?;
        let mapping = ColumnMapping::new(columns);
        mapping.map(Some).map_err(|problem| ApiError::invalid_query("mapping", format!("can't be used: {problem}")))
    }
}

/// What a file does to the lots of an auction.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Merged {
    /// True after a dry run, which changes nothing.
    dry_run: bool,
    /// Rows that the server read, without the header.
    rows: u64,
    /// New lots.
    new: u64,
    /// Lots that change.
    changed: u64,
    /// Lots that have these values already.
    same: u64,
    /// Headers of columns that were ignored.
    ignored_columns: Vec<String>,
    /// The first 1,000 rows without an error.
    outcomes: Vec<MergedRowView>,
    /// The first 1,000 errors, each with its line and the header of its column. With any error, nothing was changed.
    #[schema(value_type = Vec<Object>)]
    errors: Vec<ProblemError>,
    /// Number of all errors.
    error_count: u64,
}

/// What a row does to its lot.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MergedRow)]
pub(crate) struct MergedRowView {
    /// Line of the file, from 1.
    line: u64,
    /// Lot number.
    lot_number: String,
    /// `new`, `changed` or `same`.
    outcome: &'static str,
    /// Names of the fields that change.
    fields: Vec<&'static str>,
}

impl MergedRowView {
    fn new(row: &MergedRow) -> Self {
        let outcome = match row.outcome {
            MergeOutcome::New => "new",
            MergeOutcome::Changed => "changed",
            MergeOutcome::Same => "same",
        };
        Self { line: row.line, lot_number: row.lot_number.clone(), outcome, fields: row.fields.clone() }
    }
}

impl Merged {
    fn new(report: &MergeReport, dry_run: bool) -> Self {
        let place = |error: &RowError| ProblemError::on_line(error.line, error.column.clone(), error.message.clone());
        Self {
            dry_run,
            rows: report.rows,
            new: report.new,
            changed: report.changed,
            same: report.same,
            ignored_columns: report.ignored_columns.clone(),
            outcomes: report.outcomes.iter().map(MergedRowView::new).collect(),
            errors: report.errors.iter().map(place).collect(),
            error_count: report.error_count,
        }
    }
}

/// Merge a house's file into an auction
///
/// By lot number: a row of a new lot creates an item, a row of a known lot changes the fields whose cells are filled. An
/// absent column and an empty cell change nothing, so that the same file can be sent again. The file has any headers,
/// commas, semicolons or tabs, and is UTF-8, UTF-16 or Windows-1252; at most 64 MiB and 100,000 rows. Amounts are in major
/// units, such as `£25.00`, `25,00` or `1.250,00`; one that is not plainly one number is an error. A file with exactly the
/// headers of an export is read as exports are written: with a decimal point, and without separators of thousands. A file
/// with an error changes nothing. The server remembers `mapping` for the customer. Scope `auctions:write`. Errors: 409
/// `auction_closed`, `items_following`; 413 `payload_too_large`; 422 `other_currency`, or a report of errors; 503
/// `uploads_full`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/catalogue/merge", tag = "items",
    request_body(content = String, content_type = "text/csv"),
    params(("uuid" = Uuid, Path), MergeQuery),
    responses(
        (status = 200, description = "What the file did, or would do in a dry run.", body = Merged),
        (status = 422, description = "The errors of the file. Nothing was changed.", body = Merged),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem),
    ),
)]
pub(crate) async fn merge(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    upload: Upload<MergeQuery>,
    body: Body,
) -> Result<Response, ApiError> {
    let dry_run = upload.query.dry_run;
    let merge = CatalogueMerge {
        auction: uuid,
        mode: if dry_run { ImportMode::DryRun } else { ImportMode::Import },
        mapping: upload.query.mapping()?,
        decimal_mark: upload.query.decimal_mark()?,
        mended: MendedCells::default(),
        is_sheet: false,
        new_consignors: NewConsignors::Refused,
    };
    let file = upload.receive(&platform, uuid, body).await?;
    let report = platform.merge_catalogue(&upload.caller, &merge, file.read()).await;
    file.remove().await?;
    let report = report?;
    let mut response = response::ok(&Merged::new(&report, dry_run));
    if report.error_count > 0 {
        *response.status_mut() = http::StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

/// Headers of a file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HeadersIn {
    /// The headers in their order; at most 500.
    headers: Vec<String>,
}

/// A proposed mapping.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProposedMapping {
    /// For each header, in order, its field; null for a column to ignore.
    columns: Vec<ProposedColumn>,
}

/// A column with its proposed field.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProposedColumn {
    /// The header.
    header: String,
    /// The field, such as `lot_number`; null for a column to ignore.
    field: Option<&'static str>,
}

/// Propose a mapping of columns
///
/// For the headers of a house's file: the customer's last mapping, then headers that houses are known to use. Scope
/// `auctions:write`. Errors: 422 `invalid`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/catalogue/mapping", tag = "items", request_body = HeadersIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "A field for each header.", body = ProposedMapping),
        (status = 404, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn propose(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<HeadersIn>,
) -> Result<Response, ApiError> {
    if post.body.headers.len() > platform_core::catalogue::MAPPED_COLUMNS_MAX {
        return Err(ApiError::invalid("/headers", "has more than 500 headers: send fewer"));
    }
    let proposed = platform.propose_mapping(&post.caller, uuid, &post.body.headers).await?;
    let columns = proposed.into_iter().map(|(header, field)| ProposedColumn { header, field }).collect();
    Ok(response::ok(&ProposedMapping { columns }))
}
