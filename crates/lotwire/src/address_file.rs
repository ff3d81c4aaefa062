//! Files in the data directory with the addresses of the running server, where management commands find them.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::config::{Role, listen_address};
use crate::error::{CommandError, ErrorContext as _};

/// Longest content that is read: a base URL.
const BYTES_MAX: u64 = 300;

/// The file of a running server. Dropping it removes the file, unless another server has replaced the content.
pub(crate) struct AddressFile {
    path: PathBuf,
    url: String,
}

fn path(data_dir: &Path, role: Role) -> PathBuf {
    data_dir.join(format!("{}.address", role.name()))
}

/// Writes the address at which this machine reaches the server.
pub(crate) fn write(data_dir: &Path, role: Role, listen: SocketAddr) -> Result<AddressFile, CommandError> {
    let (path, url) = (path(data_dir, role), listen_address::local_url(listen));
    let writing = || format!("writing {}", path.display());
    // Renamed into place, so that a command never reads half of it.
    let new = path.with_extension(format!("address.{}", std::process::id()));
    let mut file =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&new).context(writing())?;
    writeln!(file, "{url}").context(writing())?;
    std::fs::rename(&new, &path).context(writing())?;
    Ok(AddressFile { path, url })
}

/// The address that the last server of this role has written. It may be gone, or another program may listen there now.
pub(crate) fn read(data_dir: &Path, role: Role) -> Option<String> {
    read_file(&path(data_dir, role))
}

fn read_file(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    let url = text.trim();
    url.starts_with("http").then(|| url.to_owned())
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        if read_file(&self.path).as_ref() == Some(&self.url) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_names_the_running_server_and_ends_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let listen = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let first = write(dir.path(), Role::Provider, listen(8071)).unwrap();
        assert_eq!(read(dir.path(), Role::Provider).as_deref(), Some("http://127.0.0.1:8071"));
        assert_eq!(read(dir.path(), Role::Platform), None);
        let second = write(dir.path(), Role::Provider, listen(9071)).unwrap();
        drop(first);
        assert_eq!(read(dir.path(), Role::Provider).as_deref(), Some("http://127.0.0.1:9071"));
        drop(second);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
