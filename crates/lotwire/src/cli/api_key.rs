//! Flags and help of `lotwire key`: API keys of the platform.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use platform_core::Scope;
use uuid::Uuid;

use super::Confirmation;

#[derive(Debug, Subcommand)]
pub(crate) enum ApiKeyCommand {
    /// Create an API key of the platform and print it. It can't be shown again.
    #[command(after_help = "\
Examples:
  lotwire key create --name \"web site\" --customer 0199… --scope events:read
  lotwire key create --name staff --scope all --json")]
    Create {
        /// Name that lists show for the key.
        #[arg(long)]
        name: String,
        /// Restrict the key to this customer [default: a staff key for all customers].
        #[arg(long, value_name = "UUID")]
        customer: Option<Uuid>,
        /// Grant a scope such as `events:read`, or `all` for every scope. Repeat the flag for several scopes.
        #[arg(long = "scope", required = true, value_name = "SCOPE", value_parser = scope_names())]
        scopes: Vec<String>,
        /// Days until the key expires, 1 to 3650 [default: never].
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires_in_days: Option<u16>,
        /// Print JSON: {"uuid":"…","key":"lw_…"}.
        #[arg(long)]
        json: bool,
    },
    /// List the API keys, revoked ones included. The secret part is not shown.
    ///
    /// The time of last use is recorded once a minute.
    #[command(after_help = "\
Examples:
  lotwire key list
  lotwire key list --customer 0199…
  lotwire key list --json | jq 'select(.lastUsedAt == null and .revokedAt == null)'")]
    List {
        /// List only this customer's keys [default: all keys].
        #[arg(long, value_name = "UUID")]
        customer: Option<Uuid>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Revoke an API key permanently. A running server refuses the key within five seconds.
    #[command(after_help = "\
Examples:
  lotwire key list
  lotwire key revoke 0199…                       ask for confirmation
  lotwire key revoke 0199… --yes")]
    Revoke {
        /// UUID of the key, as `lotwire key list` prints it.
        uuid: Uuid,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

/// `all` and the name of each scope.
fn scope_names() -> PossibleValuesParser {
    PossibleValuesParser::new(std::iter::once("all").chain(Scope::ALL.map(Scope::name)))
}
