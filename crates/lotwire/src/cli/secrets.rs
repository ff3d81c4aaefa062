//! Flags and help of `lotwire secrets`: the encryption of secrets at rest.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Seal all stored secrets with the first key of secrets.key, so that older keys can be removed.
    ///
    /// Servers may run meanwhile if each has the same keys in the same order. If the command is interrupted, run it
    /// again: it continues where it stopped.
    #[command(after_help = "\
Examples:
  lotwire secrets reseal                         with secrets.key = \"new,old\" on every node
  lotwire secrets reseal --database-url postgres://lotwire@db/lotwire --json

Exit status: 1 if no configured key opens a secret, otherwise 0. \
docs/operate/secrets.md lists the steps of a key rotation.")]
    Reseal {
        /// Print JSON: {\"resealed\":n,\"unopened\":n,\"key\":\"…\"}.
        #[arg(long)]
        json: bool,
    },
}
