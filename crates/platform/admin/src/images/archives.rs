//! Archives of images: each image goes to the lot that its name means, as if it had been uploaded by itself.

use std::collections::HashMap;
use std::fmt::Display;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use http::header::CONTENT_TYPE;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::QueryFields;
use platform_core::PlatformError;
use platform_core::catalogue::ArchiveUpload;
use platform_core::images::{ARCHIVE_BYTES_MAX, ArchivedFile, LotIndex, MatchedLot, PackedContent, SameName};
use serde::Serialize;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::files::{self, ChosenFile, FileRow, Refusal};
use crate::page_error::PageError;
use crate::sale::labels::Badge;
use crate::sale::writable;
use crate::session::{PathIds, Session};

/// True for the name of an archive.
pub(super) fn is_archive(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("zip"))
}

/// Stores an archive for an auction while it arrives. One that is refused is read to its end. The outer error is of the
/// request.
pub(super) async fn store<E: Display>(
    session: &Session,
    auction: Uuid,
    name: &str,
    file: impl Stream<Item = Result<Bytes, E>>,
) -> Result<Result<ArchiveUpload, Refusal>, E> {
    let mut file = std::pin::pin!(file);
    let mut bytes = 0;
    let mut writer = session.platform().begin_archive_upload(&session.caller, auction, name).await.map_err(refusal);
    while let Some(part) = file.next().await {
        let part = part?;
        bytes += part.len() as u64;
        if let Ok(upload) = &mut writer {
            let written = if bytes > ARCHIVE_BYTES_MAX {
                let why = format!("The archive has more than {} MiB. Split it.", ARCHIVE_BYTES_MAX >> 20);
                Err(Refusal { why, is_busy: false })
            } else {
                upload.write(&part).await.map_err(refusal)
            };
            if let Err(refused) = written {
                // Dropping the writer deletes the parts that have arrived.
                writer = Err(refused);
            }
        }
    }
    Ok(match writer {
        Ok(writer) => writer.finish_archive().await.map_err(refusal),
        Err(refused) => Err(refused),
    })
}

fn refusal(error: PlatformError) -> Refusal {
    match error {
        PlatformError::Busy => files::busy(),
        error => {
            let is_busy = matches!(error, PlatformError::UploadsFull { .. });
            Refusal { why: sentence(&error.to_string()), is_busy }
        }
    }
}

/// The images of an archive, each stored when the next one is asked for.
pub(super) struct ArchiveRows {
    session: Session,
    lots: LotIndex,
    name: String,
    /// The archive, which is deleted with the rows.
    _upload: ArchiveUpload,
    images: mpsc::Receiver<Result<ArchivedFile, String>>,
    /// The archive has an image, or can't be read.
    is_answered: bool,
    /// Names in the archive of the images that were stored, by lot and file name.
    stored: HashMap<(Uuid, String), String>,
}

impl ArchiveRows {
    pub(super) fn new(session: Session, lots: LotIndex, name: String, upload: ArchiveUpload) -> Result<Self, Refusal> {
        let images = session.platform().archived_images(&upload).map_err(refusal)?;
        Ok(Self { session, lots, name, _upload: upload, images, is_answered: false, stored: HashMap::new() })
    }

    /// What became of the next image; none after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<FileRow>, PageError> {
        let received = self.images.recv().await;
        let is_first = !std::mem::replace(&mut self.is_answered, true);
        match received {
            Some(Ok(file)) => self.place(file).await.map(Some),
            Some(Err(why)) => Ok(Some(FileRow::refused(self.name.clone(), why))),
            None if is_first => {
                let why = "The archive has no images. Add the images to it, then upload it again.".to_owned();
                Ok(Some(FileRow::refused(self.name.clone(), why)))
            }
            None => Ok(None),
        }
    }

    /// Stores an image, unless the archive has another one of the same file name for the lot: that would be replaced.
    async fn place(&mut self, ArchivedFile { name, content, packed }: ArchivedFile) -> Result<FileRow, PageError> {
        let file_name = name.rsplit(['/', '\\']).next().unwrap_or(&name).to_owned();
        let place = self.lots.matched(&name).ok().map(|lot| (lot.item, file_name));
        if let Some(first) = place.as_ref().and_then(|place| self.stored.get(place)) {
            let why =
                format!("“{first}” in this archive has the same file name. Rename one of them, and upload it again.");
            return Ok(FileRow::refused(name, why));
        }
        let content = content.map_err(|why| Refusal { why, is_busy: false });
        let mut row = place_file(&self.session, &self.lots, ChosenFile { name, content }).await?;
        row.packed = packed.filter(|_| row.is_unmatched);
        if let Some(place) = place.filter(|_| !row.is_refused()) {
            self.stored.insert(place, row.name.clone());
        }
        Ok(row)
    }
}

/// Stores a file at the lot that its name means.
pub(super) async fn place_file(session: &Session, lots: &LotIndex, file: ChosenFile) -> Result<FileRow, PageError> {
    Ok(match lots.matched(&file.name) {
        Ok(MatchedLot { item, lot_number }) => {
            let name = file.name.clone();
            let stored = files::store(session, item, file, SameName::Replace).await?;
            FileRow::new(name, Some((item, lot_number)), stored)
        }
        Err(why) => FileRow {
            badge: Badge::new("wait", "Unmatched"),
            is_unmatched: true,
            ..FileRow::refused(file.name, sentence(&why.to_string()))
        },
    })
}

/// What became of an image, for the script of the page.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageView<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lot_number: Option<&'a str>,
    kind: &'a str,
    state: &'a str,
    why: &'a str,
    is_unmatched: bool,
    /// The part of the archive that the script uploads when a person has named the lot.
    #[serde(skip_serializing_if = "Option::is_none")]
    packed: Option<PackedView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PackedView {
    offset: u64,
    bytes: u64,
    is_deflated: bool,
}

fn line(row: &FileRow) -> Bytes {
    let lot = row.lot.as_ref();
    let view = ImageView {
        name: &row.name,
        item: lot.map(|(item, _)| *item),
        lot_number: lot.map(|(_, number)| number.as_str()),
        kind: row.badge.kind(),
        state: row.badge.words(),
        why: &row.words,
        is_unmatched: row.is_unmatched,
        packed: row.packed.map(|PackedContent { offset, bytes, is_deflated }| PackedView {
            offset,
            bytes,
            is_deflated,
        }),
    };
    Bytes::from(kit_http::json::text(&view) + "\n")
}

/// `POST /auctions/{auction}/images/archive?name=`: the body is an archive. The response has a line of JSON for each image,
/// written when the image is stored.
pub(super) async fn upload_archive(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
    body: Body,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    sale.auction.require_open().map_err(PlatformError::from)?;
    let name = query.text("name").to_owned();
    let stored = store(&session, auction, &name, body.into_data_stream()).await;
    let stored = stored.map_err(|error| ErrorPage::bad_request(format!("The upload broke off: {error}.")))?;
    let rows = match stored {
        Ok(upload) => {
            let lots = session.platform().lots_for_images(&session.caller, auction).await?;
            ArchiveRows::new(session, lots, name.clone(), upload)
        }
        Err(refused) => Err(refused),
    };
    let body = match rows {
        Ok(rows) => {
            let lines = stream::unfold(Some(rows), |rows| async {
                let mut rows = rows?;
                match rows.next().await {
                    Ok(Some(row)) => Some((Ok(line(&row)), Some(rows))),
                    Ok(None) => None,
                    Err(_) => Some((Err(std::io::Error::other("an image of an archive could not be stored")), None)),
                }
            });
            Body::from_stream(lines)
        }
        Err(Refusal { why, .. }) => Body::from(line(&FileRow::refused(name, why))),
    };
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}
