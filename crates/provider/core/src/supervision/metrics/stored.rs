//! Gauges read from the store. They cover all nodes.

use jiff::Timestamp;
use kit_runtime::metrics::{self, Family, Gauge, Labels, Registry, Unit};

use crate::error::ProviderResult;
use crate::model::{TaskKind, TaskStatus};
use crate::node_state::store_counts::StoreCounts;
use crate::provider::Provider;

/// All kinds and statuses, so that a series without tasks is shown as 0.
const KINDS: [TaskKind; 4] = [TaskKind::Recover, TaskKind::ReplayMissing, TaskKind::BulkReplay, TaskKind::PurgeContent];
const STATUSES: [TaskStatus; 3] = [TaskStatus::Running, TaskStatus::Finished, TaskStatus::Failed];

impl Provider {
    /// Gauges over all endpoints, as OpenMetrics text without its end mark.
    pub(super) async fn stored_metrics(&self) -> ProviderResult<String> {
        let counts = self.store_counts().await?;
        Ok(self.encode(&counts))
    }

    async fn store_counts(&self) -> ProviderResult<StoreCounts> {
        let now = self.clock().monotonic();
        if let Some(counts) = self.store_counts_cache().get(now) {
            return Ok(counts);
        }
        let store = self.store();
        let counts = StoreCounts {
            backlog: store.total_backlog().await?,
            due: store.due_deliveries(self.now()).await?,
            due_since: self.due_since().await?,
            endpoints: store.endpoint_states().await?,
            tasks: store.task_counts().await?,
            mails: store.waiting_mails().await?,
        };
        self.store_counts_cache().put(counts.clone(), now);
        Ok(counts)
    }

    /// Since when the oldest row of an endpoint that this node did not pause has been due. Only endpoints with a lane
    /// can be paused, so one endpoint more than there are lanes is enough.
    async fn due_since(&self) -> ProviderResult<Option<Timestamp>> {
        let limit = self.dispatcher().load().lanes + 1;
        let due = self.store().longest_due_endpoints(self.now(), limit).await?;
        Ok(due.into_iter().find(|due| !self.dispatcher().is_paused(&due.endpoint)).map(|due| due.since))
    }

    fn encode(&self, counts: &StoreCounts) -> String {
        let mut registry = Registry::with_prefix("lotwire_provider");
        let StoreCounts { backlog, due, due_since, endpoints, tasks, mails } = counts;
        let all = "Deliveries not finished, of all nodes, counted to a million";
        registry.register("backlog", all, gauge(backlog.deliveries));
        let age = "Age of the oldest message of the backlog, whatever it waits for";
        registry.register_with_unit("backlog_age", age, Unit::Seconds, gauge(self.age_s(backlog).unsigned_abs()));
        let in_table = due_since.map_or(0, |since| self.now().duration_since(since).as_secs().max(0)).unsigned_abs();
        let due_age = gauge(in_table.max(self.dispatcher().oldest_wait().as_secs()));
        let due_help = "For how long the oldest delivery has been due, of those that no receiver asked to wait with";
        registry.register_with_unit("backlog_due_age", due_help, Unit::Seconds, due_age);

        let due = gauge(*due);
        registry.register("backlog_due", "Deliveries that are due and that no node has, counted to a million", due);
        registry.register("mails_waiting", "Mails not sent yet, counted to 100,000", gauge(mails.mails));
        let age = mails.oldest_at.map_or(0, |at| self.now().duration_since(at).as_secs().max(0)).unsigned_abs();
        let oldest = "Age of the oldest mail that is not sent yet";
        registry.register_with_unit("mails_waiting_age", oldest, Unit::Seconds, gauge(age));

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
