//! Flags and help of `lotwire provider alert-recipient`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderAlertRecipient {
    /// Add an address and send it a code that confirms it. A running server sends the mail.
    ///
    /// The address receives alerts after it was confirmed. Needs the settings mail.smtp_url and mail.from.
    #[command(after_help = "\
Examples:
  lotwire provider alert-recipient add ops@example.com --account org_2b…
  lotwire provider alert-recipient add ops@example.com --account org_2b… --application customer-17")]
    Add {
        /// The e-mail address.
        address: String,
        #[command(flatten)]
        scope: AlertScopeRef,
        /// Print JSON: {"address":"…"}.
        #[arg(long)]
        json: bool,
    },
    /// Confirm an address with the code that it received in the last 24 hours.
    #[command(after_help = "\
Examples:
  lotwire provider alert-recipient confirm 7f3k…")]
    Confirm {
        /// The code of the mail.
        code: String,
    },
    /// Remove an address. It receives no more alerts.
    #[command(after_help = "\
Examples:
  lotwire provider alert-recipient remove ops@example.com --account org_2b…
  lotwire provider alert-recipient remove ops@example.com --account org_2b… --application customer-17")]
    Remove {
        /// The e-mail address.
        address: String,
        #[command(flatten)]
        scope: AlertScopeRef,
    },
    /// List the addresses of an account, or of one of its applications.
    #[command(after_help = "\
Examples:
  lotwire provider alert-recipient list --account org_2b…
  lotwire provider alert-recipient list --account org_2b… --application customer-17
  lotwire provider alert-recipient list --account org_2b… --json | jq 'select(.confirmedAt == null)'")]
    List {
        #[command(flatten)]
        scope: AlertScopeRef,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
}

/// The endpoints whose alerts an address receives.
#[derive(Debug, Args)]
pub(crate) struct AlertScopeRef {
    /// Id of the account (`org_…`).
    #[arg(long, value_name = "ORG")]
    pub(crate) account: String,
    /// Id (`app_…`) or uid of an application, for alerts about its endpoints alone [default: all applications].
    #[arg(long, value_name = "APP")]
    pub(crate) application: Option<String>,
}
