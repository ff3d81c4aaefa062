//! Flags and help of `lotwire backup` and `lotwire restore`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
#[command(after_help = "\
The server may run meanwhile: writers wait for some milliseconds, until a snapshot of each database is open. The backup is the \
folder DIR/lotwire-<time in UTC>, with both databases as they were at one moment, the images, and manifest.json with checksums. \
It is checked before the command ends.

The backup has no secret key. Keep secret.key, or the setting secrets.key, in another place: without it, the secrets in the \
databases can't be opened.

With PostgreSQL, use pg_dump or a base backup with archived WAL.

Examples:
  lotwire backup /mnt/backups --data-dir /var/lib/lotwire
  lotwire backup /mnt/backups --keep 14          delete all but the 14 newest backups in the folder afterwards
  lotwire backup /mnt/backups --json | jq -r .path")]
pub(crate) struct Backup {
    /// Folder that has the backups. It is created if it does not exist.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Delete older backups in DIR after this one is complete, so that N are left [default: delete none].
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The data directory has to be empty; only the file secret.key may be there. The command compares each file with its checksum, \
looks for damage in the databases, and compares the audit log with the backup's anchor.

Examples:
  lotwire restore /mnt/backups/lotwire-20261126T030000Z --data-dir /var/lib/lotwire
  lotwire restore /mnt/backups/lotwire-20261126T030000Z --verify

With --verify, the command restores into a temporary folder beside the backup, verifies every auction, item and registration \
(as `lotwire verify --all`), and deletes the folder. Run it regularly: only a backup that was restored is known to work.

Exit status: 0 if everything is intact, otherwise 1.")]
pub(crate) struct Restore {
    /// The backup: a folder that `lotwire backup` made.
    #[arg(value_name = "BACKUP", value_hint = ValueHint::DirPath)]
    pub(crate) backup: PathBuf,
    /// Check the backup and restore nothing.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
