//! Flags and help of `lotwire backup` and `lotwire restore`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};
use jiff::Timestamp;

use super::Confirmation;
use crate::config::ConfigDuration;

#[derive(Debug, Args)]
#[command(after_help = "\
The server may run meanwhile: writers wait for some milliseconds, until a snapshot of each database is open. The backup is the \
folder DIR/lotwire-<time in UTC>, with both databases as they were at one moment, the images, and manifest.json with checksums. \
It is checked before the command ends.

Without --with-key, the backup has no secret key. Keep secret.key, or the setting secrets.key, in another place: without it, the \
secrets in the databases can't be opened. With --with-key, the key is in the backup, sealed with a passphrase (Argon2id, XChaCha20-\
Poly1305). Then keep the passphrase in another place.

With PostgreSQL, use pg_dump or a base backup with archived WAL.

Examples:
  lotwire backup /mnt/backups --data-dir /var/lib/lotwire
  lotwire backup /mnt/backups --keep 14          delete all but the 14 newest backups in the folder afterwards
  lotwire backup /mnt/backups --with-key /etc/lotwire/backup.passphrase
  lotwire backup /mnt/backups --json | jq -r .path")]
pub(crate) struct Backup {
    /// Folder that has the backups. It is created if it does not exist.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Delete older backups in DIR after this one is complete, so that N are left [default: delete none].
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<NonZeroUsize>,
    /// Also back up the secret key, sealed with the passphrase in FILE (`-`: standard input).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) with_key: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The data directory has to be empty; only the file secret.key may be there. The command compares each file with its checksum and \
each table with its number of rows, looks for damage in the databases, and compares the audit log with the backup's anchor. The restored installation is on hold: \
the server starts after `lotwire resume`.

A PostgreSQL database is restored with its own tools. Put it on hold with --mark before any node starts.

Examples:
  lotwire restore /mnt/backups/lotwire-20261126T030000Z --data-dir /var/lib/lotwire
  lotwire restore /mnt/backups/lotwire-20261126T030000Z --with-key backup.passphrase
  lotwire restore /mnt/backups/lotwire-20261126T030000Z --verify
  lotwire restore --mark --backup-at 2026-11-26T03:00:00Z --database-url postgres://lotwire@db/lotwire

With --verify, the command restores into a temporary folder beside the backup, verifies every auction, item and registration \
(as `lotwire verify --all`), and deletes the folder. Run it regularly: only a backup that was restored is known to work.

Exit status: 0 if everything is intact, otherwise 1.")]
pub(crate) struct Restore {
    /// The backup: a folder that `lotwire backup` made.
    #[arg(value_name = "BACKUP", required_unless_present = "mark", value_hint = ValueHint::DirPath)]
    pub(crate) backup: Option<PathBuf>,
    /// Check the backup and restore nothing.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Also restore the secret key that the backup has, sealed with the passphrase in FILE (`-`: standard input).
    #[arg(long, value_name = "FILE", conflicts_with = "mark", value_hint = ValueHint::FilePath)]
    pub(crate) with_key: Option<PathBuf>,
    /// Put the configured databases on hold, after they were restored with other tools.
    #[arg(long, conflicts_with_all = ["backup", "verify"])]
    pub(crate) mark: bool,
    /// With --mark: the time of which the backup is.
    #[arg(long, value_name = "TIME", requires = "mark")]
    pub(crate) backup_at: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("decision").args(["list", "yes"])))]
#[command(after_help = "\
After a restore, the installation is on hold: no lot ends, no event is published and no webhook is delivered. The command lists \
the lots that ended since the backup, the events that would be published and the deliveries that would be sent. Then it asks \
whether to go on.

Lots that ended since the backup are sold or passed on the bids that the backup has. To let bidders return first, extend \
these ends.

Examples:
  lotwire resume --list                          see what would happen, and stay on hold
  lotwire resume
  lotwire resume --extend-ends 2h --yes          the lots end two hours from now

Exit status: 0 if the installation may start or was not on hold, otherwise 1.")]
pub(crate) struct Resume {
    /// List what would happen, and stay on hold.
    #[arg(long, conflicts_with = "extend_ends")]
    pub(crate) list: bool,
    /// Lots that ended since the backup end this long from now.
    #[arg(long, value_name = "DURATION")]
    pub(crate) extend_ends: Option<ConfigDuration>,
    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON.
    #[arg(long, requires = "decision")]
    pub(crate) json: bool,
}
