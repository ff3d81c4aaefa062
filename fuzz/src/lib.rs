//! One function for each reader of outside input. It takes any bytes, and panics when a promise is broken: by the reader's
//! own panic, or by an assertion here about what it gave.
//!
//! `fuzz_targets/` hands them to libFuzzer (`cargo xtask fuzz`); `tests/seeds.rs` plays the committed seeds through them.

mod addresses;
mod responses;
mod api;
#[path = "../../crates/lotwire/src/config/mod.rs"]
#[allow(
    dead_code,
    missing_docs,
    unused_imports,
    reason = "the binary's own module, of which one function is used here"
)]
mod config;
mod documents;
mod lists;
mod provider_fixture;

pub use addresses::{addresses, endpoint_url};
pub use responses::{http_answer, provider_answer, receiver_answer};
pub use platform_api::{credentials, message_body, requests};
pub use documents::{catalogue, configuration, event_type_import, payload_check};
pub use lists::{headers, page};

/// A target.
pub type Target = fn(&[u8]);

/// All targets by name, as their programs and folders of seeds are called.
pub const TARGETS: [(&str, Target); 14] = [
    ("addresses", addresses),
    ("catalogue", catalogue),
    ("configuration", configuration),
    ("credentials", credentials),
    ("endpoint_url", endpoint_url),
    ("event_type_import", event_type_import),
    ("headers", headers),
    ("http_answer", http_answer),
    ("message_body", message_body),
    ("page", page),
    ("payload_check", payload_check),
    ("provider_answer", provider_answer),
    ("receiver_answer", receiver_answer),
    ("requests", requests),
];
