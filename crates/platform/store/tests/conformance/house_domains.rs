//! Domains of houses: one of each house, proven for one house at a time, by records that two nodes look up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit_outbound::{TxtError, TxtFuture, TxtRecords};
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Vault};
use platform_core::port::{
    DomainCheck, DomainFinding, DomainTrouble, HouseDomain, HouseSaleroom, ServedDomain, StoreError, Versioned,
};
use platform_core::provider_access::ProviderAccess;
use platform_core::{Caller, Platform, PlatformConfig, PlatformError, PlatformParts};
use uuid::Uuid;

use super::given::{Shared, at, customer_uuid};

const HOUR: Duration = Duration::from_secs(3_600);

fn domain(customer: usize, version: i64) -> HouseDomain {
    HouseDomain {
        customer: customer_uuid(customer),
        domain: "bid.example.com".into(),
        token: "a'b\"c".into(),
        proven_at: None,
        missing_since: None,
        unanswered_since: None,
        lost_at: None,
        last_check: Some(DomainCheck { at: at(9), finding: DomainFinding::OtherValues(vec!["'größe\\\"".into()]) }),
        due_at: None,
        actor: "user:1".into(),
        version,
    }
}

fn proven(customer: usize, version: i64) -> HouseDomain {
    HouseDomain { proven_at: Some(at(10)), due_at: Some(at(100)), ..domain(customer, version) }
}

fn entry(state: &HouseDomain) -> Versioned<HouseDomain> {
    Versioned { expected_version: state.version - 1, state: state.clone() }
}

pub(super) async fn a_domain_is_proven_for_one_house_at_a_time(store: Shared) {
    let put = async |states: &[HouseDomain]| store.put_house_domains(states.iter().map(entry).collect()).await;
    put(&[domain(1, 1)]).await.unwrap();
    assert_eq!(store.house_domain(customer_uuid(1)).await.unwrap(), Some(domain(1, 1)));
    assert!(matches!(put(&[domain(1, 1)]).await, Err(StoreError::Conflict)), "it exists");
    assert!(matches!(put(&[domain(2, 2)]).await, Err(StoreError::Conflict)), "it does not exist");
    put(&[domain(2, 1)]).await.unwrap();
    assert_eq!(store.proven_domain("bid.example.com").await.unwrap(), None);

    put(&[proven(1, 2)]).await.unwrap();
    assert_eq!(store.proven_domain("bid.example.com").await.unwrap(), Some(proven(1, 2)));
    assert!(matches!(put(&[proven(2, 2)]).await, Err(StoreError::Taken("domain"))));
    let due = async |now| store.domains_due(at(now), 10).await.unwrap().len();
    assert_eq!((due(99).await, due(100).await), (0, 1));

    // The house that loses it and the one that proves it change together or not at all.
    let lost = HouseDomain { lost_at: Some(at(20)), ..domain(1, 3) };
    let stale = HouseDomain { version: 7, ..proven(2, 2) };
    assert!(matches!(put(&[lost.clone(), stale]).await, Err(StoreError::Conflict)));
    assert_eq!(store.proven_domain("bid.example.com").await.unwrap(), Some(proven(1, 2)));
    put(&[lost.clone(), proven(2, 2)]).await.unwrap();
    assert_eq!(store.proven_domain("bid.example.com").await.unwrap(), Some(proven(2, 2)));
    assert_eq!(store.troubled_domains(10).await.unwrap(), [lost]);

    assert!(matches!(store.delete_house_domain(customer_uuid(1), 2).await, Err(StoreError::Conflict)));
    store.delete_house_domain(customer_uuid(1), 3).await.unwrap();
    assert_eq!(store.house_domain(customer_uuid(1)).await.unwrap(), None);
    assert_eq!(store.served_domains(10).await.unwrap(), [], "the saleroom has no address");
}

/// Text records that a test decides.
#[derive(Debug, Default)]
struct Zone(Mutex<HashMap<String, Result<Vec<String>, TxtError>>>);

impl Zone {
    fn set(&self, name: &str, values: Result<&[&str], TxtError>) {
        let values = values.map(|values| values.iter().map(|value| (*value).to_owned()).collect());
        self.0.lock().unwrap().insert(name.to_owned(), values);
    }
}

impl TxtRecords for Zone {
    fn look_up<'a>(&'a self, name: &'a str) -> TxtFuture<'a> {
        let values = self.0.lock().unwrap().get(name).cloned().unwrap_or_else(|| Ok(Vec::new()));
        Box::pin(async move { values })
    }
}

/// Two nodes with one zone, and two houses whose salerooms have addresses.
struct Installation {
    clock: TestClock,
    zone: Arc<Zone>,
    nodes: [Platform; 2],
    caller: Caller,
    houses: [Uuid; 2],
}

impl Installation {
    async fn on(store: &Shared) -> Self {
        let (clock, zone, caller) = (TestClock::default(), Arc::new(Zone::default()), Caller::command_line());
        let node = |seed| {
            let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
            Platform::new(PlatformParts {
                store: store.clone(),
                clock: Arc::new(clock.clone()),
                random: Arc::new(SeededRandom::new(seed)),
                vault: Arc::new(vault),
                providers: ProviderAccess::unfiltered(),
                config: PlatformConfig {
                    saleroom_url: Some("https://bid.example.org".to_owned()),
                    other_public_urls: vec!["https://auctions.example.org:8443".to_owned()],
                    txt_records: zone.clone(),
                    ..PlatformConfig::default()
                },
            })
        };
        let nodes = [node(1), node(2)];
        let mut houses = [Uuid::nil(); 2];
        for (house, address) in houses.iter_mut().zip(["hartley", "other"]) {
            *house = nodes[0].create_customer(&caller, address, None).await.unwrap().fresh().unwrap().uuid;
            let saleroom = HouseSaleroom { address: Some(address.to_owned()), ..HouseSaleroom::default() };
            nodes[0].change_saleroom(&caller, *house, saleroom, None).await.unwrap();
        }
        Self { clock, zone, nodes, caller, houses }
    }

    async fn enter(&self, house: usize, typed: &str) -> Result<Option<HouseDomain>, PlatformError> {
        self.nodes[0].enter_house_domain(&self.caller, self.houses[house], typed, None).await
    }

    async fn check(&self, house: usize) -> DomainFinding {
        let checked = self.nodes[0].check_house_domain(&self.caller, self.houses[house]).await.unwrap();
        checked.last_check.unwrap().finding
    }

    /// The address of the saleroom that both nodes serve at the domain.
    async fn served(&self) -> Option<String> {
        // Readings are two seconds old at most.
        self.clock.advance(Duration::from_secs(2));
        let mut found = Vec::new();
        for node in &self.nodes {
            let domains = node.served_domains().await.unwrap();
            found.push(domains.house_at("own.example.com").map(|house| house.address.clone()));
        }
        assert_eq!(found[0], found[1]);
        found.remove(0)
    }
}

pub(super) async fn a_record_proves_a_domain_until_it_is_missing_for_three_days(store: Shared) {
    let installation = Installation::on(&store).await;
    for refused in ["bid.example.org", "Auctions.example.org", "127.0.0.1", "hartley.localhost"] {
        assert!(matches!(installation.enter(0, refused).await, Err(PlatformError::Invalid(_))), "{refused}");
    }
    let entered = installation.enter(0, "Own.Example.com").await.unwrap().unwrap();
    assert_eq!(entered.record_name(), "_lotwire.own.example.com");
    let (name, value) = (entered.record_name(), entered.record_value());
    assert_eq!(installation.check(0).await, DomainFinding::NoRecord);
    assert_eq!(installation.served().await, None);
    installation.zone.set(&name, Ok(&["v=spf1 -all", &value]));
    assert_eq!(installation.check(0).await, DomainFinding::Proof);
    assert_eq!(installation.served().await.as_deref(), Some("hartley"));
    let expected =
        ServedDomain { domain: "own.example.com".into(), customer: installation.houses[0], address: "hartley".into() };
    assert_eq!(store.served_domains(10).await.unwrap(), [expected]);
    let base = installation.nodes[1].saleroom_base(installation.houses[0]).await.unwrap();
    assert_eq!(base.as_deref(), Some("https://own.example.com"));

    // A silent name server ends nothing for two weeks, and is a trouble after a day.
    installation.zone.set(&name, Err(TxtError::TimedOut));
    for _ in 0..10 {
        installation.clock.advance(HOUR * 24);
        installation.nodes[1].recheck_domains().await.unwrap();
    }
    assert_eq!(installation.served().await.as_deref(), Some("hartley"));
    let troubled = installation.nodes[0].troubled_domains(&installation.caller).await.unwrap();
    assert!(matches!(troubled[0].1.trouble(), Some(DomainTrouble::Unanswered(_))), "{troubled:?}");

    installation.zone.set(&name, Ok(&["another value"]));
    for day in 0..3 {
        installation.clock.advance(HOUR * 24);
        installation.nodes[day % 2].recheck_domains().await.unwrap();
        assert_eq!(installation.served().await.as_deref(), Some("hartley"), "day {day}");
        assert_eq!(installation.nodes[0].troubled_domains(&installation.caller).await.unwrap().len(), 1);
    }
    installation.clock.advance(HOUR * 24);
    let (one, other) = tokio::join!(installation.nodes[0].recheck_domains(), installation.nodes[1].recheck_domains());
    one.and(other).unwrap();
    assert_eq!(installation.served().await, None);
    let [(_, lost)] = &installation.nodes[0].troubled_domains(&installation.caller).await.unwrap()[..] else {
        panic!()
    };
    assert_eq!((lost.lost_at.is_some(), lost.due_at), (true, None));
    assert!(lost.lost_at <= Some(installation.clock.now()));

    installation.enter(0, "").await.unwrap();
    assert_eq!(installation.nodes[0].troubled_domains(&installation.caller).await.unwrap().len(), 0);
}

pub(super) async fn another_house_gets_a_domain_only_when_the_record_of_the_first_is_gone(store: Shared) {
    let installation = Installation::on(&store).await;
    let [first, second] = [0, 1].map(|house| installation.enter(house, "own.example.com"));
    let (first, second) = (first.await.unwrap().unwrap(), second.await.unwrap().unwrap());
    assert_ne!(first.token, second.token);
    let name = first.record_name();
    installation.zone.set(&name, Ok(&[&first.record_value()]));
    assert_eq!(installation.check(0).await, DomainFinding::Proof);
    assert!(matches!(installation.check(1).await, DomainFinding::OtherValues(_)));
    installation.zone.set(&name, Ok(&[&second.record_value(), &first.record_value()]));
    assert_eq!(installation.check(1).await, DomainFinding::HeldByOther);
    assert_eq!(installation.served().await.as_deref(), Some("hartley"));
    installation.zone.set(&name, Ok(&[&second.record_value()]));
    assert_eq!(installation.check(1).await, DomainFinding::Proof);
    assert_eq!(installation.served().await.as_deref(), Some("other"));
    assert!(matches!(installation.check(0).await, DomainFinding::OtherValues(_)), "the first has no record");
    // Another domain than the proven one is not served, and the one before it is not any more.
    installation.enter(1, "new.example.com").await.unwrap();
    assert_eq!(installation.served().await, None);
}
