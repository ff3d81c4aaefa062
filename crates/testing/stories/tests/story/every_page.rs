//! Every page that links lead to, and those behind the forms of imports and merges, in a browser: no violation of
//! WCAG 2.2 AA by axe-core in light and dark, on a desktop and a phone; nothing cut and no short word broken on a narrow and a
//! wide desktop, with names of 120 characters; no fault on the console; and at most 100 kB of HTML.

use testkit::browser::{Accessibility, Browser, ColorScheme, Page, Walk, layout_faults};
use testkit::showcase::{BehindForm, Pages, Showcase};

use crate::official_clients::installed_clients;
use crate::support::launch;

/// Widths of windows in CSS pixels: the narrowest phone, and desktops.
const PHONE: u32 = 320;
const NARROW_DESKTOP: u32 = 1_024;
const DESKTOP: u32 = 1_280;
const WIDE_DESKTOP: u32 = 1_440;
const HTML_BYTES_MAX: f64 = 100_000.0;

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_accessible_and_small() {
    let data = tempfile::tempdir().unwrap();
    let showcase = Showcase::open(launch(data.path())).await.unwrap();
    let accessibility = Accessibility::from_clients(&installed_clients()).unwrap();
    let mut faults = Vec::new();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    for (name, address) in showcase.open_pages() {
        page.open(&address).await.unwrap();
        page.wait_until("document.readyState === 'complete'").await.unwrap();
        let mut found = check(&page, &accessibility).await;
        // The reference of an API is one page for the browser's search, however many operations there are.
        if !name.ends_with("/docs") {
            found.extend(weight_fault(&page).await);
        }
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
            let mut found = check(&page, &accessibility).await;
            found.extend(weight_fault(&page).await);
            faults.extend(found.into_iter().map(|fault| format!("{kind}: {fault}")));
        }
        for which in BehindForm::ALL.iter().filter(|_| *pages == Pages::Administration) {
            showcase.open_behind_form(&page, *which).await.unwrap();
            let mut found = check(&page, &accessibility).await;
            found.extend(weight_fault(&page).await);
            faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", which.kind())));
        }
        faults.extend(page.console_errors());
        assert!(kinds > 5, "links led to {kinds} pages of {pages:?}");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The faults of the open page at all widths and in both colour schemes.
pub async fn check(page: &Page, accessibility: &Accessibility) -> Vec<String> {
    let mut faults = Vec::new();
    page.prefer(ColorScheme::Light).await.unwrap();
    for width in [NARROW_DESKTOP, WIDE_DESKTOP] {
        resize(page, width).await;
        let found = layout_faults(page).await.unwrap();
        faults.extend(found.into_iter().map(|fault| format!("light, {width} px: {fault}")));
    }
    for width in [PHONE, DESKTOP] {
        resize(page, width).await;
        let found = accessibility.faults_of_form(page).await.unwrap();
        faults.extend(found.into_iter().map(|fault| format!("light, {width} px: {fault}")));
    }
    // Only the colours depend on the scheme, and they do not depend on the width.
    for (scheme, name) in [(ColorScheme::Light, "light"), (ColorScheme::Dark, "dark")] {
        page.prefer(scheme).await.unwrap();
        let found = accessibility.colour_faults(page).await.unwrap();
        faults.extend(found.into_iter().map(|fault| format!("{name}, {DESKTOP} px: {fault}")));
    }
    faults
}

async fn resize(page: &Page, width: u32) {
    page.resize(width).await.unwrap();
    page.wait_until(&format!("innerWidth === {width}")).await.unwrap();
}

async fn weight_fault(page: &Page) -> Option<String> {
    let bytes = page.evaluate("new Blob([document.documentElement.outerHTML]).size").await.unwrap();
    (bytes.as_f64().unwrap() > HTML_BYTES_MAX).then(|| format!("{bytes} bytes of HTML"))
}
