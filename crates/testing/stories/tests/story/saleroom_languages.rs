//! The saleroom in other languages, in a real browser: a bidder chooses one, registers and bids in it, and the script writes amounts
//! and times as the server does.

use std::process::Command;

use serde_json::json;
use testkit::browser::{Page, layout_faults};

use crate::administration::desk_page;
use crate::open_saleroom::OpenHouse;
use crate::saleroom_live::{DIFFERENCES, IS_LIVE};
use crate::support::WAIT_MAX;

const PASSWORD: &str = "three green lamps";
const LONG_TITLE: &str = "Schwarzwälder Holzräderuhr mit Glockenschlag";

struct House {
    open: OpenHouse,
    auction: String,
    lot: String,
}

impl House {
    /// A house with a LIVE timed auction in euros, whose times are those of London.
    async fn open(database: Option<String>) -> Self {
        let open = OpenHouse::on(database, "at_once").await;
        let sale = json!({
            "auctioneer": open.site.auctioneer, "currency": "EUR", "timeZone": "Europe/London", "kind": "timed", "title": "Uhren",
            "status": "LIVE", "endsAt": open.site.in_ms(3_600_000), "extensionSeconds": 300,
            "charges": { "premiumBasisPoints": 2_750, "hammerTaxBasisPoints": 0, "premiumTaxBasisPoints": 1_900 },
            "items": [{ "lotNumber": "1", "title": LONG_TITLE, "status": "LIVE", "openingBid": 100_000, "lowEstimate": 120_000, "highEstimate": 180_000 }],
        });
        let auction = open.site.platform.post("/api/v1/auctions", &sale).await.unwrap();
        let auction = auction.text("/uuid").unwrap().to_owned();
        let lot = open.site.items(&auction).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
        Self { open, auction, lot }
    }

    fn lot(&self) -> String {
        format!("{}/sales/{}/lots/{}", self.open.url(), self.auction, self.lot)
    }

    /// The page has no fault at any width, and the longest German words fit on a phone of 320 px.
    async fn assert_faultless(&self, page: &Page) {
        self.open.checks.assert_faultless(page).await;
        page.resize(320).await.unwrap();
        let faults = layout_faults(page).await.unwrap();
        page.resize(1_280).await.unwrap();
        assert!(faults.is_empty(), "{}: {faults:?}", page.text("location.href").await.unwrap());
    }

    async fn bid(&self, bidder: &str, amount: u64) {
        let bid = json!({ "bidder": bidder, "amount": amount });
        self.open.site.platform.post(&format!("/api/v1/items/{}/bids", self.lot), &bid).await.unwrap();
    }

    async fn next_link(&mut self, subject: &str) -> String {
        let mail = tokio::time::timeout(WAIT_MAX, self.open.mails.next()).await.expect("no mail arrived").unwrap();
        assert!(mail.subject.starts_with(subject), "{}", mail.subject);
        mail.text.lines().find(|line| line.starts_with("http")).unwrap_or_else(|| panic!("{}", mail.text)).to_owned()
    }

    /// The language of a page for a browser that asks for these, and whether the answer names what it depends on.
    fn answered(&self, asked: &str) -> (String, bool) {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--include", "--header", &format!("Accept-Language: {asked}")]);
        let (_, port) = self.open.host.split_once(':').unwrap();
        curl.args(["--header", &format!("Host: {}", self.open.host)]);
        let output = curl.arg(format!("http://127.0.0.1:{port}/hartley")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let language = text.split("<html lang=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        (language.to_owned(), text.to_lowercase().contains("vary: accept-language, cookie"))
    }
}

async fn language_is(page: &Page, tag: &str) {
    page.wait_until(&format!("document.documentElement.lang === '{tag}' && document.readyState === 'complete'"))
        .await
        .unwrap();
}

async fn shows(page: &Page, text: &str) {
    page.wait_until_shown(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
}

async fn press(page: &Page, form: &str) {
    page.evaluate(&format!("document.querySelector('[data-bid={form}] button').click()")).await.unwrap();
}

/// Presses again after the pause in which a second press is taken for a double one.
async fn press_again(page: &Page, form: &str, confirm: &str) {
    shows(page, confirm).await;
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 450))").await.unwrap();
    press(page, form).await;
}

async fn a_bidder_bids_in_german(database: Option<String>) {
    let mut house = House::open(database).await;
    let page = desk_page(&house.open.administration.browser).await;

    // The choice at the foot of a page stays, and leads back to the page.
    page.open(&house.lot()).await.unwrap();
    language_is(&page, "en").await;
    page.click_through("Deutsch").await.unwrap();
    language_is(&page, "de").await;
    page.wait_until(&format!("location.href === '{}'", house.lot())).await.unwrap();
    shows(&page, "Anmelden und bieten").await;
    shows(&page, "Schätzpreis 1.200\u{a0}€ – 1.800\u{a0}€").await;
    shows(&page, "Zum Hammerpreis kommen hinzu: Aufgeld 27,5\u{a0}%, Steuer auf das Aufgeld 19\u{a0}%.").await;
    house.assert_faultless(&page).await;
    for (below, text) in [("", "Gebote möglich"), (&format!("/sales/{}", house.auction), "1 Los durchsuchen")] {
        page.open(&format!("{}{below}", house.open.url())).await.unwrap();
        shows(&page, text).await;
        house.assert_faultless(&page).await;
    }
    page.open(&format!("{}/no-such-page", house.open.url())).await.unwrap();
    shows(&page, "Seite nicht gefunden").await;
    shows(&page, "Auktionen zeigen").await;

    // An account and a registration, with a fault on the way.
    page.open(&house.lot()).await.unwrap();
    shows(&page, "Anmelden und bieten").await;
    page.click_through("Konto eröffnen").await.unwrap();
    page.fill("email", "anna@example.com").await.unwrap();
    page.click_through("Link senden").await.unwrap();
    shows(&page, "Ein Link ist unterwegs an anna@example.com.").await;
    let link = house.next_link("Ihr Konto bei ").await;
    page.open(&link).await.unwrap();
    shows(&page, "Ihr Konto eröffnen").await;
    house.assert_faultless(&page).await;
    page.fill("name", "anna@example.com").await.unwrap();
    page.fill("password", PASSWORD).await.unwrap();
    page.click_through("Konto eröffnen").await.unwrap();
    shows(&page, "Enthält das Zeichen @: schreiben Sie einen Namen, keine E-Mail-Adresse").await;
    shows(&page, "Nichts wurde gespeichert").await;
    house.assert_faultless(&page).await;
    page.fill("name", "Anna Grün").await.unwrap();
    page.fill("password", PASSWORD).await.unwrap();
    page.click_through("Konto eröffnen").await.unwrap();
    shows(&page, "Willkommen. Sie sind angemeldet.").await;
    house.assert_faultless(&page).await;
    page.open(&house.lot()).await.unwrap();
    shows(&page, "Für diese Auktion registrieren").await;
    page.click_through("Für diese Auktion registrieren").await.unwrap();
    shows(&page, "Sie registrieren sich als Anna Grün, anna@example.com.").await;
    house.assert_faultless(&page).await;
    page.click_through("Registrieren").await.unwrap();
    shows(&page, "Sie sind registriert. Ihre Bieternummer ist 1.").await;

    // Two presses, and another bidder.
    page.open(&house.lot()).await.unwrap();
    page.wait_until(IS_LIVE).await.unwrap();
    assert_eq!(page.text(DIFFERENCES).await.unwrap(), "");
    shows(&page, "1.000\u{a0}€ bieten").await;
    shows(&page, "1.327,25\u{a0}€ mit Aufgeld und Steuern").await;
    press(&page, "next").await;
    press_again(&page, "next", "1.000\u{a0}€ bestätigen").await;
    shows(&page, "✓ Sie führen mit 1.000\u{a0}€.").await;
    house.assert_faultless(&page).await;
    house.bid("214", 260_000).await;
    shows(&page, "↓ Überboten. Ein anderer Bieter führt mit 1.100\u{a0}€.").await;
    page.wait_until("document.querySelector('[data-live=bids]').textContent === 'Aktuelles Gebot, 2 Gebote'")
        .await
        .unwrap();
    shows(&page, "Bieternummer 214").await;
    assert_eq!(page.text(DIFFERENCES).await.unwrap(), "");

    // What Germans write is read as they write it, and what can be read in two ways is refused.
    page.fill("amount", "1,500").await.unwrap();
    press(&page, "max").await;
    shows(&page, "„1,500“ kann man auf zwei Arten lesen.").await;
    page.fill("amount", "2.000").await.unwrap();
    press(&page, "max").await;
    press_again(&page, "asked", "Ihr Höchstgebot von 2.000\u{a0}€ bestätigen").await;
    shows(&page, "↓ Überboten. Ein anderer Bieter führt mit 2.200\u{a0}€.").await;
    page.open(&format!("{}/my-bids", house.open.url())).await.unwrap();
    shows(&page, "Sie sind überboten").await;
    house.assert_faultless(&page).await;

    the_account_decides(&house, &page).await;
    the_house_decides(&house, &page).await;
}

/// The language and time zone of the account count before the choice of the browser.
async fn the_account_decides(house: &House, page: &Page) {
    page.open(&format!("{}/account", house.open.url())).await.unwrap();
    shows(page, "E-Mail-Adresse: anna@example.com").await;
    house.assert_faultless(page).await;
    page.fill("timeZone", "Nowhere/Town").await.unwrap();
    page.click_through("Speichern").await.unwrap();
    shows(page, "Ist keine Zeitzone wie Europe/Berlin").await;
    page.fill("timeZone", "Asia/Tokyo").await.unwrap();
    page.evaluate("document.getElementById('language').value = 'fr'").await.unwrap();
    page.click_through("Speichern").await.unwrap();
    language_is(page, "fr").await;
    shows(page, "Enregistré.").await;
    page.open(&house.lot()).await.unwrap();
    page.wait_until(IS_LIVE).await.unwrap();
    assert_eq!(page.text(DIFFERENCES).await.unwrap(), "");
    shows(page, "2\u{202f}200\u{a0}€").await;
    shows(page, "Votre heure\u{a0}: ").await;
    house.assert_faultless(page).await;
    // The script writes the visitor's own time as the server does.
    let own = "document.querySelector('[data-own-time]').textContent";
    let shown = page.text(own).await.unwrap();
    page.disable_script().await.unwrap();
    page.open(&house.lot()).await.unwrap();
    page.wait_until(&format!("{own} !== ''")).await.unwrap();
    assert_eq!(page.text(own).await.unwrap(), shown);
    // The choice at the foot of a page is kept with the account.
    page.click_through("Italiano").await.unwrap();
    language_is(page, "it").await;
    page.click_through("Account").await.unwrap();
    assert_eq!(page.text("document.getElementById('language').value").await.unwrap(), "it");
}

/// A language that the house does not offer is never chosen.
async fn the_house_decides(house: &House, page: &Page) {
    assert_eq!(house.answered("fr-CH, de;q=0.9"), ("fr".to_owned(), true));
    assert_eq!(house.answered("nl, es;q=0.1"), ("es".to_owned(), true));
    let staff = &house.open.staff;
    staff
        .open(&house.open.administration.url(&format!("/customers/{}/saleroom", house.open.site.customer)))
        .await
        .unwrap();
    shows(staff, "Who may bid online").await;
    for language in ["french", "italian", "spanish"] {
        staff.evaluate(&format!("document.querySelector('[name=languages][value={language}]').click()")).await.unwrap();
    }
    staff.click("Save saleroom").await.unwrap();
    shows(staff, "The saleroom was saved.").await;
    assert_eq!(house.answered("fr-CH, de;q=0.9").0, "de");
    assert_eq!(house.answered("fr").0, "en");
    page.open(&house.open.url()).await.unwrap();
    language_is(page, "en").await;
    let names = page.text("[...document.querySelectorAll('.languages button')].map((one) => one.textContent).join()");
    assert_eq!(names.await.unwrap(), "English,Deutsch");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_bids_in_german_on_sqlite() {
    a_bidder_bids_in_german(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_bids_in_german_on_postgres() {
    a_bidder_bids_in_german(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
