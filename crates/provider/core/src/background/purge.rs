//! Removes the payloads of all messages of an application, as a background task. The task has no endpoint, and its
//! steps can be repeated.

use jiff::SignedDuration;

use super::TaskRequest;
use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::ids;
use crate::model::{BackgroundTask, Selection, TaskKind};
use crate::provider::Provider;
use crate::steps::idempotency::Idempotency;
use crate::steps::written::Created;

/// Maximum difference between the clocks of nodes. A message may seem older than its application by this much.
const SKEW_MAX: SignedDuration = SignedDuration::from_hours(1);

impl Provider {
    /// Starts a task that removes the payloads of all messages that the application received until now. `render` makes
    /// the JSON of the 202 response, which is stored for the idempotency key. 404, 400 `limit_reached`.
    pub async fn purge_messages(
        &self,
        caller: &Caller,
        application: &str,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&BackgroundTask) -> String + Send,
    ) -> ProviderResult<Created<BackgroundTask>> {
        let now = self.now();
        let application = self.application(caller, application).await?;
        let selection = Selection {
            since: application.created_at - SKEW_MAX,
            until: now + ids::RESOLUTION,
            event_types: None,
            channel: None,
            tag: None,
            status: None,
            status_code_class: None,
        };
        let request =
            TaskRequest { kind: TaskKind::PurgeContent, application: application.id, endpoint: "".into(), selection };
        self.begin_task(caller, request, now, idempotency, render).await
    }
}
