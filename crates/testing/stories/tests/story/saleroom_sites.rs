//! A web site of a house on an origin of its own, in a real browser: a bidder allows it in the saleroom, and it bids for them by the
//! bidders' API, with a standard client of OAuth.

use std::fs;

use serde_json::{Value, json};
use testkit::browser::{Browser, Page};
use testkit::web_site::WebSite;

use crate::administration::desk_page;
use crate::official_clients::installed_clients;
use crate::open_saleroom::OpenHouse;
use crate::saleroom_attacks::{PASSWORD, Sender};

const RESERVE: u64 = 271_828;
const MAXIMUM: u64 = 80_123;

/// A house with a LIVE timed sale of two lots.
pub struct SaleOfSites {
    pub house: OpenHouse,
    pub auction: String,
    pub lots: Vec<String>,
}

impl SaleOfSites {
    pub async fn open(database: Option<String>) -> Self {
        let house = OpenHouse::on(database, "at_once").await;
        let lot = |number: usize| {
            let reserve = if number == 2 { Some(RESERVE) } else { None };
            json!({
                "lotNumber": number.to_string(), "title": format!("Clock {number}"), "status": "LIVE",
                "openingBid": 50_000, "reserve": reserve, "buyNow": 900_000,
            })
        };
        let sale = json!({
            "kind": "timed", "title": "Clocks & watches", "status": "LIVE", "endsAt": house.site.in_ms(3_600_000),
            "items": [lot(1), lot(2)],
            "charges": { "premiumBasisPoints": 2_500, "hammerTaxBasisPoints": 0, "premiumTaxBasisPoints": 2_000 },
        });
        let auction = house.site.create_auction(sale).await.unwrap();
        let items = house.site.items(&auction).await.unwrap();
        let lots = items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
        Self { house, auction, lots }
    }

    /// Path of a lot below the API or the pages of the house.
    pub fn lot(&self, place: usize) -> String {
        format!("/sales/{}/lots/{}", self.auction, self.lots[place])
    }

    /// The staff list web sites of a customer.
    pub async fn list_sites(&self, customer: &str, addresses: &[&str]) {
        let staff = &self.house.staff;
        staff.open(&self.house.administration.url(&format!("/customers/{customer}/sites"))).await.unwrap();
        staff.wait_until_shown("Addresses, one a line").await.unwrap();
        let text = json!(addresses.join("\n"));
        staff.evaluate(&format!("document.getElementById('sites').value = {text}")).await.unwrap();
        staff.click_through("Save web sites").await.unwrap();
        staff.wait_until_shown("The web sites were saved.").await.unwrap();
    }
}

/// Status and body of a call of the API from the site's page.
async fn call(page: &Page, method: &str, path: &str, body: Value, key: &str) -> (u64, Value) {
    let (method, path, key) = (json!(method), json!(path), json!(key));
    let answer = page.text(&format!("window.call({method}, {path}, {body}, {key})")).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    (answer["status"].as_u64().unwrap(), answer["body"].clone())
}

async fn get(page: &Page, path: &str) -> Value {
    let (status, body) = call(page, "GET", path, Value::Null, "").await;
    assert_eq!(status, 200, "{path}: {body}");
    body
}

async fn a_site_bids_for_a_bidder_who_allowed_it(database: Option<String>) {
    let mut sale = SaleOfSites::open(database).await;
    let site = WebSite::start("shop.localhost").await.unwrap();
    let house = sale.house.url();
    let library = installed_clients().join("javascript/node_modules/oauth4webapi/build/index.js");
    let script = include_str!("saleroom_sites/site.js").replace("HOUSE", &house);
    site.put("/", "text/html", include_str!("saleroom_sites/site.html"));
    site.put("/back", "text/html", include_str!("saleroom_sites/site.html"));
    site.put("/site.js", "text/javascript", script);
    site.put("/oauth4webapi.js", "text/javascript", fs::read_to_string(library).unwrap());
    sale.list_sites(&sale.house.site.customer, &[&format!("{}/back", site.origin)]).await;
    sale.house.checks.assert_faultless(&sale.house.staff).await;
    let mut ann = Sender::of(&sale.house);
    ann.open_account(&mut sale.house, "ann@example.com").await;

    // The bidder comes from the site, signs in, reads what it asks for, and cancels.
    let browser = Browser::start().await.unwrap();
    let page = desk_page(&browser).await;
    page.open(&format!("{}/", site.origin)).await.unwrap();
    page.wait_until_shown("Ready to connect.").await.unwrap();
    assert_eq!(get(&page, "/sales").await["data"][0]["title"], json!("Clocks & watches"));
    let (status, refusal) = call(&page, "GET", "/me", Value::Null, "").await;
    assert_eq!((status, &refusal["code"]), (401, &json!("authorization_missing")));
    page.click_through("Connect").await.unwrap();
    page.wait_until_shown("E-mail address").await.unwrap();
    page.fill("email", "ann@example.com").await.unwrap();
    page.fill("password", PASSWORD).await.unwrap();
    page.evaluate("document.querySelector('form[action$=\"/sign-in\"] button').click()").await.unwrap();
    page.wait_until_shown("bid for you?").await.unwrap();
    page.wait_until_shown(&site.origin).await.unwrap();
    sale.house.checks.assert_faultless(&page).await;
    page.click_through("Cancel").await.unwrap();
    page.wait_until_shown("Refused: access_denied").await.unwrap();

    // The next time she allows it.
    page.click_through("Connect").await.unwrap();
    page.wait_until_shown("bid for you?").await.unwrap();
    page.click_through("Allow").await.unwrap();
    page.wait_until_shown("Connected.").await.unwrap();
    let me = get(&page, "/me").await;
    assert_eq!((&me["name"], &me["email"]), (&json!("Ann"), &json!("ann@example.com")));

    // A bid needs a registration.
    let (first, second) = (sale.lot(0), sale.lot(1));
    let bids = format!("{first}/bids");
    let next = json!({ "kind": "next", "amount": 50_000 });
    let (status, refusal) = call(&page, "POST", &bids, next.clone(), "k-0").await;
    assert_eq!((status, &refusal["code"]), (409, &json!("registration_required")));
    let (status, registered) =
        call(&page, "POST", &format!("/sales/{}/registration", sale.auction), json!({}), "").await;
    assert_eq!((status, &registered["status"], &registered["paddle"]), (200, &json!("approved"), &json!("1")));
    assert_eq!(get(&page, "/me/registrations").await["data"][0]["auction"], json!(sale.auction));

    // The bid is placed once, at the amount that was seen, and the bidder reads where they stand.
    let (status, refusal) = call(&page, "POST", &bids, next.clone(), "").await;
    assert_eq!((status, &refusal["code"]), (400, &json!("idempotency_key_missing")));
    let (status, placed) = call(&page, "POST", &bids, next.clone(), "k-1").await;
    assert_eq!(
        (status, &placed["standing"]["leads"], &placed["repeated"]),
        (200, &json!(true), &json!(false)),
        "{placed}"
    );
    assert_eq!((&placed["lot"]["price"], &placed["lot"]["priceTotal"]), (&json!(50_000), &json!(65_000)));
    let (status, placed) = call(&page, "POST", &bids, next.clone(), "k-1").await;
    assert_eq!((status, &placed["repeated"]), (200, &json!(true)), "{placed}");
    let (status, refusal) = call(&page, "POST", &bids, json!({ "kind": "next", "amount": 60_000 }), "k-1").await;
    assert_eq!((status, &refusal["code"]), (422, &json!("idempotency_mismatch")));
    let (status, refusal) = call(&page, "POST", &bids, json!({ "kind": "next", "amount": 55_000 }), "k-2").await;
    assert_eq!((status, &refusal["code"]), (409, &json!("already_leading")));
    let maximum = json!({ "kind": "maximum", "amount": MAXIMUM });
    let (status, placed) = call(&page, "POST", &bids, maximum, "k-3").await;
    assert_eq!((status, &placed["standing"]["maximum"]), (200, &json!(MAXIMUM)), "{placed}");
    let standing = get(&page, &format!("{first}/standing")).await;
    assert_eq!((&standing["standing"]["maximum"], &standing["watched"]), (&json!(MAXIMUM), &json!(false)));
    let (status, refusal) =
        call(&page, "POST", &format!("{second}/bids"), json!({ "kind": "next", "amount": 51_000 }), "k-4").await;
    assert_eq!((status, &refusal["code"]), (409, &json!("price_moved")), "{refusal}");

    // Watched lots, and all lots of the bidder.
    assert_eq!(call(&page, "PUT", &format!("{second}/watch"), Value::Null, "").await.0, 204);
    let watched = get(&page, "/me/watched").await;
    assert_eq!(watched["data"].as_array().unwrap().len(), 1);
    assert_eq!(watched["data"][0]["lot"]["uuid"], json!(sale.lots[1]));
    assert_eq!(get(&page, "/me/lots").await["data"].as_array().unwrap().len(), 2);
    assert_eq!(call(&page, "DELETE", &format!("{second}/watch"), Value::Null, "").await.0, 204);
    assert_eq!(get(&page, "/me/watched").await["data"], json!([]));

    // What everyone reads has the values of the live stream, and neither reserve, maximum nor name.
    let stream = format!("{house}/api/v1{first}/live");
    let followed = format!(
        "new Promise((resolve, reject) => {{ const stream = new EventSource({stream:?}); stream.onerror = () => reject('lost'); \
         stream.addEventListener('snapshot', (event) => {{ stream.close(); resolve(event.data); }}); }})"
    );
    let event = page.text(&followed).await.unwrap();
    let state: Value = serde_json::from_str(&event).unwrap();
    let state = if state["item"].is_object() { &state["item"] } else { &state["items"][0] };
    let lot = get(&page, &first).await;
    for (name, value) in state.as_object().unwrap_or_else(|| panic!("{event}")) {
        assert_eq!(&lot[name], value, "{name} in {event}");
    }
    let lots = get(&page, &format!("/sales/{}/lots?limit=1", sale.auction)).await;
    let after = format!("/sales/{}/lots?after={}", sale.auction, lots["next"].as_str().unwrap());
    assert_eq!(get(&page, &after).await["data"][0]["uuid"], json!(sale.lots[1]));
    for public in [&event, &lot.to_string(), &lots.to_string(), &get(&page, &second).await.to_string()] {
        for secret in [RESERVE.to_string(), MAXIMUM.to_string(), "Ann".to_owned(), "reserve".to_owned()] {
            assert!(!public.contains(&secret), "{secret} in {public}");
        }
    }

    // The site renews its tokens. The bidder sees the site, and ends its access.
    page.evaluate("window.renew()").await.unwrap();
    assert_eq!(get(&page, "/me").await["name"], json!("Ann"));
    let own = desk_page(&browser).await;
    own.open(&format!("{house}/account/sites")).await.unwrap();
    own.wait_until_shown(&site.origin).await.unwrap();
    sale.house.checks.assert_faultless(&own).await;
    own.click_through(&format!("Disconnect: {}", site.origin)).await.unwrap();
    own.wait_until_shown("The site has no access any more.").await.unwrap();
    sale.house.checks.assert_faultless(&own).await;
    let (status, refusal) = call(&page, "GET", "/me", Value::Null, "").await;
    assert_eq!((status, &refusal["code"]), (401, &json!("unauthenticated")));

    // A site ends its own access, too.
    page.click_through("Connect").await.unwrap();
    page.wait_until_shown("bid for you?").await.unwrap();
    page.click_through("Allow").await.unwrap();
    page.wait_until_shown("Connected.").await.unwrap();
    page.evaluate("window.revoke()").await.unwrap();
    assert_eq!(call(&page, "GET", "/me", Value::Null, "").await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_bids_for_a_bidder_who_allowed_it_on_sqlite() {
    a_site_bids_for_a_bidder_who_allowed_it(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_bids_for_a_bidder_who_allowed_it_on_postgresql() {
    let database = testkit::postgres::fresh_database().await.unwrap();
    a_site_bids_for_a_bidder_who_allowed_it(Some(database)).await;
}

/// Text of the part that the script element added.
const EMBEDDED: &str = "[...document.querySelectorAll('div')].find((element) => element.shadowRoot)?.shadowRoot";

#[tokio::test(flavor = "multi_thread")]
async fn a_script_element_shows_a_sale_in_a_page_of_the_house() {
    let sale = SaleOfSites::open(None).await;
    let site = WebSite::start("shop.localhost").await.unwrap();
    let saleroom = format!("http://{}", sale.house.host);
    let page_of = |lang: &str, auction: &str| {
        format!(
            "<!doctype html><html lang={lang}><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>Our sale</title><body><main><h1>Our sale</h1><script \
             src=\"{saleroom}/embed.js\" data-house=\"hartley\" data-sale=\"{auction}\" defer></script></main></body></html>"
        )
    };
    site.put("/", "text/html", page_of("en", &sale.auction));
    site.put("/de", "text/html", page_of("de-CH", &sale.auction));
    site.put("/none", "text/html", page_of("en", "01980000-0000-7000-8000-000000000000"));
    // The page allows the saleroom, and nothing else: no inline style or script, no eval.
    site.set_policy(format!("default-src 'none'; script-src {saleroom}; connect-src {saleroom}; img-src {saleroom}"));
    let browser = Browser::start().await.unwrap();
    let page = desk_page(&browser).await;
    let shows = async |text: &str| {
        page.wait_until(&format!("{EMBEDDED}?.textContent.includes({})", json!(text))).await.unwrap();
    };
    let press = async |words: &str| {
        let words = json!(words);
        let press = format!(
            "[...{EMBEDDED}.querySelectorAll('button')].find((button) => button.innerText.includes({words})).click()"
        );
        page.evaluate(&press).await.unwrap();
    };

    // A site that is not listed shows nothing of it.
    page.open(&format!("{}/", site.origin)).await.unwrap();
    shows("The lots can’t be shown at the moment.").await;
    sale.list_sites(&sale.house.site.customer, &[&site.origin]).await;
    page.open(&format!("{}/none", site.origin)).await.unwrap();
    shows("The lots can’t be shown at the moment.").await;

    page.open(&format!("{}/", site.origin)).await.unwrap();
    shows("Clocks & watches").await;
    shows("Starts at £500.00").await;
    sale.house.checks.assert_faultless(&page).await;
    let bid = json!({ "bidder": "77", "amount": 60_000 });
    sale.house.site.platform.post(&format!("/api/v1/items/{}/bids", sale.lots[0]), &bid).await.unwrap();
    shows("Price £500.00 £650.00 with premium and taxes").await;
    press("Clock 2").await;
    shows("Bid in the saleroom").await;
    sale.house.checks.assert_faultless(&page).await;
    press("All lots").await;
    shows("Clock 1").await;
    press("Clock 1").await;
    shows("Ends ").await;
    let link = page
        .text(&format!("{EMBEDDED}.querySelector('a.bid').href + ' ' + {EMBEDDED}.querySelector('a.bid').target"))
        .await;
    assert_eq!(link.unwrap(), format!("{saleroom}/hartley{} _top", sale.lot(0)));
    let markup = page.text(&format!("{EMBEDDED}.innerHTML")).await.unwrap();
    assert!(!markup.contains("style="), "{markup}");
    page.evaluate(&format!("{EMBEDDED}.querySelector('a.bid').click()")).await.unwrap();
    page.wait_until_shown("Sign in to bid").await.unwrap();

    // A page in German has it in German, with amounts as its region writes them.
    page.open(&format!("{}/de", site.origin)).await.unwrap();
    shows("Preis £\u{a0}500.00 £\u{a0}650.00 mit Aufgeld und Steuern").await;
    press("Clock 2").await;
    shows("Im Auktionssaal bieten").await;
}
