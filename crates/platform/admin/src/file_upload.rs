//! Receives the file of an import: a CSV file, or a spreadsheet, whose sheet becomes one.

use axum::extract::multipart::{Field, Multipart, MultipartError};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use platform_core::catalogue::workbook::{WORKBOOK_BYTES_MAX, is_workbook};
use platform_core::catalogue::{CatalogueUpload, CatalogueUploadWriter};
use platform_core::{PlatformError, PlatformResult};

use crate::page_error::PageError;
use crate::sale::refusal;
use crate::session::Session;

/// Bytes of an upload at most: a file of 64 MiB and the form around it.
pub(crate) const BODY_BYTES_MAX: usize = 65 << 20;
/// Endings and media types of files of an import.
pub(crate) const ACCEPTED: &str =
    ".csv,.tsv,.txt,.xlsx,text/csv,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// The first bytes of an .xls file.
const OLD_SPREADSHEET: &[u8] = b"\xd0\xcf\x11\xe0";

/// Why a file is not accepted.
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
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

/// Stores the file of a form while it arrives. A spreadsheet becomes its first sheet that is not empty. An inner error is for the
/// person who uploads it.
pub(crate) async fn receive_form(
    session: &Session,
    form: &mut Multipart,
    begin: impl AsyncFnOnce(&str) -> PlatformResult<CatalogueUploadWriter>,
) -> Result<Result<CatalogueUpload, Fault>, PageError> {
    let mut field = loop {
        match form.next_field().await.map_err(refused)? {
            Some(field) if field.name() == Some("file") => break field,
            Some(_) => {}
            None => return Ok(Err(Fault::unprocessable("Choose a file that is not empty."))),
        }
    };
    let name = field.file_name().unwrap_or_default().to_owned();
    let writer = match begin(&name).await {
        Ok(writer) => writer,
        Err(error) => return Ok(Err(Fault::of(error)?)),
    };
    match receive(session, writer, &mut field).await? {
        Ok((file, false)) => Ok(Ok(file)),
        Ok((workbook, true)) => {
            match session.platform().read_uploaded_workbook(&session.caller, &workbook, None).await {
                Ok(Ok(sheet)) => Ok(Ok(sheet)),
                Ok(Err(fault)) => Ok(Err(Fault::unprocessable(fault))),
                Err(error) => Ok(Err(Fault::of(error)?)),
            }
        }
        Err(fault) => Ok(Err(fault)),
    }
}

/// Stores a file while it arrives. True for a workbook.
async fn receive(
    session: &Session,
    mut writer: CatalogueUploadWriter,
    field: &mut Field<'_>,
) -> Result<Result<(CatalogueUpload, bool), Fault>, PageError> {
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

/// Bytes of a file at most.
pub(crate) fn bytes_max(session: &Session) -> usize {
    usize::try_from(session.platform().config().catalogue.file_bytes_max).unwrap_or(usize::MAX)
}
