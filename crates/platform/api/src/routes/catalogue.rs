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

use super::results::export;
use crate::errors::{ApiError, Problem};
use crate::extract::{QueryRequest, Upload};
use crate::response;

/// How to import.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// Check everything and import nothing.
    #[serde(default)]
    dry_run: bool,
    /// Status of the new items: `DRAFT`, or `LIVE` in a LIVE auction.
    #[serde(default)]
    #[param(inline)]
    status: FirstStatus,
}

/// Status of items that are imported.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
enum FirstStatus {
    #[default]
    #[serde(rename = "DRAFT")]
    Draft,
    #[serde(rename = "LIVE")]
    Live,
}

/// What became of an import.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Imported {
    /// Rows read after the header.
    rows: u64,
    /// Items imported; 0 after a dry run.
    imported: u64,
    dry_run: bool,
}

/// Imports a catalogue: all of it, or nothing and a list of what is wrong. New items are DRAFT, or with `status=LIVE` LIVE in a
/// LIVE auction, where none may have an end that is over. Scope `auctions:write`.
///
/// The answer comes when all items are there. A large file is checked as a whole first; then its items come in one after the
/// other (`following` of the auction), to the end, even if the server is killed meanwhile.
///
/// The body is CSV in UTF-8 with a header, at most 64 MiB and 100,000 rows. `lot_number` and `title` are required;
/// `description`, `artist`, `date`, `medium`, `dimensions`, `credit`, `image_url`, `low_estimate`, `high_estimate`,
/// `opening_bid`, `reserve`, `buy_now`, `fixed_increment`, `vendor`, `end_time` and `attachments` may be there; `result_…` of
/// an export is passed over. Amounts are whole minor units.
#[utoipa::path(post, path = "/auctions/{uuid}/catalogue", tag = "items", params(("uuid" = Uuid, Path), ImportQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = 201, body = Imported), (status = 200, description = "A dry run without errors", body = Imported),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn import(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    upload: Upload<ImportQuery>,
    body: Body,
) -> Result<Response, ApiError> {
    let dry_run = upload.query.dry_run;
    let (mode, status) = if dry_run { (ImportMode::DryRun, 200) } else { (ImportMode::Import, 201) };
    let limit = platform.config().catalogue.file_bytes_max;
    let (source, length) = upload.read(body, limit);
    let first = match upload.query.status {
        FirstStatus::Draft => ItemStatus::Draft,
        FirstStatus::Live => ItemStatus::Live,
    };
    let import = CatalogueImport { auction: uuid, mode, status: first, expected_version: None };
    let render = |report: &ImportReport| response::body(&imported(report, dry_run));
    let answering = upload.answering(status, &render);
    let outcome = platform.import_catalogue(&upload.caller, import, source, answering).await;
    if length.is_exceeded() {
        return Err(ApiError::too_large(limit));
    }
    match outcome? {
        Outcome::Fresh(report) if report.error_count > 0 => Err(ApiError::catalogue(&report)),
        outcome => Ok(response::outcome(outcome, status, render, |_| None)),
    }
}

/// Gives the catalogue as a CSV file that the import reads back, with everything that was entered but reserve and vendor, which
/// are never shown. What a spreadsheet could take for a formula has an apostrophe before it, which the import takes away. Scope
/// `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/catalogue", tag = "items", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = String, content_type = "text/csv"), (status = 404, body = Problem)))]
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
