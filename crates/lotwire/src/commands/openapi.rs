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
    let document = match api {
        Api::Platform => api::openapi(),
        Api::Provider => provider_api::openapi(),
    };
    print(&document.to_pretty_json().while_("writing the document")?);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run_asyncapi() -> Result<ExitCode, Fault> {
    print(&format!("{:#}", api::asyncapi()));
    Ok(ExitCode::SUCCESS)
}
