//! `lotwire secrets`: what is sealed in the databases.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Seal everything again with the first key of secrets.key, so that the keys behind it can be left out. Servers may run
    /// meanwhile, each with the same keys in the same order. It can be repeated, and goes on where it was interrupted.
    #[command(after_help = "\
Examples:
  lotwire secrets reseal                         secrets.key is \"new,old\" here and at every node
  lotwire secrets reseal --database-url postgres://lotwire@db/lotwire --json

The steps of a change of keys are in docs/secrets.md.")]
    Reseal {
        /// Print JSON: {\"resealed\":n,\"unopened\":n,\"key\":\"…\"}.
        #[arg(long)]
        json: bool,
    },
}
