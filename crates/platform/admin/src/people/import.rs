//! Uploads a file for the register of a house. The next page maps its columns and checks it.

use askama::Template;
use axum::extract::multipart::Multipart;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::QueryFields;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::register_files::REGISTER_ROWS_MAX;
use uuid::Uuid;

use super::Houses;
use crate::file_upload::{self, Fault};
use crate::page_error::PageError;
use crate::sale::labels;
use crate::session::{Section, Session};

#[derive(Template)]
#[template(path = "people/import.html")]
struct ImportPage {
    frame: Frame,
    house: Uuid,
    house_name: String,
    file: FormField,
}

/// The form.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let houses = Houses::load(&session, &query).await?;
    let house = houses.chosen.ok_or(PlatformError::NotFound("customer"))?;
    show(&session, (house, &houses.name_of(house)), "", StatusCode::OK)
}

/// Stores the file and leads to the page that maps its columns.
pub(super) async fn upload(
    session: Session,
    QueryFields(query): QueryFields,
    mut form: Multipart,
) -> Result<Response, PageError> {
    let houses = Houses::load(&session, &query).await?;
    let house = houses.chosen.ok_or(PlatformError::NotFound("customer"))?;
    let begin = async |name: &str| session.platform().begin_register_upload(&session.caller, house, name).await;
    match file_upload::receive_form(&session, &mut form, begin).await? {
        Ok(file) => {
            let path = format!("/people/import/{}?house={house}", file.uuid);
            Ok(session.admin.redirect(&path).into_response())
        }
        Err(Fault { status, text }) => show(&session, (house, &houses.name_of(house)), &text, status),
    }
}

fn show(
    session: &Session,
    (house, name): (Uuid, &str),
    fault: &str,
    status: StatusCode,
) -> Result<Response, PageError> {
    let page = ImportPage {
        frame: session.frame("Import people", Section::People),
        house,
        house_name: name.to_owned(),
        file: FormField::file("file", "File with people and firms", file_upload::ACCEPTED)
            .hint(format!(
                "At most {} rows. An absent column or an empty cell changes nothing.",
                labels::number(REGISTER_ROWS_MAX)
            ))
            .fault(fault),
    };
    render_page_as(status, &page)
}
