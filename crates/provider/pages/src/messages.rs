//! Messages on the pages of both sites: a list with filters, and one message with its attempts. The App Portal shows those of
//! its application, the dashboard those of all applications of the account.

mod curl;
pub(crate) mod detail;
mod filters;
pub(crate) mod list;
mod times;

use std::sync::Arc;

use jiff::Timestamp;
use provider_core::model::{Application, Id};
use provider_core::{Caller, Provider};

/// The site that shows messages, and its visitor.
pub(crate) struct Place<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) caller: &'a Caller,
    pub(crate) now: Timestamp,
    /// Path that all addresses of the site begin with.
    pub(crate) base: Arc<str>,
    /// The application of a portal; none on the dashboard.
    pub(crate) application: Option<&'a Application>,
}

impl Place<'_> {
    /// Path of a message, below the site's base.
    pub(crate) fn message_path(&self, application: &Id, message: &str) -> String {
        match self.application {
            Some(_) => format!("/messages/{message}"),
            None => format!("/applications/{application}/messages/{message}"),
        }
    }
}
