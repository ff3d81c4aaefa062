//! `lotwire provider endpoint`: names, flags and help.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderEndpoint {
    /// List an application's endpoints.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint list app_2b…
  lotwire provider endpoint list customer-17 --account org_2b…
  lotwire provider endpoint list app_2b… --json | jq 'select(.disabled)'")]
    List {
        /// The application: `app_…`, or its uid.
        application: String,
        /// The account of that uid, when several have one of it.
        #[arg(long, value_name = "ORG")]
        account: Option<String>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Show an endpoint and what waits for it. Its secret is not shown.
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
    /// Switch an endpoint on; failures until now are forgotten.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint enable ep_2b…")]
    Enable(EndpointRef),
    /// Switch an endpoint off. What waits for it is dropped, after asking, and nothing new is delivered to it.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint disable ep_2b…
  lotwire provider endpoint disable ep_2b… --yes")]
    Disable(EndpointRemoval),
    /// Delete an endpoint with its secret and whatever waits for it.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint delete ep_2b…         asks first
  lotwire provider endpoint delete ep_2b… --yes")]
    Delete(EndpointRemoval),
    /// Send what waits for its next attempt now, also when the receiver asked for a pause. The attempts made so far count.
    #[command(after_help = "\
Examples:
  lotwire provider stuck                          what waits, where and why
  lotwire provider endpoint retry-now ep_2b…      its receiver was mended")]
    RetryNow {
        #[command(flatten)]
        endpoint: EndpointRef,
        /// Print JSON: {\"endpoint\":\"ep_…\",\"messages\":12}.
        #[arg(long)]
        json: bool,
    },
    /// List ordering keys that wait for their first message: what that waits for, and until when.
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
    /// Give up the message that an ordering key waits for, so that the next one goes out.
    #[command(after_help = "\
Examples:
  lotwire provider endpoint blocked-keys ep_2b…
  lotwire provider endpoint skip ep_2b… --key 0199… --yes")]
    Skip(Skip),
    /// Give up on everything that waits for an endpoint at this moment. Each message keeps an attempt that says so.
    ///
    /// What is under way goes on, and is not tried again. What was tried before can be sent again by a recovery
    /// (`POST …/recover`), and any single message by a resend.
    #[command(after_help = "\
Examples:
  lotwire provider stuck
  lotwire provider endpoint cancel ep_2b…         asks first
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

/// Which endpoint.
#[derive(Debug, Args)]
pub(crate) struct EndpointRef {
    /// The endpoint: `ep_…`, or its uid.
    pub(crate) endpoint: String,
    /// The application of that uid, when several have an endpoint of it: `app_…`, or its uid.
    #[arg(long, value_name = "APP")]
    pub(crate) application: Option<String>,
    /// The account of the application's uid, when several have one of it.
    #[arg(long, value_name = "ORG")]
    pub(crate) account: Option<String>,
}

/// An endpoint that is to lose something.
#[derive(Debug, Args)]
pub(crate) struct EndpointRemoval {
    #[command(flatten)]
    pub(crate) endpoint: EndpointRef,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}

/// What can't be undone is asked about first.
#[derive(Debug, Args)]
pub(crate) struct Confirmation {
    /// Don't ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Skip {
    #[command(flatten)]
    pub(crate) endpoint: EndpointRef,
    /// The ordering key, as `blocked-keys` lists it.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: String,
    /// Only if it waits for this message (`msg_…`).
    #[arg(long, value_name = "MSG")]
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}
