//! Flags and help of `lotwire provider`.

mod alert_recipient;
mod endpoint;
mod portal_link;

use clap::{Args, Subcommand, ValueEnum};

use super::application_target::ApplicationTarget;

pub(crate) use alert_recipient::{AlertScopeRef, ProviderAlertRecipient};
pub(crate) use endpoint::{Confirmation, EndpointRef, EndpointRemoval, ProviderEndpoint, Skip};
pub(crate) use portal_link::PortalLink;

#[derive(Debug, Subcommand)]
pub(crate) enum Provider {
    /// Manage accounts. An account owns API keys, event types and consumer applications.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider account create \"Hartley & Sons\"
  lotwire provider account sign-in-code org_2b…
  lotwire provider account list
  lotwire provider account set org_2b… --payload-check reject"
    )]
    Account(ProviderAccount),
    /// Manage the API keys of an account.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider key create --account org_2b… --name platform
  lotwire provider key list --account org_2b…
  lotwire provider key revoke --account org_2b… key_2b…"
    )]
    Key(ProviderKey),
    /// Create and list consumer applications, and create links to their App Portals.
    #[command(
        subcommand,
        alias = "app",
        after_help = "\
Examples:
  lotwire provider application create \"Web site\" --account org_2b…
  lotwire provider application list
  lotwire provider application list --account org_2b… --json
  lotwire provider application portal-link customer-17"
    )]
    Application(ProviderApplication),
    /// Manage the endpoints of an application and the deliveries that wait for them.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider endpoint list app_2b…
  lotwire provider endpoint show ep_2b…
  lotwire provider endpoint retry-now receiver-1 --application customer-17
  lotwire provider endpoint recover ep_2b… --since 2026-11-24T08:00:00Z
  lotwire provider endpoint blocked-keys ep_2b…
  lotwire provider endpoint cancel ep_2b…"
    )]
    Endpoint(ProviderEndpoint),
    /// Manage the addresses that receive alerts about failing endpoints by e-mail.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider alert-recipient add ops@example.com --account org_2b…
  lotwire provider alert-recipient confirm 7f3k…
  lotwire provider alert-recipient list --account org_2b…
  lotwire provider alert-recipient add ops@example.com --account org_2b… --application customer-17"
    )]
    AlertRecipient(ProviderAlertRecipient),
    /// List the endpoints with waiting deliveries, the oldest wait first: how many, since when, and why.
    Stuck(Stuck),
    /// Print the messages and attempts of an application as they come, until Ctrl-C.
    Tail(Tail),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderAccount {
    /// Create an account and print its id (`org_…`). On a terminal, also print a link for its first user.
    #[command(after_help = "\
Standard output has the id alone, so that a script can keep it. The link goes to standard error if that is a
terminal, or if it is asked for with --sign-in-code.

Examples:
  lotwire provider account create \"Hartley & Sons\"
  account=$(lotwire provider account create \"Hartley & Sons\")
  lotwire provider account create \"Hartley & Sons\" --json --sign-in-code")]
    Create {
        /// Name that lists show for the account.
        name: String,
        /// Print JSON: {"id":"org_…"}, and with --sign-in-code {"id":"org_…","signInUrl":"…"}.
        #[arg(long)]
        json: bool,
        /// Make a link for the account's first user, also if there is no terminal.
        #[arg(long)]
        sign_in_code: bool,
    },
    /// Print a link with which a new Admin of an account joins and signs in to the dashboard. It works once, for 24
    /// hours.
    #[command(after_help = "\
Use it for the first user of an account, or if no Admin can sign in any more. Admins invite others in the
dashboard.

Examples:
  lotwire provider account sign-in-code org_2b…
  lotwire provider account sign-in-code org_2b… --json")]
    SignInCode {
        /// Id of the account (`org_…`).
        account: String,
        /// Print JSON: {"url":"…","expiresAt":"…"}.
        #[arg(long)]
        json: bool,
    },
    /// List the accounts, at most 10,000.
    #[command(after_help = "\
Examples:
  lotwire provider account list
  lotwire provider account list --json | jq -r .id")]
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Show an account and its settings.
    #[command(after_help = "\
Examples:
  lotwire provider account show org_2b…
  lotwire provider account show org_2b… --json")]
    Show {
        /// Id of the account (`org_…`).
        account: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Change the name or the settings of an account. A running server applies the change within seconds.
    #[command(after_help = "\
Examples:
  lotwire provider account set org_2b… --payload-check reject
  lotwire provider account set org_2b… --unknown-event-types reject
  lotwire provider account set org_2b… --requests-per-second 200 --endpoints-per-application 500
  lotwire provider account set org_2b… --endpoints-per-application default")]
    Set(ProviderAccountSet),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderApplication {
    /// Create a consumer application and print its id (`app_…`).
    #[command(after_help = "\
Examples:
  lotwire provider application create \"Web site\" --account org_2b…
  lotwire provider application create \"Web site\" --account org_2b… --uid customer-17 --json")]
    Create {
        /// Name that lists show for the application.
        name: String,
        /// Id of the account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// Your own id for the application, unique in the account.
        #[arg(long)]
        uid: Option<String>,
        /// Print JSON: {"id":"app_…"}.
        #[arg(long)]
        json: bool,
    },
    /// List the applications of one account or of all accounts, at most 10,000.
    #[command(after_help = "\
Examples:
  lotwire provider application list
  lotwire provider application list --account org_2b…
  lotwire provider application list --json | jq -r 'select(.uid == \"customer-17\") | .id'")]
    List {
        /// List only this account's applications (`org_…`) [default: all accounts].
        #[arg(long, value_name = "ORG")]
        account: Option<String>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Create a link to the App Portal of an application and print it.
    PortalLink(PortalLink),
}

#[derive(Debug, Args)]
pub(crate) struct ProviderAccountSet {
    /// Id of the account (`org_…`).
    pub(crate) account: String,
    /// New name of the account.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Handling of a message whose payload does not match the schema of its event type.
    #[arg(long)]
    pub(crate) payload_check: Option<PayloadCheckMode>,
    /// Handling of a message whose event type is not registered.
    #[arg(long)]
    pub(crate) unknown_event_types: Option<UnknownEventTypesMode>,
    /// API requests a second on each node, 1 to 1000000. `default` uses the configured limit.
    #[arg(long, value_name = "N|default")]
    pub(crate) requests_per_second: Option<String>,
    /// Endpoints of each application, 1 to 1000000. `default` uses the configured limit.
    #[arg(long, value_name = "N|default")]
    pub(crate) endpoints_per_application: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Handling of a message whose payload does not match its schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PayloadCheckMode {
    /// The provider does not check payloads.
    Off,
    /// The provider accepts the message, counts it, and logs it without its content.
    Warn,
    /// The provider refuses the message with status 422.
    Reject,
}

/// Handling of a message whose event type is not registered.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum UnknownEventTypesMode {
    /// The provider accepts the message.
    Accept,
    /// The provider accepts the message, and the dashboard lists its event type with the key that sent it.
    Warn,
    /// The provider refuses the message with status 400.
    Reject,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderKey {
    /// Create an API key and print it. It can't be shown again.
    #[command(after_help = "\
Examples:
  lotwire provider key create --account org_2b… --name platform
  lotwire provider key create --account org_2b… --name \"trial of June\" --expires-in-days 30 --json
  lotwire provider key create --account org_2b… --name shop --scope send --scope read

Scopes:
  read       everything except signing secrets and custom headers
  send       send messages
  resend     resend, recover and replay messages, send examples
  configure  applications, endpoints, event types, settings and secrets; expunge payloads
  portal     links to App Portals")]
    Create {
        /// Id of the account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// Name that lists show for the key.
        #[arg(long)]
        name: String,
        /// Days until the key expires, 1 to 3650 [default: never].
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires_in_days: Option<u16>,
        /// What the key may do; may be given several times [default: everything].
        #[arg(long = "scope", value_name = "SCOPE", value_parser = ["read", "send", "resend", "configure", "portal"])]
        scopes: Vec<String>,
        /// Print JSON: {"key":"…"}.
        #[arg(long)]
        json: bool,
    },
    /// List an account's API keys. The secret part is not shown.
    ///
    /// The time of last use is recorded once an hour.
    #[command(after_help = "\
Examples:
  lotwire provider key list --account org_2b…
  lotwire provider key list --account org_2b… --json | jq 'select(.lastUsedAt == null)'")]
    List {
        /// Id of the account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Revoke an API key permanently. A running server refuses the key within seconds.
    #[command(
        alias = "delete",
        after_help = "\
Examples:
  lotwire provider key revoke --account org_2b… key_2b…        ask for confirmation
  lotwire provider key revoke --account org_2b… key_2b… --yes"
    )]
    Revoke {
        /// Id of the account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// Id of the key (`key_…`).
        id: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
One line for each accepted message and each finished attempt: the time at which it ended (UTC), the result, the message,
its event type, the endpoint's address, the status or the cause of the failure, and the duration. With --endpoint or
--failed, only attempts are printed. Earlier ones are not printed: `lotwire provider stuck` and the dashboard
show them.

The command reads once a second, and goes on trying while the provider can't be reached. Of an application with more
than 50 endpoints, 50 are read in each second.

Examples:
  lotwire provider tail --application app_2b…
  lotwire provider tail --application customer-17 --failed
  lotwire provider tail --application customer-17 --endpoint receiver-1
  lotwire provider tail --application app_2b… --json | jq -r 'select(.result == \"failed\") | .cause'
  lotwire provider tail --application app_2b… --provider-url https://api.example.com --api-key-file key.txt")]
pub(crate) struct Tail {
    #[command(flatten)]
    pub(crate) target: ApplicationTarget,
    /// Print only attempts at this endpoint (id `ep_…` or uid).
    #[arg(long, value_name = "EP")]
    pub(crate) endpoint: Option<String>,
    /// Print only failed attempts.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Print JSON, one object a line: {"kind":"message",…} or {"kind":"attempt",…}.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Reasons (field \"why\" in JSON):
  disabled   the endpoint is disabled; the dispatcher drops its deliveries when they are due
  paused     the receiver asked for a pause with Retry-After; deliveries continue at the time shown
  slowed     attempts timed out or the receiver is overloaded; the server waits up to 5 s between attempts
  failing    every attempt has failed since the time shown; retries follow the retry schedule
  throttled  the deliveries are due, but a rate limit of the endpoint or its application applies
  due        no node has claimed the deliveries: none runs, or the endpoint is at its concurrency limit
  retry      the deliveries wait for their next attempt; other deliveries to the endpoint succeed
  later      the sender asked for delivery at a later time
  in_hand    a node has claimed the deliveries and is attempting them

To resolve them, use `lotwire provider endpoint …`:
  retry-now           make waiting retries due now and end a pause
  recover             send messages again whose retries have ended
  blocked-keys, skip  list and skip the messages that block an ordering key
  cancel              cancel all waiting deliveries

Examples:
  lotwire provider stuck
  lotwire provider stuck --older-than-minutes 60
  lotwire provider stuck --json | jq -r 'select(.why == \"failing\") | .endpoint'")]
pub(crate) struct Stuck {
    /// List only endpoints whose oldest delivery has waited for at least this many minutes.
    #[arg(long, value_name = "MINUTES", default_value_t = 0)]
    pub(crate) older_than_minutes: u32,
    /// Maximum number of endpoints to list, 1 to 10000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}
