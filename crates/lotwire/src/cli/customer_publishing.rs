//! `lotwire customer disconnect` and `lotwire customer quarantine`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::Confirmation;

#[derive(Debug, Subcommand)]
pub(crate) enum CustomerPublishing {
    /// End a customer's connection: its key is forgotten, and nothing is published any more, not what waits either. The journal
    /// is kept, and `customer connect --start-from` can go on from a cursor of it.
    #[command(after_help = "\
Examples:
  lotwire customer show 0199…                    how many events wait
  lotwire customer disconnect 0199…              asks first
  lotwire customer disconnect 0199… --yes")]
    Disconnect {
        /// The customer.
        customer: Uuid,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Events that the provider refused for good.
    #[command(subcommand)]
    Quarantine(Quarantine),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Quarantine {
    /// List them with what the provider answered.
    #[command(after_help = "\
Examples:
  lotwire customer quarantine list 0199…
  lotwire customer quarantine list 0199… --json | jq -r .error")]
    List {
        /// The customer.
        customer: Uuid,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Publish them again, once the cause is mended: those named, or all that can still be sent in order.
    #[command(after_help = "\
Examples:
  lotwire customer quarantine send 0199…                       all, except those that a later event has overtaken
  lotwire customer quarantine send 0199… --cursor 311 --cursor 325
  lotwire customer quarantine send 0199… --cursor 311 --out-of-order")]
    Send(QuarantineSend),
    /// Drop them: they are never published, and stay in the events feed.
    #[command(after_help = "\
Examples:
  lotwire customer quarantine drop 0199… --cursor 311 --reason \"told by telephone\"
  lotwire customer quarantine drop 0199… --cursor 311 --reason \"told by telephone\" --yes")]
    Drop {
        /// The customer.
        customer: Uuid,
        /// The event's cursor; may be given several times.
        #[arg(long = "cursor", required = true, value_name = "CURSOR")]
        cursors: Vec<i64>,
        /// Why; it is kept in the log.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

#[derive(Debug, Args)]
pub(crate) struct QuarantineSend {
    /// The customer.
    pub(crate) customer: Uuid,
    /// The event's cursor; may be given several times. All without.
    #[arg(long = "cursor", value_name = "CURSOR")]
    pub(crate) cursors: Vec<i64>,
    /// Send also what a later event of the same auction or item has overtaken.
    #[arg(long)]
    pub(crate) out_of_order: bool,
}
