//! Flags and help of `lotwire provider endpoint`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderEndpoint {
    /// List an application's endpoints, at most 10,000.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint list app_2b…
  lotwire provider endpoint list customer-17 --account org_2b…
  lotwire provider endpoint list app_2b… --json | jq 'select(.disabled)'")]
    List {
        /// Id (`app_…`) or uid of the application.
        application: String,
        /// Account of the application (`org_…`). Needed only if several accounts use the same uid.
        #[arg(long, value_name = "ORG")]
        account: Option<String>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Show an endpoint and its waiting deliveries. The signing secret is not shown.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint show ep_2b…
  lotwire provider endpoint show receiver-1 --application customer-17")]
    Show {
        #[command(flatten)]
        endpoint: EndpointRef,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Enable an endpoint and reset its record of failures.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint enable ep_2b…")]
    Enable(EndpointRef),
    /// Disable an endpoint and drop its waiting deliveries. The command asks for confirmation if deliveries wait.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint disable ep_2b…
  lotwire provider endpoint disable ep_2b… --yes")]
    Disable(EndpointRemoval),
    /// Delete an endpoint, its signing secret and its waiting deliveries.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint delete ep_2b…         ask for confirmation
  lotwire provider endpoint delete ep_2b… --yes")]
    Delete(EndpointRemoval),
    /// Make all waiting retries of an endpoint due now, and end the endpoint's pause.
    ///
    /// The attempts made so far still count towards the retry schedule.
    #[command(after_help = "\
Examples:
  lotwire provider stuck                          list waiting deliveries and the reasons
  lotwire provider endpoint retry-now ep_2b…      after its receiver was repaired")]
    RetryNow {
        #[command(flatten)]
        endpoint: EndpointRef,
        /// Print JSON: {\"endpoint\":\"ep_…\",\"messages\":12}.
        #[arg(long)]
        json: bool,
    },
    /// Send the messages again whose attempts at an endpoint failed, also those whose retries have ended.
    ///
    /// The command stores a background task, and a running server sends the messages. The dashboard's page Background
    /// tasks shows its progress.
    #[command(after_help = "\
Examples:
  lotwire doctor                                  names the endpoints with ended retries
  lotwire provider endpoint recover ep_2b… --since 2026-11-24T08:00:00Z
  lotwire provider endpoint recover ep_2b… --since 2026-11-24T08:00:00Z --json")]
    Recover {
        #[command(flatten)]
        endpoint: EndpointRef,
        /// Messages that failed from this time on (RFC 3339), at most 14 days ago.
        #[arg(long, value_name = "TIME")]
        since: jiff::Timestamp,
        /// Print JSON: {\"endpoint\":\"ep_…\",\"task\":\"qtask_…\"}.
        #[arg(long)]
        json: bool,
    },
    /// List the blocked ordering keys of an endpoint: the message that blocks each key, why, and until when.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint blocked-keys ep_2b…
  lotwire provider endpoint blocked-keys ep_2b… --json | jq -r .key")]
    BlockedKeys {
        #[command(flatten)]
        endpoint: EndpointRef,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Skip the message that blocks an ordering key, so that the next message of the key is delivered.
    ///
    /// The skipped message is not retried. It can be resent.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint blocked-keys ep_2b…
  lotwire provider endpoint skip ep_2b… --key 0199… --yes")]
    Skip(Skip),
    /// Cancel all deliveries that wait for an endpoint, and record a cancelled attempt for each.
    ///
    /// Attempts under way finish, but are not retried. To deliver messages with failed attempts later, use `recover`; to
    /// deliver any single message, resend it in the App Portal or with the API.
    #[command(after_help = "\
Examples:
  lotwire provider stuck
  lotwire provider endpoint cancel ep_2b…         ask for confirmation
  lotwire provider endpoint cancel ep_2b… --yes")]
    Cancel {
        #[command(flatten)]
        endpoint: EndpointRef,
        #[command(flatten)]
        confirmation: Confirmation,
        /// Print JSON: {\"endpoint\":\"ep_…\",\"messages\":12}.
        #[arg(long)]
        json: bool,
    },
}

/// The endpoint that a command works on.
#[derive(Debug, Args)]
pub(crate) struct EndpointRef {
    /// Id (`ep_…`) or uid of the endpoint.
    pub(crate) endpoint: String,
    /// Id (`app_…`) or uid of the application. Needed only if several applications use the same endpoint uid.
    #[arg(long, value_name = "APP")]
    pub(crate) application: Option<String>,
    /// Account of the application (`org_…`). Needed only if several accounts use the same application uid.
    #[arg(long, value_name = "ORG")]
    pub(crate) account: Option<String>,
}

/// The endpoint of a destructive command, and its confirmation.
#[derive(Debug, Args)]
pub(crate) struct EndpointRemoval {
    #[command(flatten)]
    pub(crate) endpoint: EndpointRef,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}

/// Whether a destructive command asks for confirmation.
#[derive(Debug, Args)]
pub(crate) struct Confirmation {
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Skip {
    #[command(flatten)]
    pub(crate) endpoint: EndpointRef,
    /// Ordering key, as `blocked-keys` prints it.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: String,
    /// Skip only if this message (`msg_…`) blocks the key.
    #[arg(long, value_name = "MSG")]
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}
