//! Uploads a catalogue file of a house. The next page maps its columns and checks it.

use askama::Template;
use axum::extract::State;
use axum::extract::multipart::Multipart;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::catalogue::workbook::WORKBOOK_BYTES_MAX;

use crate::admin::Admin;
use crate::file_upload::{self, Fault};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "lots/import.html")]
struct ImportPage {
    frame: Frame,
    title: String,
    path: String,
    file: FormField,
}

/// The form.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    show(&session, &sale, "", StatusCode::OK)
}

/// Stores the file and leads to the page that maps its columns.
pub(super) async fn upload(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    mut form: Multipart,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let begin = async |name: &str| session.platform().begin_catalogue_upload(&session.caller, uuid, name).await;
    let received = file_upload::receive_form(&session, &mut form, begin).await?;
    match received {
        Ok(file) => Ok(admin.redirect(&sale.path(&format!("/lots/import/{}", file.uuid))).into_response()),
        Err(Fault { status, text }) => show(&session, &sale, &text, status),
    }
}

fn show(session: &Session, sale: &Sale, fault: &str, status: StatusCode) -> Result<Response, PageError> {
    let page = ImportPage {
        frame: session.frame(format!("Import lots · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        file: FormField::file("file", "Catalogue file", file_upload::ACCEPTED)
            .hint(format!(
                "At most {} MiB, and {} MiB for a spreadsheet. Importing the same file again updates lots by their \
                 number: an absent column or an empty cell changes nothing.",
                file_upload::bytes_max(session) >> 20,
                WORKBOOK_BYTES_MAX >> 20
            ))
            .fault(fault),
    };
    render_page_as(status, &page)
}
