//! A server with the salerooms of two houses, and visitors who send what they like.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::mail_server::MailServer;

use crate::browser::{Browser, PASSWORD, Page};
use crate::support::{Running, SALEROOM_HOST, WAIT_MAX};

/// Addresses of the two houses.
pub const HOUSES: [&str; 2] = ["hartley", "other"];

/// The server, with both salerooms open to everyone with an account.
pub struct Salerooms {
    pub running: Running,
    /// The port of the salerooms.
    pub port: SocketAddr,
    /// Host and port, as a browser names them.
    pub host: String,
    pub mails: MailServer,
    /// A member of staff who is signed in to the administration.
    pub staff: Browser,
    /// A key of the platform's API with all scopes.
    pub key: String,
    /// UUIDs of the customers.
    pub customers: [String; 2],
}

impl Salerooms {
    pub async fn open(settings: &[(&str, &str)]) -> Self {
        let mails = MailServer::start().await.unwrap();
        let mail = [("MAIL__SMTP_URL", mails.url.as_str()), ("MAIL__FROM", "Lotwire <mails@example.org>")];
        let (running, port) = Running::with_salerooms(&[&mail[..], settings].concat()).await;
        let key = running.launch.create_staff_key("salerooms").unwrap();
        let mut command = running.launch.command();
        command.args(["user", "create", "staff@example.com", "--role", "support", "--password-stdin"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let mut staff = Browser::new(running.launch.platform, "/admin");
        let signed_in = staff.post("/sign-in", &[("email", "staff@example.com"), ("password", PASSWORD)]).await;
        assert_eq!(signed_in.status, 303, "{}", signed_in.body);
        let mut customers = [const { String::new() }; 2];
        for (customer, address) in customers.iter_mut().zip(HOUSES) {
            let name = json!({ "name": format!("House {address}") });
            *customer = running.platform().make("post", "/api/v1/customers", &key, &name).await.text("uuid");
            let fields = [
                ("address", address),
                ("registration", "at_once"),
                ("outageEnds", "at_their_time"),
                ("open", "yes"),
                ("version", "0"),
            ];
            let saved = staff.post(&format!("/customers/{customer}/saleroom"), &fields).await;
            assert_eq!(saved.status, 303, "{}", saved.body);
        }
        Self { running, port, host: format!("{SALEROOM_HOST}:{}", port.port()), mails, staff, key, customers }
    }

    /// A visitor in a browser of the house's pages.
    pub fn visitor(&self) -> Browser {
        let mut browser = Browser::new(self.port, "");
        (browser.host, browser.origin) = (self.host.clone(), format!("http://{}", self.host));
        browser
    }

    /// A bidder of a house who is signed in.
    pub async fn bidder(&mut self, house: &str, email: &str) -> Browser {
        let mut browser = self.visitor();
        assert_eq!(browser.post(&format!("/{house}/sign-up"), &[("email", email)]).await.status, 200);
        let mail = tokio::time::timeout(WAIT_MAX, self.mails.next()).await.expect("no mail arrived").unwrap();
        let (_, key) = mail.text.lines().find_map(|line| line.split_once("?key=")).unwrap();
        let form = [("key", key), ("name", "Ann"), ("password", PASSWORD)];
        let opened = browser.post(&format!("/{house}/sign-up/account"), &form).await;
        assert_eq!(opened.status, 303, "{}", opened.body);
        browser
    }

    /// A timed auction of a house with one live lot: path of its catalogue and of the lot.
    pub async fn sale(&self, house: usize) -> (String, String) {
        let api = self.running.platform();
        let post = async |path: &str, body: Value| api.make("post", path, &self.key, &body).await;
        let auctioneer = json!({ "name": "Hammer", "customer": self.customers[house] });
        let auctioneer = post("/api/v1/auctioneers", auctioneer).await.text("uuid");
        let sale = json!({
            "auctioneer": auctioneer, "kind": "timed", "title": "Clocks", "currency": "GBP", "timeZone": "Europe/London",
            "status": "LIVE", "endsAt": "2031-01-01T00:00:00Z",
            "items": [{ "lotNumber": "1", "title": "Clock", "status": "LIVE", "openingBid": 50_000 }],
        });
        let auction = post("/api/v1/auctions", sale).await.text("uuid");
        let items = api.make("get", &format!("/api/v1/auctions/{auction}/items"), &self.key, &Value::Null).await.body;
        let lot = items["data"][0]["uuid"].as_str().unwrap_or_else(|| panic!("{items}")).to_owned();
        let sale = format!("/{}/sales/{auction}", HOUSES[house]);
        (sale.clone(), format!("{sale}/lots/{lot}"))
    }
}

/// The page, without what differs in each request.
pub fn shown(page: &Page, typed: &str) -> (u16, String) {
    (page.status, page.body.replace(typed, "typed@example.com"))
}
