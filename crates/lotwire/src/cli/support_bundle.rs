//! Flags and help of `lotwire support-bundle`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Confirmation;

#[derive(Debug, Args)]
#[command(after_help = "\
The command lists what the bundle has before it writes it. It takes from the databases only sizes and numbers of rows, and no \
setting that is secret. The report of `doctor` and the logs name customers, endpoints and users: look through the file before you \
send it.

Without --log, the bundle has the journal of the unit `lotwire` of the last three days, if this user may read it.

Examples:
  sudo lotwire support-bundle lotwire-support.zip --config /etc/lotwire/lotwire.toml
  lotwire support-bundle lotwire-support.zip --log lotwire.log --yes")]
pub(crate) struct SupportBundle {
    /// The archive (zip) to write. It must not exist.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// A log file of the server, of which the last 20 MiB are taken. Repeat it for more.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}
