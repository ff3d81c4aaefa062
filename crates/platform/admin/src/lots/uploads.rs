//! Catalogue files between their upload and their import, in the memory of this node.
//!
//! A person uploads a file once, then maps its columns and checks it as often as needed. A file is kept for its user and
//! auction only, for half an hour, and the oldest ones make room. A file that is gone is uploaded again; nothing else
//! depends on it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Bytes of all kept files together.
const BYTES_MAX: usize = 160 << 20;
/// Files kept at the same time.
const FILES_MAX: usize = 64;
/// How long a file is kept.
const KEPT_MINUTES: i64 = 30;

/// The kept files.
#[derive(Default)]
pub(crate) struct Uploads(Mutex<Vec<Upload>>);

/// A file that a person uploaded for an auction.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    /// Derived from its content, so that the same file has the same address again.
    pub(crate) id: Uuid,
    user: Uuid,
    auction: Uuid,
    /// File name, as the browser sent it.
    pub(crate) name: String,
    /// The content: CSV.
    pub(crate) bytes: Bytes,
    /// The spreadsheet that the content was read from; none for a file that was uploaded as it is.
    pub(crate) workbook: Option<Workbook>,
    at: Timestamp,
}

/// A spreadsheet, and the sheet of it that the content was read from.
#[derive(Debug, Clone)]
pub(crate) struct Workbook {
    pub(crate) bytes: Bytes,
    /// Names of its visible sheets.
    pub(crate) names: Vec<String>,
    /// Place of the sheet among them.
    pub(crate) sheet: usize,
    /// The line of the content on which each row begins, with the row's number in the sheet.
    rows: Arc<Vec<(u64, u64)>>,
}

impl Workbook {
    pub(crate) fn new(bytes: Bytes, names: Vec<String>, sheet: usize, rows: Vec<(u64, u64)>) -> Self {
        Self { bytes, names, sheet, rows: Arc::new(rows) }
    }
}

impl Upload {
    /// The row of the spreadsheet for a line of the content; the line itself without a spreadsheet.
    pub(crate) fn row_of(&self, line: u64) -> u64 {
        let Some(Workbook { rows, .. }) = &self.workbook else { return line };
        let after = rows.partition_point(|(begin, _)| *begin <= line);
        rows.get(after.saturating_sub(1)).map_or(line, |(_, row)| *row)
    }

    fn size(&self) -> usize {
        let workbook =
            self.workbook.as_ref().map_or(0, |book| book.bytes.len() + book.rows.len() * size_of::<(u64, u64)>());
        self.bytes.len() + workbook
    }
}

impl Uploads {
    /// Keeps a file; returns its id.
    pub(crate) fn keep(
        &self,
        (user, auction): (Uuid, Uuid),
        name: String,
        (bytes, workbook): (Bytes, Option<Workbook>),
        at: Timestamp,
    ) -> Uuid {
        let mut hash = Sha256::new();
        hash.update(user.as_bytes());
        hash.update(auction.as_bytes());
        hash.update(&bytes);
        // The sheets of a workbook can have the same content.
        if let Some(workbook) = &workbook {
            hash.update(&workbook.bytes);
            hash.update(workbook.sheet.to_be_bytes());
        }
        let mut short = [0; 16];
        short.copy_from_slice(&hash.finalize()[..16]);
        let id = Uuid::from_bytes(short);
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| file.id != id);
        files.push(Upload { id, user, auction, name, bytes, workbook, at });
        let size = |files: &[Upload]| files.iter().map(Upload::size).sum::<usize>();
        while files.len() > 1 && (files.len() > FILES_MAX || size(&files) > BYTES_MAX) {
            files.remove(0);
        }
        id
    }

    /// A kept file of this user and auction.
    pub(crate) fn find(&self, (user, auction): (Uuid, Uuid), id: Uuid, now: Timestamp) -> Option<Upload> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| now.duration_since(file.at) < SignedDuration::from_mins(KEPT_MINUTES));
        files.iter().find(|file| (file.user, file.auction, file.id) == (user, auction, id)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_for_its_user_for_half_an_hour() {
        let (uploads, at) = (Uploads::default(), "2026-11-21T06:00:00Z".parse::<Timestamp>().unwrap());
        let (user, auction) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let id = uploads.keep((user, auction), "lots.csv".into(), (Bytes::from_static(b"Lot"), None), at);
        assert_eq!(uploads.find((user, auction), id, at).unwrap().bytes, "Lot");
        assert!(uploads.find((Uuid::from_u128(3), auction), id, at).is_none());
        assert!(uploads.find((user, Uuid::from_u128(3)), id, at).is_none());
        assert!(uploads.find((user, auction), id, at + SignedDuration::from_mins(31)).is_none());
    }

    #[test]
    fn the_oldest_files_make_room() {
        let (uploads, at) = (Uploads::default(), Timestamp::UNIX_EPOCH);
        let key = (Uuid::from_u128(1), Uuid::from_u128(2));
        let ids: Vec<Uuid> =
            (0..FILES_MAX + 1).map(|n| uploads.keep(key, String::new(), (n.to_string().into(), None), at)).collect();
        assert!(uploads.find(key, ids[0], at).is_none() && uploads.find(key, ids[1], at).is_some());
    }
}
