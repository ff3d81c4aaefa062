//! The format of a backup: a folder with the database files of one moment, the images, and a manifest.
//!
//! `lotwire backup` writes it and `lotwire restore` reads it. Only this program touches the files of a running server: another
//! version of SQLite may have faults that damage a file with a write-ahead log.

mod files;
mod manifest;

pub(crate) use self::files::{copy_hashed, files_below, hash_of};
pub(crate) use self::manifest::{BackupFile, MANIFEST, Manifest, PlatformPoint};

/// The database files of an installation on SQLite, by role.
pub(crate) const PLATFORM_FILE: &str = "platform.db";
/// The provider's file.
pub(crate) const PROVIDER_FILE: &str = "provider.db";
/// The folder of the images.
pub(crate) const IMAGES: &str = "images";
