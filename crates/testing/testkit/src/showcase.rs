//! An installation with content for every page: sales of each kind and status, deliveries that succeed and fail, and users who
//! can sign in. Screenshots and the checks of all pages use it.

mod behind_forms;
mod entered_forms;

use consumer::{ApiClient, Receiver};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::browser::{BrowserError, Page};
use crate::picture::picture;
use crate::server::{Launch, Server};
use crate::site::{CustomerSite, CustomerSiteError, http_client};

pub use self::behind_forms::BehindForm;
use self::entered_forms::{add_bidder, describe_house, name_user_and_house, write_to_bidders};

/// Lots of each sale, with their estimates in pounds.
const LOTS: &[(&str, u64)] = &[
    ("Carriage clock, brass, about 1890", 120),
    (LONG_LOT, 200),
    ("Set of six dining chairs, mahogany", 340),
    ("Silver teapot, Sheffield 1902", 280),
    ("Leather travelling trunk with brass corners", 90),
    ("Study of two hares, pencil on paper", 150),
    (LONG_LOT, 620),
    ("Pair of cut glass decanters", 80),
    ("Persian rug, 190 by 120 cm", 450),
    ("Microscope in its case, about 1870", 310),
];
/// Names of 120 characters, of a user with 100, and an e-mail address of 80: pages have to fit with them.
const LONG_LOT: &str = "Mahogany breakfront secretaire bookcase with Gothic astragals, formerly at Llanfairpwllgwyngyll Rectory, of 1780, 2 keys";
const LONG_SALE: &str = "The principal contents of Llanfairpwllgwyngyll Rectory: furniture, silver, clocks and works of art, on the premises, day";
const LONG_HOUSE: &str = "Featherstonehaugh-Cholmondeley, Rochefoucauld and Wolfeschlegelsteinhausen, Fine Art Auctioneers of Royal Leamington Spa";
const LONG_BIDDER: &str = "Maximilian Alexander Featherstonehaugh-Cholmondeley von Wolfeschlegelsteinhausen and Partners (Holdings) Limited, London";
const LONG_USER: &str =
    "Theodora Alexandrina Featherstonehaugh-Cholmondeley of Wolfeschlegelsteinhausen-upon-Thames, of Bath";
const LONG_EMAIL: &str = "maximilian.alexander.featherstonehaugh@wolfeschlegelsteinhausen-partners.example";
/// The e-mail address of the user of the dashboard and the administration.
const PERSON: &str = "ann@hartley.example";
const PASSWORD: &str = "correct horse battery";
const HOUR_MS: i64 = 3_600_000;

/// Why the installation could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ShowcaseError {
    /// A server, a management command or an API call failed.
    #[error(transparent)]
    Site(#[from] CustomerSiteError),
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// Another error.
    #[error("{0}")]
    Other(String),
}

impl From<consumer::ApiError> for ShowcaseError {
    fn from(error: consumer::ApiError) -> Self {
        Self::Site(error.into())
    }
}

impl From<crate::server::ServerError> for ShowcaseError {
    fn from(error: crate::server::ServerError) -> Self {
        Self::Site(error.into())
    }
}

/// The pages of one kind of visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// The App Portal.
    Portal,
    /// The dashboard of the provider's account.
    Dashboard,
    /// The administration application.
    Administration,
}

impl Pages {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Portal, Self::Dashboard, Self::Administration];

    /// The path that all of their addresses begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Portal => "/app-portal",
            Self::Dashboard => "/dashboard",
            Self::Administration => "/admin",
        }
    }
}

/// The running installation.
pub struct Showcase {
    /// How it was started.
    pub launch: Launch,
    /// Its customer.
    pub site: CustomerSite,
    /// The application whose pages the App Portal shows.
    pub application: String,
    _server: Server,
    /// An endpoint whose receiver refuses everything.
    _broken: Receiver,
}

impl Showcase {
    /// Starts the launch on an empty store, and fills it.
    pub async fn open(launch: Launch) -> Result<Self, ShowcaseError> {
        // No mail server listens there, so that the pages about waiting mails have content.
        let launch = launch.set("MAIL__SMTP_URL", "smtp://127.0.0.1:9").set("MAIL__FROM", "alerts@hartley.example");
        let server = launch.start(&http_client()).await?;
        let site = CustomerSite::set_up(&launch, &launch).await?;
        let broken = site.add_receiver(&site.application).await?;
        broken.respond_with(http::StatusCode::INTERNAL_SERVER_ERROR);
        fill(&site).await?;
        let application = site.application.clone();
        let add = ["provider", "alert-recipient", "add", PERSON, "--account", &site.account, "--json"];
        launch.run_command(&add)?;
        launch.run_command(&[&add[..], &["--application", &application]].concat())?;
        Ok(Self { launch, site, application, _server: server, _broken: broken })
    }

    /// Name and address of each page for visitors who have not signed in, without the [references](Self::api_references).
    pub fn open_pages(&self) -> Vec<(String, String)> {
        let provider = ["/dashboard/sign-in", "/dashboard/sign-in/code", "/app-portal/login"];
        self.pages_at(&["/admin/set-up", "/admin/sign-in"], &provider)
    }

    /// Name and address of the reference of each API: one long page, which `/` leads to.
    pub fn api_references(&self) -> Vec<(String, String)> {
        self.pages_at(&["/docs"], &["/docs"])
    }

    fn pages_at(&self, platform_paths: &[&str], provider_paths: &[&str]) -> Vec<(String, String)> {
        let pages_of = |origin: String, name: &str, paths: &[&str]| {
            paths.iter().map(|path| (format!("{name}{path}"), format!("{origin}{path}"))).collect::<Vec<_>>()
        };
        let platform = pages_of(self.launch.platform_url(), "platform", platform_paths);
        [platform, pages_of(self.launch.provider_url(), "provider", provider_paths)].concat()
    }

    /// Signs in, so that the first of the pages is open.
    pub async fn sign_in(&self, page: &Page, pages: Pages) -> Result<(), ShowcaseError> {
        match pages {
            Pages::Portal => {
                let path = format!("/api/v1/auth/app-portal-access/{}/", self.application);
                let access = self.site.provider.post(&path, &json!({})).await?;
                page.open(access.text("/url")?).await?;
                page.wait_until_at("/app-portal/endpoints").await?;
            }
            Pages::Dashboard => {
                let code = ["provider", "account", "sign-in-code", &self.site.account, "--json"];
                let made = self.launch.run_command(&code)?;
                page.open(made["url"].as_str().unwrap_or_default()).await?;
                page.wait_until_at("/dashboard/join/account").await?;
                page.fill("name", LONG_USER).await?;
                page.fill("email", PERSON).await?;
                page.fill("password", PASSWORD).await?;
                page.click_through("Join account").await?;
            }
            Pages::Administration => {
                let user = ["user", "create", PERSON, "--role", "administrator", "--json"];
                let password = self.launch.run_command(&user)?;
                page.open(&format!("{}/admin/sign-in", self.launch.platform_url())).await?;
                page.wait_until_at("/admin/sign-in").await?;
                page.fill("email", PERSON).await?;
                page.fill("password", password["password"].as_str().unwrap_or_default()).await?;
                page.click_through("Sign in").await?;
                name_user_and_house(page, &self.launch.platform_url(), &self.site.customer).await?;
                add_bidder(page, &self.launch.platform_url()).await?;
                describe_house(page, &self.launch.platform_url(), &self.site.customer).await?;
                write_to_bidders(page, &self.launch.platform_url(), &self.site).await?;
            }
        }
        Ok(())
    }
}

fn other(error: std::io::Error) -> ShowcaseError {
    ShowcaseError::Other(error.to_string())
}

async fn fill(site: &CustomerSite) -> Result<(), ShowcaseError> {
    let lots: Vec<Value> = LOTS
        .iter()
        .enumerate()
        .map(|(place, (title, estimate))| {
            json!({ "lotNumber": (place + 1).to_string(), "title": title, "lowEstimate": estimate * 100,
                "highEstimate": estimate * 150, "openingBid": estimate * 60, "reserve": estimate * 80 })
        })
        .collect();
    let sale = |title: &str, kind: &str, status: &str, time: (&str, i64)| {
        let mut sale = json!({ "title": title, "kind": kind, "status": status, "items": lots });
        sale[time.0] = json!(site.in_ms(time.1));
        sale
    };
    let timed = sale(LONG_SALE, "timed", "LIVE", ("endsAt", 3 * HOUR_MS));
    let timed = site.create_auction(timed).await?;
    add_pictures(site, &timed, &site.items(&timed).await?).await?;
    site.create_auction(sale("Clocks and instruments", "timed", "PREVIEW", ("endsAt", 48 * HOUR_MS))).await?;
    site.create_auction(sale("Summer sale", "webcast", "DRAFT", ("startsAt", 240 * HOUR_MS))).await?;
    let webcast = site.create_auction(sale(LONG_SALE, "webcast", "LIVE", ("startsAt", -1_000))).await?;
    let items = site.items(&webcast).await?;
    add_pictures(site, &webcast, &items).await?;
    sell_some(&site.platform, &webcast, &items).await
}

/// Adds three pictures to the first lot, none to each fourth, and one to each other.
async fn add_pictures(site: &CustomerSite, auction: &str, items: &[Value]) -> Result<(), ShowcaseError> {
    let auction = Uuid::try_parse(auction).map_or(0, |uuid| uuid.as_u128());
    for (place, item) in (0_u8..).zip(items).filter(|(place, _)| place % 4 != 3) {
        for number in 0_u8..if place == 0 { 3 } else { 1 } {
            let image = Uuid::from_u128(auction ^ (u128::from(place) << 8 | u128::from(number)));
            let name = format!("{}-{}.jpg", place + 1, number + 1);
            let picture = picture(place.wrapping_mul(10).wrapping_add(number));
            site.platform.put_image(item["uuid"].as_str().unwrap_or_default(), image, &name, picture).await?;
        }
    }
    Ok(())
}

/// Sells the first lot, passes the second, and leaves the third in the ring with a bid.
async fn sell_some(platform: &ApiClient, webcast: &str, items: &[Value]) -> Result<(), ShowcaseError> {
    let ring = format!("/api/v1/auctions/{webcast}/ring");
    let command = async |name: &str, body: Value| {
        let etag = platform.get(&ring).await?.etag;
        platform.post_if_match(&format!("{ring}/{name}"), etag.as_ref(), &body).await
    };
    let bid = |item: &Value, times: u64| {
        let amount = item["minimumBid"].as_u64().unwrap_or_default() * times;
        json!({ "source": "room", "bidder": "214", "amount": amount, "largeJump": true })
    };
    let [first, second, third, ..] = items else { return Err(ShowcaseError::Other("lots are missing".to_owned())) };
    command("send", json!({ "item": first["uuid"] })).await?;
    command("bid", bid(first, 2)).await?;
    command("sell", json!({})).await?;
    command("send", json!({ "item": second["uuid"] })).await?;
    command("pass", json!({})).await?;
    command("send", json!({ "item": third["uuid"] })).await?;
    command("bid", bid(third, 1)).await?;
    Ok(())
}
