//! Fuzz targets: one function for each reader of outside input.
//!
//! A target takes any bytes. It panics when the reader panics, or when an assertion here about the reader's result
//! fails.
//!
//! The programs in `fuzz_targets/` pass libFuzzer's inputs to the targets (`cargo xtask fuzz`). The test
//! `tests/seeds.rs` passes the committed seeds to them.

mod addresses;
mod api;
mod documents;
mod lists;
mod provider_fixture;
mod responses;
mod workbooks;

/// The binary's configuration module. A binary exports nothing, so its source file is included here.
///
/// The path stands on an inline module: then the compiler finds the files of `config/` beside `config.rs`.
#[path = "../../crates/lotwire/src"]
mod lotwire {
    #[allow(
        dead_code,
        missing_docs,
        unused_imports,
        reason = "the binary's own module; the targets use only some of its functions"
    )]
    pub(crate) mod config;
}

pub(crate) use lotwire::config;

pub use addresses::{addresses, endpoint_url};
pub use api::{credentials, message_body, requests};
pub use documents::{catalogue, configuration, event_type_import, payload_check};
pub use lists::{headers, page};
pub use responses::{provider_answer, receiver_answer};
pub use workbooks::workbook;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets by name. The programs and the folders of seeds have the same names.
pub const TARGETS: [(&str, Target); 14] = [
    ("addresses", addresses),
    ("catalogue", catalogue),
    ("configuration", configuration),
    ("credentials", credentials),
    ("endpoint_url", endpoint_url),
    ("event_type_import", event_type_import),
    ("headers", headers),
    ("message_body", message_body),
    ("page", page),
    ("payload_check", payload_check),
    ("provider_answer", provider_answer),
    ("receiver_answer", receiver_answer),
    ("requests", requests),
    ("workbook", workbook),
];
