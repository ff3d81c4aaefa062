//! Writes the reports that are due, and the report to an address that was just confirmed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::notice::{Audience, Notice};
use super::report::{self, LISTED_MAX, Report, is_due};
use super::transition::Transition;
use crate::model::{Application, Id};
use crate::operational;
use crate::port::{
    AlertNotice, AlertRecipient, AlertReport, AlertScope, AlertStage, FailingEndpoint, NewMail, Order, StoreError,
    StoreResult, WaitingReport,
};
use crate::provider::Provider;

/// Applications of one round.
const REPORTS_MAX: usize = 1_000;
/// Failing endpoints of an application, or of an account, that a report counts.
const FAILING_MAX: usize = 10_000;

/// An endpoint of a report, before its failures are read.
struct Subject {
    failing: FailingEndpoint,
    transition: Transition,
}

impl Provider {
    /// Writes the reports that are due.
    pub(super) async fn report_alerts(&self, now: Timestamp) -> StoreResult<()> {
        if !self.sends_mail() {
            return Ok(());
        }
        for waiting in self.store().waiting_reports(REPORTS_MAX).await? {
            if !is_due(&waiting, now) {
                continue;
            }
            match self.report(waiting, now).await {
                // Another node reported it, or an endpoint got another notification meanwhile.
                Ok(()) | Err(StoreError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn report(&self, waiting: WaitingReport, now: Timestamp) -> StoreResult<()> {
        let WaitingReport { account, application, notices, .. } = waiting;
        let Some((snapshot, _)) = self.store().snapshot(&application).await? else { return Ok(()) };
        let scope = AlertScope { account: account.clone(), application: Some(application.clone()) };
        let failing = self.store().failing_in(&scope, Order::Ascending, FAILING_MAX).await?;
        let any_fails = !failing.is_empty();
        let mut subjects = self.noticed(&application, &notices, &failing).await?;
        let mut failing_too = Vec::new();
        // One outage is one mail: it lists the endpoints that began to fail later, too.
        if notices.iter().any(|notice| notice.stage == Some(AlertStage::Failing)) {
            failing_too = self.failing_too(failing, &notices, now).await?;
            let too = failing_too.iter().cloned();
            subjects.extend(too.map(|failing| Subject { failing, transition: Transition::Failing }));
        }
        let mut mails = Vec::new();
        if !subjects.is_empty() {
            let report = self.written(&snapshot, &subjects, LISTED_MAX, any_fails, now).await?;
            mails = self.mails(&account, &application, &report).await?;
        }
        self.store().record_report(AlertReport { notices, failing_too, application, mails, at: now }).await
    }

    /// The endpoints of the notices. Deleted endpoints are not reported.
    async fn noticed(
        &self,
        application: &str,
        notices: &[AlertNotice],
        failing: &[FailingEndpoint],
    ) -> StoreResult<Vec<Subject>> {
        let mut subjects = Vec::with_capacity(notices.len());
        for notice in notices {
            let transition = Transition::of(notice.stage);
            let known = failing.iter().find(|failing| failing.endpoint.id == notice.endpoint);
            let endpoint = match known {
                Some(failing) => Some(failing.endpoint.clone()),
                None => self.store().endpoint(application, &notice.endpoint).await?,
            };
            let since = notice.failing_since;
            subjects.extend(endpoint.map(|endpoint| Subject {
                failing: FailingEndpoint { endpoint, since, is_reported: false },
                transition,
            }));
        }
        Ok(subjects)
    }

    /// The other enabled endpoints that fail by a fault of their receivers, and that no mail has reported.
    async fn failing_too(
        &self,
        failing: Vec<FailingEndpoint>,
        notices: &[AlertNotice],
        now: Timestamp,
    ) -> StoreResult<Vec<FailingEndpoint>> {
        let mut too = Vec::new();
        for candidate in failing {
            let FailingEndpoint { endpoint, since, is_reported } = &candidate;
            let is_noticed = notices.iter().any(|notice| notice.endpoint == endpoint.id);
            if endpoint.disabled || *is_reported || is_noticed {
                continue;
            }
            if !self.failures_since(endpoint, *since, now).await?.is_no_fault_of_receiver() {
                too.push(candidate);
            }
        }
        Ok(too)
    }

    /// The report about these endpoints, with at most `listed_max` of them in its tables.
    async fn written<'a>(
        &'a self,
        application: &'a Application,
        subjects: &'a [Subject],
        listed_max: usize,
        any_fails: bool,
        now: Timestamp,
    ) -> StoreResult<Report<'a>> {
        let mut counts: BTreeMap<Transition, usize> = BTreeMap::new();
        for subject in subjects {
            *counts.entry(subject.transition).or_default() += 1;
        }
        let mut listed: Vec<&Subject> = subjects.iter().collect();
        listed.sort_by_key(|subject| (subject.transition, subject.failing.since));
        listed.truncate(listed_max);
        let mut notices = Vec::with_capacity(listed.len());
        for Subject { failing: FailingEndpoint { endpoint, since, .. }, transition } in listed {
            notices.push(Notice {
                transition: *transition,
                application,
                endpoint,
                since: *since,
                failures: self.failures_since(endpoint, *since, now).await?,
                disable_after: self.alert_schedule().disable_after,
                public_url: &self.config().public_url,
            });
        }
        Ok(Report { application, notices, counts, any_fails, public_url: &self.config().public_url })
    }

    /// Queues a mail about what fails now to an address that was just confirmed. Returns the number of endpoints.
    pub(super) async fn report_what_fails(&self, recipient: &AlertRecipient, now: Timestamp) -> StoreResult<usize> {
        let AlertRecipient { scope, address, .. } = recipient;
        let mut applications: BTreeMap<Id, Vec<Subject>> = BTreeMap::new();
        let failing = self.store().failing_in(scope, Order::Ascending, FAILING_MAX).await?;
        let count = failing.len();
        for failing in failing {
            let transition = if failing.endpoint.disabled { Transition::Disabled } else { Transition::Failing };
            let subjects = applications.entry(failing.endpoint.application.clone()).or_default();
            subjects.push(Subject { failing, transition });
        }
        let mut snapshots = Vec::with_capacity(applications.len());
        for (application, subjects) in applications {
            snapshots.extend(self.store().snapshot(&application).await?.map(|(snapshot, _)| (snapshot, subjects)));
        }
        let mut reports = Vec::with_capacity(snapshots.len());
        let mut room = LISTED_MAX;
        for (application, subjects) in &snapshots {
            let report = self.written(application, subjects, room, true, now).await?;
            room -= report.notices.len().min(room);
            reports.push(report);
        }
        if count > 0 {
            let audience = if scope.application.is_some() { Audience::Application } else { Audience::Account };
            let body = report::what_fails(&reports, audience, &self.config().public_url);
            let subject = report::what_fails_subject(count);
            let mail = NewMail { account: scope.account.clone(), recipient: address.clone(), subject, body };
            self.store().queue_mail(mail, now).await?;
        }
        Ok(count)
    }

    /// One mail to each confirmed address of the account and of the application. An address in both lists receives only
    /// the account's mail.
    async fn mails(&self, account: &str, application: &Id, report: &Report<'_>) -> StoreResult<Vec<NewMail>> {
        // The owner of an operational endpoint is the account that it reports to.
        let account: Id = operational::owner(account).into();
        let scopes = [(Audience::Account, None), (Audience::Application, Some(application.clone()))];
        let mut mails: Vec<NewMail> = Vec::new();
        for (audience, application) in scopes {
            let scope = AlertScope { account: account.clone(), application };
            for recipient in self.store().alert_recipients(&scope).await? {
                let is_new = mails.iter().all(|mail| !mail.recipient.eq_ignore_ascii_case(&recipient.address));
                if recipient.confirmed_at.is_some() && is_new {
                    let (subject, body) = (report.subject(), report.text(audience));
                    mails.push(NewMail { account: account.clone(), recipient: recipient.address, subject, body });
                }
            }
        }
        Ok(mails)
    }
}
