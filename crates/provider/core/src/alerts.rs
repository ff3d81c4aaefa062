//! Alerts: the owners of an endpoint are notified when it fails, 24 hours before it is disabled, when it is disabled,
//! and when it recovers.
//!
//! Actors: the dispatcher records since when an endpoint fails. The worker (`worker`) compares that with the latest
//! notification (`transition`), writes the next alert (`notice`) and sends the queued mails. Alerts are sent to the
//! account's operational webhooks at once. If the operator set a mail server, the reporter (`reporter`) collects the
//! alerts about the endpoints of an application, and sends one mail about them (`report`) to each confirmed recipient
//! (`recipients`) of the account and of the application.
//!
//! Guarantees:
//! - one node notifies the owners of a transition: the notification is committed together with the event and the notice
//!   for the next mail, on the condition that no other notification was committed meanwhile;
//! - one node reports a notice: its mails are committed on the condition that it was not reported meanwhile;
//! - a mail that the mail server did not accept is sent again, with the same `Message-ID`, for about a day;
//! - mails and events contain no part of a receiver's response;
//! - faults of the provider's own node or proxy cause no alert;
//! - an address receives no alert before its owner confirmed it with the code that was mailed to it.

mod notice;
mod recipients;
mod report;
mod reporter;
mod transition;
pub(crate) mod worker;
