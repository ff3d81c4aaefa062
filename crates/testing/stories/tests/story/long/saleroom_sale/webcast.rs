//! The webcast: the desk takes bids of the room, of the commission book and of the web, gives fair warning, withdraws a bid, and sells or
//! passes; each screen says so.

use serde_json::json;

use super::cast::{Bidder, errors};
use super::{Sale, looks};
use crate::clerks_desk::Desk;

/// The desk accepts a decision on a waiting bid after the time that a clerk needs to read it.
const READ: &str = "performance.now() - Math.max(webBoxChangedAt, waitingChangedAt) > 260";

impl Desk {
    async fn reads(&self) {
        self.page.wait_until(READ).await.unwrap();
    }

    /// Takes the web bid that waits.
    async fn takes(&self, amount: &str, paddle: &str) {
        self.until_slot("web-amount", amount).await;
        self.reads().await;
        self.does("*", &format!("{amount} from paddle {paddle}")).await;
        self.reads().await;
    }
}

impl Bidder {
    /// Sends the asking price, and reads that the auctioneer has it before them.
    async fn sends(&self, pounds: i64) {
        self.bids_next(pounds).await;
        self.reads(&self.about("standing-waiting", pounds)).await;
    }
}

/// The stage of the open catalogue says this.
async fn stage(bidder: &Bidder, text: &str) {
    let says = format!("document.querySelector('[data-stage]').textContent === {}", json!(text));
    bidder.page.wait_until(&says).await.unwrap();
}

impl Sale {
    pub async fn holds_webcast(&mut self, bidders: &[Bidder; 5]) {
        self.changes_status(&self.webcast, "Go live").await;
        self.prepares(bidders).await;
        let desk = Desk { page: self.house.administration.browser.tab().await.unwrap() };
        desk.page.resize(1_280).await.unwrap();
        let path = format!("/webcasts/{}/desk", self.webcast.id);
        desk.page.open(&self.house.administration.url(&path)).await.unwrap();
        desk.until_connected().await;
        self.sells_in_the_room(&desk, bidders).await;
        self.sells_to_the_web(&desk, bidders).await;
        self.passes_and_sells_the_last(&desk, bidders).await;
        desk.until_slot("end-text", "All done").await;
        self.picture_of(&desk.page, "39-done-0-desk").await;
        assert_eq!(errors(&desk.page), Vec::<String>::new());
    }

    /// A commission bid of a bidder, one by telephone that staff book, and watched lots.
    async fn prepares(&self, bidders: &[Bidder; 5]) {
        let [_, _, amelie, carmen, luca] = bidders;
        let (staff, lot) = (&self.house.staff, |number| self.lot(&self.webcast, number));
        carmen.opens(&lot(1)).await;
        carmen.bids_up_to("700", 700).await;
        carmen.reads(&carmen.about("standing-commission", 700)).await;
        carmen.looks("25-commission").await;
        for (bidder, number) in [(amelie, 4), (luca, 3)] {
            bidder.opens(&lot(number)).await;
            bidder.acts(&bidder.text("bid-watch")).await;
            bidder.reads(&bidder.text("bid-watched")).await;
            bidder.looks("25-watched").await;
        }
        self.staff_opens(&format!("/webcasts/{}/book", self.webcast.id), "£700").await;
        for (field, value) in [("lot", "2"), ("paddle", "5"), ("number", "+39 06 5550 0118"), ("line", "Ann, line 2")] {
            staff.fill(&format!("telephone-{field}"), value).await.unwrap();
        }
        staff.click_through("Book telephone bid").await.unwrap();
        staff.wait_until_shown("The telephone bid was booked.").await.unwrap();
        self.staff_looks("25-book").await;
    }

    /// Lot 1: the book against the room, fair warning, and the hammer for the room.
    async fn sells_in_the_room(&self, desk: &Desk, bidders: &[Bidder; 5]) {
        let [olive, joerg, amelie, carmen, luca] = bidders;
        let lot = self.lot(&self.webcast, 1);
        olive.opens(&self.catalogue(&self.webcast)).await;
        joerg.opens(&self.catalogue(&self.webcast)).await;
        for bidder in [amelie, carmen, luca] {
            bidder.opens(&lot).await;
        }
        stage(olive, &olive.text("stage-none")).await;
        desk.does("Enter", "Lot 1 is in the ring").await;
        let asking = |bidder: &Bidder, key: &str, pounds: i64| {
            bidder.with(key, [("lot", "1".into()), ("amount", bidder.pounds(pounds).into())])
        };
        for bidder in [olive, joerg] {
            stage(bidder, &asking(bidder, "stage-ring", 500)).await;
        }
        for bidder in [amelie, carmen, luca] {
            bidder.comes_to_read(&lot, &bidder.text("lot-in-ring")).await;
        }
        looks(bidders, "26-in-the-ring").await;
        self.picture_of(&desk.page, "26-in-the-ring-0-desk").await;
        for (key, said) in [
            ("/", "£500 from paddle 4"),
            ("+", "£550 from the room"),
            ("/", "£600 from paddle 4"),
            ("+", "£650 from the room"),
            ("/", "£700 from paddle 4"),
        ] {
            desk.reads().await;
            desk.does(key, said).await;
        }
        carmen.reads(&carmen.about("standing-leads", 700)).await;
        carmen.looks("27-book").await;
        desk.does("+", "£750 from the room").await;
        carmen.reads(&carmen.about("standing-outbid", 750)).await;
        desk.does("F8", "Fair warning given").await;
        for bidder in [olive, joerg] {
            stage(bidder, &asking(bidder, "stage-warned", 800)).await;
        }
        for bidder in [amelie, carmen, luca] {
            bidder.comes_to_read(&lot, &bidder.text("live-ring-warned")).await;
        }
        self.assert_prices(&[amelie, carmen, luca], &self.webcast, 1).await;
        looks(bidders, "28-fair-warning").await;
        self.picture_of(&desk.page, "28-fair-warning-0-desk").await;
        desk.does("F9", "Lot 1 sold at £750 to an open buyer").await;
        desk.page.type_keys("77").await.unwrap();
        desk.presses("Enter").await;
        desk.page.wait_until("document.getElementById('confirm').open").await.unwrap();
        desk.does("y", "The buyer is paddle 77").await;
        for bidder in [olive, joerg] {
            stage(bidder, &asking(bidder, "stage-sold", 750)).await;
        }
        carmen.reads(&carmen.about("standing-lost", 750)).await;
        for bidder in [amelie, luca] {
            bidder.comes_to_read(&lot, &bidder.text("lot-sold")).await;
        }
        looks(bidders, "29-sold-in-the-room").await;
        for bidder in [olive, joerg] {
            bidder.opens(&lot).await;
        }
        self.assert_prices(&bidders.each_ref(), &self.webcast, 1).await;
    }

    /// Lot 2: bids of the web, one that the clerk withdraws, one by telephone, and the hammer for the web.
    async fn sells_to_the_web(&self, desk: &Desk, bidders: &[Bidder; 5]) {
        let [olive, joerg, amelie, ..] = bidders;
        let lot = self.lot(&self.webcast, 2);
        for bidder in bidders {
            bidder.opens(&lot).await;
        }
        desk.does("n", "Lot 2 is in the ring").await;
        desk.until_slot("book", "Telephone, paddle 5: Ann, line 2").await;
        joerg.sends(500).await;
        looks(bidders, "30-web-bid").await;
        self.picture_of(&desk.page, "30-web-bid-0-desk").await;
        desk.takes("£500", "2").await;
        joerg.reads(&joerg.about("standing-leads", 500)).await;
        olive.sends(550).await;
        desk.takes("£550", "1").await;
        olive.reads(&olive.about("standing-leads", 550)).await;
        joerg.reads(&joerg.about("standing-outbid", 550)).await;
        joerg.looks("31-outbid").await;

        // The clerk withdraws the last bid: it is crossed out, and the bid before leads again.
        desk.does("-", "Undone. £500 from paddle 2").await;
        joerg.reads(&joerg.about("standing-leads", 500)).await;
        for bidder in bidders {
            bidder.comes_to_read(&lot, &bidder.text("lot-bid-withdrawn")).await;
            bidder.page.wait_until("document.querySelector('.bid-feed s') !== null").await.unwrap();
        }
        self.assert_prices(&bidders.each_ref(), &self.webcast, 2).await;
        looks(bidders, "32-withdrawn").await;
        self.picture_of(&desk.page, "32-withdrawn-0-desk").await;

        // Without script, a bid is sent and read by loading the page.
        amelie.opens(&lot).await;
        amelie.sends(550).await;
        amelie.looks("33-sent").await;
        desk.takes("£550", "3").await;
        amelie.comes_to_read(&lot, &amelie.about("standing-leads", 550)).await;
        desk.does("+", "£600 from the room").await;
        joerg.reads(&joerg.about("standing-outbid", 600)).await;
        joerg.sends(650).await;
        desk.takes("£650", "2").await;
        joerg.reads(&joerg.about("standing-leads", 650)).await;
        desk.does("F8", "Fair warning given").await;
        self.assert_prices(&bidders.each_ref(), &self.webcast, 2).await;
        looks(bidders, "34-leads").await;
        desk.does("F9", "Lot 2 sold at £650 to paddle 2").await;
        let won = [("amount", joerg.pounds(650).into()), ("paddle", "2".into())];
        joerg.reads(&joerg.with("standing-won", won)).await;
        amelie.comes_to_read(&lot, &amelie.about("standing-lost", 650)).await;
        olive.reads(&olive.about("standing-lost", 650)).await;
        self.assert_prices(&bidders.each_ref(), &self.webcast, 2).await;
        looks(bidders, "35-sold-to-the-web").await;
        self.picture_of(&desk.page, "35-sold-to-the-web-0-desk").await;
    }

    /// Lot 3 is passed, and lot 4 is sold to the bidder who has no pointer.
    async fn passes_and_sells_the_last(&self, desk: &Desk, bidders: &[Bidder; 5]) {
        let luca = &bidders[4];
        let passed = self.lot(&self.webcast, 3);
        for bidder in bidders {
            bidder.opens(&passed).await;
        }
        desk.does("n", "Lot 3 is in the ring").await;
        desk.does("F2", "Lot 3 passed").await;
        for bidder in bidders {
            bidder.comes_to_read(&passed, &bidder.text("lot-passed")).await;
        }
        self.assert_prices(&bidders.each_ref(), &self.webcast, 3).await;
        looks(bidders, "36-passed").await;

        let last = self.lot(&self.webcast, 4);
        for bidder in bidders {
            bidder.opens(&last).await;
        }
        desk.does("n", "Lot 4 is in the ring").await;
        luca.sends(300).await;
        luca.looks("37-sent-by-key").await;
        desk.takes("£300", "5").await;
        luca.reads(&luca.about("standing-leads", 300)).await;
        desk.does("F9", "Lot 4 sold at £300 to paddle 5").await;
        let won = [("amount", luca.pounds(300).into()), ("paddle", "5".into())];
        luca.reads(&luca.with("standing-won", won)).await;
        for bidder in bidders {
            bidder.comes_to_read(&last, &bidder.text("lot-sold")).await;
        }
        self.assert_prices(&bidders.each_ref(), &self.webcast, 4).await;
        looks(bidders, "38-sold-by-key").await;
    }
}
