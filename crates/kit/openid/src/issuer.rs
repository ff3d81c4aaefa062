//! The cached discovery document and keys of an issuer. Both are fetched when they are needed, and again when they are
//! an hour old. Keys are also fetched again for a token with an unknown key, at most once a minute, so that a rotation takes
//! effect at once and forged tokens cause few requests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kit_runtime::clock::SharedClock;
use openidconnect::core::{CoreJsonWebKey, CoreJsonWebKeySet};
use tokio::sync::Mutex;

use crate::issuer_client::IssuerClient;
use crate::metadata::Metadata;
use crate::settings::OpenIdSettings;

/// Age at which document and keys are fetched again.
const AGE_MAX: Duration = Duration::from_secs(3_600);
/// Least time between two requests for keys because of an unknown key.
const UNKNOWN_KEY_EVERY: Duration = Duration::from_secs(60);
/// Time after a failed request in which none is sent, so that an issuer that is down does not hold up every visitor.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The keys of an issuer.
pub(crate) type Keys = Arc<Vec<CoreJsonWebKey>>;

/// The issuer of a relying party.
pub(crate) struct Issuer {
    client: IssuerClient,
    clock: SharedClock,
    /// A request holds the lock, so that visitors who come together share it.
    metadata: Mutex<Cached<Arc<Metadata>>>,
    keys: Mutex<Cached<Keys>>,
    /// When the keys were last fetched because of an unknown key.
    asked_again: Mutex<Option<Instant>>,
}

/// A value with the moment at which it was fetched, and the last failure.
struct Cached<T> {
    value: Option<(T, Instant)>,
    failure: Option<(String, Instant)>,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { value: None, failure: None }
    }
}

impl<T: Clone> Cached<T> {
    /// The value, if it is younger than this, or the failure that was seen just now.
    fn current(&self, now: Instant, age_max: Duration) -> Option<Result<T, String>> {
        let age = |at: Instant| now.saturating_duration_since(at);
        match (&self.value, &self.failure) {
            (Some((value, at)), _) if age(*at) < age_max => Some(Ok(value.clone())),
            (_, Some((failure, at))) if age(*at) < RETRY_AFTER => Some(Err(failure.clone())),
            _ => None,
        }
    }

    fn put(&mut self, fetched: Result<T, String>, now: Instant) -> Result<T, String> {
        match &fetched {
            Ok(value) => *self = Self { value: Some((value.clone(), now)), failure: None },
            Err(failure) => self.failure = Some((failure.clone(), now)),
        }
        fetched
    }
}

impl Issuer {
    pub(crate) fn new(settings: &OpenIdSettings, clock: SharedClock) -> Self {
        let client = IssuerClient::new(settings);
        Self { client, clock, metadata: Mutex::default(), keys: Mutex::default(), asked_again: Mutex::default() }
    }

    pub(crate) fn client(&self) -> &IssuerClient {
        &self.client
    }

    /// The discovery document. The error is for the log.
    pub(crate) async fn metadata(&self, settings: &OpenIdSettings) -> Result<Arc<Metadata>, String> {
        let mut cached = self.metadata.lock().await;
        if let Some(known) = cached.current(self.clock.monotonic(), AGE_MAX) {
            return known;
        }
        let fetched = self.fetch_metadata(settings).await;
        cached.put(fetched, self.clock.monotonic())
    }

    async fn fetch_metadata(&self, settings: &OpenIdSettings) -> Result<Arc<Metadata>, String> {
        let url = settings.discovery_url().parse().map_err(|error| format!("the issuer's address: {error}"))?;
        let body = self.client.get(&url, None).await?;
        let metadata = Metadata::parse(&body, &settings.issuer, settings.client_secret.is_some())?;
        tracing::info!(issuer = settings.issuer, "read the discovery document of the issuer");
        Ok(Arc::new(metadata))
    }

    /// The keys, fetched at most an hour ago. The error is for the log.
    pub(crate) async fn keys(&self, metadata: &Metadata) -> Result<Keys, String> {
        self.keys_younger_than(metadata, AGE_MAX).await
    }

    /// The keys for a token whose key the known ones don't have: fetched again, if that was not done in the last minute.
    pub(crate) async fn keys_again(&self, metadata: &Metadata) -> Result<Keys, String> {
        let mut asked_again = self.asked_again.lock().await;
        let now = self.clock.monotonic();
        if !may_ask_again(*asked_again, now) {
            return self.keys(metadata).await;
        }
        *asked_again = Some(now);
        self.keys_younger_than(metadata, Duration::ZERO).await
    }

    async fn keys_younger_than(&self, metadata: &Metadata, age_max: Duration) -> Result<Keys, String> {
        let mut cached = self.keys.lock().await;
        if let Some(known) = cached.current(self.clock.monotonic(), age_max) {
            return known;
        }
        let fetched = self.client.get(&metadata.keys_url, None).await.and_then(|body| parse_keys(&body));
        cached.put(fetched, self.clock.monotonic())
    }
}

fn may_ask_again(last: Option<Instant>, now: Instant) -> bool {
    last.is_none_or(|last| now.saturating_duration_since(last) >= UNKNOWN_KEY_EVERY)
}

/// The keys of a key set. Keys of unknown kinds are left out.
pub(crate) fn parse_keys(body: &[u8]) -> Result<Keys, String> {
    let set: CoreJsonWebKeySet =
        serde_json::from_slice(body).map_err(|error| format!("the issuer's keys can't be read: {error}"))?;
    if set.keys().is_empty() {
        return Err("the issuer has no key of a known kind".to_owned());
    }
    Ok(Arc::new(set.keys().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_used_until_its_age_and_a_failure_is_not_repeated_at_once() {
        let (began, mut cached) = (Instant::now(), Cached::default());
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        assert_eq!(cached.current(at(0), AGE_MAX), None);
        cached.put(Err("down".to_owned()), at(0)).unwrap_err();
        assert_eq!(cached.current(at(1), AGE_MAX), Some(Err("down".to_owned())));
        assert_eq!(cached.current(at(2), AGE_MAX), None);
        cached.put(Ok(1), at(2)).unwrap();
        assert_eq!(cached.current(at(3_601), AGE_MAX), Some(Ok(1)));
        assert_eq!(cached.current(at(3_602), AGE_MAX), None);
        assert_eq!(cached.current(at(2), Duration::ZERO), None, "an unknown key asks for the present keys");
        cached.put(Err("down".to_owned()), at(62)).unwrap_err();
        assert_eq!(cached.current(at(63), AGE_MAX), Some(Ok(1)), "the known keys stay in use");
        assert!(may_ask_again(None, at(0)) && may_ask_again(Some(at(0)), at(60)));
        assert!(!may_ask_again(Some(at(0)), at(59)));
    }
}
