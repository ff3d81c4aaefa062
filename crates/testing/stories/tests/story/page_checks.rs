//! Checks of the page that a story has come to: no violation of WCAG 2.2 AA by axe-core in light and dark, on a desktop and a phone,
//! and nothing cut and no short word broken on a narrow and a wide desktop.

use testkit::browser::{Accessibility, ColorScheme, Page, layout_faults};

use crate::official_clients::installed_clients;

/// Widths of windows in CSS pixels: the narrowest phone, and desktops.
const PHONE: u32 = 320;
const NARROW_DESKTOP: u32 = 1_024;
const DESKTOP: u32 = 1_280;
const WIDE_DESKTOP: u32 = 1_440;

/// The checks of a story.
pub struct PageChecks {
    /// None in the run of a story that checks no page.
    accessibility: Option<Accessibility>,
}

impl PageChecks {
    pub fn new() -> Self {
        Self { accessibility: Some(Accessibility::from_clients(&installed_clients()).unwrap()) }
    }

    /// The checks of a story that runs on SQLite, and again on a database of PostgreSQL. Its pages are the same on both, and
    /// checking a page takes about a second of a processor: only the run on SQLite checks them.
    pub fn of_story_on(database: Option<&String>) -> Self {
        if database.is_some() { Self { accessibility: None } } else { Self::new() }
    }

    /// The page has no fault.
    pub async fn assert_faultless(&self, page: &Page) {
        let faults = self.faults(page).await;
        assert!(faults.is_empty(), "{}: {faults:?}", page.text("location.href").await.unwrap());
    }

    /// The faults of the open page at all widths and in both colour schemes.
    pub async fn faults(&self, page: &Page) -> Vec<String> {
        let mut faults = Vec::new();
        let Some(accessibility) = &self.accessibility else { return faults };
        page.prefer(ColorScheme::Light).await.unwrap();
        for width in [NARROW_DESKTOP, WIDE_DESKTOP] {
            resize(page, width).await;
            let found = layout_faults(page).await.unwrap();
            faults.extend(found.into_iter().map(|fault| format!("light, {width} px: {fault}")));
        }
        // Only the colours depend on the scheme, and they do not depend on the width.
        resize(page, PHONE).await;
        let found = accessibility.faults_of_form(page).await.unwrap();
        faults.extend(found.into_iter().map(|fault| format!("{PHONE} px: {fault}")));
        resize(page, DESKTOP).await;
        let found = accessibility.faults(page).await.unwrap();
        faults.extend(found.into_iter().map(|fault| format!("light, {DESKTOP} px: {fault}")));
        page.prefer(ColorScheme::Dark).await.unwrap();
        let found = accessibility.colour_faults(page).await.unwrap();
        faults.extend(found.into_iter().map(|fault| format!("dark, {DESKTOP} px: {fault}")));
        faults
    }
}

async fn resize(page: &Page, width: u32) {
    page.resize(width).await.unwrap();
    page.wait_until(&format!("innerWidth === {width}")).await.unwrap();
}
