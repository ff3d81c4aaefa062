//! Alerts: the owners of an endpoint learn that it fails, that it will be disabled, that it was, and that it recovered.
//!
//! Actors: the dispatcher records since when an endpoint fails; the worker (`worker`) compares that with what the owners
//! were told (`transition`), writes the next alert (`notice`) and sends the mails that wait. They reach the confirmed
//! recipients (`recipients`) of the account and of the application by e-mail, if the operator set a mail server, and the
//! account's operational webhooks.
//!
//! Guarantees:
//! - one node notifies the owners of each transition, the first that sees it: what was told is written together with the event and
//!   the mails, on the condition that nothing else was told meanwhile;
//! - a mail that the server has not taken is sent again, with the same `Message-ID`, for about a day;
//! - nothing of a receiver's answer goes by mail or into an event;
//! - faults of the provider's own node or proxy cause no alert;
//! - an address receives no alert before its owner confirmed it with the code that was mailed to it.

mod code_allowances;
mod notice;
mod recipients;
mod transition;
pub(crate) mod worker;
