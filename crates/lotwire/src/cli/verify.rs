//! `lotwire verify`: names, flags and help.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};
use platform_core::audit::Anchor;
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Status 0: everything holds. 1: something is broken, each on a line of its own, or the look could not be finished.

An anchor (POSITION:HASH) stands for the whole log up to a position; --all and --log print one. Noted where nobody who may write to
the database has access, it shows later that nothing before it was taken away or changed since.

Examples:
  lotwire verify --all
  lotwire verify --auction 0199… --json
  lotwire verify --all --anchor 48213:9f2c…       is everything still there that was there when this was noted?
  lotwire verify --log --json | jq -r .anchor >> /mnt/elsewhere/anchors.txt
  lotwire verify --log --anchors-from /mnt/elsewhere/anchors.txt
  lotwire verify --record sale.json               needs no database; parts of one record in order")]
#[command(group(ArgGroup::new("what")))]
#[command(group(ArgGroup::new("something").required(true).multiple(true)
    .args(["item", "auction", "all", "log", "record", "anchor", "anchors_from"])))]
pub(crate) struct Verify {
    /// An item: its log, state, bids and journal.
    #[arg(long, value_name = "UUID", group = "what")]
    pub(crate) item: Option<Uuid>,
    /// An auction with all of its items and registrations.
    #[arg(long, value_name = "UUID", group = "what")]
    pub(crate) auction: Option<Uuid>,
    /// Every auction, item and registration, and that nothing is gone.
    #[arg(long, group = "what")]
    pub(crate) all: bool,
    /// The log alone, in the order in which it was written: quicker than --all, and gives the same anchor.
    #[arg(long, group = "what")]
    pub(crate) log: bool,
    /// An exported record of a sale; its parts in order.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "what", value_hint = ValueHint::FilePath)]
    pub(crate) record: Vec<PathBuf>,
    /// An anchor that was noted earlier: the log up to its position has to be what it was. May be given several times.
    #[arg(long, value_name = "POSITION:HASH", conflicts_with_all = ["item", "auction", "record"])]
    pub(crate) anchor: Vec<Anchor>,
    /// An anchor of the log of access that was noted earlier, as --all prints it. May be given several times.
    #[arg(long, value_name = "NUMBER:HASH", requires = "all")]
    pub(crate) access_anchor: Vec<Anchor>,
    /// A file with anchors, the last word of each line; empty lines and those that begin with # say nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["item", "auction", "record"], value_hint = ValueHint::FilePath)]
    pub(crate) anchors_from: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
