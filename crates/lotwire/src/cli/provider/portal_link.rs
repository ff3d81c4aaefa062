//! Flags and help of `lotwire provider application portal-link`.

use clap::Args;
use provider_core::model::Capability;

#[derive(Debug, Args)]
#[command(after_help = "\
Standard output has the link alone, so that it can be piped. It can't be shown again. The link works
as often as needed until it expires, or until a user of the account revokes it on the application's
page of the dashboard. The activity log of the account names the operator.

Capabilities, each with ViewBase, which every link has:
  ViewBase              read everything except secrets and custom headers
  ViewEndpointSecret    see signing secrets
  ManageEndpointSecret  see and rotate signing secrets
  CreateAttempts        resend, recover and replay messages, send examples
  ManageEndpoint        add, change and delete endpoints with their secrets and headers
  ManageTransformations accepted without effect: the provider has no transformations

Examples:
  lotwire provider application portal-link app_2b…
  lotwire provider application portal-link customer-17 --capability ManageEndpoint
  lotwire provider application portal-link customer-17 --expires-in-hours 24 | xclip
  lotwire provider application portal-link customer-17 --json | jq -r .expiresAt")]
pub(crate) struct PortalLink {
    /// Id (`app_…`) or uid of the application.
    pub(crate) application: String,
    /// Account of the application (`org_…`). Needed only if several accounts use the same uid.
    #[arg(long, value_name = "ORG")]
    pub(crate) account: Option<String>,
    /// What else the holder of the link may do; may be given several times [default: read only].
    #[arg(long = "capability", value_name = "CAPABILITY", value_parser = capability)]
    pub(crate) capabilities: Vec<Capability>,
    /// Hours until the link expires, 1 to 168.
    #[arg(long, value_name = "HOURS", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=168))]
    pub(crate) expires_in_hours: u8,
    /// Print JSON: {"url":"…","capabilities":["ViewBase",…],"expiresAt":"…"}.
    #[arg(long)]
    pub(crate) json: bool,
}

fn capability(name: &str) -> Result<Capability, String> {
    let names = || Capability::ALL.map(Capability::name).join(", ");
    Capability::parse(name).ok_or_else(|| format!("it must be one of {}", names()))
}
