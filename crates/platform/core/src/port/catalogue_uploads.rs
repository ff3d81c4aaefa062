//! Catalogue files between their upload and their import.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreResult;

/// Bytes of a part of a file between its upload and its import: 256 KiB. Only the last part is shorter.
pub const PART_BYTES: usize = 256 << 10;

/// Which row of a sheet each line of its CSV is from: runs of rows that follow each other and have one line each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowNumbers(Vec<RowRun>);

/// The line and the row that a run begins with, and the number of its rows.
type RowRun = (u64, u64, u64);

impl RowNumbers {
    /// The row of a line; the line itself when there are no rows.
    pub fn row_of(&self, line: u64) -> u64 {
        let after = self.0.partition_point(|(begin, ..)| *begin <= line);
        let Some((begin, row, count)) = after.checked_sub(1).and_then(|place| self.0.get(place)) else { return line };
        // The last row of a run may have several lines.
        row + (line - begin).min(count - 1)
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, line: u64, row: u64) {
        match self.0.last_mut() {
            Some((begin, first, count)) if (*begin + *count, *first + *count) == (line, row) => *count += 1,
            _ => self.0.push((line, row, 1)),
        }
    }
}

/// A file that a user uploaded for an auction. Its content is kept in parts of 256 KiB, of which the last may be shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueUpload {
    /// UUID.
    pub uuid: Uuid,
    /// The user, or the API key, that uploaded it.
    pub user: Uuid,
    /// The customer of the auction.
    pub customer: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// Name of the file.
    pub file_name: String,
    /// The sheet that the content was read from; none for a file as it was uploaded.
    pub sheet: Option<UploadedSheet>,
    /// Bytes of the parts so far.
    pub bytes: u64,
    /// Whether all parts have arrived.
    pub is_complete: bool,
    /// When it is deleted.
    pub expires_at: Timestamp,
}

/// A sheet of a workbook as CSV.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedSheet {
    /// UUID of the uploaded workbook.
    pub workbook: Uuid,
    /// Names of its visible sheets.
    pub names: Vec<String>,
    /// Place of this sheet among them.
    pub chosen: usize,
    /// The rows that the lines are from.
    pub rows: RowNumbers,
}

/// Bytes that uploads may have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadQuota {
    /// Those of a user.
    pub user_bytes_max: u64,
    /// Those for auctions of a customer.
    pub customer_bytes_max: u64,
    /// All.
    pub all_bytes_max: u64,
}

/// What became of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadPartResult {
    /// It was added.
    Added,
    /// The upload does not exist any more.
    Gone,
    /// The user's uploads would have too many bytes.
    UserFull,
    /// The customer's uploads would have too many bytes.
    CustomerFull,
    /// All uploads would have too many bytes.
    AllFull,
}

/// Uploads, which every node reads and a restart keeps. On SQLite the content is in files of the data directory's folder
/// `uploads`, on PostgreSQL in a table. Parts that several callers add at the same time may exceed a quota by one part
/// each.
#[async_trait]
pub trait CatalogueUploadStore: Send + Sync {
    /// Adds an upload without parts. False when its user has `user_files_max` already.
    async fn begin_upload(&self, upload: CatalogueUpload, user_files_max: usize) -> StoreResult<bool>;
    /// Adds the next part of an upload, which is kept until `expires_at` from now on. All parts before it were full.
    async fn add_upload_part(
        &self,
        uuid: Uuid,
        part: Vec<u8>,
        quota: UploadQuota,
        expires_at: Timestamp,
    ) -> StoreResult<UploadPartResult>;
    /// Marks an upload as complete. False when it does not exist any more.
    async fn complete_upload(&self, uuid: Uuid, expires_at: Timestamp) -> StoreResult<bool>;
    /// An upload.
    async fn upload(&self, uuid: Uuid) -> StoreResult<Option<CatalogueUpload>>;
    /// A part of an upload, from 0; none when it does not have it.
    async fn upload_part(&self, uuid: Uuid, number: u32) -> StoreResult<Option<Vec<u8>>>;
    /// Removes an upload, if it exists.
    async fn remove_upload(&self, uuid: Uuid) -> StoreResult<()>;
    /// Removes the complete upload of a user that expires first. False when there is none.
    async fn remove_first_upload(&self, user: Uuid) -> StoreResult<bool>;
    /// Removes uploads that have expired, at most `max`; returns their number.
    async fn remove_expired_uploads(&self, now: Timestamp, max: usize) -> StoreResult<usize>;
}

impl UploadQuota {
    /// Why a part of this size has no room beside all bytes, those of its user and those of its customer.
    pub fn refusal(&self, part_bytes: u64, [all, of_user, of_customer]: [u64; 3]) -> Option<UploadPartResult> {
        if of_user + part_bytes > self.user_bytes_max {
            Some(UploadPartResult::UserFull)
        } else if of_customer + part_bytes > self.customer_bytes_max {
            Some(UploadPartResult::CustomerFull)
        } else if all + part_bytes > self.all_bytes_max {
            Some(UploadPartResult::AllFull)
        } else {
            None
        }
    }
}
