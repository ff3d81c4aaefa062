//! A server whose log lines can't be written: the one who read them has gone, or the disk is full.

use testkit::site::{Site, http_client};

use crate::house::{PATIENCE, SMALL_SALE_EVENTS, launch, received, small_sale};

#[tokio::test]
async fn a_server_that_nobody_listens_to_does_all_its_work() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).unheard();
    let server = launch.start(&http_client()).await.unwrap();
    let site = Site::set_up(&launch, &launch).await.unwrap();
    small_sale(&site).await;
    let tally = received(&site, SMALL_SALE_EVENTS).await;
    assert!(tally.is_perfect(), "{tally:?}");
    // What was sent is also recorded, and a request to end is heard.
    let recorded = async { while launch.figure("lotwire_provider_backlog").await.unwrap() > 0.0 {} };
    tokio::time::timeout(PATIENCE, recorded).await.expect("attempts are recorded");
    let ended = server.stop().unwrap();
    assert!(ended.success(), "{ended}");
}
