//! `lotwire openapi` and `lotwire asyncapi`: the API documents, as the servers give them.

use std::process::ExitCode;

use clap::ValueEnum;

use super::print;
use crate::fault::{Fault, While as _};

/// Whose API.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Api {
    /// The platform's.
    Platform,
    /// The delivery provider's.
    Provider,
}

pub(crate) fn run(api: Api) -> Result<ExitCode, Fault> {
    let (document, ambiguous) = match api {
        Api::Platform => (platform_api::openapi(), platform_api::ambiguous_schemas()),
        Api::Provider => (provider_api::openapi(), provider_api::ambiguous_schemas()),
    };
    if !ambiguous.is_empty() {
        let names = ambiguous.join(", ");
        return Err(Fault::new(format!("different schemas of one name: {names}; give one of each another name")));
    }
    print(&document.to_pretty_json().while_("writing the document")?);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run_asyncapi() -> Result<ExitCode, Fault> {
    print(&format!("{:#}", platform_api::asyncapi()));
    Ok(ExitCode::SUCCESS)
}
