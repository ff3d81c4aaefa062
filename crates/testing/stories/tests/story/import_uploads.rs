//! A catalogue is uploaded to one server and imported later: after a kill on SQLite, and by another node on PostgreSQL.

use serde_json::json;
use testkit::browser::Page;
use testkit::site::{CustomerSite, http_client};

use crate::administration::{Administration, desk_page};
use crate::support::launch;

const LOTS: usize = 200;

/// An uploaded catalogue, of which nothing is imported yet.
struct Uploaded {
    site: CustomerSite,
    auction: String,
    page: Page,
    /// Path of the page that checks the catalogue, below `/admin`.
    check: String,
}

impl Uploaded {
    async fn to(administration: &Administration) -> Self {
        let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
        let auction = json!({ "kind": "timed", "title": "Clocks", "endsAt": site.in_ms(3_600_000) });
        let auction = site.create_auction(auction).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (1..=LOTS).map(|lot| format!("{lot},Clock {lot}\n")).collect();
        let file = folder.path().join("clocks.csv");
        std::fs::write(&file, format!("lot,title\n{rows}")).unwrap();

        let page = desk_page(&administration.browser).await;
        administration.set_up(&page).await;
        page.open(&administration.url(&format!("/auctions/{auction}/lots/import"))).await.unwrap();
        page.wait_until_shown("Catalogue file").await.unwrap();
        page.choose_files("file", &[&file]).await.unwrap();
        page.click_through("Upload file").await.unwrap();
        page.wait_until_shown(&format!("Import {LOTS} lots")).await.unwrap();
        let check = page.text("location.pathname").await.unwrap().trim_start_matches("/admin").to_owned();
        assert_eq!(site.items(&auction).await.unwrap().len(), 0);
        Self { site, auction, page, check }
    }

    /// Imports the catalogue through the server of this address.
    async fn import_at(&self, check: &str) {
        self.page.open(check).await.unwrap();
        self.page.wait_until_shown("Check the catalogue").await.unwrap();
        self.page.click_through(&format!("Import {LOTS} lots")).await.unwrap();
        let items = self.site.items(&self.auction).await.unwrap();
        assert_eq!(items.len(), LOTS);
        assert_eq!(items[LOTS - 1]["title"], json!(format!("Clock {LOTS}")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uploaded_catalogue_is_imported_after_a_kill() {
    let administration = Administration::open().await;
    let uploaded = Uploaded::to(&administration).await;
    let administration = administration.kill_and_restart().await;
    uploaded.import_at(&administration.url(&uploaded.check)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uploaded_catalogue_is_imported_by_another_node() {
    let data = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let first_launch = launch(data[0].path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let second_launch = first_launch.node_in(data[1].path()).unwrap();
    let [first_data, _second_data] = data;
    let administration = Administration::open_on(first_launch, first_data).await;
    let _second = second_launch.start(&http_client()).await.unwrap();

    let uploaded = Uploaded::to(&administration).await;
    // Cookies are not bound to a port, so the browser is signed in at both nodes.
    uploaded.import_at(&format!("{}/admin{}", second_launch.platform_url(), uploaded.check)).await;
}
