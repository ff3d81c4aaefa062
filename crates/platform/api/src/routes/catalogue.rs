//! Catalogue import and export.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use platform_core::catalogue::write::Export;
use platform_core::catalogue::{CatalogueImport, ImportMode, ImportReport};
use platform_core::{Outcome, Platform};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::csv_export::export;
use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::response;
use crate::upload::Upload;

/// How to import.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// True: check the file and import nothing. Default: false.
    #[serde(default)]
    dry_run: bool,
    /// Status of the new items: `DRAFT` (default), or `LIVE` in a LIVE auction.
    #[serde(default)]
    #[param(inline)]
    status: FirstStatus,
}

/// Status of imported items.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
enum FirstStatus {
    #[default]
    #[serde(rename = "DRAFT")]
    Draft,
    #[serde(rename = "LIVE")]
    Live,
}

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Imported {
    /// Rows that the server read, without the header.
    rows: u64,
    /// Imported items; 0 after a dry run.
    imported: u64,
    /// True after a dry run.
    dry_run: bool,
}

/// Import a catalogue
///
/// Imports all rows of a CSV file, or none. The file is UTF-8 with a header, at most 64 MiB and 100,000 rows.
/// `lot_number` and `title` are required; `description`, `category`, `artist`, `date`, `medium`, `dimensions`, `credit`,
/// `image_url`, `low_estimate`, `high_estimate`, `opening_bid`, `reserve`, `buy_now`, `fixed_increment`, `vendor`,
/// `end_time`, `attachments` and `currency` are optional. The server ignores the `result_…` columns of an export. Amounts
/// are in major units with a decimal point and without separators of thousands, such as `1250.00`. The server refuses a
/// file whose `currency` is not that of the auction. `vendor` is the reference or the name of a consignor in the register
/// of the house, which needs the scope `parties:read`, or a UUID. The server checks a large file completely before it imports it as a bulk change in steps, which
/// continues after a restart; `following` of the auction shows the progress, and the response follows the last step.
/// Scope `auctions:write`. Errors: 422 `catalogue_invalid` with line and column of the first 1,000 errors, `other_currency`; 409
/// `auction_not_live`, `end_not_in_future`, `auction_closed`, `items_following`; 413 `payload_too_large`; 503
/// `uploads_full`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/catalogue", tag = "items",
    request_body(content = String, content_type = "text/csv"),
    params(("uuid" = Uuid, Path), ImportQuery),
    responses(
        (status = 201, description = "The number of imported items.", body = Imported),
        (status = 200, description = "The result of a dry run without errors. Nothing was imported.", body = Imported),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn import(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    upload: Upload<ImportQuery>,
    body: Body,
) -> Result<Response, ApiError> {
    let dry_run = upload.query.dry_run;
    let (mode, status) = if dry_run { (ImportMode::DryRun, 200) } else { (ImportMode::Import, 201) };
    let file = upload.receive(&platform, uuid, body).await?;
    let first = match upload.query.status {
        FirstStatus::Draft => ItemStatus::Draft,
        FirstStatus::Live => ItemStatus::Live,
    };
    let import = CatalogueImport { auction: uuid, mode, status: first, expected_version: None };
    let render = |report: &ImportReport| response::body(&imported(report, dry_run));
    let idempotent = upload.idempotent(status, &render);
    let outcome = platform.import_catalogue(&upload.caller, import, file.read(), idempotent).await;
    file.remove().await?;
    match outcome? {
        Outcome::Fresh(report) if report.error_count > 0 => Err(ApiError::catalogue(&report)),
        outcome => Ok(response::outcome(outcome, status, render, |_| None)),
    }
}

/// Export a catalogue
///
/// As a CSV file that `POST /auctions/{uuid}/catalogue` can import again. It contains every field except reserve and
/// vendor, which are never shown. Amounts are in major units, with a point, exactly the decimals of the currency and no
/// separator of thousands; the column `currency` names it. A text that a spreadsheet could run as a formula begins with an apostrophe, which
/// the import removes. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/catalogue", tag = "items",
    params(("uuid" = Uuid, Path)),
    responses(
        (
            status = 200, description = "The catalogue as a CSV file in UTF-8.", body = String,
            content_type = "text/csv",
        ),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn file(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let auction = platform.auction(&request.caller, uuid).await?;
    export(platform, request.caller, auction, Export::Catalogue).await
}

fn imported(report: &ImportReport, dry_run: bool) -> Imported {
    Imported { rows: report.rows, imported: if dry_run { 0 } else { report.items }, dry_run }
}
