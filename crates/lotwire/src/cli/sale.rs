//! Flags and help of `lotwire sale`.

use clap::Args;
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lotwire sale --customer 0199…
  lotwire sale --customer 0199… --seconds 5 --json

The auction opens at once and has three lots. Two receive bids; the third receives none and stays unsold. The lots end \
one second apart. A running server ends them and announces each status to the customer.

Exit status: 0 if every lot ended, otherwise 1.")]
pub(crate) struct SaleCommand {
    /// UUID of the customer that holds the auction.
    #[arg(long, value_name = "UUID")]
    pub(crate) customer: Uuid,
    /// Seconds until the first lot ends, 3 to 3600.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(3..=3600))]
    pub(crate) seconds: u16,
    /// Print JSON: the auction, and its lots with their statuses.
    #[arg(long)]
    pub(crate) json: bool,
}
