//! A week of an auction house in the browser: bidders and consignors from a file, lots, registrations, papers, the sale at the
//! desk, and results. With `LOTWIRE_TEST_PICTURES=FOLDER`, each step leaves a picture there, and each paper a PDF.

use std::path::PathBuf;

use serde_json::json;
use testkit::browser::Page;
use testkit::pdf::page_texts;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::clerks_desk::Desk;
use crate::support::received;

const PICTURES_VARIABLE: &str = "LOTWIRE_TEST_PICTURES";
const READ: &str = "performance.now() - Math.max(webBoxChangedAt, waitingChangedAt) > 260";
const BIDDERS: usize = 60;
const LOTS: usize = 30;
const GOODS: [&str; 6] = [
    "A walnut longcase clock, month-going, the dial signed Thos. Harland",
    "A pair of silver candlesticks, Sheffield 1902, filled",
    "Harbour at low water, oil on canvas, signed and dated 1911",
    "A set of eight dining chairs with drop-in seats, two with arms, one leg repaired",
    "A Derby part dinner service, forty-one pieces, some wear",
    "A brass microscope in its case, with twelve slides",
];

/// The register as the house keeps it in its own table. Bidder 7 has a long name.
fn register_file() -> String {
    let bidder = |number: usize| {
        let name = match number {
            7 => "Beatrice Featherstonehaugh-Cholmondeley & Partners (Fine Art) Ltd".to_owned(),
            _ => format!("Bidder Number {number:02}"),
        };
        format!(
            "B-{number:03};{name};bidder;b{number}@buyers.example;+44 20 7946 0{number:03};12 Cooper Street;Bath;BA1 1AA;5000"
        )
    };
    let consignor = |(number, name): (usize, &str)| {
        format!("C-{number};{name};consignor;c{number}@sellers.example;;The Old Rectory;Wells;BA5 2PL;")
    };
    let consignors = [(1, "Estate of Dorothy Marsh"), (2, "Wells Museum"), (3, "A. Lady")].map(consignor);
    let header = "Reference;Name;Role;Email;Phone;Address line 1;City;Postcode;Limit".to_owned();
    [vec![header], (1..=BIDDERS).map(bidder).collect(), consignors.into()].concat().join("\r\n")
}

fn catalogue_file() -> String {
    let lot = |number: usize| {
        let low = 100 * number;
        let goods = GOODS[number % GOODS.len()];
        format!("{number};{goods};{low};{};100;C-{}", low + low / 2, number % 3 + 1)
    };
    let header = "Lot;Title;Low estimate;High estimate;Opening bid;Consignor".to_owned();
    [vec![header], (1..=LOTS).map(lot).collect()].concat().join("\r\n")
}

struct Week {
    administration: Administration,
    page: Page,
    pictures: Option<PathBuf>,
    files: tempfile::TempDir,
}

impl Week {
    async fn begin() -> (Self, CustomerSite) {
        let administration = Administration::open().await;
        let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
        let page = desk_page(&administration.browser).await;
        administration.set_up(&page).await;
        let pictures = std::env::var_os(PICTURES_VARIABLE).map(PathBuf::from);
        (Self { administration, page, pictures, files: tempfile::tempdir().unwrap() }, site)
    }

    /// Checks the page, and takes its picture.
    async fn look(&self, name: &str) {
        assert_accessible(&self.page).await;
        if let Some(folder) = &self.pictures {
            self.page.resize_to(1_440, 900).await.unwrap();
            std::fs::write(folder.join(format!("{name}.png")), self.page.screenshot().await.unwrap()).unwrap();
            self.page.resize(1_280).await.unwrap();
        }
    }

    async fn open(&self, path: &str) {
        self.page.open(&self.administration.url(path)).await.unwrap();
        self.page.wait_until("document.readyState === 'complete'").await.unwrap();
    }

    async fn shows(&self, texts: &[&str]) {
        for text in texts {
            self.page.wait_until_shown(text).await.unwrap();
        }
    }

    async fn upload(&self, name: &str, content: &str) {
        let file = self.files.path().join(name);
        std::fs::write(&file, content).unwrap();
        self.page.choose_files("file", &[&file]).await.unwrap();
        self.page.click_through("Upload file").await.unwrap();
    }

    async fn set(&self, id: &str, value: &str) {
        let script = format!("document.getElementById({}).value = {}", json!(id), json!(value));
        self.page.evaluate(&script).await.unwrap();
    }

    /// Prints a paper, whose text has each of these.
    async fn print(&self, path: &str, name: &str, texts: &[&str]) {
        self.open(path).await;
        self.page.wait_until("document.querySelector('[data-print]')?.disabled === false").await.unwrap();
        let pdf = self.page.print().await.unwrap();
        let pages = page_texts(&pdf).unwrap();
        for text in texts {
            assert!(pages.iter().any(|page| page.contains(text)), "{name} has no “{text}”: {pages:?}");
        }
        if let Some(folder) = &self.pictures {
            std::fs::write(folder.join(format!("{name}.pdf")), pdf).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_prepares_holds_and_closes_a_sale_in_one_week() {
    let (week, site) = Week::begin().await;
    let page = &week.page;

    // Monday: bidders and consignors come from the file of the house.
    page.click_through("Bidders and consignors").await.unwrap();
    week.shows(&["No bidders or consignors yet"]).await;
    page.click_through("Import people").await.unwrap();
    week.upload("register.csv", &register_file()).await;
    week.shows(&["Check the people", "Has no currency"]).await;
    page.fill("currency", "GBP").await.unwrap();
    page.click_through("Check again").await.unwrap();
    week.shows(&[&format!("Import {} records", BIDDERS + 3)]).await;
    week.look("1-register-check").await;
    page.click_through(&format!("Import {} records", BIDDERS + 3)).await.unwrap();
    week.shows(&["63 records", "Bidder Number 01"]).await;
    week.look("2-register").await;
    page.fill("text", "cholmondeley").await.unwrap();
    page.click_through("Search").await.unwrap();
    week.shows(&["1 record", "B-007"]).await;

    // Tuesday: the sale and its lots.
    page.click_through("Auctions").await.unwrap();
    page.click_through("Create auction").await.unwrap();
    week.set("kind", "webcast").await;
    page.fill("title", "Winter sale").await.unwrap();
    week.set("startsAt", &site.in_ms(3 * 24 * 3_600_000)[..16]).await;
    week.look("3-create-auction").await;
    page.click_through("Create auction").await.unwrap();
    week.shows(&["The auction was created as a draft."]).await;
    let auction = page.text("location.pathname.split('/').pop()").await.unwrap();
    page.click_through("Import lots").await.unwrap();
    week.upload("catalogue.csv", &catalogue_file()).await;
    week.shows(&["Check the catalogue"]).await;
    week.look("4-catalogue-check").await;
    page.click_through(&format!("Import {LOTS} lots")).await.unwrap();
    week.shows(&["The catalogue was imported.", GOODS[1]]).await;
    week.look("5-lots").await;

    // Wednesday: three bidders register at the counter.
    for (bidder, paddle) in [("B-001", "101"), ("B-007", "107"), ("B-012", "112")] {
        week.open(&format!("/auctions/{auction}/registrations/new?person={bidder}")).await;
        page.evaluate("void setTimeout(() => document.querySelector('[aria-labelledby=known] li a').click())")
            .await
            .unwrap();
        week.shows(&["From the register:"]).await;
        page.fill("paddle", paddle).await.unwrap();
        page.click_through("Register bidder").await.unwrap();
        page.wait_until_at(&format!("/admin/auctions/{auction}/registrations")).await.unwrap();
    }
    week.shows(&["Featherstonehaugh", "£5,000"]).await;
    week.look("6-registrations").await;

    // Thursday: the sale opens for commission bids, and its papers are printed.
    week.open(&format!("/auctions/{auction}")).await;
    for step in ["Open preview", "Go live"] {
        page.click_through(step).await.unwrap();
        page.click_through(step).await.unwrap();
        week.shows(&["The status was changed."]).await;
    }
    week.look("7-live").await;
    week.open(&format!("/webcasts/{auction}/book")).await;
    page.fill("list", "3, 107, 450").await.unwrap();
    page.click_through("Enter bids").await.unwrap();
    week.shows(&["£450"]).await;
    week.look("8-commission-book").await;
    let prints = format!("/auctions/{auction}/print");
    week.print(&format!("{prints}/catalogue?size=a4&pictures=no"), "9-catalogue", &["Winter sale", GOODS[2], "£3,000"])
        .await;
    week.print(&format!("{prints}/clerking"), "9-clerking-sheets", &["Confidential", "Estate of Dorothy"]).await;
    week.print(&format!("{prints}/paddles?which=all"), "9-paddles", &["101", "107", "112", "£5,000"]).await;
    week.print(&format!("{prints}/book?show=bids"), "9-book", &["107", "£450"]).await;

    // Friday: the sale, from the keys of the desk.
    let desk = Desk { page: week.administration.browser.tab().await.unwrap() };
    desk.page.resize(1_280).await.unwrap();
    desk.page.open(&week.administration.url(&format!("/webcasts/{auction}/desk"))).await.unwrap();
    desk.until_connected().await;
    for lot in 1..=LOTS {
        desk.does("Enter", &format!("Lot {lot} is in the ring")).await;
        if lot % 10 == 0 {
            desk.does("F2", &format!("Lot {lot} passed")).await;
            continue;
        }
        if lot == 3 {
            // The desk accepts a decision on a waiting bid after the time that a clerk needs to read it.
            desk.page.wait_until(READ).await.unwrap();
            desk.does("/", "from paddle 107").await;
            desk.page.wait_until(READ).await.unwrap();
            desk.does("F9", "Lot 3 sold at £100 to paddle 107").await;
            continue;
        }
        desk.does("+", "£100 from the room").await;
        desk.does("F9", &format!("Lot {lot} sold at £100 to an open buyer")).await;
        let paddle = if lot % 2 == 0 { "101" } else { "112" };
        desk.types(paddle, "Enter", &format!("The buyer is paddle {paddle}")).await;
    }
    week.open(&format!("/auctions/{auction}/results")).await;
    week.shows(&["27 of 30"]).await;
    week.look("10-results").await;
    week.print(&format!("{prints}/results"), "11-results", &["£100", "A Derby part"]).await;

    // Saturday: who sold, who bought, and the customer's systems have every event.
    for (search, texts) in [("C-1", ["Winter sale", "Sold"]), ("B-001", ["Winter sale", "£100"])] {
        week.open("/people").await;
        page.fill("text", search).await.unwrap();
        page.click_through("Search").await.unwrap();
        page.evaluate("void setTimeout(() => document.querySelector('.rows a').click())").await.unwrap();
        week.shows(&texts).await;
        week.look(&format!("12-{search}")).await;
    }
    let events = site.announced_events().await.unwrap().len();
    received(&site, events).await;
    assert_eq!(page.console_errors(), [""; 0]);
}
