//! Operational events: written with what they are about.

use ::provider::model::{Endpoint, Id};
use ::provider::operational::events::{DisabledBy, Happening, Subject};
use ::provider::operational::hidden_account;
use ::provider::port::{
    AttemptRecord, EndpointEffect, IdempotentAnswer, Notice, OperationalEvent, OperationalStore, StoreResult,
};
use async_trait::async_trait;

use super::{Memory, Tables};

/// Events that are not settled, in order.
#[derive(Default)]
pub(super) struct Told {
    last_no: i64,
    events: Vec<OperationalEvent>,
}

#[async_trait]
impl OperationalStore for Memory {
    async fn operational_events(&self, limit: usize) -> StoreResult<Vec<OperationalEvent>> {
        Ok(self.tables().told.events.iter().take(limit).cloned().collect())
    }

    async fn settle_operational_events(&self, numbers: Vec<i64>) -> StoreResult<()> {
        self.tables().told.events.retain(|event| !numbers.contains(&event.no));
        Ok(())
    }
}

impl Tables {
    /// Writes what happened to an endpoint, if its account listens.
    pub(super) fn tell(
        &mut self,
        application: &str,
        endpoint: &str,
        endpoint_uid: Option<&str>,
        happening: Happening<'_>,
    ) {
        let listener = self.listener(application);
        self.tell_listener(&listener, application, endpoint, endpoint_uid, happening);
    }

    fn tell_listener(
        &mut self,
        listener: &Option<(Id, Option<String>)>,
        application: &str,
        endpoint: &str,
        endpoint_uid: Option<&str>,
        happening: Happening<'_>,
    ) {
        let Some((account, uid)) = listener else { return };
        let subject = Subject { application, application_uid: uid.as_deref(), endpoint, endpoint_uid };
        let Some((event_type, payload)) = happening.message(subject) else { return };
        self.told.last_no += 1;
        let no = self.told.last_no;
        let event = OperationalEvent {
            no,
            account: account.clone(),
            event_type: event_type.to_owned(),
            payload: payload.into(),
        };
        self.told.events.push(event);
    }

    pub(super) fn create_endpoint(&mut self, new: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.config.create_endpoint(new.clone(), answer)?;
        self.tell(&new.application, &new.id, new.uid.as_deref(), Happening::Created);
        Ok(())
    }

    pub(super) fn update_endpoint(&mut self, new: Endpoint) -> StoreResult<()> {
        let was_disabled = self.config.endpoint(&new.application, &new.id).is_some_and(|old| old.disabled);
        self.config.update_endpoint(new.clone())?;
        self.tell(&new.application, &new.id, new.uid.as_deref(), Happening::Updated);
        if new.disabled && !was_disabled {
            let disabled = Happening::Disabled { fail_since: new.failing_since, by: DisabledBy::Hand };
            self.tell(&new.application, &new.id, new.uid.as_deref(), disabled);
        }
        Ok(())
    }

    pub(super) fn delete_endpoint(&mut self, application: &str, id: &str) -> bool {
        let uid = self.config.endpoint(application, id).and_then(|endpoint| endpoint.uid);
        if !self.config.delete_endpoint(application, id) {
            return false;
        }
        self.work.drop_endpoint(id);
        self.tell(application, id, uid.as_deref(), Happening::Deleted);
        true
    }

    pub(super) fn delete_application(&mut self, account: &str, id: &str) -> bool {
        // Whether its account listens can't be told when it is gone.
        let listener = self.listener(id);
        let Some(endpoints) = self.config.delete_application(account, id) else { return false };
        for endpoint in endpoints {
            self.work.drop_endpoint(&endpoint.id);
            self.tell_listener(&listener, id, &endpoint.id, endpoint.uid.as_deref(), Happening::Deleted);
        }
        true
    }

    /// Keeps a finished attempt with all that follows from it.
    pub(super) fn record(&mut self, record: AttemptRecord) {
        let attempt = &record.attempt;
        let disables = record.endpoint == EndpointEffect::Disable;
        let old = if disables { self.config.endpoint(&attempt.application, &attempt.endpoint) } else { None };
        self.config.take_effect(&record);
        if let Some(old) = old.filter(|old| !old.disabled) {
            let fail_since = old.failing_since.or(Some(attempt.at));
            let disabled = Happening::Disabled { fail_since, by: DisabledBy::Failures };
            self.tell(&attempt.application, &attempt.endpoint, old.uid.as_deref(), disabled);
        }
        self.tell_notice(&record);
        self.work.record(record);
    }

    /// Writes what an attempt gives notice of.
    pub(super) fn tell_notice(&mut self, record: &AttemptRecord) {
        if record.notice == Notice::None {
            return;
        }
        let attempt = &record.attempt;
        let event_id = self.message(&attempt.application, &attempt.message).and_then(|message| message.event_id);
        let happening = Happening::Attempt { notice: record.notice, attempt, event_id: event_id.as_deref() };
        self.tell(&attempt.application, &attempt.endpoint, None, happening);
    }

    /// The application's account, if it has an operational application, and the application's uid.
    fn listener(&self, application: &str) -> Option<(Id, Option<String>)> {
        let application = self.config.application_by_id(application)?;
        let hidden = hidden_account(&application.account);
        let page = ::provider::port::Page { limit: 1, ..Default::default() };
        let listens = !self.config.applications(&hidden, &page).is_empty();
        listens.then(|| (application.account.clone(), application.uid.clone()))
    }
}
