//! The references of the APIs in a browser: each is one page of some 26,000 elements for the browser's search, however many
//! operations there are.

use testkit::browser::Browser;
use testkit::showcase::Showcase;

use crate::page_checks::PageChecks;
use crate::support::launch;

#[tokio::test(flavor = "multi_thread")]
async fn the_references_of_the_apis_are_accessible() {
    let data = tempfile::tempdir().unwrap();
    let showcase = Showcase::open(launch(data.path())).await.unwrap();
    let checks = PageChecks::new();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    for (_, address) in showcase.api_references() {
        page.open(&address).await.unwrap();
        page.wait_until("document.readyState === 'complete'").await.unwrap();
        checks.assert_faultless(&page).await;
    }
    assert_eq!(page.console_errors(), [""; 0]);
}
