//! Steps that use cases of several capabilities share: idempotent answers, decisions with their commit, checks of input.

pub(crate) mod bulk_change_guard;
pub(crate) mod change_builder;
pub(crate) mod clerk_access;
pub(crate) mod commit;
pub(crate) mod decide;
pub(crate) mod decide_in_queue;
pub(crate) mod downtime;
pub(crate) mod failed_subjects;
pub mod idempotency;
pub(crate) mod input;
pub(crate) mod lookup;
pub(crate) mod screen_links;
pub(crate) mod status_log;
pub(crate) mod worker_loop;
