//! `lotwire verify`: names, flags and help.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Status 0: everything holds. 1: something is broken, each on a line of its own, or the look could not be finished.

Examples:
  lotwire verify --all
  lotwire verify --auction 0199… --json
  lotwire verify --record sale.json               needs no database; parts of one record in order")]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(crate) struct Verify {
    /// An item: its log, state, bids and journal.
    #[arg(long, value_name = "UUID", group = "what")]
    pub(crate) item: Option<Uuid>,
    /// An auction with all of its items and registrations.
    #[arg(long, value_name = "UUID", group = "what")]
    pub(crate) auction: Option<Uuid>,
    /// Every auction, item and registration.
    #[arg(long, group = "what")]
    pub(crate) all: bool,
    /// An exported record of a sale; its parts in order.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "what", value_hint = ValueHint::FilePath)]
    pub(crate) record: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
