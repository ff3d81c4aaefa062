//! The content of images, in files beside the database. A file is written under a temporary name, synchronised and
//! renamed before the image is inserted into the database. The name contains the UUID of the content. Content never
//! changes; the images of copied lots share it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use platform_core::port::{ImageContent, ImageVariant, StoreError, StoreResult};
use tempfile::TempDir;
use uuid::Uuid;

use super::private_files;

#[derive(Clone)]
pub(super) struct ImageFiles {
    folder: PathBuf,
    /// Deletes the folder of a temporary store.
    _temporary: Option<Arc<TempDir>>,
}

impl ImageFiles {
    /// The folder `images` beside the database, which is created with the first image.
    pub(super) fn beside(database: &Path) -> Self {
        let folder = database.parent().unwrap_or(Path::new(".")).join("images");
        Self { folder, _temporary: None }
    }

    pub(super) fn temporary() -> StoreResult<Self> {
        let folder = tempfile::tempdir().map_err(unavailable)?;
        Ok(Self { folder: folder.path().to_owned(), _temporary: Some(Arc::new(folder)) })
    }

    /// Removes the permissions of other users from images that an earlier version stored.
    pub(super) async fn make_private(&self) -> StoreResult<()> {
        let folder = self.folder.clone();
        blocking(move || {
            private_files::make_private(&folder);
            Ok(())
        })
        .await
    }

    /// The path has a subfolder, so that no folder contains more than a few thousand files.
    fn path(&self, content: Uuid, variant: ImageVariant) -> PathBuf {
        let name = content.simple().to_string();
        let subfolder = name.get(name.len() - 2..).unwrap_or_default().to_owned();
        self.folder.join(subfolder).join(format!("{name}-{}", variant.as_str()))
    }

    pub(super) async fn write(&self, content: Uuid, contents: Vec<ImageContent>) -> StoreResult<()> {
        let files = self.clone();
        blocking(move || {
            for ImageContent { variant, bytes } in contents {
                let path = files.path(content, variant);
                let subfolder = path.parent().unwrap_or(&files.folder);
                private_files::create_folder(subfolder)?;
                let temporary = path.with_extension("new");
                let mut file = private_files::open_to_write(&temporary)?;
                file.set_len(0)?;
                file.write_all(&bytes)?;
                file.sync_all()?;
                fs::rename(&temporary, &path)?;
                File::open(subfolder)?.sync_all()?;
            }
            Ok(())
        })
        .await
    }

    pub(super) async fn read(&self, content: Uuid, variant: ImageVariant) -> StoreResult<Option<Vec<u8>>> {
        let path = self.path(content, variant);
        blocking(move || match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    pub(super) async fn remove(&self, content: Uuid) -> StoreResult<()> {
        let files = self.clone();
        blocking(move || {
            for variant in ImageVariant::ALL {
                match fs::remove_file(files.path(content, variant)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            Ok(())
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(job: impl FnOnce() -> io::Result<T> + Send + 'static) -> StoreResult<T> {
    let done = tokio::task::spawn_blocking(job).await.map_err(unavailable)?;
    done.map_err(unavailable)
}

fn unavailable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("the folder of images: {error}"))
}
