//! Flags and help of `lotwire listen` and `lotwire trigger`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::application_target::ApplicationTarget;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lotwire listen --application app_2b…
  lotwire listen --application app_2b… --event-types ITEM_STATUS_CHANGE --forward http://127.0.0.1:3000/hooks
  lotwire listen --application app_2b… --json | jq -r .event.status
  lotwire listen --application app_2b… --provider-url https://api.example.com --api-key-file key.txt \\
      --endpoint-url https://tunnel.example.com/

The embedded provider delivers to this machine only if its server allows it. Start the server with \
provider.allow_subnets = [\"127.0.0.0/8\"], or with the variable LOTWIRE_PROVIDER__ALLOW_SUBNETS=127.0.0.0/8.

With --forward, the listener passes on each event with its headers, and returns the response of that URL to the \
provider. The provider therefore retries an event that the URL refuses.

Exit status: 0 after Ctrl-C, SIGTERM or --count events, otherwise 1.")]
pub(crate) struct ListenCommand {
    #[command(flatten)]
    pub(crate) target: ApplicationTarget,
    /// Receive only these event types, separated by commas [default: all].
    #[arg(long, value_delimiter = ',', value_name = "TYPES")]
    pub(crate) event_types: Option<Vec<String>>,
    /// Port of 127.0.0.1 to listen on; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8072)]
    pub(crate) port: u16,
    /// URL at which the provider reaches this listener, for example of a tunnel [default: http://127.0.0.1:PORT/].
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) endpoint_url: Option<String>,
    /// Pass each verified event on to this URL.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) forward: Option<String>,
    /// Stop after this many events were received (and accepted by the --forward URL).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Print each event as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lotwire trigger item-status-change --application app_2b…
  lotwire trigger item-status-change --application app_2b… --status PASSED
  lotwire trigger auction-status-change --application app_2b… --json
  lotwire trigger invoice.paid --application app_2b… --payload invoice.json
  echo '{\"number\": 12}' | lotwire trigger invoice.paid --application app_2b… --payload -
  lotwire trigger item-status-change --application app_2b… --provider-url https://api.example.com --api-key-file key.txt

An example has random UUIDs, and the platform's event feed does not contain it. A running server delivers the event \
within about a second.")]
pub(crate) struct Trigger {
    /// Event type to send: item-status-change, auction-status-change, or any other name.
    #[arg(value_name = "TYPE")]
    pub(crate) event_type: String,
    #[command(flatten)]
    pub(crate) target: ApplicationTarget,
    /// Status in the example, such as SOLD or LIVE [default: SOLD for an item, LIVE for an auction].
    #[arg(long, value_name = "STATUS", conflicts_with = "payload")]
    pub(crate) status: Option<String>,
    /// Send the JSON object in this file instead of an example; `-` reads standard input. Event types other than
    /// item-status-change and auction-status-change need it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) payload: Option<PathBuf>,
    /// Print JSON: {"id":"msg_…","eventType":"…","event":{…}}.
    #[arg(long)]
    pub(crate) json: bool,
}
