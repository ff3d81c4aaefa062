//! Catalogue files between their upload and their import.
//!
//! A person uploads a file once, then maps its columns and checks it as often as needed, on any node. The parts of a file
//! go to the store as they arrive, so that an upload needs the memory of one part, however slowly it comes. A file is kept
//! for its user and auction only, for half an hour, within a quota; the first files of a user make room for the next. A
//! file that is gone is uploaded again; nothing else depends on it.
//!
//! An archive of images is stored in the same way, but only while its request lasts. It makes room for nothing and takes no
//! room from a catalogue.

use std::io::{self, Read};

use bytes::Bytes;
use futures_util::stream;
use jiff::Timestamp;
use platform_rules::Auction;
use tokio::runtime::Handle;
use tokio_util::io::{StreamReader, SyncIoBridge};
use uuid::Uuid;

use super::CatalogueSample;
use super::workbook::{PART_BYTES, WORKBOOK_BYTES_MAX, WorkbookSheet, read_workbook};
use crate::config::UploadLimits;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{CatalogueUpload, UploadPartResult, UploadQuota, UploadedSheet};
use crate::steps::input::shown_name;
use crate::{Caller, Platform, Scope};

/// Uploads deleted in one run.
const EXPIRED_MAX: usize = 100;

/// The reason to store a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UploadPurpose {
    /// To be imported later; complete ones make room.
    Catalogue,
    /// To be read by the request that brings it.
    Archive,
}

/// Deletes a file when it is dropped, unless the file is to stay. After a kill, the file stays until it expires.
struct DeletedOnDrop {
    platform: Platform,
    upload: Option<Uuid>,
}

impl Drop for DeletedOnDrop {
    fn drop(&mut self) {
        if let (Some(upload), Ok(runtime)) = (self.upload, Handle::try_current()) {
            let platform = self.platform.clone();
            runtime.spawn(async move {
                // A file that can't be deleted now is deleted when it expires.
                let _ = platform.store().remove_upload(upload).await;
            });
        }
    }
}

/// A file that is arriving. It is deleted when it is dropped unfinished.
pub struct CatalogueUploadWriter {
    platform: Platform,
    upload: CatalogueUpload,
    purpose: UploadPurpose,
    /// The beginning of the next part.
    part: Vec<u8>,
    stored: DeletedOnDrop,
}

/// An archive that has arrived. It is deleted when it is dropped, and after half an hour.
pub struct ArchiveUpload {
    upload: CatalogueUpload,
    _stored: DeletedOnDrop,
}

impl ArchiveUpload {
    pub(crate) fn uuid(&self) -> Uuid {
        self.upload.uuid
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.upload.bytes
    }
}

impl CatalogueUploadWriter {
    /// Adds bytes to the file.
    ///
    /// Errors: `uploads_full`, `not_found` (it came too slowly).
    pub async fn write(&mut self, mut bytes: &[u8]) -> PlatformResult<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PART_BYTES - self.part.len()));
            self.part.extend_from_slice(now);
            bytes = later;
            if self.part.len() == PART_BYTES {
                self.store_part().await?;
            }
        }
        Ok(())
    }

    /// Ends the file, which can be read from now on.
    ///
    /// Errors: as [`CatalogueUploadWriter::write`].
    pub async fn finish(mut self) -> PlatformResult<CatalogueUpload> {
        if !self.part.is_empty() {
            self.store_part().await?;
        }
        let expires_at = self.platform.now() + self.platform.upload_limits().kept_for;
        if !self.platform.store().complete_upload(self.upload.uuid, expires_at).await? {
            return Err(PlatformError::NotFound("upload"));
        }
        self.stored.upload = None;
        Ok(CatalogueUpload { is_complete: true, expires_at, ..self.upload })
    }

    /// Ends an archive, which can be read from now on. It stays incomplete in the store, so that it makes no room.
    ///
    /// Errors: as [`CatalogueUploadWriter::write`].
    pub async fn finish_archive(mut self) -> PlatformResult<ArchiveUpload> {
        if !self.part.is_empty() {
            self.store_part().await?;
        }
        Ok(ArchiveUpload { upload: self.upload, _stored: self.stored })
    }

    /// Deletes what has arrived.
    pub async fn abandon(self) -> PlatformResult<()> {
        Ok(self.platform.store().remove_upload(self.upload.uuid).await?)
    }

    async fn store_part(&mut self) -> PlatformResult<()> {
        let part = std::mem::take(&mut self.part);
        self.upload.bytes += part.len() as u64;
        let limits = self.platform.upload_limits();
        let quota = UploadQuota {
            user_bytes_max: limits.user_bytes_max,
            customer_bytes_max: limits.customer_bytes_max,
            all_bytes_max: limits.all_bytes_max,
        };
        let kept_for = match self.purpose {
            UploadPurpose::Catalogue => limits.unfinished_for,
            UploadPurpose::Archive => limits.kept_for,
        };
        loop {
            let expires_at = self.platform.now() + kept_for;
            let store = self.platform.store();
            let of = match store.add_upload_part(self.upload.uuid, part.clone(), quota, expires_at).await? {
                UploadPartResult::Added => return Ok(()),
                UploadPartResult::Gone => return Err(PlatformError::NotFound("upload")),
                UploadPartResult::UserFull => "this user",
                UploadPartResult::CustomerFull => "this customer",
                UploadPartResult::AllFull => "this installation",
            };
            self.platform.make_room(self.upload.user, self.purpose, of).await?;
        }
    }
}

impl Platform {
    /// Begins to store a file of the caller for an auction.
    ///
    /// Errors: `not_found` (auction), `uploads_full`, `disk_full`.
    pub async fn begin_catalogue_upload(
        &self,
        caller: &Caller,
        auction: Uuid,
        file_name: &str,
    ) -> PlatformResult<CatalogueUploadWriter> {
        self.begin_upload_to(caller, auction, file_name, UploadPurpose::Catalogue).await
    }

    /// Begins to store an archive of images of the caller for an auction, ended by
    /// [`CatalogueUploadWriter::finish_archive`].
    ///
    /// Errors: `not_found` (auction), `uploads_full`, `disk_full`.
    pub async fn begin_archive_upload(
        &self,
        caller: &Caller,
        auction: Uuid,
        file_name: &str,
    ) -> PlatformResult<CatalogueUploadWriter> {
        self.begin_upload_to(caller, auction, file_name, UploadPurpose::Archive).await
    }

    /// Begins to store a file of the caller for the register of a house.
    ///
    /// Errors: `not_found` (customer), `uploads_full`, `disk_full`.
    pub async fn begin_register_upload(
        &self,
        caller: &Caller,
        customer: Uuid,
        file_name: &str,
    ) -> PlatformResult<CatalogueUploadWriter> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, customer).await?;
        // The house stands in place of the auction.
        let of = (customer, customer);
        self.begin_upload(caller, of, shown_name(file_name), (UploadPurpose::Catalogue, None)).await
    }

    /// A complete file of the caller for the register of a house; none when it was deleted, or belongs to another user.
    ///
    /// Errors: `not_found` (customer).
    pub async fn register_upload(
        &self,
        caller: &Caller,
        customer: Uuid,
        upload: Uuid,
    ) -> PlatformResult<Option<CatalogueUpload>> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, customer).await?;
        self.own_upload(caller, customer, upload).await
    }

    /// A complete file of the caller for an auction, or for the house whose register it is for.
    async fn own_upload(&self, caller: &Caller, of: Uuid, upload: Uuid) -> PlatformResult<Option<CatalogueUpload>> {
        let found = self.store().upload(upload).await?;
        let is_own = |found: &CatalogueUpload| (found.user, found.auction) == (caller.id, of);
        Ok(found.filter(|found| is_own(found) && found.is_complete && found.expires_at > self.now()))
    }

    async fn begin_upload_to(
        &self,
        caller: &Caller,
        auction: Uuid,
        file_name: &str,
        purpose: UploadPurpose,
    ) -> PlatformResult<CatalogueUploadWriter> {
        caller.require(Scope::AuctionsWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.begin_upload(caller, (auction.customer, auction.uuid), shown_name(file_name), (purpose, None)).await
    }

    /// A complete file of the caller for an auction; none when it was deleted, or belongs to another user.
    ///
    /// Errors: `not_found` (auction).
    pub async fn catalogue_upload(
        &self,
        caller: &Caller,
        auction: Uuid,
        upload: Uuid,
    ) -> PlatformResult<Option<CatalogueUpload>> {
        caller.require(Scope::AuctionsWrite)?;
        let auction: Auction = self.visible_auction(caller, auction).await?;
        self.own_upload(caller, auction.uuid, upload).await
    }

    /// Deletes a file before its time.
    pub async fn remove_catalogue_upload(&self, upload: &CatalogueUpload) -> PlatformResult<()> {
        Ok(self.store().remove_upload(upload.uuid).await?)
    }

    /// The content of a file, to be read on a blocking thread.
    pub fn read_catalogue_upload(&self, upload: &CatalogueUpload) -> impl Read + Send + 'static {
        let (platform, uuid) = (self.clone(), upload.uuid);
        let count = u32::try_from(upload.bytes.div_ceil(PART_BYTES as u64)).unwrap_or(u32::MAX);
        let parts = stream::try_unfold(0, move |number| {
            let platform = platform.clone();
            async move {
                if number == count {
                    return Ok::<_, io::Error>(None);
                }
                let part = platform.store().upload_part(uuid, number).await.map_err(io::Error::other)?;
                let gone = || io::Error::new(io::ErrorKind::NotFound, "it was deleted meanwhile: upload it again");
                Ok(Some((Bytes::from(part.ok_or_else(gone)?), number + 1)))
            }
        });
        SyncIoBridge::new(StreamReader::new(Box::pin(parts)))
    }

    /// The headers and first rows of a file. An inner error is for the person who uploaded it.
    pub async fn sample_catalogue_upload(
        &self,
        upload: &CatalogueUpload,
    ) -> PlatformResult<Result<CatalogueSample, String>> {
        let (source, limits) = (self.read_catalogue_upload(upload), self.config().catalogue.clone());
        let sample = tokio::task::spawn_blocking(move || CatalogueSample::read(source, &limits));
        sample.await.map_err(|error| PlatformError::Internal(format!("a catalogue could not be read: {error}")))
    }

    /// Reads a sheet of an uploaded workbook, and stores it as a file of its own. Without a place, the first sheet that
    /// is not empty. An inner error is for the person who uploaded it.
    ///
    /// Errors: `uploads_full`, `busy` (too many workbooks wait).
    pub async fn read_uploaded_workbook(
        &self,
        caller: &Caller,
        workbook: &CatalogueUpload,
        place: Option<usize>,
    ) -> PlatformResult<Result<CatalogueUpload, String>> {
        if workbook.bytes > WORKBOOK_BYTES_MAX as u64 {
            let mib = WORKBOOK_BYTES_MAX >> 20;
            return Ok(Err(format!("The spreadsheet is longer than {mib} MiB. Save it as CSV.")));
        }
        let turns = self.catalogue_turns();
        let _waiting = turns.workbooks_waiting.try_acquire().map_err(|_| PlatformError::Busy)?;
        let Ok(_turn) = turns.workbook.acquire().await else { return Err(PlatformError::Busy) };
        let (mut source, limits) = (self.read_catalogue_upload(workbook), self.config().catalogue.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            source.read_to_end(&mut bytes).map_err(|error| format!("The spreadsheet can't be read: {error}."))?;
            read_workbook(bytes.into(), place, &limits)
        });
        let read = reading.await;
        let sheet = read.map_err(|error| PlatformError::Internal(format!("a workbook could not be read: {error}")))?;
        let WorkbookSheet { names, chosen, csv, rows } = match sheet {
            Ok(sheet) => sheet,
            Err(fault) => return Ok(Err(fault)),
        };
        let sheet = UploadedSheet { workbook: workbook.uuid, names, chosen, rows };
        let (of, name) = ((workbook.customer, workbook.auction), workbook.file_name.clone());
        let mut writer = self.begin_upload(caller, of, name, (UploadPurpose::Catalogue, Some(sheet))).await?;
        for part in csv {
            writer.write(&part).await?;
        }
        writer.finish().await.map(Ok)
    }

    /// Deletes files that have expired; returns their number.
    pub async fn delete_expired_uploads(&self) -> PlatformResult<usize> {
        Ok(self.store().remove_expired_uploads(self.now(), EXPIRED_MAX).await?)
    }

    async fn begin_upload(
        &self,
        caller: &Caller,
        (customer, auction): (Uuid, Uuid),
        file_name: String,
        (purpose, sheet): (UploadPurpose, Option<UploadedSheet>),
    ) -> PlatformResult<CatalogueUploadWriter> {
        self.config().disk_reserve.check()?;
        let limits = self.upload_limits();
        let expires_at: Timestamp = self.now() + limits.unfinished_for;
        let (uuid, user) = (self.ids().uuid_v7(), caller.id);
        let upload = CatalogueUpload {
            uuid,
            user,
            customer,
            auction,
            file_name,
            sheet,
            bytes: 0,
            is_complete: false,
            expires_at,
        };
        while !self.store().begin_upload(upload.clone(), limits.user_files_max).await? {
            self.make_room(user, purpose, "this user").await?;
        }
        let stored = DeletedOnDrop { platform: self.clone(), upload: Some(uuid) };
        Ok(CatalogueUploadWriter { platform: self.clone(), upload, purpose, part: Vec::new(), stored })
    }

    /// Deletes the first complete file of a user for a catalogue, or fails when there is none, and for an archive.
    async fn make_room(&self, user: Uuid, purpose: UploadPurpose, of: &'static str) -> PlatformResult<()> {
        let has_room = purpose == UploadPurpose::Catalogue && self.store().remove_first_upload(user).await?;
        if has_room { Ok(()) } else { Err(PlatformError::UploadsFull { of }) }
    }

    fn upload_limits(&self) -> &UploadLimits {
        &self.config().catalogue.uploads
    }
}
