//! Runs `lotwire openapi` and `lotwire asyncapi`: prints the API documents that the servers also publish.

use std::process::ExitCode;

use clap::ValueEnum;

use super::print;
use crate::error::{CommandError, ErrorContext as _};

/// An API.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Api {
    /// The API of the auction platform.
    Platform,
    /// The API of the delivery provider.
    Provider,
    /// The bidders' API of salerooms.
    Saleroom,
}

pub(crate) fn run(api: Api) -> Result<ExitCode, CommandError> {
    let (document, ambiguous) = match api {
        Api::Platform => (platform_api::openapi(), platform_api::ambiguous_schemas()),
        Api::Provider => (provider_api::openapi(), provider_api::ambiguous_schemas()),
        Api::Saleroom => (platform_saleroom::openapi(), platform_saleroom::ambiguous_schemas()),
    };
    if !ambiguous.is_empty() {
        let names = ambiguous.join(", ");
        return Err(CommandError::new(format!("several schemas share a name: {names}. Rename one of each")));
    }
    print(&document.to_pretty_json().context("writing the document")?);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run_asyncapi() -> Result<ExitCode, CommandError> {
    print(&format!("{:#}", platform_api::asyncapi()));
    Ok(ExitCode::SUCCESS)
}
