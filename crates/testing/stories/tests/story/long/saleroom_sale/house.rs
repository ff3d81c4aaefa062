//! The house opens its saleroom, and publishes its sales, in the forms of the administration.

use serde_json::json;
use testkit::picture::{photograph, picture};

use super::{Auction, Sale};

pub const HOUSE: &str = "Hartley & Sons";
pub const ADDRESS: &str = "hartley-sons";
pub const TIMED: &str = "Clocks and silver";
pub const WEBCAST: &str = "Winter sale";
pub const PAYMENT: &str = "Pay by bank transfer within seven days. Write your paddle number on it.";
pub const COLLECTION: &str = "Collect from the Old Corn Exchange until Friday 11 December, 10:00 to 17:00.";
/// Seconds by which a late bid extends the end of a lot.
pub const SOFT_CLOSE: u32 = 90;

/// Lots of the timed auction: opening bid, reserve and estimates in pounds.
const CLOCKS: &str = "Lot;Title;Description;Low estimate;High estimate;Opening bid;Reserve\r\n\
    1;Carriage clock, brass, about 1890;Repeating on a gong, with its key and leather case.;800;1200;500;\r\n\
    2;Silver teapot, Sheffield 1902;Half fluted, with an ebony handle.;250;350;200;\r\n\
    3;Pair of cut glass decanters;Mushroom stoppers, one with a chip.;400;600;100;400\r\n\
    4;Study of two hares, pencil on paper;Framed, under glass.;150;250;100;\r\n";
/// Lots of the webcast.
const WINTER: &str = "Lot;Title;Description;Low estimate;High estimate;Opening bid\r\n\
    1;Walnut longcase clock, month-going;The dial signed Thos. Harland.;700;1000;500\r\n\
    2;Persian rug, 190 by 120 cm;Fringes worn.;500;800;500\r\n\
    3;Set of six dining chairs, mahogany;Two with arms, one leg repaired.;600;900;400\r\n\
    4;Brass microscope in its case, about 1870;With twelve slides.;300;500;300\r\n";

impl Sale {
    /// Says what the house is, adds its conditions, and opens the saleroom.
    pub async fn opens_saleroom(&self) {
        let (staff, customer) = (&self.house.staff, format!("/customers/{}", self.house.site.customer));
        self.staff_opens(&format!("{customer}/rename"), "Rename customer").await;
        staff.fill("name", HOUSE).await.unwrap();
        staff.click_through("Rename customer").await.unwrap();
        self.staff_opens(&format!("{customer}/house"), "How buyers pay").await;
        for (field, text) in [
            ("currency", "GBP"),
            ("timeZone", "Europe/London"),
            ("email", "bids@hartley.example"),
            ("phone", "+44 1225 960 0117"),
            ("website", "https://www.hartley.example"),
            ("line1", "The Old Corn Exchange"),
            ("city", "Bath"),
            ("postcode", "BA1 2NF"),
            ("about", "Auctioneers of furniture, clocks and works of art since 1887. Two sales a month."),
            ("payment", PAYMENT),
            ("collection", COLLECTION),
        ] {
            staff.fill(field, text).await.unwrap();
        }
        let logo = self.file("logo.jpg", &picture(3));
        staff.choose_files("logo", &[&logo]).await.unwrap();
        staff.click_through("Save house").await.unwrap();
        staff.wait_until_shown("The house was saved").await.unwrap();
        self.staff_opens(&format!("{customer}/conditions"), "Add a version").await;
        let text = "1. The highest bidder is the buyer.\n2. The buyer pays the hammer price, a premium of 25 %, and the tax on it.\n\
            3. Lots of timed auctions end at their time, also in an outage.";
        staff.fill("text", text).await.unwrap();
        staff.click_through("Add version").await.unwrap();
        staff.wait_until_shown("The version was added").await.unwrap();
        self.staff_opens(&format!("{customer}/saleroom"), "Who may bid online").await;
        staff.fill("address", ADDRESS).await.unwrap();
        staff.fill("colour", "#7a1f3d").await.unwrap();
        for choice in ["[name=registration][value=at_once]", "[name=outageEnds][value=at_their_time]", "[name=open]"] {
            staff.click_element(choice).await.unwrap();
        }
        self.staff_looks("00-saleroom").await;
        staff.click("Save saleroom").await.unwrap();
        staff.wait_until_shown("The saleroom was saved.").await.unwrap();
        self.staff_looks("00-house").await;
    }

    /// Enters a bidder whom the house knows from its counter.
    pub async fn enters_known_bidder(&self, name: &str, email: &str) {
        let staff = &self.house.staff;
        self.staff_opens("/people/new", "Add person or firm").await;
        staff.fill("name", name).await.unwrap();
        staff.fill("email", email).await.unwrap();
        staff.click_through("Add person or firm").await.unwrap();
        staff.wait_until_shown("The record was added").await.unwrap();
    }

    /// The timed auction and the webcast, with lots and pictures, announced.
    pub async fn publishes_sales(&mut self) {
        self.timed = self.creates("timed", TIMED, "endsAt", 3_600_000, CLOCKS).await;
        self.webcast = self.creates("webcast", WEBCAST, "startsAt", 7_200_000, WINTER).await;
        for auction in [&self.timed, &self.webcast] {
            self.changes_status(auction, "Open preview").await;
            self.puts_on_view(auction).await;
        }
        self.staff_looks("00-webcast").await;
    }

    async fn creates(&self, kind: &str, title: &str, time: &str, in_ms: i64, lots: &str) -> Auction {
        let staff = &self.house.staff;
        self.staff_opens("/auctions/new", "Customer and auctioneer").await;
        staff.evaluate("for (const more of document.querySelectorAll('details.more')) more.open = true").await.unwrap();
        self.sets("kind", kind).await;
        staff.fill("title", title).await.unwrap();
        self.sets(time, &self.field_time(in_ms).await).await;
        self.sets("description", "From three houses in Bath and Wells. All lots are on view.").await;
        self.sets("viewing", "Friday, 10:00 to 18:00").await;
        self.sets("staggerSeconds", "").await;
        self.sets("extensionSeconds", &SOFT_CLOSE.to_string()).await;
        self.sets("premium", "25").await;
        self.sets("premiumTax", "20").await;
        staff.click_through("Create auction").await.unwrap();
        staff.wait_until_shown("The auction was created as a draft.").await.unwrap();
        let id = staff.text("location.pathname.split('/').pop()").await.unwrap();

        staff.click_through("Import lots").await.unwrap();
        staff.choose_files("file", &[&self.file("catalogue.csv", lots.as_bytes())]).await.unwrap();
        staff.click_through("Upload file").await.unwrap();
        staff.wait_until_shown("Check the catalogue").await.unwrap();
        staff.click_through("Import 4 lots").await.unwrap();
        staff.wait_until_shown("The catalogue was imported.").await.unwrap();
        self.staff_opens(&format!("/auctions/{id}/images"), "or drop them here").await;
        let first: u32 = if kind == "timed" { 1 } else { 11 };
        let files: Vec<_> =
            (0..4).map(|place| self.file(&format!("{}.jpg", place + 1), &photograph(first + place))).collect();
        let files: Vec<_> = files.iter().map(std::path::PathBuf::as_path).collect();
        staff.choose_files("files", &files).await.unwrap();
        staff.click("Upload images").await.unwrap();
        staff.wait_until_shown("4 of 4 files are at their lots.").await.unwrap();
        let items = self.house.site.items(&id).await.unwrap();
        Auction { lots: items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect(), id }
    }

    /// Lots are drafts, which bidders do not see, until staff move them to the preview.
    async fn puts_on_view(&self, auction: &Auction) {
        let staff = &self.house.staff;
        self.staff_opens(&format!("/auctions/{}/lots", auction.id), "or lots by number").await;
        self.sets("action", "PREVIEW").await;
        staff.fill("range", "1-4").await.unwrap();
        staff.click_through("Continue").await.unwrap();
        staff.wait_until_shown("Move to preview: 4 lots").await.unwrap();
        staff.click_through("Move to preview").await.unwrap();
        staff.wait_until_shown("4 lots").await.unwrap();
        let items = self.house.site.items(&auction.id).await.unwrap();
        assert!(items.iter().all(|item| item["status"] == "PREVIEW"), "{items:?}");
    }

    /// A time in the field of a form, in the zone of the house.
    pub async fn field_time(&self, in_ms: i64) -> String {
        let there = "toLocaleString('sv', { timeZone: 'Europe/London' }).replace(' ', 'T')";
        self.house.staff.text(&format!("new Date(Date.now() + {in_ms}).{there}")).await.unwrap()
    }

    pub async fn sets(&self, id: &str, value: &str) {
        let set = format!("document.getElementById({}).value = {}", json!(id), json!(value));
        self.house.staff.evaluate(&set).await.unwrap();
    }

    pub async fn changes_status(&self, auction: &Auction, step: &str) {
        let staff = &self.house.staff;
        self.staff_opens(&format!("/auctions/{}", auction.id), "Next steps").await;
        staff.click_through(step).await.unwrap();
        staff.wait_until_shown("What this causes").await.unwrap();
        staff.click_through(step).await.unwrap();
        staff.wait_until_shown("The status was changed.").await.unwrap();
        self.house.site.wait_for_bulk_change(&auction.id).await.unwrap();
    }

    pub async fn staff_opens(&self, path: &str, shown: &str) {
        self.house.staff.open(&self.house.administration.url(path)).await.unwrap();
        self.house.staff.wait_until_shown(shown).await.unwrap();
    }
}
