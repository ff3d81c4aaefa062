//! Every page that links lead to, and those behind the forms of imports and merges, in a browser: no violation of
//! WCAG 2.2 AA by axe-core in light and dark, on a desktop and a phone; nothing cut and no short word broken on a narrow and a
//! wide desktop, with names of 120 characters; no fault on the console; and at most 100 kB of HTML. The references of the APIs are
//! longer: `long::api_references` checks them.

use testkit::browser::{Browser, ColorScheme, Page, Walk};
use testkit::showcase::{BehindForm, Pages, Showcase};

use crate::page_checks::PageChecks;
use crate::support::launch;

const HTML_BYTES_MAX: f64 = 100_000.0;

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_accessible_and_small() {
    let data = tempfile::tempdir().unwrap();
    let showcase = Showcase::open(launch(data.path())).await.unwrap();
    let checks = PageChecks::new();
    let mut faults = Vec::new();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    for (name, address) in showcase.open_pages() {
        page.open(&address).await.unwrap();
        page.wait_until("document.readyState === 'complete'").await.unwrap();
        let mut found = checks.faults(&page).await;
        found.extend(weight_fault(&page).await);
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    faults.extend(page.console_errors());
    for pages in Pages::ALL {
        let browser = Browser::start().await.unwrap();
        let page = browser.page().await.unwrap();
        page.prefer(ColorScheme::Light).await.unwrap();
        showcase.sign_in(&page, *pages).await.unwrap();
        let mut walk = Walk::begin(&page, pages.prefix()).await.unwrap();
        let mut kinds = 0;
        while let Some(kind) = walk.next(&page).await.unwrap() {
            kinds += 1;
            let mut found = checks.faults(&page).await;
            found.extend(weight_fault(&page).await);
            faults.extend(found.into_iter().map(|fault| format!("{kind}: {fault}")));
        }
        for which in BehindForm::ALL.iter().filter(|_| *pages == Pages::Administration) {
            showcase.open_behind_form(&page, *which).await.unwrap();
            let mut found = checks.faults(&page).await;
            found.extend(weight_fault(&page).await);
            faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", which.kind())));
        }
        faults.extend(page.console_errors());
        assert!(kinds > 5, "links led to {kinds} pages of {pages:?}");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

async fn weight_fault(page: &Page) -> Option<String> {
    let bytes = page.evaluate("new Blob([document.documentElement.outerHTML]).size").await.unwrap();
    (bytes.as_f64().unwrap() > HTML_BYTES_MAX).then(|| format!("{bytes} bytes of HTML"))
}
