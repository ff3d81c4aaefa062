//! Files of a form with several files, one after the other: each is read within the limit of an image, so that a form
//! of any size needs the memory of one. A file counts as memory while it arrives, and takes no turn of other uploads
//! before it is complete.

use std::fmt::Display;

use axum::body::Bytes;
use axum::extract::multipart::{Multipart, MultipartError};
use futures_util::{Stream, StreamExt as _};
use http::StatusCode;
use kit_http::json::JsonError;
use kit_http::upload_body::UploadBody;
use platform_core::PlatformError;
use platform_core::catalogue::ArchiveUpload;
use platform_core::images::{IMAGE_BYTES_MAX, ImageFile, PackedContent, SameName, UploadOutcome};
use uuid::Uuid;

use super::archives;
use crate::page_error::PageError;
use crate::sale::labels::Badge;
use crate::sale::refusal;
use crate::session::Session;

/// Bytes of a form with files: 256 MiB.
pub(super) const BODY_BYTES_MAX: usize = 256 << 20;
/// Files of a form.
const FILES_MAX: usize = 200;

/// The files of a form.
pub(super) struct ChosenFiles {
    form: Multipart,
    /// The user, whose uploads have a share of the memory.
    user: Uuid,
    read: usize,
}

/// A file of a form, or why it can't be read.
pub(super) struct ChosenFile {
    pub(super) name: String,
    pub(super) content: Result<Bytes, Refusal>,
}

/// What a person chose.
pub(super) enum Chosen {
    Image(ChosenFile),
    Archive { name: String, stored: Result<ArchiveUpload, Refusal> },
}

/// Why the files after the last one were not read.
pub(super) struct BrokenOff {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl ChosenFiles {
    pub(super) fn new(session: &Session, form: Multipart) -> Self {
        Self { form, user: session.caller.id, read: 0 }
    }

    /// The next file; none after the last one. A field without a chosen file is passed over.
    pub(super) async fn next(&mut self) -> Result<Option<ChosenFile>, BrokenOff> {
        Ok(match self.next_chosen(None).await? {
            Some(Chosen::Image(file)) => Some(file),
            Some(Chosen::Archive { .. }) | None => None,
        })
    }

    /// As [`ChosenFiles::next`]; an archive is stored as a file of the auction.
    pub(super) async fn next_chosen(
        &mut self,
        archives: Option<(&Session, Uuid)>,
    ) -> Result<Option<Chosen>, BrokenOff> {
        loop {
            let Some(field) = self.form.next_field().await.map_err(|error| broken_off(&error))? else {
                return Ok(None);
            };
            let Some(name) = field.file_name().map(str::to_owned) else { continue };
            if let Some((session, auction)) = archives.filter(|_| archives::is_archive(&name)) {
                let stored =
                    archives::store(session, auction, &name, field).await.map_err(|error| broken_off(&error))?;
                return Ok(Some(Chosen::Archive { name, stored }));
            }
            let content = match read(self.user, field).await {
                Ok(content) => content,
                Err(error) => return Err(broken_off(&error)),
            };
            if name.is_empty() && content.as_ref().is_ok_and(Bytes::is_empty) {
                continue;
            }
            self.read += 1;
            if self.read > FILES_MAX {
                let text = format!("One form takes {FILES_MAX} files. The others were not stored: upload them again.");
                return Err(BrokenOff { status: StatusCode::PAYLOAD_TOO_LARGE, text });
            }
            return Ok(Some(Chosen::Image(ChosenFile { name, content })));
        }
    }
}

/// Reads a file of a user. One that is refused is read to its end and not kept. The outer error is of the request.
pub(super) async fn read<E: Display>(
    user: Uuid,
    file: impl Stream<Item = Result<Bytes, E>>,
) -> Result<Result<Bytes, Refusal>, E> {
    let mut file = std::pin::pin!(file);
    let mut content = Ok(UploadBody::new(user.as_u128(), IMAGE_BYTES_MAX));
    while let Some(part) = file.next().await {
        let part = part?;
        if let Ok(upload) = &mut content
            && let Err(error) = upload.push(&part)
        {
            content = Err(match error {
                JsonError::TooLarge { .. } => Refusal { why: too_large(), is_busy: false },
                _ => busy(),
            });
        }
    }
    Ok(content.map(UploadBody::finish))
}

fn too_large() -> String {
    format!("The image has more than {} MiB: make it smaller.", IMAGE_BYTES_MAX >> 20)
}

fn broken_off(error: &MultipartError) -> BrokenOff {
    let status = error.status();
    let text = if status == StatusCode::PAYLOAD_TOO_LARGE {
        let mib = BODY_BYTES_MAX >> 20;
        format!(
            "The files have more than {mib} MiB together. Those that are not listed were not stored: upload them again."
        )
    } else {
        format!("The upload broke off: {}. Upload the files that are not listed again.", error.body_text())
    };
    BrokenOff { status, text }
}

/// What became of a file.
pub(super) struct FileRow {
    pub(super) name: String,
    /// The lot with its number; none for a file without one.
    pub(super) lot: Option<(Uuid, String)>,
    pub(super) badge: Badge,
    pub(super) words: String,
    /// The name means no lot.
    pub(super) is_unmatched: bool,
    /// Where an archive has the image without a lot.
    pub(super) packed: Option<PackedContent>,
}

impl FileRow {
    pub(super) fn new(name: String, lot: Option<(Uuid, String)>, stored: Result<UploadOutcome, Refusal>) -> Self {
        let (badge, words) = match stored {
            Ok(outcome) => (
                Badge::new(if outcome == UploadOutcome::Known { "off" } else { "good" }, words(outcome)),
                String::new(),
            ),
            Err(refusal) => (Badge::new("bad", "Refused"), refusal.why),
        };
        Self { name, lot, badge, words, is_unmatched: false, packed: None }
    }

    /// A file that is not stored.
    pub(super) fn refused(name: String, why: String) -> Self {
        Self::new(name, None, Err(Refusal { why, is_busy: false }))
    }

    pub(super) fn is_refused(&self) -> bool {
        !self.is_unmatched && !self.words.is_empty()
    }
}

/// What an upload did, in words.
pub(super) fn words(outcome: UploadOutcome) -> &'static str {
    match outcome {
        UploadOutcome::Added => "Added",
        UploadOutcome::Replaced => "Replaced",
        UploadOutcome::Known => "Already there",
    }
}

/// Why a file was not stored.
pub(super) struct Refusal {
    pub(super) why: String,
    /// The same upload may succeed in a moment.
    pub(super) is_busy: bool,
}

/// Stores a file as an image of the item; or why the platform refuses this file.
pub(super) async fn store(
    session: &Session,
    item: Uuid,
    file: ChosenFile,
    same_name: SameName,
) -> Result<Result<UploadOutcome, Refusal>, PageError> {
    let content = match file.content {
        Ok(content) => content,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let file = ImageFile { name: file.name, content };
    match session.platform().upload_image(&session.caller, item, file, same_name).await {
        Ok((_, outcome)) => Ok(Ok(outcome)),
        Err(PlatformError::Busy) => Ok(Err(busy())),
        Err(error) => Ok(Err(Refusal { why: refusal::text(error)?, is_busy: false })),
    }
}

pub(super) fn busy() -> Refusal {
    let why = "The server stores too many images at the moment: upload it again.".to_owned();
    Refusal { why, is_busy: true }
}
