//! Flags and help of `lotwire customer disconnect` and `lotwire customer quarantine`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::Confirmation;

#[derive(Debug, Subcommand)]
pub(crate) enum CustomerPublishing {
    /// Delete a customer's connection and stop publishing its events.
    ///
    /// The platform deletes the stored API key and discards the events that wait to be published. The event feed keeps
    /// them: `lotwire customer connect --start-from` continues after a cursor of the feed.
    #[command(after_help = "\
Examples:
  lotwire customer show 0199…                    print how many events wait
  lotwire customer disconnect 0199…              ask for confirmation
  lotwire customer disconnect 0199… --yes")]
    Disconnect {
        /// UUID of the customer.
        customer: Uuid,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Manage events that the provider refused permanently.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire customer quarantine list 0199…
  lotwire customer quarantine send 0199…
  lotwire customer quarantine drop 0199… --cursor 311 --reason \"announced by telephone\""
    )]
    Quarantine(Quarantine),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Quarantine {
    /// List the quarantined events with the provider's errors, at most 10,000.
    #[command(after_help = "\
Examples:
  lotwire customer quarantine list 0199…
  lotwire customer quarantine list 0199… --json | jq -r .error")]
    List {
        /// UUID of the customer.
        customer: Uuid,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Publish quarantined events again: the named ones, or all that can still be published in order.
    ///
    /// Correct the cause first. An event is out of order if a later event of the same auction or item is published.
    #[command(after_help = "\
Examples:
  lotwire customer quarantine send 0199…                       publish all that are still in order
  lotwire customer quarantine send 0199… --cursor 311 --cursor 325
  lotwire customer quarantine send 0199… --cursor 311 --out-of-order")]
    Send(QuarantineSend),
    /// Drop quarantined events: they are never published, but stay in the event feed.
    #[command(after_help = "\
Examples:
  lotwire customer quarantine drop 0199… --cursor 311 --reason \"announced by telephone\"
  lotwire customer quarantine drop 0199… --cursor 311 --reason \"announced by telephone\" --yes")]
    Drop {
        /// UUID of the customer.
        customer: Uuid,
        /// Cursor of an event. Repeat the flag for several events.
        #[arg(long = "cursor", required = true, value_name = "CURSOR")]
        cursors: Vec<i64>,
        /// Reason, which the audit log records.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

#[derive(Debug, Args)]
pub(crate) struct QuarantineSend {
    /// UUID of the customer.
    pub(crate) customer: Uuid,
    /// Cursor of an event. Repeat the flag for several events [default: all that are in order].
    #[arg(long = "cursor", value_name = "CURSOR")]
    pub(crate) cursors: Vec<i64>,
    /// Also publish events that a later event of the same auction or item has overtaken.
    #[arg(long)]
    pub(crate) out_of_order: bool,
}
