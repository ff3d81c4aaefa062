//! `lotwire provider`: names, flags and help.

mod endpoint;

use clap::{Args, Subcommand, ValueEnum};

pub(crate) use endpoint::{Confirmation, EndpointRef, EndpointRemoval, ProviderEndpoint, Skip};

#[derive(Debug, Subcommand)]
pub(crate) enum Provider {
    /// Accounts: who owns keys, event types and consumer applications.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider account create \"Hartley & Sons\"
  lotwire provider account list
  lotwire provider account set org_2b… --payload-check reject"
    )]
    Account(ProviderAccount),
    /// API keys of an account.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider key create --account org_2b… --name platform
  lotwire provider key list --account org_2b…
  lotwire provider key revoke --account org_2b… key_2b…"
    )]
    Key(ProviderKey),
    /// Consumer applications.
    #[command(
        subcommand,
        alias = "app",
        after_help = "\
Examples:
  lotwire provider application list
  lotwire provider application list --account org_2b… --json"
    )]
    Application(ProviderApplication),
    /// Endpoints of an application, and what to do about what waits for one.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider endpoint list app_2b…
  lotwire provider endpoint show ep_2b…
  lotwire provider endpoint retry-now receiver-1 --application customer-17
  lotwire provider endpoint blocked-keys ep_2b…
  lotwire provider endpoint cancel ep_2b…"
    )]
    Endpoint(ProviderEndpoint),
    /// Say what is not delivered yet: where, since when, and why. Messages that wait longest come first.
    Stuck(Stuck),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderAccount {
    /// Create an account; prints its id (`org_…`).
    #[command(after_help = "\
Examples:
  lotwire provider account create \"Hartley & Sons\"
  lotwire provider account create \"Hartley & Sons\" --json")]
    Create {
        /// Name, for people.
        name: String,
        /// Print JSON: {"id":"org_…"}.
        #[arg(long)]
        json: bool,
    },
    /// List the accounts.
    #[command(after_help = "\
Examples:
  lotwire provider account list
  lotwire provider account list --json | jq -r .id")]
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Show an account with its settings.
    #[command(after_help = "\
Examples:
  lotwire provider account show org_2b…
  lotwire provider account show org_2b… --json")]
    Show {
        /// The account (`org_…`).
        account: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Change an account; what is not named stays. A running server follows within moments.
    #[command(after_help = "\
Examples:
  lotwire provider account set org_2b… --payload-check reject
  lotwire provider account set org_2b… --requests-per-second 200 --endpoints-per-application 500
  lotwire provider account set org_2b… --endpoints-per-application default")]
    Set(ProviderAccountSet),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderApplication {
    /// List applications: of one account, or of all.
    #[command(after_help = "\
Examples:
  lotwire provider application list
  lotwire provider application list --account org_2b…
  lotwire provider application list --json | jq -r 'select(.uid == \"customer-17\") | .id'")]
    List {
        /// Of this account only (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: Option<String>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProviderAccountSet {
    /// The account (`org_…`).
    pub(crate) account: String,
    /// New name, for people.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What becomes of a message whose payload does not match the schema of its event type.
    #[arg(long)]
    pub(crate) payload_check: Option<PayloadCheckMode>,
    /// API requests a second at most, on each node; `default` for the configuration's.
    #[arg(long, value_name = "N|default")]
    pub(crate) requests_per_second: Option<String>,
    /// Endpoints of each application at most; `default` for the configuration's.
    #[arg(long, value_name = "N|default")]
    pub(crate) endpoints_per_application: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What becomes of a message that does not match.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PayloadCheckMode {
    /// Nothing is checked.
    Off,
    /// It is accepted, counted and logged without its content.
    Warn,
    /// It is refused: 422.
    Reject,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderKey {
    /// Create an API key; it is shown this once.
    #[command(after_help = "\
Examples:
  lotwire provider key create --account org_2b… --name platform
  lotwire provider key create --account org_2b… --name \"trial of June\" --expires-in-days 30 --json")]
    Create {
        /// The account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// Name of the key, for people.
        #[arg(long)]
        name: String,
        /// Days until it stops working; it never does without.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires_in_days: Option<u16>,
        /// Print JSON: {"key":"…"}.
        #[arg(long)]
        json: bool,
    },
    /// List an account's keys, without the keys themselves. When a key was last used is known to within an hour.
    #[command(after_help = "\
Examples:
  lotwire provider key list --account org_2b…
  lotwire provider key list --account org_2b… --json | jq 'select(.lastUsedAt == null)'")]
    List {
        /// The account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Take a key's access away. A running server refuses it within moments.
    #[command(
        alias = "delete",
        after_help = "\
Examples:
  lotwire provider key revoke --account org_2b… key_2b…        asks first
  lotwire provider key revoke --account org_2b… key_2b… --yes"
    )]
    Revoke {
        /// The account (`org_…`).
        #[arg(long, value_name = "ORG")]
        account: String,
        /// The key's id (`key_…`).
        id: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Why messages wait:
  disabled   the endpoint is switched off; they are dropped when they come up
  paused     the receiver asked to be left alone for so long (Retry-After)
  failing    every attempt has failed since then; the next is made when it is due
  throttled  due, and sent at the rate that the endpoint or its application allows
  due        no node has taken them: none runs, or the endpoint has as much under way as it may
  retry      to be tried again, though the endpoint works otherwise
  later      their sender wants them delivered at that time
  in_hand    a node has them under way or in memory

What to do, each as `lotwire provider endpoint …`:
  retry-now           sends what waits for its next attempt at once, and ends a pause
  blocked-keys, skip  are for messages that wait for one before them
  cancel              gives up on what waits

Examples:
  lotwire provider stuck
  lotwire provider stuck --older-than-minutes 60
  lotwire provider stuck --json | jq -r 'select(.why == \"failing\") | .endpoint'")]
pub(crate) struct Stuck {
    /// Only endpoints whose oldest message has waited so long.
    #[arg(long, value_name = "MINUTES", default_value_t = 0)]
    pub(crate) older_than_minutes: u32,
    /// Endpoints to show at most.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}
