//! Flags and help of `lotwire verify`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};
use platform_core::verification::Anchor;
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Give what to verify: --item, --auction, --all, --log, --record, or an anchor. With an anchor alone, --log applies.

Exit status: 0 if everything holds. 1 if something is broken, with one line for each finding, or if the check failed.

An anchor (POSITION:HASH) commits to the whole log up to a position; --all and --log print the current one. Keep anchors \
where no user with write access to the database can change them. A later check against an anchor then proves that no \
entry before it was changed or deleted.

Examples:
  lotwire verify --all
  lotwire verify --auction 0199… --json
  lotwire verify --all --anchor 48213:9f2c…       check the log against an earlier anchor
  lotwire verify --log --json | jq -r .anchor >> /mnt/elsewhere/anchors.txt
  lotwire verify --log --anchors-from /mnt/elsewhere/anchors.txt
  lotwire verify --record sale.json               needs no database; give the parts of a record in order")]
#[command(group(ArgGroup::new("scope")))]
#[command(group(ArgGroup::new("check").required(true).multiple(true)
    .args(["item", "auction", "all", "log", "record", "anchor", "anchors_from"])))]
pub(crate) struct Verify {
    /// Verify one item: its log, state, bids and journal entries.
    #[arg(long, value_name = "UUID", group = "scope")]
    pub(crate) item: Option<Uuid>,
    /// Verify one auction with its items and registrations.
    #[arg(long, value_name = "UUID", group = "scope")]
    pub(crate) auction: Option<Uuid>,
    /// Verify every auction, item and registration, and that no row is missing.
    #[arg(long, group = "scope")]
    pub(crate) all: bool,
    /// Verify only the log, in the order of writing. It is faster than --all and prints the same anchor.
    #[arg(long, group = "scope")]
    pub(crate) log: bool,
    /// Verify an exported record of a sale. Give its parts in order.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "scope", value_hint = ValueHint::FilePath)]
    pub(crate) record: Vec<PathBuf>,
    /// Check the log against this earlier anchor. Repeat the flag for several anchors.
    #[arg(long, value_name = "POSITION:HASH", conflicts_with_all = ["item", "auction", "record"])]
    pub(crate) anchor: Vec<Anchor>,
    /// Check the access log against this earlier anchor, as --all prints it. Repeat the flag for several anchors.
    #[arg(long, value_name = "NUMBER:HASH", requires = "all")]
    pub(crate) access_anchor: Vec<Anchor>,
    /// Check the log against the anchors in a file: the last word of each line. Empty lines and lines with # are
    /// skipped.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["item", "auction", "record"], value_hint = ValueHint::FilePath)]
    pub(crate) anchors_from: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
