//! Removing the payloads of all messages of an application, as a background task. Its steps need no endpoint, and one that is
//! made twice finds nothing left to do.

use jiff::SignedDuration;

use super::bound;
use crate::accounts::Caller;
use crate::error::ProviderResult;
use crate::idempotency::{self, Idempotency, Write};
use crate::ids;
use crate::model::{BackgroundTask, Progress, Selection, TaskKind, TaskStatus};
use crate::provider::{Created, Provider};

/// Clocks of nodes may differ by this much, so that a message may be older than its application.
const SKEW_MAX: SignedDuration = SignedDuration::from_hours(1);

impl Provider {
    /// Starts a task that removes the payloads of what the application was sent until now; `render` makes the JSON of the
    /// 202 that is kept for the idempotency key. 404, 400 `limit_reached`.
    pub async fn purge_messages(
        &self,
        caller: &Caller,
        application: &str,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&BackgroundTask) -> String + Send,
    ) -> ProviderResult<Created<BackgroundTask>> {
        let now = self.now();
        let application = self.application(caller, application).await?;
        self.check_running(caller).await?;
        let (kind, since) = (TaskKind::PurgeContent, application.created_at - SKEW_MAX);
        let task = BackgroundTask {
            id: self.ids().make(ids::TASK),
            account: caller.account.clone(),
            kind,
            application: application.id,
            endpoint: "".into(),
            progress: Progress { position: bound(kind, since), found: 0, enqueued: 0 },
            selection: Selection {
                since,
                until: now + ids::RESOLUTION,
                event_types: None,
                channel: None,
                tag: None,
                status: None,
                status_code_class: None,
            },
            status: TaskStatus::Running,
            error: None,
            created_at: now,
            updated_at: now,
        };
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            now,
            202,
            || render(&task),
            |answer| self.store().create_task(task.clone(), answer),
        );
        Ok(match written.await? {
            Write::Done => Created::New(task),
            Write::Before(answer) => Created::Before(answer),
        })
    }
}
