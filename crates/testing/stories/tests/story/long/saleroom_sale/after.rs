//! After the sale: offers of lots that did not sell, what each bidder bought with its total and how to pay, and the results.

use serde_json::json;

use super::cast::Bidder;
use super::house::{COLLECTION, PAYMENT};
use super::{Auction, Sale};

/// What each bidder bought: lot, hammer price and total in pounds, in the timed auction and in the webcast.
const BOUGHT: [&[(i64, &str)]; 5] =
    [&[(200, "260")], &[(650, "845")], &[(300, "390")], &[(1_300, "1690")], &[(300, "390"), (400, "520")]];

/// Where a lot stands is written over by its price: the words of these lots.
const OVERLAPS: &str = r#"[...document.querySelectorAll(".own-lots li")].filter((lot) => {
    const [standing, price] = [".status", ".price"].map((part) => lot.querySelector(part).getBoundingClientRect());
    return standing.right > price.left && standing.bottom > price.top && standing.top < price.bottom && price.width > 0;
}).map((lot) => lot.innerText).join(" / ")"#;

impl Sale {
    pub async fn settles(&mut self, bidders: &[Bidder; 5]) {
        let [_, _, amelie, _, luca] = bidders;
        self.offers(&self.timed, 3, "3", 300).await;
        self.accepts(amelie, &self.timed, 3, 300).await;
        self.offers(&self.webcast, 3, "5", 400).await;
        self.accepts(luca, &self.webcast, 3, 400).await;
        for auction in [&self.timed, &self.webcast] {
            let sold = if auction.id == self.timed.id { "3 of 4" } else { "4 of 4" };
            self.staff_opens(&format!("/auctions/{}/results", auction.id), sold).await;
            self.staff_looks(if auction.id == self.timed.id { "43-results-timed" } else { "43-results-webcast" }).await;
        }
        for (bidder, bought) in bidders.iter().zip(BOUGHT) {
            self.shows_purchases(bidder, bought).await;
        }
        for auction in [&self.timed, &self.webcast] {
            self.changes_status(auction, "Begin reconciliation").await;
        }
        for bidder in bidders {
            for (auction, step) in [(&self.timed, "45-results-timed"), (&self.webcast, "46-results-webcast")] {
                bidder.opens(&self.catalogue(auction)).await;
                bidder.reads(&bidder.text("lot-hammer-price")).await;
                bidder.looks(step).await;
            }
            bidder.opens(&format!("{}/notices", self.url())).await;
            bidder.looks("47-notices").await;
            bidder.opens(&self.url()).await;
            bidder.looks("48-sales").await;
        }
    }

    /// Staff offer a lot that did not sell.
    async fn offers(&self, auction: &Auction, number: usize, paddle: &str, pounds: i64) {
        let staff = &self.house.staff;
        let path = format!("/auctions/{}/lots/{}", auction.id, auction.lots[number - 1]);
        self.staff_opens(&path, "Offer to a bidder").await;
        staff.click_through("Offer to a bidder").await.unwrap();
        staff.wait_until_shown("You can withdraw the offer until the bidder answers.").await.unwrap();
        staff.fill("buyer", paddle).await.unwrap();
        staff.fill("amount", &pounds.to_string()).await.unwrap();
        staff.click_through("Offer to a bidder").await.unwrap();
        staff.wait_until_shown("Waits for the bidder").await.unwrap();
        self.staff_looks("40-offer").await;
    }

    /// The bidder finds the offer among their bids, and accepts it.
    async fn accepts(&self, bidder: &Bidder, auction: &Auction, number: usize, pounds: i64) {
        let mine = format!("{}/my-bids", self.url());
        bidder.opens(&mine).await;
        let price = bidder.pounds(pounds);
        let offered = bidder.with("offer-lot", [("lot", number.to_string().into()), ("amount", price.into())]);
        bidder.comes_to_read(&mine, &offered).await;
        let first = bidder.page.text("document.querySelector('main h2').innerText").await.unwrap();
        assert_eq!(first, bidder.text("mine-offered"));
        bidder.looks("41-offered").await;
        bidder.acts(&bidder.text("offer-answer")).await;
        bidder.reads(&bidder.about("offer-accept", pounds)).await;
        bidder.looks("41-offer-of-lot").await;
        bidder.bids("accept", &bidder.about("bid-confirm-buy", pounds)).await;
        bidder.reads(&bidder.about("offer-accepted", pounds)).await;
        bidder.looks("42-accepted").await;
        let items = self.house.site.items(&auction.id).await.unwrap();
        assert_eq!(items[number - 1]["status"], "SOLD");
        self.assert_prices(&[bidder], auction, number).await;
    }

    /// My bids has each purchase with its total, and how to pay and collect.
    async fn shows_purchases(&self, bidder: &Bidder, bought: &[(i64, &str)]) {
        bidder.opens(&format!("{}/my-bids", self.url())).await;
        bidder.reads(&bidder.text("mine-pay")).await;
        bidder.reads(PAYMENT).await;
        bidder.reads(COLLECTION).await;
        let won = bidder.text("mine-won");
        let script = format!(
            "[...document.querySelectorAll('section')].find((one) => one.getAttribute('aria-label') === {})\
             ?.innerText ?? ''",
            json!(won)
        );
        let text = bidder.page.text(&script).await.unwrap();
        assert_eq!(text.matches(&bidder.text("mine-is-won")).count(), bought.len(), "{}: {text}", bidder.role.name);
        for (hammer, total) in bought {
            assert!(text.contains(&bidder.pounds(*hammer)), "{}: {hammer}: {text}", bidder.role.name);
            let total = bidder.about("lot-total", total.parse().unwrap());
            assert!(text.contains(&total), "{}: {total}: {text}", bidder.role.name);
        }
        self.assert_accessible(bidder).await;
        assert_eq!(bidder.page.text(OVERLAPS).await.unwrap(), "", "{}", bidder.role.screen);
        bidder.looks("44-my-bids").await;
    }
}
