//! `lotwire key`: keys of the platform's API.

use clap::Subcommand;
use uuid::Uuid;

use super::Confirmation;

#[derive(Debug, Subcommand)]
pub(crate) enum ApiKeyCommand {
    /// Create a key of the platform's API; it is shown this once.
    #[command(after_help = "\
Examples:
  lotwire key create --name \"web site\" --customer 0199… --scope events:read
  lotwire key create --name staff --scope all --json")]
    Create {
        /// Name of the key, for people.
        #[arg(long)]
        name: String,
        /// The customer that it is confined to; without one it is the platform's own staff's.
        #[arg(long, value_name = "UUID")]
        customer: Option<Uuid>,
        /// What it may do; may be given several times. `all` for everything.
        #[arg(long = "scope", required = true, value_name = "SCOPE")]
        scopes: Vec<String>,
        /// Days until it stops working; it never does without.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires_in_days: Option<u16>,
        /// Print JSON: {"uuid":"…","key":"lw_…"}.
        #[arg(long)]
        json: bool,
    },
    /// List the keys, without the keys themselves; revoked ones too. When a key was last used is known to within a minute.
    #[command(after_help = "\
Examples:
  lotwire key list
  lotwire key list --customer 0199…
  lotwire key list --json | jq 'select(.lastUsedAt == null and .revokedAt == null)'")]
    List {
        /// Of this customer only.
        #[arg(long, value_name = "UUID")]
        customer: Option<Uuid>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Take a key's access away, for good. A running server refuses it within five seconds.
    #[command(after_help = "\
Examples:
  lotwire key list
  lotwire key revoke 0199…                       asks first
  lotwire key revoke 0199… --yes")]
    Revoke {
        /// The key's UUID, as `key list` says it; not the key itself.
        uuid: Uuid,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}
