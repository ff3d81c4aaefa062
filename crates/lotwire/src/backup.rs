//! The format of a backup: a folder with the database files of one moment, the images, and a manifest.
//!
//! `lotwire backup` writes it and `lotwire restore` reads it. Only this program touches the files of a running server: another
//! version of SQLite may have faults that damage a file with a write-ahead log.

mod databases;
mod files;
pub(crate) mod manifest;
mod sealed_key;
mod work_folder;

pub(crate) use self::databases::{CopiedAt, complete, copy_databases, databases_in, describe, progress_bar};
pub(crate) use self::files::{
    copy_hashed, files_below, hash_of, private_folder, read_text, sync_folder, write_private,
};
pub(crate) use self::manifest::{BackupFile, Contents, Manifest, PlatformPoint, backup_name, backups_in};
pub(crate) use self::sealed_key::{SEALED_KEY_FILE, SealedKey};
pub(crate) use self::work_folder::{Work, WorkFolder};

/// The database files of an installation on SQLite, by role.
pub(crate) const PLATFORM_FILE: &str = "platform.db";
/// The provider's file.
pub(crate) const PROVIDER_FILE: &str = "provider.db";
/// The file of the secret key in a data directory. A backup has it only sealed.
pub(crate) const KEY_FILE: &str = "secret.key";
/// The folder of the images.
pub(crate) const IMAGES: &str = "images";
