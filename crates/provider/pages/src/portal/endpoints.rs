//! Pages of endpoints: the list, and the pages of one endpoint.

pub(super) mod delete;
pub(super) mod deliveries;
pub(super) mod enable_disable;
pub(super) mod example;
mod form;
mod head;
pub(super) mod headers;
pub(crate) mod list;
pub(super) mod new;
pub(super) mod ordering;
pub(super) mod replay;
pub(super) mod secret;
pub(super) mod settings;
mod url_verdict;
pub(super) mod verify;
