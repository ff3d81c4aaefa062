//! A house puts its saleroom at a domain of its own: entered, proven by a record of a real name server, served, and lost again.

use serde_json::{Value, json};
use testkit::name_server::NameServer;

use crate::open_saleroom::OpenHouse;
use crate::saleroom_attacks::{PASSWORD, Sender};
use crate::support::WAIT_MAX;

const DOMAIN: &str = "bid.hartley.test";

/// The page "Own domain" of the house.
pub struct DomainForm<'a>(pub &'a OpenHouse);

impl DomainForm<'_> {
    pub async fn open(&self) {
        let customer = &self.0.site.customer;
        let path = format!("/customers/{customer}/domain");
        self.0.staff.open(&self.0.administration.url(&path)).await.unwrap();
        self.0.staff.wait_until_shown("Own domain").await.unwrap();
    }

    pub async fn enter(&self, domain: &str, shown: &str) {
        self.open().await;
        self.0.staff.fill("domain", domain).await.unwrap();
        self.0.staff.click("Save domain").await.unwrap();
        self.0.staff.wait_until_shown(shown).await.unwrap();
    }

    pub async fn check(&self, shown: &str) {
        self.open().await;
        self.0.staff.click("Check the record").await.unwrap();
        self.0.staff.wait_until_shown(shown).await.unwrap();
    }

    pub async fn record(&self) -> (String, String) {
        let text = async |id: &str| self.0.staff.text(&format!("document.getElementById('{id}').textContent")).await;
        (text("record-name").await.unwrap(), text("record-value").await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_moves_to_its_own_domain_on_sqlite() {
    a_house_moves_to_its_own_domain(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_moves_to_its_own_domain_on_postgresql() {
    a_house_moves_to_its_own_domain(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

async fn a_house_moves_to_its_own_domain(database: Option<String>) {
    let mut names = NameServer::start().unwrap();
    let servers = names.address.to_string();
    let mut house = OpenHouse::with(database, "at_once", &[("SALEROOM__DNS_SERVERS", &servers)]).await;
    let other = house.site.platform.post("/api/v1/customers", &json!({ "name": "Other house" })).await.unwrap();
    house.open_saleroom(other.text("/uuid").unwrap(), "other", "at_once").await;
    let shared = Sender::of(&house);
    let mut own = Sender { port: shared.port, host: format!("{DOMAIN}:{}", shared.port), cookie: String::new() };

    // Entered, and not proven: the page says what was found, and nothing is served.
    let form = DomainForm(&house);
    form.enter("saleroom.localhost", "leads every computer to itself").await;
    form.enter("192.0.2.7", "is an IP address").await;
    form.enter("Bid.Hartley.Test", "Not proven yet").await;
    let (name, value) = form.record().await;
    assert_eq!(name, format!("_lotwire.{DOMAIN}"));
    assert!(value.starts_with("lotwire-house=") && value.len() > 34, "{value}");
    form.check("There is no text record of this name.").await;
    names.set(&[(&name, "lotwire-house=another")]).unwrap();
    form.check("have other values: “lotwire-house=another”").await;
    assert_eq!(own.get("/hartley").status, 404);
    assert_eq!(shared.get("/hartley").status, 200);

    // Proven: the pages stand there, and only there.
    names.set(&[(&name, &value)]).unwrap();
    form.check("The record was found.").await;
    form.open().await;
    house.staff.wait_until_shown(&format!("The saleroom stands at http://{}/hartley", own.host)).await.unwrap();
    house.checks.assert_faultless(&house.staff).await;
    let first = own.get("/");
    assert_eq!((first.status, first.header("location")), (307, &*format!("http://{}/hartley", own.host)));
    let page = own.get("/hartley");
    assert_eq!(page.status, 200);
    assert!(page.body.contains(&format!("rel=\"canonical\" href=\"http://{}/hartley\"", own.host)), "{}", page.body);
    assert!(!page.body.contains("saleroom.localhost"), "{}", page.body);
    let led = shared.get("/hartley/sign-in?next=%2Fhartley");
    let expected = format!("http://{}/hartley/sign-in?next=%2Fhartley", own.host);
    assert_eq!((led.status, led.header("location"), led.header("cache-control")), (308, &*expected, "no-store"));
    assert_eq!(shared.get("/other").status, 200);
    let robots = own.get("/robots.txt").body;
    assert!(robots.ends_with(&format!("Sitemap: http://{}/sitemap.xml\n", own.host)), "{robots}");
    let map = own.get("/sitemap.xml").body;
    assert!(map.contains(&format!("http://{}/hartley/sitemap.xml", own.host)) && !map.contains("other"), "{map}");
    let map = shared.get("/sitemap.xml").body;
    assert!(map.contains("/other/sitemap.xml") && !map.contains("hartley"), "{map}");
    assert!(own.get("/hartley/sitemap.xml").body.contains(&format!("<loc>http://{}/hartley</loc>", own.host)));

    // No other house, and no other host.
    for path in
        ["/other", "/other/sign-in", "/other/api/v1/sales", "/%6fther", "/.well-known/oauth-authorization-server/other"]
    {
        assert_eq!(own.get(path).status, 404, "{path}");
    }
    let port = shared.port;
    for host in [
        format!("evil.{DOMAIN}:{port}"),
        format!("hartley.test:{port}"),
        DOMAIN.to_owned(),
        format!("{DOMAIN}.:{port}"),
    ] {
        assert_eq!(own.send("/hartley", None, &[&format!("Host: {host}")]).status, 404, "{host}");
    }
    let issuer = |answer: &str| serde_json::from_str::<Value>(answer).unwrap()["issuer"].as_str().unwrap().to_owned();
    let metadata = "/.well-known/oauth-authorization-server/hartley";
    for sender in [&own, &shared] {
        assert_eq!(issuer(&sender.get(metadata).body), format!("http://{}/hartley", own.host));
        assert_eq!(sender.get("/hartley/api/v1/sales").status, 200, "a web site may know either address");
    }

    // Forms, mails and sessions belong to the domain.
    let foreign = format!("Origin: http://{}", shared.host);
    let sign_up: &[(&str, &str)] = &[("email", "ann@example.com")];
    assert_eq!(own.send("/hartley/sign-up", Some(sign_up), &[&foreign]).status, 403);
    assert_eq!(own.post("/hartley/sign-up", sign_up).status, 200);
    let mail = tokio::time::timeout(WAIT_MAX, house.mails.next()).await.expect("no mail arrived").unwrap();
    let link = mail.text.lines().find(|line| line.starts_with("http")).unwrap().to_owned();
    let (page, key) = link.split_once("?key=").unwrap();
    assert_eq!(page, format!("http://{}/hartley/sign-up/account", own.host));
    let opened = own.post("/hartley/sign-up/account", &[("key", key), ("name", "Ann"), ("password", PASSWORD)]);
    assert_eq!((opened.status, opened.header("location")), (303, "/hartley/my-bids?done=opened"));
    own.keep_cookies(&opened);
    assert_eq!(own.get("/hartley/my-bids").status, 200);
    let chosen =
        own.send("/colours", Some(&[("colours", "dark")]), &[&format!("Referer: http://{}/hartley/my-bids", own.host)]);
    assert_eq!((chosen.status, chosen.header("location")), (303, "/hartley/my-bids"));
    // A page of the shared host that was open before still sends its form.
    assert_eq!(shared.post("/hartley/sign-in", &[("email", "x@example.com"), ("password", PASSWORD)]).status, 401);

    // The record is gone: the page, Today and doctor say so, and the domain is served for three days.
    names.set(&[]).unwrap();
    let form = DomainForm(&house);
    form.check("Record missing").await;
    house.staff.wait_until_shown("unless the record is found again").await.unwrap();
    assert_eq!(own.get("/hartley/my-bids").status, 200);
    house.staff.open(&house.administration.url("/")).await.unwrap();
    house.staff.wait_until_shown("domain of a saleroom: its record is missing").await.unwrap();
    let doctor = house.administration.launch.command().arg("doctor").output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains(&format!("WRONG  domains            {DOMAIN}, the domain of")), "{doctor}");

    // Without the domain, the shared address has the pages again.
    form.enter("", "The domain was removed.").await;
    assert_eq!((own.get("/hartley").status, shared.get("/hartley").status), (404, 200));
}
