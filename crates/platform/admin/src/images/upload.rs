//! Uploads many images at once. The file names say which lots they belong to.

use askama::Template;
use axum::extract::multipart::Multipart;
use axum::response::Response;
use http::StatusCode;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::frame::{Frame, render_page_as};
use platform_core::images::{ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX, IMAGE_BYTES_MAX};

use super::archives::{self, ArchiveRows};
use super::files::{BODY_BYTES_MAX, Chosen, ChosenFiles, FileRow, Refusal};
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::writable;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

#[derive(Template)]
#[template(path = "images/upload.html")]
struct UploadPage {
    frame: Frame,
    head: Head,
    /// Path of this page.
    path: String,
    /// Path of the auction's lots.
    lots_path: String,
    bytes_max: usize,
    bytes_max_mib: usize,
    form_bytes_max_mib: usize,
    archive_max_mib: u64,
    archive_files_max: usize,
    is_open: bool,
    summary: String,
    files: Vec<FileRow>,
    fault: String,
}

/// The form.
pub(super) async fn page(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    show(&session, &sale, &query, Vec::new(), String::new(), StatusCode::OK)
}

/// Stores each file at the lot that its name means, and lists what became of each.
pub(super) async fn upload(
    session: Session,
    PathIds([auction]): PathIds<1>,
    form: Multipart,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    sale.auction.require_open().map_err(platform_core::PlatformError::from)?;
    let (mut chosen, mut rows, mut fault, mut status) =
        (ChosenFiles::new(&session, form), Vec::new(), String::new(), StatusCode::OK);
    // The lots are read once, at the first file.
    let mut lots = None;
    loop {
        let chosen = match chosen.next_chosen(Some((&session, auction))).await {
            Ok(Some(chosen)) => chosen,
            Ok(None) => break,
            Err(broken_off) => {
                (fault, status) = (broken_off.text, broken_off.status);
                break;
            }
        };
        match chosen {
            Chosen::Image(file) => {
                let lots = match &lots {
                    Some(lots) => lots,
                    None => lots.insert(session.platform().lots_for_images(&session.caller, auction).await?),
                };
                rows.push(archives::place_file(&session, lots, file).await?);
            }
            Chosen::Archive { name, stored } => {
                let lots = session.platform().lots_for_images(&session.caller, auction).await?;
                let images = stored.and_then(|stored| ArchiveRows::new(session.clone(), lots, name.clone(), stored));
                match images {
                    Ok(mut images) => {
                        while let Some(row) = images.next().await? {
                            rows.push(row);
                        }
                    }
                    Err(Refusal { why, .. }) => rows.push(FileRow::refused(name, why)),
                }
            }
        }
    }
    if rows.is_empty() && fault.is_empty() {
        (fault, status) = ("Choose one or more images.".to_owned(), StatusCode::UNPROCESSABLE_ENTITY);
    }
    show(&session, &sale, &FormFields::default(), rows, fault, status)
}

fn show(
    session: &Session,
    sale: &Sale,
    query: &FormFields,
    files: Vec<FileRow>,
    fault: String,
    status: StatusCode,
) -> Result<Response, PageError> {
    let stored = files.iter().filter(|file| file.lot.is_some() && file.words.is_empty()).count();
    let summary = match files.len() {
        0 => String::new(),
        all if all == stored => format!("{}: each is at its lot.", labels::count(all as u64, "file", "files")),
        all => {
            let [unmatched, refused] = [
                files.iter().filter(|file| file.is_unmatched).count(),
                files.iter().filter(|file| file.is_refused()).count(),
            ];
            let refused = if refused == 0 { String::new() } else { format!(", {refused} refused") };
            let unmatched = if unmatched == 0 { String::new() } else { format!(", {unmatched} without a lot") };
            format!("{stored} of {all} files are at their lots{refused}{unmatched}. The others are listed first.")
        }
    };
    let mut files = files;
    files.sort_by_key(|file| file.words.is_empty());
    let page = UploadPage {
        frame: sale.frame(session, "Upload images", query),
        head: sale.head(session, Tab::Lots),
        path: sale.path("/images"),
        lots_path: sale.path("/lots"),
        bytes_max: IMAGE_BYTES_MAX,
        bytes_max_mib: IMAGE_BYTES_MAX >> 20,
        form_bytes_max_mib: BODY_BYTES_MAX >> 20,
        archive_max_mib: ARCHIVE_BYTES_MAX >> 20,
        archive_files_max: ARCHIVE_FILES_MAX,
        is_open: sale.auction.require_open().is_ok(),
        summary,
        files,
        fault,
    };
    render_page_as(status, &page)
}
