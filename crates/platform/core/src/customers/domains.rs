//! Domains of houses' own: a house enters one, a DNS record proves it, and the saleroom stands there while the record exists.
//!
//! The record is looked up when staff ask for it, and once a day after that. A record that is missing for three days ends the proof.
//! A name server that does not answer for two weeks ends it, too. A domain is proven for one house at a time: another house gets it with
//! its own record, once the record of the first house does not exist any more.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use kit_runtime::signal::Signal;
use kit_runtime::tasks::Tasks;
use url::Url;
use uuid::Uuid;

use super::domain_name;
use crate::error::{PlatformError, PlatformResult};
use crate::node_state::worker_runs::Worker;
use crate::port::{Customer, DomainCheck, DomainFinding, DomainTrouble, HouseDomain, StoreError, Versioned};
use crate::steps::decide::expect_version;
use crate::{Caller, Platform, Scope};

pub use crate::node_state::served_domains::ServedDomains;

/// Time between two look-ups of the record of a proven domain, and after one without an answer.
const CHECKED_EVERY: Duration = Duration::from_secs(24 * 3_600);
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(3_600);
/// How long the record of a proven domain may be missing.
const MISSING_MAX: SignedDuration = SignedDuration::from_hours(3 * 24);
/// How long the name server of a proven domain may be silent.
const SILENT_MAX: SignedDuration = SignedDuration::from_hours(14 * 24);
/// Records that are looked up in one run.
const CHECKS_MAX: usize = 20;
/// Domains that a node serves.
const SERVED_MAX: usize = 10_000;
/// Domains with a trouble that are listed.
const TROUBLED_MAX: usize = 100;
/// Bytes of a token.
const TOKEN_BYTES: usize = 20;

impl HouseDomain {
    /// The domain after a look-up at a time.
    fn after(&self, finding: DomainFinding, now: Timestamp) -> Self {
        let mut next = Self { version: self.version + 1, ..self.clone() };
        let is_missing = matches!(finding, DomainFinding::NoRecord | DomainFinding::OtherValues(_));
        match finding {
            DomainFinding::Proof => {
                next.proven_at.get_or_insert(now);
                (next.missing_since, next.unanswered_since, next.lost_at) = (None, None, None);
            }
            DomainFinding::Unanswered(_) if self.proven_at.is_some() => {
                next.unanswered_since.get_or_insert(now);
            }
            DomainFinding::NoRecord | DomainFinding::OtherValues(_) if self.proven_at.is_some() => {
                next.missing_since.get_or_insert(now);
                next.unanswered_since = None;
            }
            _ => {}
        }
        let is_lost = match finding {
            DomainFinding::Unanswered(_) => {
                next.unanswered_since.is_some_and(|since| now.duration_since(since) >= SILENT_MAX)
            }
            _ => next.missing_since.is_some_and(|since| now.duration_since(since) >= MISSING_MAX),
        };
        if is_lost {
            next = next.lost(now);
        }
        let pause = if is_missing || finding == DomainFinding::Proof { CHECKED_EVERY } else { ASKED_AGAIN_AFTER };
        next.due_at = next.proven_at.map(|_| now + pause);
        next.last_check = Some(DomainCheck { at: now, finding });
        next
    }

    /// The domain without its proof.
    fn lost(self, now: Timestamp) -> Self {
        Self { proven_at: None, missing_since: None, unanswered_since: None, due_at: None, lost_at: Some(now), ..self }
    }

    /// When a proven domain stops being served if nothing changes; none without a trouble.
    pub fn served_until(&self) -> Option<Timestamp> {
        match self.trouble()? {
            DomainTrouble::RecordMissing(since) => Some(since + MISSING_MAX),
            DomainTrouble::Unanswered(since) => Some(since + SILENT_MAX),
            DomainTrouble::Lost(_) => None,
        }
    }
}

impl Platform {
    /// The domain that a house entered.
    ///
    /// Errors: `not_found` (customer).
    pub async fn house_domain(&self, caller: &Caller, customer: Uuid) -> PlatformResult<Option<HouseDomain>> {
        caller.require(Scope::CustomersRead)?;
        let customer = self.visible_customer(caller, customer).await?;
        Ok(self.store().house_domain(customer.uuid).await?)
    }

    /// Enters the domain of a house, or removes it when the text is empty. Another domain than before is not proven, and the one
    /// before it stops being served.
    ///
    /// Errors: `not_found` (customer), `precondition_failed`, `invalid`, `busy`.
    pub async fn enter_house_domain(
        &self,
        caller: &Caller,
        customer: Uuid,
        typed: &str,
        expected_version: Option<i64>,
    ) -> PlatformResult<Option<HouseDomain>> {
        caller.require(Scope::CustomersWrite)?;
        let before = self.house_domain(caller, customer).await?;
        let version = before.as_ref().map_or(0, |before| before.version);
        expect_version(expected_version, version)?;
        if typed.trim().is_empty() {
            if before.is_some() {
                self.store().delete_house_domain(customer, version).await.map_err(busy)?;
                self.served_domain_cache().forget();
                tracing::info!(%customer, by = caller.actor, "the domain of a house was removed");
            }
            return Ok(None);
        }
        let domain = domain_name::parse(typed).map_err(|message| PlatformError::invalid("/domain", message))?;
        if self.own_hosts().contains(&domain) {
            return Err(PlatformError::invalid("/domain", "is a host of this server: enter another one"));
        }
        if before.as_ref().is_some_and(|before| before.domain == domain) {
            return Ok(before);
        }
        let mut token = [0; TOKEN_BYTES];
        self.random().fill(&mut token);
        let state = HouseDomain {
            customer,
            domain,
            token: URL_SAFE_NO_PAD.encode(token),
            proven_at: None,
            missing_since: None,
            unanswered_since: None,
            lost_at: None,
            last_check: None,
            due_at: None,
            actor: caller.actor.clone(),
            version: version + 1,
        };
        let entry = Versioned { expected_version: version, state: state.clone() };
        self.store().put_house_domains(vec![entry]).await.map_err(busy)?;
        self.served_domain_cache().forget();
        tracing::info!(%customer, domain = state.domain, by = caller.actor, "a house entered a domain");
        Ok(Some(state))
    }

    /// Looks up the record of a house's domain. The result has the finding.
    ///
    /// Errors: `not_found` (customer, domain), `busy`.
    pub async fn check_house_domain(&self, caller: &Caller, customer: Uuid) -> PlatformResult<HouseDomain> {
        caller.require(Scope::CustomersWrite)?;
        let domain = self.house_domain(caller, customer).await?.ok_or(PlatformError::NotFound("domain"))?;
        self.check_domain(domain).await
    }

    /// Domains with a trouble, and their customers.
    pub async fn troubled_domains(&self, caller: &Caller) -> PlatformResult<Vec<(Customer, HouseDomain)>> {
        caller.require(Scope::CustomersRead)?;
        let mut troubled = Vec::new();
        for domain in self.store().troubled_domains(TROUBLED_MAX).await? {
            if caller.customer.is_none_or(|own| own == domain.customer)
                && let Some(customer) = self.store().customer(domain.customer).await?
            {
                troubled.push((customer, domain));
            }
        }
        Ok(troubled)
    }

    /// The domains at which salerooms stand now. A change by another node shows within two seconds.
    pub async fn served_domains(&self) -> PlatformResult<Arc<ServedDomains>> {
        if self.config().saleroom_url.is_none() {
            return Ok(Arc::default());
        }
        let read = || async {
            let rows = self.store().served_domains(SERVED_MAX).await?;
            Ok(ServedDomains::of(rows, &self.own_hosts()))
        };
        Ok(self.served_domain_cache().get(self.clock().monotonic(), read).await?)
    }

    /// Base URL of the pages of a customer: that of all salerooms, or with the customer's own domain. None without salerooms.
    pub async fn saleroom_base(&self, customer: Uuid) -> PlatformResult<Option<String>> {
        let Some(shared) = self.config().saleroom_url.as_deref() else { return Ok(None) };
        let domains = self.served_domains().await?;
        Ok(Some(match domains.of_customer(customer) {
            Some(domain) => base_at(shared, domain),
            None => shared.trim_end_matches('/').to_owned(),
        }))
    }

    /// Looks up the records that are due.
    pub async fn recheck_domains(&self) -> PlatformResult<()> {
        let due = self.store().domains_due(self.now(), CHECKS_MAX).await?;
        for checked in join_all(due.into_iter().map(|domain| self.check_domain(domain))).await {
            match checked {
                // Another node looked it up, or staff changed it.
                Ok(_) | Err(PlatformError::Busy) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(crate) fn spawn_domain_checks(&self, tasks: &Tasks) {
        if self.config().saleroom_url.is_none() {
            return;
        }
        let platform = self.clone();
        tasks.spawn("domains of houses", move |stopping| {
            let platform = platform.clone();
            async move {
                let (signal, failure) = (Signal::new(), "domains of houses could not be checked");
                platform.run_worker(stopping, (Worker::Domains, &signal), failure, || platform.recheck_domains()).await;
            }
        });
    }

    async fn check_domain(&self, before: HouseDomain) -> PlatformResult<HouseDomain> {
        let values = self.config().txt_records.look_up(&before.record_name()).await;
        let now = self.now();
        let mut finding = match &values {
            Ok(values) => before.finding(values),
            Err(error) => DomainFinding::Unanswered(error.to_string()),
        };
        let mut writes = Vec::new();
        if finding == DomainFinding::Proof && before.proven_at.is_none() {
            let holder = self.store().proven_domain(&before.domain).await?;
            match holder.filter(|holder| holder.customer != before.customer) {
                Some(holder) if holder.is_proof(values.as_deref().unwrap_or_default()) => {
                    finding = DomainFinding::HeldByOther;
                }
                Some(holder) => {
                    tracing::warn!(
                        domain = holder.domain, customer = %holder.customer, other = %before.customer,
                        "another house proved a domain: it stops being that of the first"
                    );
                    let expected_version = holder.version;
                    let lost = HouseDomain { version: expected_version + 1, ..holder.lost(now) };
                    writes.push(Versioned { expected_version, state: lost });
                }
                None => {}
            }
        }
        let after = before.after(finding, now);
        writes.push(Versioned { expected_version: before.version, state: after.clone() });
        self.store().put_house_domains(writes).await.map_err(busy)?;
        self.served_domain_cache().forget();
        log(&before, &after);
        Ok(after)
    }

    /// Hosts of this server's own, which no house can have.
    fn own_hosts(&self) -> Vec<String> {
        let config = self.config();
        let urls = config.saleroom_url.iter().chain(&config.other_public_urls);
        urls.filter_map(|url| domain_name::host_of(url)).collect()
    }
}

/// The base URL of all salerooms with the host of a house.
pub fn base_at(shared: &str, domain: &str) -> String {
    let Ok(mut url) = Url::parse(shared) else { return shared.to_owned() };
    // A domain is a valid host.
    let _ = url.set_host(Some(domain));
    url.as_str().trim_end_matches('/').to_owned()
}

fn log(before: &HouseDomain, after: &HouseDomain) {
    let (domain, customer) = (after.domain.as_str(), after.customer);
    if before.proven_at.is_none() && after.proven_at.is_some() {
        tracing::info!(domain, %customer, "the domain of a house is proven: its saleroom stands there");
    } else if before.proven_at.is_some() && after.proven_at.is_none() {
        tracing::warn!(
            domain, %customer,
            "the record of a house's domain was missing for three days, or its name server silent for two weeks: the saleroom stands \
             at the shared host again"
        );
    } else if before.missing_since.is_none() && after.missing_since.is_some() {
        tracing::warn!(
            domain, %customer, record = after.record_name(),
            "the record of a house's domain is missing: after three days the domain stops being served"
        );
    } else if before.unanswered_since.is_none() && after.unanswered_since.is_some() {
        tracing::warn!(
            domain, %customer, record = after.record_name(),
            "the name server of a house's domain does not answer: after two weeks the domain stops being served"
        );
    }
}

/// Another change came first, or another house proved the domain at the same time.
fn busy(error: StoreError) -> PlatformError {
    match error {
        StoreError::Conflict | StoreError::Taken(_) => PlatformError::Busy,
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn entered() -> HouseDomain {
        HouseDomain {
            customer: Uuid::from_u128(1),
            domain: "bid.example.com".to_owned(),
            token: "abc".to_owned(),
            proven_at: None,
            missing_since: None,
            unanswered_since: None,
            lost_at: None,
            last_check: None,
            due_at: None,
            actor: "user:1".to_owned(),
            version: 1,
        }
    }

    #[test]
    fn a_proof_ends_after_its_record_was_missing_for_three_days() {
        let proven = entered().after(DomainFinding::Proof, at(0));
        assert_eq!((proven.proven_at, proven.due_at, proven.version), (Some(at(0)), Some(at(24)), 2));
        let missing = proven.after(DomainFinding::NoRecord, at(24));
        assert_eq!((missing.missing_since, missing.served_until()), (Some(at(24)), Some(at(96))));
        // One look-up without an answer neither ends the proof nor the time.
        let silent = missing.after(DomainFinding::Unanswered("timed out".to_owned()), at(100));
        assert_eq!((silent.proven_at, silent.due_at), (Some(at(0)), Some(at(101))));
        let almost = silent.after(DomainFinding::OtherValues(vec!["x".to_owned()]), at(95));
        assert!(almost.proven_at.is_some() && almost.trouble() == Some(DomainTrouble::RecordMissing(at(24))));
        let found = almost.after(DomainFinding::Proof, at(95));
        assert_eq!((found.proven_at, found.missing_since, found.trouble()), (Some(at(0)), None, None));
        let lost = almost.after(DomainFinding::NoRecord, at(96));
        assert_eq!((lost.proven_at, lost.lost_at, lost.due_at), (None, Some(at(96)), None));
        assert_eq!(lost.trouble(), Some(DomainTrouble::Lost(at(96))));
        assert_eq!(lost.after(DomainFinding::Proof, at(97)).trouble(), None);
    }

    #[test]
    fn a_proof_ends_after_its_name_server_was_silent_for_two_weeks() {
        let silent = || DomainFinding::Unanswered("timed out".to_owned());
        let proven = entered().after(DomainFinding::Proof, at(0));
        let first = proven.after(silent(), at(24));
        assert_eq!((first.trouble(), first.served_until(), first.due_at), (None, None, Some(at(25))));
        let day = first.after(silent(), at(48));
        let until = at(24 + 14 * 24);
        assert_eq!((day.trouble(), day.served_until()), (Some(DomainTrouble::Unanswered(at(24))), Some(until)));
        assert_eq!(day.after(DomainFinding::Proof, at(49)).trouble(), None);
        // An answer without the record begins the three days.
        let missing = day.after(DomainFinding::NoRecord, at(49));
        assert_eq!((missing.unanswered_since, missing.served_until()), (None, Some(at(49 + 72))));
        let lost = day.after(silent(), until);
        assert_eq!((lost.proven_at, lost.trouble(), lost.due_at), (None, Some(DomainTrouble::Lost(until)), None));
    }

    #[test]
    fn a_domain_that_is_not_proven_is_looked_up_by_staff_only() {
        for finding in [DomainFinding::NoRecord, DomainFinding::HeldByOther, DomainFinding::Unanswered(String::new())] {
            let checked = entered().after(finding.clone(), at(1));
            assert_eq!((checked.proven_at, checked.due_at, checked.trouble()), (None, None, None));
            assert_eq!(checked.last_check, Some(DomainCheck { at: at(1), finding }));
        }
    }

    #[test]
    fn the_value_of_the_record_is_compared_as_a_whole() {
        let domain = entered();
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        assert_eq!(domain.finding(&values(&[])), DomainFinding::NoRecord);
        assert_eq!(domain.finding(&values(&["v=spf1", "lotwire-house=abc"])), DomainFinding::Proof);
        for other in ["lotwire-house=ab", "lotwire-house=abcd", "abc", "LOTWIRE-HOUSE=abc", ""] {
            assert_eq!(domain.finding(&values(&[other])), DomainFinding::OtherValues(values(&[other])));
        }
        let long = "x".repeat(500);
        let found = domain.finding(&values(&[&long, "a\u{1b}[b", "c", "d"]));
        assert_eq!(found, DomainFinding::OtherValues(values(&[&"x".repeat(100), "a\u{fffd}[b", "c"])));
    }

    #[test]
    fn a_house_has_its_own_host_with_the_scheme_and_port_of_all_salerooms() {
        for (shared, expected) in [
            ("https://bid.example.org", "https://own.example.com"),
            ("https://bid.example.org/", "https://own.example.com"),
            ("http://saleroom.localhost:8073", "http://own.example.com:8073"),
            ("https://bid.example.org/sales/", "https://own.example.com/sales"),
        ] {
            assert_eq!(base_at(shared, "own.example.com"), expected);
        }
    }
}
