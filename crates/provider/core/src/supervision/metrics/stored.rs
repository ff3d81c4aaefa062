//! Figures that only the store knows: of all nodes together.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kit_runtime::metrics::{self, Family, Gauge, Labels, Registry, Unit};

use crate::error::ProviderResult;
use crate::model::{TaskKind, TaskStatus};
use crate::port::Backlog;
use crate::port::{EndpointStates, TaskCount};
use crate::provider::Provider;

/// The store is asked no more often than this, however often the figures are.
const COUNTED_EVERY: Duration = Duration::from_secs(5);
/// All kinds and statuses, so that those of which there is none are shown as 0.
const KINDS: [TaskKind; 4] = [TaskKind::Recover, TaskKind::ReplayMissing, TaskKind::BulkReplay, TaskKind::PurgeContent];
const STATUSES: [TaskStatus; 3] = [TaskStatus::Running, TaskStatus::Finished, TaskStatus::Failed];

/// What was counted last.
#[derive(Default)]
pub(super) struct StoreMetrics {
    counted: Mutex<Option<(Instant, StoreCounts)>>,
}

#[derive(Clone)]
struct StoreCounts {
    backlog: Backlog,
    /// Since when the oldest row without an owner is due, apart from rows held back on purpose.
    due_since: Option<Timestamp>,
    endpoints: EndpointStates,
    tasks: Vec<TaskCount>,
}

impl Provider {
    /// Figures of all endpoints together, as text.
    pub(super) async fn stored_metrics(&self, stored: &StoreMetrics) -> ProviderResult<String> {
        let counted = self.counted(stored).await?;
        Ok(self.text(&counted))
    }

    async fn counted(&self, stored: &StoreMetrics) -> ProviderResult<StoreCounts> {
        let now = self.clock().monotonic();
        let before = stored.counted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, counted)) = before
            && now.saturating_duration_since(at) < COUNTED_EVERY
        {
            return Ok(counted);
        }
        let store = self.store();
        let counted = StoreCounts {
            backlog: store.total_backlog().await?,
            due_since: self.due_since().await?,
            endpoints: store.endpoint_states().await?,
            tasks: store.task_counts().await?,
        };
        *stored.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, counted.clone()));
        Ok(counted)
    }

    /// One endpoint more is asked for than have lanes here: one of them at least is not paused.
    async fn due_since(&self) -> ProviderResult<Option<Timestamp>> {
        let limit = self.dispatcher().load().lanes + 1;
        let due = self.store().longest_due_endpoints(self.now(), limit).await?;
        Ok(due.into_iter().find(|due| !self.dispatcher().is_paused(&due.endpoint)).map(|due| due.since))
    }

    fn text(&self, counted: &StoreCounts) -> String {
        let mut registry = Registry::with_prefix("lotwire_provider");
        let StoreCounts { backlog, due_since, endpoints, tasks } = counted;
        let all = "Deliveries not finished, of all nodes, counted to a million";
        registry.register("backlog", all, gauge(backlog.deliveries));
        let age = "Age of the oldest message of the backlog, whatever it waits for";
        registry.register_with_unit("backlog_age", age, Unit::Seconds, gauge(self.age_s(backlog).unsigned_abs()));
        let in_table = due_since.map_or(0, |since| self.now().duration_since(since).as_secs().max(0)).unsigned_abs();
        let due_age = gauge(in_table.max(self.dispatcher().oldest_wait().as_secs()));
        let due = "For how long the oldest delivery has been due, of those that no receiver asked to wait with";
        registry.register_with_unit("backlog_due_age", due, Unit::Seconds, due_age);

        let states = Family::<Labels, Gauge>::default();
        registry.register("endpoints", "Endpoints of all accounts that fail, or are disabled", states.clone());
        for (state, count) in [("failing", endpoints.failing), ("disabled", endpoints.disabled)] {
            states.get_or_create(&vec![("state", state.to_owned())]).set(signed(count));
        }
        let by_kind = Family::<Labels, Gauge>::default();
        registry.register("background_tasks", "Background tasks of all accounts, of the last 90 days", by_kind.clone());
        for (kind, status) in KINDS.into_iter().flat_map(|kind| STATUSES.map(|status| (kind, status))) {
            let count = tasks.iter().find(|count| count.kind == kind && count.status == status);
            let labels = vec![("kind", kind.name().to_owned()), ("status", status.name().to_owned())];
            by_kind.get_or_create(&labels).set(signed(count.map_or(0, |count| count.count)));
        }
        metrics::encode_text(&registry)
    }
}

fn gauge(value: u64) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(signed(value));
    gauge
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
