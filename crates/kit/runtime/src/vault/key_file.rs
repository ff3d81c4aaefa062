//! The key file `secret.key`, which an installation without a configured key creates on its first start.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::key::KEY_BYTES;
use super::{Secret, VaultError};
use crate::random::Random;

pub(super) const FILE_NAME: &str = "secret.key";
const FILE_BYTES_MAX: u64 = 4096;

/// The path and text of `secret.key` in `data_dir`. If the file does not exist, it is created with a new key.
pub(super) fn load_or_create(data_dir: &Path, random: &dyn Random) -> Result<(PathBuf, Secret), VaultError> {
    let path = data_dir.join(FILE_NAME);
    let text = match load(&path) {
        Err(VaultError::KeyFile { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            create(data_dir, &path, random).map_err(|source| VaultError::KeyFile { path: path.clone(), source })?;
            // Read it again: if another process created the file first, its key counts.
            load(&path)?
        }
        loaded => loaded?,
    };
    Ok((path, text))
}

/// The text of the key file at `path`. Errors: `KeyFileExposed`, `KeyFile`.
pub(super) fn load(path: &Path) -> Result<Secret, VaultError> {
    let failed = |source| VaultError::KeyFile { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    refuse_exposed(path, &file)?;
    // One allocation of the final size: a growing buffer would leave copies of the key in memory.
    let mut bytes = Vec::with_capacity(FILE_BYTES_MAX as usize);
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Secret::new(bytes))
}

/// Writes a new key to a temporary file, and links it under its final name once it is complete and on disk. A file that
/// another process created in the meantime stays.
fn create(data_dir: &Path, path: &Path, random: &dyn Random) -> io::Result<()> {
    std::fs::create_dir_all(data_dir)?;
    let draft = data_dir.join(format!("{FILE_NAME}.{:016x}", random.u64()));
    let made = write_temporary(&draft, random).and_then(|()| match std::fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = std::fs::remove_file(&draft);
    made?;
    removed?;
    File::open(data_dir)?.sync_all()
}

fn write_temporary(draft: &Path, random: &dyn Random) -> io::Result<()> {
    let mut key = [0; KEY_BYTES];
    random.fill(&mut key);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    file.write_all(Secret::new(format!("{}\n", STANDARD.encode(key)).into_bytes()).expose())?;
    file.sync_all()
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), VaultError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata().map_err(|source| VaultError::KeyFile { path: path.to_owned(), source })?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(VaultError::KeyFileExposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn refuse_exposed(_path: &Path, _file: &File) -> Result<(), VaultError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;
    use crate::vault::Vault;

    fn open_vault(data_dir: &Path, seed: u64) -> Result<Vault, VaultError> {
        Vault::from_config(None, data_dir, &SeededRandom::new(seed))
    }

    #[test]
    fn the_first_start_creates_the_key_that_later_starts_read() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = directory.path().join("data");
        let first = open_vault(&data_dir, 1).unwrap();
        let sealed = first.seal(&SeededRandom::new(3), "context", b"secret");
        let second = open_vault(&data_dir, 2).unwrap();
        assert_eq!(second.open("context", &sealed).unwrap().expose(), b"secret");
        let files: Vec<_> = std::fs::read_dir(&data_dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files, [FILE_NAME]);
    }

    #[test]
    fn concurrent_first_starts_end_with_one_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let vaults: Vec<Vault> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|seed| scope.spawn(move || open_vault(path, seed).unwrap())).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        let sealed = vaults[0].seal(&SeededRandom::new(9), "context", b"secret");
        assert!(vaults.iter().all(|vault| vault.open("context", &sealed).is_ok()));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_others_may_read_is_rejected_with_the_command_that_fixes_it() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        open_vault(directory.path(), 1).unwrap();
        let path = directory.path().join(FILE_NAME);
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for exposed in [0o640, 0o604, 0o660] {
            mode(exposed);
            let error = open_vault(directory.path(), 1).unwrap_err();
            assert!(error.to_string().contains(&format!("mode {exposed:03o}")), "{error}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
        mode(0o400);
        open_vault(directory.path(), 1).unwrap();
    }

    #[test]
    fn a_file_without_a_key_is_rejected_and_left_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        open_vault(directory.path(), 1).unwrap();
        let path = directory.path().join(FILE_NAME);
        for text in ["", "not a key"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(open_vault(directory.path(), 1).unwrap_err().code(), "key_file");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
