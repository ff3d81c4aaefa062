//! A server that can't write its log lines, as with a closed pipe or a full disk.

use testkit::site::{CustomerSite, http_client};

use crate::support::{SMALL_SALE_EVENTS, WAIT_MAX, launch, received, small_sale};

#[tokio::test]
async fn a_server_that_can_not_write_its_log_still_works() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).with_broken_log();
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    small_sale(&site).await;
    let tally = received(&site, SMALL_SALE_EVENTS).await;
    assert!(tally.is_perfect(), "{tally:?}");
    // The provider also records the attempts, and the server shuts down on SIGTERM.
    let recorded = async { while launch.metric("lotwire_provider_backlog").await.unwrap() > 0.0 {} };
    tokio::time::timeout(WAIT_MAX, recorded).await.expect("the provider recorded no attempts");
    let ended = server.stop().unwrap();
    assert!(ended.success(), "{ended}");
}
