//! Changes of what is configured as it was seen, lists of applications by their endpoints, and counts.

use std::ops::Range;

use ::provider::model::{Application, Endpoint, EventType, Id};
use ::provider::port::{
    ConfigurationStore, CountStore, EndpointCounts, Exclude, IdempotentAnswer, Page, StoreError, StoreResult,
};
use async_trait::async_trait;

use super::Memory;
use super::lists::key;
use crate::provider_codec::counted;

#[async_trait]
impl ConfigurationStore for Memory {
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        let config = &mut self.tables().config;
        check(config.application(&old.account, &old.id), &old)?;
        config.update_application(new)
    }

    async fn replace_endpoint(
        &self,
        old: Endpoint,
        new: Endpoint,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.config.check_answer(answer.as_ref())?;
        check(tables.config.endpoint(&old.application, &old.id), &old)?;
        tables.update_endpoint(new)?;
        tables.config.keep_answer(answer);
        Ok(())
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        let config = &mut self.tables().config;
        check(config.event_type(&old.account, &old.name), &old)?;
        config.put_event_type(new, None)
    }

    async fn put_event_types(&self, event_types: Vec<EventType>, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let config = &mut self.tables().config;
        config.check_answer(answer.as_ref())?;
        config.keep_answer(answer);
        for event_type in event_types {
            config.put_event_type(event_type, None)?;
        }
        Ok(())
    }

    async fn applications_except(
        &self,
        account: &str,
        exclude: &[Exclude],
        page: Page,
    ) -> StoreResult<Vec<Application>> {
        let config = &self.tables().config;
        let everything = Page { from: page.from.clone(), order: page.order, limit: usize::MAX };
        let mut found = config.applications(account, &everything);
        found.retain(|application| {
            let endpoints = config.snapshot(&application.id).map(|(_, endpoints)| endpoints).unwrap_or_default();
            exclude.iter().all(|exclude| is_shown(*exclude, &endpoints))
        });
        // The rows just before a key are those at the end.
        if matches!(page.from, Some(::provider::port::From::Before(_))) {
            found.drain(..found.len().saturating_sub(page.limit));
        }
        found.truncate(page.limit);
        Ok(found)
    }
}

#[async_trait]
impl CountStore for Memory {
    async fn endpoint_counts(
        &self,
        endpoint: &str,
        attempts: Range<Id>,
        messages: Range<Id>,
        limit: usize,
    ) -> StoreResult<Option<EndpointCounts>> {
        let work = &self.tables().work;
        let range = |ids: &Range<Id>| key(endpoint, &ids.start)..key(endpoint, &ids.end);
        let mut attempts_of = [0; 5];
        for (_, attempt) in work.attempts_at_endpoint.range(range(&attempts)) {
            attempts_of[attempt.status as usize] += 1;
        }
        let waiting = work.attempts_of_waiting(range(&messages));
        let untried = waiting.iter().filter(|attempts| **attempts == 0).count() as u64;
        let deliveries = [untried, waiting.len() as u64 - untried];
        let rows = attempts_of.iter().sum::<u64>().max(waiting.len() as u64);
        Ok((rows <= limit as u64).then(|| counted(attempts_of, deliveries)))
    }
}

fn check<T: PartialEq>(found: Option<T>, old: &T) -> StoreResult<()> {
    match found {
        None => Err(StoreError::NotFound),
        Some(found) if found == *old => Ok(()),
        Some(_) => Err(StoreError::Stale),
    }
}

fn is_shown(exclude: Exclude, endpoints: &[Endpoint]) -> bool {
    let is_play = |endpoint: &Endpoint| Exclude::PLAY_URLS.iter().any(|url| endpoint.url.starts_with(url));
    match exclude {
        Exclude::WithoutEndpoints => !endpoints.is_empty(),
        Exclude::OnlyDisabledEndpoints => endpoints.is_empty() || !endpoints.iter().all(|endpoint| endpoint.disabled),
        Exclude::OnlyPlayEndpoints => endpoints.is_empty() || !endpoints.iter().all(is_play),
    }
}
