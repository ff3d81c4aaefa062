//! A platform with a provider in another process.

use testkit::site::{CustomerSite, http_client};

use crate::support::{SMALL_SALE_EVENTS, launch, received, small_sale};

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_reaches_the_receiver_through_a_provider_in_another_process() {
    let (platform_data, provider_data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let provider = launch(provider_data.path()).roles(&["provider"]);
    let platform = launch(platform_data.path()).roles(&["platform"]);
    let _provider = provider.start(&http_client()).await.unwrap();
    let _platform = platform.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&platform, &provider).await.unwrap();

    small_sale(&site).await;

    let tally = received(&site, SMALL_SALE_EVENTS).await;
    assert_eq!(tally.expected, SMALL_SALE_EVENTS as u64);
    assert!(tally.is_perfect(), "{tally:?}");
    assert!(!platform_data.path().join("provider.db").exists(), "a platform node creates no provider store");
    assert!(!provider_data.path().join("platform.db").exists(), "a provider node creates no platform store");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_during_an_outage_of_the_provider_arrive_after_it() {
    let (platform_data, provider_data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let provider = launch(provider_data.path()).roles(&["provider"]);
    let platform = launch(platform_data.path()).roles(&["platform"]);
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
