//! Files of a backup: listed, hashed and copied.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::{CommandError, ErrorContext as _};

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// The files below `folder`, as paths below it, in order. None when it does not exist.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = folders.pop() {
        let entries = match std::fs::read_dir(folder.join(&below)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let path = below.join(entry.file_name());
            match entry.file_type()? {
                kind if kind.is_dir() => folders.push(path),
                kind if kind.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file of at most `bytes_max`. A pipe in its place would block the reader for ever.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > bytes_max {
        let why = format!("it is not a file of at most {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    std::fs::read_to_string(path)
}

/// The number of bytes of a file and their SHA-256 in hexadecimal digits.
pub(crate) fn hash_of(path: &Path) -> io::Result<(u64, String)> {
    read_hashed(path, |_| Ok(()))
}

/// Copies a file to a new one that only its owner can read, and waits until the copy is on disk. Returns the number of bytes and
/// their SHA-256. Folders are created.
pub(crate) fn copy_hashed(from: &Path, to: &Path) -> io::Result<(u64, String)> {
    if let Some(folder) = to.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let hashed = read_hashed(from, |bytes| copy.write_all(bytes))?;
    copy.sync_all()?;
    Ok(hashed)
}

fn read_hashed(path: &Path, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<(u64, String)> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let (mut buffer, mut bytes) = (vec![0; BUFFER_BYTES], 0);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            let hash = hasher.finalize();
            return Ok((bytes, hash.iter().map(|byte| format!("{byte:02x}")).collect()));
        }
        hasher.update(&buffer[..read]);
        each(&buffer[..read])?;
        bytes += read as u64;
    }
}

/// Creates a folder that only its owner can read, unless it exists.
pub(crate) fn private_folder(path: &Path) -> Result<(), CommandError> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).context(format!("creating {}", path.display()))
}

/// Writes a new file that only its owner can read, and waits until it is on disk.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Waits until the names in a folder are on disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), CommandError> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.context(format!("writing {} to disk", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_hash_of_its_content_and_existing_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("from"), "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(copy_hashed(&path("from"), &path("a/b/to")).unwrap(), (3, abc.to_owned()));
        assert_eq!(hash_of(&path("a/b/to")).unwrap(), (3, abc.to_owned()));
        assert_eq!(copy_hashed(&path("from"), &path("a/b/to")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(files_below(folder.path()).unwrap(), ["a/b/to", "from"].map(PathBuf::from));
        assert!(files_below(&path("none")).unwrap().is_empty());
        assert_eq!(read_text(&path("from"), 3).unwrap(), "abc");
        for (unusual, bytes_max) in [(path("from"), 2), (PathBuf::from("/dev/zero"), 9), (path("a"), 9_999)] {
            assert_eq!(read_text(&unusual, bytes_max).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
