//! Notifies owners of transitions, and sends the queued mails. The worker reads its work from the store, and may run on
//! every node.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_mail::{Mail, queue};
use kit_runtime::tasks::Tasks;

use super::notice::Notice;
use super::transition::{Schedule, Transition};
use crate::model::cause::Cause;
use crate::model::{Attempt, AttemptStatus, Endpoint};
use crate::port::{Alert, AlertCandidate, NewMail, Order, Page, StoreError, StoreResult, WaitingMail};
use crate::provider::Provider;
use crate::steps::attempt_counts::attempts_in;

/// Interval of the worker's rounds.
const POLL_INTERVAL: Duration = Duration::from_secs(15);
/// Interval at which the alerts of deleted endpoints are deleted.
const FORGET_INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// Endpoints of each transition, and mails, in one round.
const BATCH_MAX: usize = 100;
/// Maximum number of the latest attempts of an endpoint whose cause is read.
const EXAMINED_MAX: usize = 50;
pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider alerts", move |stopping| {
        let provider = provider.clone();
        async move {
            let mut forget_at = provider.now();
            while !stopping.is_cancelled() {
                if let Err(error) = provider.send_alerts().await {
                    tracing::warn!(%error, "alerts could not be sent; the next round tries again");
                }
                if provider.now() >= forget_at {
                    forget_at = provider.now() + FORGET_INTERVAL;
                    if let Err(error) = provider.store().forget_deleted_alerts().await {
                        tracing::warn!(%error, "alerts of deleted endpoints can't be removed; the next run tries again");
                    }
                }
                let next = provider.now() + POLL_INTERVAL;
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = provider.clock().sleep_until(next) => {}
                }
            }
        }
    });
}

impl Provider {
    /// One round of the worker: notifies owners of transitions, writes the reports that are due, and sends mails.
    pub async fn send_alerts(&self) -> StoreResult<()> {
        let (now, schedule) = (self.now(), self.alert_schedule());
        for candidate in self.store().alert_candidates(schedule.query(now, BATCH_MAX)).await? {
            match self.notify_owners(schedule, &candidate, now).await {
                // Another node notified the owners, or the endpoint was deleted.
                Ok(()) | Err(StoreError::Conflict | StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        self.report_alerts(now).await?;
        self.send_mails().await
    }

    pub(super) fn alert_schedule(&self) -> Schedule {
        let span = |duration| SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
        Schedule { alert_after: span(self.config().alert_after), disable_after: span(self.config().disable_after) }
    }

    async fn notify_owners(&self, schedule: Schedule, candidate: &AlertCandidate, now: Timestamp) -> StoreResult<()> {
        let Some((transition, after)) = schedule.next(candidate, now) else { return Ok(()) };
        let endpoint = &candidate.endpoint;
        let Some(since) = after.or(candidate.last_alert).map(|sent| sent.failing_since) else { return Ok(()) };
        let failures = self.failures_since(endpoint, since, now).await?;
        if matches!(transition, Transition::Failing | Transition::DisablingSoon) && failures.is_no_fault_of_receiver() {
            return Ok(());
        }
        let Some((application, _)) = self.store().snapshot(&endpoint.application).await? else { return Ok(()) };
        let notice = Notice {
            transition,
            application: &application,
            endpoint,
            since,
            failures,
            disable_after: schedule.disable_after,
            public_url: &self.config().public_url,
        };
        let alert = Alert {
            application: endpoint.application.clone(),
            endpoint: endpoint.id.clone(),
            endpoint_uid: endpoint.uid.clone(),
            before: candidate.last_alert,
            after,
            event: notice.event(),
            is_mailed: self.sends_mail(),
            at: now,
        };
        self.store().record_alert(alert).await
    }

    /// Counts the failed attempts at the endpoint since this time, and reads the latest ones.
    pub(super) async fn failures_since(
        &self,
        endpoint: &Endpoint,
        since: Timestamp,
        now: Timestamp,
    ) -> StoreResult<Failures> {
        let page = Page { from: None, order: Order::Descending, limit: EXAMINED_MAX };
        let attempts = self.store().attempts_at_endpoint(&endpoint.application, &endpoint.id, page).await?;
        let counted = attempts_in(self.store(), &endpoint.id, &(since..now + Duration::from_secs(1))).await?;
        Ok(Failures::new(counted.fail, attempts.iter().filter(|attempt| attempt.at >= since)))
    }

    async fn send_mails(&self) -> StoreResult<()> {
        let Some(mailer) = &self.config().mailer else { return Ok(()) };
        let now = self.now();
        for WaitingMail { no, mail, tries } in self.store().claim_mails(now, now + queue::LEASE, BATCH_MAX).await? {
            let NewMail { recipient, subject, body, .. } = mail;
            let id = format!("alert-{no}");
            let mail = Mail { to: recipient, subject, text: body, id, ..Mail::default() };
            let Err(error) = mailer.send(&mail).await else {
                self.store().delete_mail(no).await?;
                continue;
            };
            match queue::pause_after(tries, &error) {
                Some(pause) => {
                    tracing::warn!(no, tries, %error, "a mail could not be sent and will be sent again");
                    self.store().postpone_mail(no, self.now() + pause).await?;
                }
                None => {
                    tracing::error!(no, tries, %error, "a mail could not be sent and was deleted");
                    self.store().delete_mail(no).await?;
                }
            }
        }
        Ok(())
    }
}

/// The failed attempts of a run of failures.
pub(super) struct Failures {
    /// Number of failed attempts.
    pub(super) count: u64,
    /// Cause of the latest one; none when it is no longer known.
    pub(super) latest_cause: Option<Cause>,
    any_succeeded: bool,
    any_fault_of_receiver: bool,
}

impl Failures {
    fn new<'a>(count: u64, newest_first: impl Iterator<Item = &'a Attempt>) -> Self {
        let mut failures = Self { count, latest_cause: None, any_succeeded: false, any_fault_of_receiver: false };
        for attempt in newest_first {
            match attempt.status {
                AttemptStatus::Fail => {
                    let cause = Cause::of(attempt);
                    failures.any_fault_of_receiver |= !cause.is_own_fault();
                    if failures.latest_cause.is_none() {
                        failures.latest_cause = Some(cause);
                    }
                }
                AttemptStatus::Success => failures.any_succeeded = true,
                AttemptStatus::Pending | AttemptStatus::Sending | AttemptStatus::Cancelled => {}
            }
        }
        failures
    }

    /// Whether owners need no alert: an attempt succeeded between the failures, or the provider caused all failures.
    pub(super) fn is_no_fault_of_receiver(&self) -> bool {
        self.any_succeeded || !self.any_fault_of_receiver
    }
}
