//! Entries about messages that a person sent again, retried or gave up, recorded directly after their change.

use kit_runtime::clock::rfc3339_ms;

use super::configuration::without_query;
use super::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::model::{ActorKind, BackgroundTask, Endpoint, TaskKind};
use crate::provider::Provider;

/// Name of the value that has the id of a background task. Its figures are those of the task, because they grow while it runs.
pub const TASK_VALUE: &str = "background task";

impl Provider {
    /// Records that a user or the holder of a link resent a message. Programs resend too often to be listed.
    pub(crate) async fn record_resend(&self, caller: &Caller, endpoint: &Endpoint, message: &str) {
        if Actor::of_caller(caller).kind == ActorKind::ApiKey {
            return;
        }
        let subject = Subject { id: &endpoint.id, name: &without_query(&endpoint.url) };
        let values = ChangedValues::default().value("message", None, Some(message));
        self.record(caller, Action::MessageResent, subject, values).await;
    }

    /// Records that a background task began to send messages again.
    pub(crate) async fn record_replay(&self, caller: &Caller, endpoint: &Endpoint, task: &BackgroundTask) {
        let action = match task.kind {
            TaskKind::Recover => Action::MessagesRecovered,
            TaskKind::ReplayMissing => Action::MissingMessagesSent,
            TaskKind::BulkReplay => Action::MessagesReplayed,
            TaskKind::PurgeContent => return,
        };
        let chosen = &task.selection;
        let types = chosen.event_types.as_ref().map(|types| types.join(", "));
        let values = ChangedValues::default()
            .value(TASK_VALUE, None, Some(&task.id))
            .value("from", None, Some(&rfc3339_ms(chosen.since)))
            .value("until", None, Some(&rfc3339_ms(chosen.until)))
            .value("event types", None, types.as_deref())
            .value("channel", None, chosen.channel.as_deref())
            .value("tag", None, chosen.tag.as_deref());
        let subject = Subject { id: &endpoint.id, name: &without_query(&endpoint.url) };
        self.record(caller, action, subject, values).await;
    }

    /// Records that a background task of an endpoint was stopped.
    pub(crate) async fn record_stopped_replay(&self, caller: &Caller, endpoint: &Endpoint, task: &str) {
        let subject = Subject { id: &endpoint.id, name: &without_query(&endpoint.url) };
        let values = ChangedValues::default().value(TASK_VALUE, None, Some(task));
        self.record(caller, Action::ReplayStopped, subject, values).await;
    }

    /// Records that waiting deliveries of an endpoint were made due or cancelled.
    pub(crate) async fn record_waiting_deliveries(
        &self,
        caller: &Caller,
        action: Action,
        endpoint: &Endpoint,
        messages: usize,
    ) {
        let subject = Subject { id: &endpoint.id, name: &without_query(&endpoint.url) };
        let values = ChangedValues::default().value("messages", None, Some(&messages.to_string()));
        self.record(caller, action, subject, values).await;
    }
}
