//! `lotwire openapi` and `lotwire asyncapi`: the API documents, as the servers give them.

use std::process::ExitCode;

use clap::ValueEnum;

use super::print;
use crate::error::{CommandError, ErrorContext as _};

/// Whose API.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Api {
    /// The platform's.
    Platform,
    /// The delivery provider's.
    Provider,
}

pub(crate) fn run(api: Api) -> Result<ExitCode, CommandError> {
    let (document, ambiguous) = match api {
        Api::Platform => (platform_api::openapi(), platform_api::ambiguous_schemas()),
        Api::Provider => (provider_api::openapi(), provider_api::ambiguous_schemas()),
    };
    if !ambiguous.is_empty() {
        let names = ambiguous.join(", ");
        return Err(CommandError::new(format!(
            "different schemas of one name: {names}; give one of each another name"
        )));
    }
    print(&document.to_pretty_json().context("writing the document")?);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run_asyncapi() -> Result<ExitCode, CommandError> {
    print(&format!("{:#}", platform_api::asyncapi()));
    Ok(ExitCode::SUCCESS)
}
