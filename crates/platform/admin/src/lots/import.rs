//! Uploads a catalogue file of a house. The next page maps its columns and checks it.

use askama::Template;
use axum::extract::State;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::catalogue::CatalogueUpload;
use platform_core::catalogue::workbook::{WORKBOOK_BYTES_MAX, is_workbook};
use uuid::Uuid;

use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

/// Bytes of an upload at most: a file of 64 MiB and the form around it.
pub(super) const BODY_BYTES_MAX: usize = 65 << 20;
/// Endings and media types of catalogue files.
const ACCEPTED: &str =
    ".csv,.tsv,.txt,.xlsx,text/csv,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// The first bytes of an .xls file.
const OLD_SPREADSHEET: &[u8] = b"\xd0\xcf\x11\xe0";

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
    let received = loop {
        match form.next_field().await.map_err(refused)? {
            Some(field) if field.name() == Some("file") => break receive(&session, uuid, field).await?,
            Some(_) => {}
            None => break Err(Fault::unprocessable("Choose a file that is not empty.")),
        }
    };
    let received = match received {
        Ok((file, false)) => Ok(file),
        Ok((workbook, true)) => {
            let sheet = session.platform().read_uploaded_workbook(&session.caller, &workbook, None).await;
            match sheet {
                Ok(Ok(sheet)) => Ok(sheet),
                Ok(Err(fault)) => Err(Fault::unprocessable(fault)),
                Err(error) => Err(Fault::of(error)?),
            }
        }
        Err(fault) => Err(fault),
    };
    match received {
        Ok(file) => Ok(admin.redirect(&sale.path(&format!("/lots/import/{}", file.uuid))).into_response()),
        Err(Fault { status, text }) => show(&session, &sale, &text, status),
    }
}

/// Why a file is not accepted.
struct Fault {
    status: StatusCode,
    text: String,
}

impl Fault {
    fn unprocessable(text: impl Into<String>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, text: text.into() }
    }

    fn too_large(text: String) -> Self {
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, text }
    }

    /// The refusal of the platform; other errors have pages of their own.
    fn of(error: PlatformError) -> Result<Self, PageError> {
        let status = match error {
            PlatformError::UploadsFull { .. } | PlatformError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Ok(Self { status, text: refusal::text(error)? })
    }
}

/// Stores a file while it arrives. True for a workbook.
async fn receive(
    session: &Session,
    auction: Uuid,
    mut field: Field<'_>,
) -> Result<Result<(CatalogueUpload, bool), Fault>, PageError> {
    let name = field.file_name().unwrap_or_default().to_owned();
    let mut writer = match session.platform().begin_catalogue_upload(&session.caller, auction, &name).await {
        Ok(writer) => writer,
        Err(error) => return Ok(Err(Fault::of(error)?)),
    };
    let (mut beginning, mut bytes) = (Vec::new(), 0);
    let fault = loop {
        let chunk = match field.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) if bytes == 0 => break Fault::unprocessable("Choose a file that is not empty."),
            Ok(None) => {
                return match writer.finish().await {
                    Ok(file) => Ok(Ok((file, is_workbook(&beginning)))),
                    Err(error) => Ok(Err(Fault::of(error)?)),
                };
            }
            Err(error) => {
                writer.abandon().await?;
                return Err(refused(error).into());
            }
        };
        bytes += chunk.len();
        beginning.extend(chunk.iter().take(OLD_SPREADSHEET.len() - beginning.len()));
        if beginning == OLD_SPREADSHEET {
            let text = "This is a spreadsheet of an old type. Save it as .xlsx or CSV, then upload it.";
            break Fault::unprocessable(text);
        }
        if is_workbook(&beginning) && bytes > WORKBOOK_BYTES_MAX {
            let mib = WORKBOOK_BYTES_MAX >> 20;
            break Fault::too_large(format!("The spreadsheet is longer than {mib} MiB. Save it as CSV."));
        }
        if bytes > bytes_max(session) {
            break Fault::too_large(format!("The file is longer than {} MiB. Split it.", bytes_max(session) >> 20));
        }
        if let Err(error) = writer.write(&chunk).await {
            break Fault::of(error)?;
        }
    };
    writer.abandon().await?;
    Ok(Err(fault))
}

fn refused(error: MultipartError) -> ErrorPage {
    ErrorPage::new(error.status(), "The file was not accepted", format!("{}.", error.body_text()))
}

fn show(session: &Session, sale: &Sale, fault: &str, status: StatusCode) -> Result<Response, PageError> {
    let page = ImportPage {
        frame: session.frame(format!("Import lots · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        file: FormField::file("file", "Catalogue file", ACCEPTED)
            .hint(format!(
                "At most {} MiB, and {} MiB for a spreadsheet. Importing the same file again updates lots by their \
                 number: an absent column or an empty cell changes nothing.",
                bytes_max(session) >> 20,
                WORKBOOK_BYTES_MAX >> 20
            ))
            .fault(fault),
    };
    render_page_as(status, &page)
}

/// Bytes of a catalogue file at most.
fn bytes_max(session: &Session) -> usize {
    usize::try_from(session.platform().config().catalogue.file_bytes_max).unwrap_or(usize::MAX)
}
