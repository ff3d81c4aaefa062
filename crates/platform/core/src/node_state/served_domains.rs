//! The domains of houses that this node serves. They are read from the store again when the last reading is two seconds old, so
//! that a second node and a proof that ended show within that time. While the store does not answer, the last reading stays.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::port::{ServedDomain, StoreResult};

/// How long a reading is used.
const VALID_FOR: Duration = Duration::from_secs(2);

/// The proven domains of houses, each with the address of its saleroom.
#[derive(Debug, Default)]
pub struct ServedDomains {
    by_domain: HashMap<String, ServedDomain>,
    by_address: HashMap<String, String>,
    by_customer: HashMap<Uuid, String>,
}

impl ServedDomains {
    /// What these rows name, without the domains that the server has for itself.
    pub(crate) fn of(rows: Vec<ServedDomain>, own_hosts: &[String]) -> Self {
        let mut domains = Self::default();
        for row in rows.into_iter().filter(|row| !own_hosts.contains(&row.domain)) {
            domains.by_address.insert(row.address.clone(), row.domain.clone());
            domains.by_customer.insert(row.customer, row.domain.clone());
            domains.by_domain.insert(row.domain.clone(), row);
        }
        domains
    }

    /// All domains.
    pub fn domains(&self) -> impl Iterator<Item = &str> {
        self.by_domain.keys().map(String::as_str)
    }

    /// The house that has a domain.
    pub fn house_at(&self, domain: &str) -> Option<&ServedDomain> {
        self.by_domain.get(domain)
    }

    /// The domain of the house whose saleroom has an address.
    pub fn of_address(&self, address: &str) -> Option<&str> {
        self.by_address.get(address).map(String::as_str)
    }

    /// The domain of a customer.
    pub fn of_customer(&self, customer: Uuid) -> Option<&str> {
        self.by_customer.get(&customer).map(String::as_str)
    }
}

/// The last reading of this node.
#[derive(Default)]
pub(crate) struct ServedDomainCache {
    last: Mutex<Option<(Instant, Arc<ServedDomains>)>>,
    /// One task reads the store; the others wait for its reading.
    reading: tokio::sync::Mutex<()>,
}

impl ServedDomainCache {
    /// The last reading, or another one when that is too old.
    pub(crate) async fn get<F>(&self, now: Instant, read: impl FnOnce() -> F) -> StoreResult<Arc<ServedDomains>>
    where
        F: Future<Output = StoreResult<ServedDomains>>,
    {
        if let Some(known) = self.valid(now) {
            return Ok(known);
        }
        let _reading = self.reading.lock().await;
        if let Some(known) = self.valid(now) {
            return Ok(known);
        }
        match (read().await, self.any()) {
            (Ok(domains), _) => {
                let domains = Arc::new(domains);
                *self.lock() = Some((now, Arc::clone(&domains)));
                Ok(domains)
            }
            (Err(_), Some(known)) => Ok(known),
            (Err(error), None) => Err(error),
        }
    }

    /// The next reading comes from the store: this node changed a domain.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    fn valid(&self, now: Instant) -> Option<Arc<ServedDomains>> {
        let last = self.lock();
        last.as_ref()
            .filter(|(at, _)| now.saturating_duration_since(*at) < VALID_FOR)
            .map(|(_, known)| Arc::clone(known))
    }

    fn any(&self) -> Option<Arc<ServedDomains>> {
        self.lock().as_ref().map(|(_, known)| Arc::clone(known))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Arc<ServedDomains>)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::StoreError;

    fn row(domain: &str) -> ServedDomain {
        ServedDomain { domain: domain.to_owned(), customer: Uuid::from_u128(1), address: "hartley".to_owned() }
    }

    #[tokio::test]
    async fn a_reading_is_used_for_two_seconds_and_while_the_store_is_silent() {
        let (cache, begin) = (ServedDomainCache::default(), Instant::now());
        let failed = || async { Err(StoreError::Unavailable("silent".to_owned())) };
        assert!(cache.get(begin, failed).await.is_err());
        let read = || async {
            Ok(ServedDomains::of(vec![row("bid.example.com"), row("own.example.com")], &["own.example.com".to_owned()]))
        };
        let domains = cache.get(begin, read).await.unwrap();
        assert_eq!(domains.house_at("bid.example.com").map(|house| house.address.as_str()), Some("hartley"));
        assert!(domains.house_at("own.example.com").is_none());
        let none = || async { Ok(ServedDomains::default()) };
        assert!(cache.get(begin + Duration::from_secs(1), none).await.unwrap().of_address("hartley").is_some());
        assert!(cache.get(begin + Duration::from_secs(9), failed).await.unwrap().of_address("hartley").is_some());
        assert!(cache.get(begin + Duration::from_secs(9), none).await.unwrap().of_address("hartley").is_none());
        cache.forget();
        assert!(
            cache.get(begin + Duration::from_secs(9), read).await.unwrap().of_customer(Uuid::from_u128(1)).is_some()
        );
    }
}
