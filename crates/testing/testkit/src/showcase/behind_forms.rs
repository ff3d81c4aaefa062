//! Pages of the administration to which no link leads: the checks of both imports, and two records compared.

use std::path::Path;

use super::{LONG_BIDDER, LONG_EMAIL, LONG_LOT, Showcase, ShowcaseError, other};
use crate::browser::Page;

/// A catalogue with a new lot, a changed one, and a cell that is no amount.
fn catalogue() -> String {
    format!("Lot,Title,Low Est\n1,\"{LONG_LOT}\",140\n31,Barometer by Dollond,300\n32,Sextant,12 or 15\n")
}
/// A register with a new person, one who is likely known, and a wrong address.
fn people() -> String {
    format!(
        "Name,Reference,E-mail\nAda King,K-1,ada@example.com\n\"{LONG_BIDDER}\",K-2,{LONG_EMAIL}\nCy Brandt,K-3,nothing\n"
    )
}

/// A page behind a form of the administration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BehindForm {
    /// The check of a catalogue.
    CatalogueCheck,
    /// The check of a file with people.
    PeopleCheck,
    /// Two records side by side, before they are merged.
    MergedRecords,
}

impl BehindForm {
    /// All of them.
    pub const ALL: &[Self] = &[Self::CatalogueCheck, Self::PeopleCheck, Self::MergedRecords];

    /// The kind of the page, as a walk names kinds.
    pub fn kind(self) -> &'static str {
        match self {
            Self::CatalogueCheck => "/admin/auctions/id/lots/import/id",
            Self::PeopleCheck => "/admin/people/import/id",
            Self::MergedRecords => "/admin/people/id/merge-records",
        }
    }
}

impl Showcase {
    /// Opens the page in a browser that is signed in to the administration.
    pub async fn open_behind_form(&self, page: &Page, which: BehindForm) -> Result<(), ShowcaseError> {
        let admin = format!("{}/admin", self.launch.platform_url());
        match which {
            BehindForm::CatalogueCheck => {
                let draft = self.site.platform.get("/api/v1/auctions?status=DRAFT").await?;
                let path = format!("{admin}/auctions/{}/lots/import", draft.text("/data/0/uuid")?);
                upload(page, &path, &catalogue(), "Check the catalogue").await
            }
            BehindForm::PeopleCheck => {
                upload(page, &format!("{admin}/people/import"), &people(), "Check the people").await
            }
            BehindForm::MergedRecords => {
                page.open(&format!("{admin}/people/duplicates")).await?;
                page.wait_until_at("/admin/people/duplicates").await?;
                let link = page.text("document.querySelector('a[href*=\"/merge?with=\"]').href").await?;
                page.open(&link).await?;
                Ok(page.wait_until("document.readyState === 'complete'").await?)
            }
        }
    }
}

/// Uploads a CSV file on the page of an import, and waits for the check with this heading.
async fn upload(page: &Page, address: &str, csv: &str, heading: &str) -> Result<(), ShowcaseError> {
    page.open(address).await?;
    page.wait_until("document.getElementById('file') !== null").await?;
    let folder = tempfile::tempdir().map_err(other)?;
    let file = folder.path().join("hartley.csv");
    std::fs::write(&file, csv).map_err(other)?;
    let files: [&Path; 1] = [&file];
    page.choose_files("file", &files).await?;
    page.click_through("Upload file").await?;
    Ok(page.wait_until_shown(heading).await?)
}
