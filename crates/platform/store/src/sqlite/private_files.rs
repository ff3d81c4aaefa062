//! Files and folders beside the database that only the user of the server may open, because they contain customers'
//! data.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Opens a file for writing and creates it if it does not exist.
pub(super) fn open_to_write(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(FILE_MODE).open(path)
}

/// Creates a folder and its missing parent folders.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Removes the permissions of other users from an existing folder and its content. A private folder is not changed,
/// because other users can't reach its files. If that fails, it logs what the operator has to do.
pub(super) fn make_private(folder: &Path) {
    let Ok(metadata) = fs::metadata(folder) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & !FOLDER_MODE == 0 {
        return;
    }
    let path = folder.display();
    let old_mode = format!("{mode:04o}");
    // The folder is changed last, so that the next start repeats an interrupted change.
    let made = make_content_private(folder).and_then(|()| set_mode(folder, FOLDER_MODE));
    match made {
        Ok(()) => {
            tracing::warn!(%path, old_mode, "other users could open a folder of the data directory; the server \
            removed their permissions");
        }
        Err(error) => {
            tracing::warn!(%path, old_mode, %error, "other users can open a folder of the data directory; run \
            chmod -R go= on it");
        }
    }
}

fn make_content_private(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            make_content_private(&path)?;
            set_mode(&path, FOLDER_MODE)?;
        } else if kind.is_file() {
            set_mode(&path, FILE_MODE)?;
        }
    }
    Ok(())
}

/// Sets the mode of a file. Ignores a file that was removed meanwhile.
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    match fs::set_permissions(path, Permissions::from_mode(mode)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_folder_becomes_private_with_all_its_files() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("images");
        let subfolder = data.path().join("images/0a");
        let file = subfolder.join("picture");
        fs::create_dir_all(&subfolder).unwrap();
        fs::write(&file, "x").unwrap();
        for (path, mode) in [(&folder, 0o755), (&subfolder, 0o775), (&file, 0o644)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        make_private(&folder);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&folder), mode(&subfolder), mode(&file)], [FOLDER_MODE, FOLDER_MODE, FILE_MODE]);
        make_private(&data.path().join("missing"));

        let (inner, new) = (folder.join("1b/2c"), folder.join("1b/2c/new"));
        create_folder(&inner).unwrap();
        open_to_write(&new).unwrap();
        assert_eq!([mode(&folder.join("1b")), mode(&inner), mode(&new)], [FOLDER_MODE, FOLDER_MODE, FILE_MODE]);
    }
}
