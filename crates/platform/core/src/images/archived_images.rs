//! Reads the images of an uploaded archive. Its parts are read from the store, so that an archive of any size needs the memory
//! of its images only, and another node reads it too.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::archive::{ArchivedFile, ImageArchive};
use crate::Platform;
use crate::catalogue::ArchiveUpload;
use crate::error::{PlatformError, PlatformResult};
use crate::port::PART_BYTES;

/// Images that were read and wait to be stored.
const IMAGES_WAITING_MAX: usize = 1;

impl Platform {
    /// The images of an uploaded archive, one after the other. An error is for the person who uploaded it, and is the last.
    /// The caller keeps `upload` until the last image: dropping it deletes the archive.
    ///
    /// Errors: `busy` (too many archives are read at this node).
    pub fn archived_images(
        &self,
        upload: &ArchiveUpload,
    ) -> PlatformResult<mpsc::Receiver<Result<ArchivedFile, String>>> {
        let turn = Arc::clone(&self.image_limits().archives).try_acquire_owned().map_err(|_| PlatformError::Busy)?;
        let (send, images) = mpsc::channel(IMAGES_WAITING_MAX);
        let bytes = upload.bytes();
        let source = StoredFile {
            platform: self.clone(),
            runtime: Handle::current(),
            uuid: upload.uuid(),
            bytes,
            at: 0,
            part: None,
        };
        tokio::task::spawn_blocking(move || {
            let mut archive = match ImageArchive::open(source, bytes) {
                Ok(archive) => archive,
                Err(fault) => return drop(send.blocking_send(Err(fault))),
            };
            while let Some(file) = archive.next() {
                // The caller may have been cancelled meanwhile.
                if send.blocking_send(Ok(file)).is_err() {
                    break;
                }
            }
            drop(turn);
        });
        Ok(images)
    }
}

/// A stored file, which is read on a blocking thread from any place.
struct StoredFile {
    platform: Platform,
    runtime: Handle,
    uuid: Uuid,
    bytes: u64,
    at: u64,
    /// The last part that was read, with its number.
    part: Option<(u32, Vec<u8>)>,
}

impl Read for StoredFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.bytes {
            return Ok(0);
        }
        let number = u32::try_from(self.at / PART_BYTES as u64).map_err(io::Error::other)?;
        let part = match self.part.take() {
            Some((own, part)) if own == number => part,
            _ => {
                let part = self.runtime.block_on(self.platform.store().upload_part(self.uuid, number));
                part.map_err(io::Error::other)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?
            }
        };
        let start = usize::try_from(self.at % PART_BYTES as u64).map_err(io::Error::other)?;
        let read = part.get(start..).unwrap_or_default();
        let count = read.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), read.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count as u64;
        self.part = Some((number, part));
        Ok(count)
    }
}

impl Seek for StoredFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.bytes, by),
        };
        self.at = from.checked_add_signed(by).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
