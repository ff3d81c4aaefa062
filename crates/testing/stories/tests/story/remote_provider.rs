//! A platform with a provider in another process: two settings, and nothing else changes.

use testkit::site::{CustomerSite, http_client};

use crate::support::{SMALL_SALE_EVENTS, launch, received, small_sale};

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_reaches_the_receiver_through_a_provider_in_another_process() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let provider = launch(there.path()).roles(&["provider"]);
    let platform = launch(here.path()).roles(&["platform"]);
    let _provider = provider.start(&http_client()).await.unwrap();
    let _platform = platform.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&platform, &provider).await.unwrap();

    small_sale(&site).await;

    let tally = received(&site, SMALL_SALE_EVENTS).await;
    assert_eq!(tally.expected, SMALL_SALE_EVENTS as u64);
    assert!(tally.is_perfect(), "{tally:?}");
    assert!(!here.path().join("provider.db").exists(), "a platform alone has no provider's store");
    assert!(!there.path().join("platform.db").exists(), "a provider alone has no platform's store");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_while_the_provider_is_away_arrives_when_it_is_back() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let provider = launch(there.path()).roles(&["provider"]);
    let platform = launch(here.path()).roles(&["platform"]);
    let running = provider.start(&http_client()).await.unwrap();
    let _platform = platform.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&platform, &provider).await.unwrap();
    running.kill();

    small_sale(&site).await;
    assert_eq!(site.receiver.requests(), 0);
    let _running = provider.start(&http_client()).await.unwrap();

    let tally = received(&site, SMALL_SALE_EVENTS).await;
    assert!(tally.is_perfect(), "{tally:?}");
}
