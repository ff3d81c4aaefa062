//! The content of uploaded catalogues, in files beside the database: one for each upload, named after its UUID. The row
//! of an upload is inserted before its file is created, and deleted after its file. So a file without a row is not
//! needed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use platform_core::catalogue::workbook::PART_BYTES;
use platform_core::port::{StoreError, StoreResult};
use tempfile::TempDir;
use uuid::Uuid;

use super::private_files;

#[derive(Clone)]
pub(super) struct UploadFiles {
    folder: PathBuf,
    /// Deletes the folder of a temporary store.
    _temporary: Option<Arc<TempDir>>,
}

impl UploadFiles {
    /// The folder `uploads` beside the database, which is created with the first upload.
    pub(super) fn beside(database: &Path) -> Self {
        Self { folder: database.parent().unwrap_or(Path::new(".")).join("uploads"), _temporary: None }
    }

    pub(super) fn temporary() -> StoreResult<Self> {
        let folder = tempfile::tempdir().map_err(unavailable)?;
        Ok(Self { folder: folder.path().to_owned(), _temporary: Some(Arc::new(folder)) })
    }

    fn path(&self, upload: Uuid) -> PathBuf {
        self.folder.join(upload.simple().to_string())
    }

    /// Writes a part at its offset. The file is synchronised when the upload is complete.
    pub(super) async fn write(&self, upload: Uuid, offset_bytes: u64, part: Vec<u8>) -> StoreResult<()> {
        let files = self.clone();
        blocking(move || {
            private_files::create_folder(&files.folder)?;
            private_files::open_to_write(&files.path(upload))?.write_all_at(&part, offset_bytes)
        })
        .await
    }

    /// Synchronises the file of an upload. An upload without parts has no file.
    pub(super) async fn synchronise(&self, upload: Uuid) -> StoreResult<()> {
        let files = self.clone();
        blocking(move || match File::open(files.path(upload)) {
            Ok(file) => {
                file.sync_all()?;
                File::open(&files.folder)?.sync_all()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
        .await
    }

    pub(super) async fn read(&self, upload: Uuid, number: u32) -> StoreResult<Option<Vec<u8>>> {
        let path = self.path(upload);
        blocking(move || {
            let file = match File::open(path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            let (mut part, mut filled) = (vec![0; PART_BYTES], 0);
            let begin = u64::from(number) * PART_BYTES as u64;
            while let Some(rest) = part.get_mut(filled..).filter(|rest| !rest.is_empty()) {
                match file.read_at(rest, begin + filled as u64) {
                    Ok(0) => break,
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            part.truncate(filled);
            Ok(Some(part).filter(|part| !part.is_empty()))
        })
        .await
    }

    pub(super) async fn remove(&self, upload: Uuid) -> StoreResult<()> {
        let path = self.path(upload);
        blocking(move || match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .await
    }

    pub(super) async fn all(&self) -> StoreResult<Vec<Uuid>> {
        let folder = self.folder.clone();
        blocking(move || {
            private_files::make_private(&folder);
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            let names = entries.map(|entry| Ok(entry?.file_name()));
            let names: Vec<_> = names.collect::<io::Result<_>>()?;
            Ok(names.iter().filter_map(|name| Uuid::try_parse(name.to_str()?).ok()).collect())
        })
        .await
    }

    /// Removes the files without a row. A crash during a removal leaves such files. The caller lists `files` before it
    /// reads `rows`.
    pub(super) async fn remove_others(&self, files: Vec<Uuid>, rows: &HashSet<Uuid>) -> StoreResult<()> {
        for file in files {
            if !rows.contains(&file) {
                self.remove(file).await?;
            }
        }
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(job: impl FnOnce() -> io::Result<T> + Send + 'static) -> StoreResult<T> {
    let done = tokio::task::spawn_blocking(job).await.map_err(unavailable)?;
    done.map_err(unavailable)
}

fn unavailable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("the folder of uploads: {error}"))
}
