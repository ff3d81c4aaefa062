//! Flags that name a consumer application, at the embedded provider or at a remote one.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// The application that a command works on.
#[derive(Debug, Args)]
pub(crate) struct ApplicationTarget {
    /// Id (`app_…`) or uid of the consumer application.
    #[arg(long, value_name = "APP")]
    pub(crate) application: String,
    /// Account of the application (`org_…`). Needed only if several accounts use the same uid.
    #[arg(long, value_name = "ORG", conflicts_with = "provider_url")]
    pub(crate) account: Option<String>,
    /// Base URL of a Svix-compatible provider [default: the embedded provider, through its database].
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) provider_url: Option<String>,
    /// Read the API key for --provider-url from standard input.
    #[arg(long, conflicts_with = "api_key_file", requires = "provider_url")]
    pub(crate) api_key_stdin: bool,
    /// Read the API key for --provider-url from a file.
    #[arg(long, value_name = "FILE", requires = "provider_url", value_hint = ValueHint::FilePath)]
    pub(crate) api_key_file: Option<PathBuf>,
}
