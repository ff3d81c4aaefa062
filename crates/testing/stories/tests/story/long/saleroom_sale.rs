//! A whole sale, from opening the saleroom to the text that says how to pay: the house in the administration and at the desk, and five
//! bidders in browsers of their own. Each has another screen, language and way to use the pages: desktop and phone, light and dark,
//! without script, by keyboard alone. With `LOTWIRE_TEST_PICTURES=FOLDER`, each step leaves a picture of each screen.

mod after;
mod cast;
mod house;
mod mails;
mod prices;
mod sign_up;
mod timed;
mod webcast;

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::browser::{Accessibility, ColorScheme};

use crate::official_clients::installed_clients;
use crate::open_saleroom::OpenHouse;

use self::cast::{Bidder, CAST, errors};
use self::house::ADDRESS;

const PICTURES_VARIABLE: &str = "LOTWIRE_TEST_PICTURES";

/// An auction with its lots in running order.
#[derive(Default)]
struct Auction {
    id: String,
    lots: Vec<String>,
}

struct Sale {
    house: OpenHouse,
    timed: Auction,
    webcast: Auction,
    accessibility: Accessibility,
    /// The folder of pictures; none when none are taken.
    pictures: Option<PathBuf>,
    files: tempfile::TempDir,
}

impl Sale {
    async fn begin(database: Option<String>) -> Self {
        let pictures = std::env::var_os(PICTURES_VARIABLE).map(PathBuf::from).filter(|_| database.is_none());
        let house = OpenHouse::closed(database, &[]).await;
        house.staff.prefer(ColorScheme::Light).await.unwrap();
        let accessibility = Accessibility::from_clients(&installed_clients()).unwrap();
        let files = tempfile::tempdir().unwrap();
        Self { house, timed: Auction::default(), webcast: Auction::default(), accessibility, pictures, files }
    }

    /// Address of the house's pages.
    fn url(&self) -> String {
        format!("http://{}/{ADDRESS}", self.house.host)
    }

    fn catalogue(&self, auction: &Auction) -> String {
        format!("{}/sales/{}", self.url(), auction.id)
    }

    /// Address of a lot by its number.
    fn lot(&self, auction: &Auction, number: usize) -> String {
        format!("{}/lots/{}", self.catalogue(auction), auction.lots[number - 1])
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn staff_looks(&self, step: &str) {
        self.picture_of(&self.house.staff, &format!("{step}-0-house")).await;
    }

    async fn picture_of(&self, page: &testkit::browser::Page, name: &str) {
        if let Some(folder) = &self.pictures {
            let file = Path::join(folder, format!("{name}.png"));
            std::fs::write(file, page.screenshot().await.unwrap()).unwrap();
        }
    }

    /// No violation of WCAG 2.2 AA on the screen of a bidder. The check is a script.
    async fn assert_accessible(&self, bidder: &Bidder) {
        if !bidder.has_script() {
            return;
        }
        let faults = self.accessibility.faults(&bidder.page).await.unwrap();
        assert!(faults.is_empty(), "{}: {faults:?}", bidder.role.screen);
    }

    fn signal(&self, name: &str) {
        let id = self.house.administration.server_id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success(), "kill {name}");
    }
}

async fn looks(bidders: &[Bidder], step: &str) {
    for bidder in bidders {
        bidder.looks(step).await;
    }
}

async fn a_house_and_five_bidders_hold_a_sale(database: Option<String>) {
    let mut sale = Sale::begin(database).await;
    sale.opens_saleroom().await;
    sale.enters_known_bidder(CAST[3].name, CAST[3].email).await;
    sale.publishes_sales().await;

    let mut bidders = Vec::new();
    for role in &CAST {
        bidders.push(sale.signs_up(role).await);
    }
    let bidders: [Bidder; 5] = bidders.try_into().unwrap_or_else(|_| panic!("five bidders"));
    sale.decides_on_registrations(&bidders).await;

    sale.holds_timed_auction(&bidders).await;
    sale.holds_webcast(&bidders).await;
    sale.settles(&bidders).await;
    sale.reads_mails().await;
    sale.assert_webhooks().await;
    for bidder in &bidders {
        assert_eq!(errors(&bidder.page), Vec::<String>::new(), "{}", bidder.role.name);
    }
    assert_eq!(errors(&sale.house.staff), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_and_five_bidders_hold_a_sale_on_sqlite() {
    a_house_and_five_bidders_hold_a_sale(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_and_five_bidders_hold_a_sale_on_postgres() {
    a_house_and_five_bidders_hold_a_sale(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
