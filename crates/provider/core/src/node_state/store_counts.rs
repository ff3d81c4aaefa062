//! The counts that are read from the store for a scrape.

use jiff::Timestamp;

use crate::port::{Backlog, EndpointStates, MailBacklog, TaskCount};

/// Counts over all accounts and nodes.
#[derive(Clone)]
pub(crate) struct StoreCounts {
    pub(crate) backlog: Backlog,
    /// Rows that are due and that no node has claimed.
    pub(crate) due: u64,
    /// Since when the oldest row without an owner has been due, without rows of paused endpoints.
    pub(crate) due_since: Option<Timestamp>,
    pub(crate) endpoints: EndpointStates,
    pub(crate) tasks: Vec<TaskCount>,
    pub(crate) mails: MailBacklog,
}
