//! Uploads a catalogue file of a house. The next page maps its columns and checks it.

use askama::Template;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::frame::{Frame, render_page_as};

use super::uploads::Workbook;
use super::workbook;
use crate::admin::Admin;
use crate::auctions::list::writable;
use crate::auctions::sale::Sale;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Bytes of an upload at most: a file of 64 MiB and the form around it.
pub(super) const BODY_BYTES_MAX: usize = 65 << 20;
/// The first bytes of a ZIP archive, which a spreadsheet is.
const ZIP: &[u8] = b"PK\x03\x04";
/// The first bytes of an .xls file.
const OLD_SPREADSHEET: &[u8] = b"\xd0\xcf\x11\xe0";

#[derive(Template)]
#[template(path = "lots/import.html")]
struct ImportPage {
    frame: Frame,
    title: String,
    path: String,
    bytes_max_mib: usize,
    workbook_max_mib: usize,
    fault: String,
}

/// The form.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    show(&session, &sale, "", StatusCode::OK)
}

/// Keeps the file and leads to the page that maps its columns.
pub(super) async fn upload(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    mut form: Multipart,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let mut file = None;
    while let Some(field) = form.next_field().await.map_err(refused)? {
        if field.name() == Some("file") {
            let name = field.file_name().unwrap_or_default().to_owned();
            file = Some((name, field.bytes().await.map_err(refused)?));
        }
    }
    let Some((name, bytes)) = file.filter(|(_, bytes)| !bytes.is_empty()) else {
        return show(&session, &sale, "Choose a file that is not empty.", StatusCode::UNPROCESSABLE_ENTITY);
    };
    if bytes.starts_with(OLD_SPREADSHEET) {
        let fault = "This is a spreadsheet of an old type. Save it as .xlsx or CSV, then upload it.";
        return show(&session, &sale, fault, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let content = if bytes.starts_with(ZIP) {
        match read_sheet(bytes, None).await {
            Ok(content) => content,
            Err(fault) => return show(&session, &sale, &fault, StatusCode::UNPROCESSABLE_ENTITY),
        }
    } else {
        (bytes, None)
    };
    let id = admin.uploads().keep((session.caller.id, uuid), name, content, session.now());
    Ok(admin.redirect(&sale.path(&format!("/lots/import/{id}"))).into_response())
}

/// A sheet of a spreadsheet as CSV, with the spreadsheet; without a place, the first that is not empty.
pub(super) async fn read_sheet(bytes: Bytes, place: Option<usize>) -> Result<(Bytes, Option<Workbook>), String> {
    let sheet = workbook::read(bytes.clone(), place).await?;
    Ok((sheet.csv, Some(Workbook::new(bytes, sheet.names, sheet.chosen, sheet.rows))))
}

fn refused(error: MultipartError) -> ErrorPage {
    ErrorPage::new(error.status(), "The file was not accepted", format!("{}.", error.body_text()))
}

fn show(session: &Session, sale: &Sale, fault: &str, status: StatusCode) -> Result<Response, PageError> {
    let page = ImportPage {
        frame: session.frame(format!("Import lots · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        bytes_max_mib: bytes_max(session) >> 20,
        workbook_max_mib: workbook::BYTES_MAX >> 20,
        fault: fault.to_owned(),
    };
    render_page_as(status, &page)
}

/// Bytes of a catalogue file at most.
fn bytes_max(session: &Session) -> usize {
    usize::try_from(session.platform().config().catalogue.file_bytes_max).unwrap_or(usize::MAX)
}
