//! The timed auction: quick bids, maxima, a limit, a soft close, and the end, in words on each screen.

use serde_json::json;

use super::cast::Bidder;
use super::house::SOFT_CLOSE;
use super::sign_up::LIMIT;
use super::{Sale, looks};

/// Time until the lots end, longer than the soft close.
const ENDS_IN_MS: i64 = 180_000;

impl Sale {
    pub async fn holds_timed_auction(&mut self, bidders: &[Bidder; 5]) {
        self.goes_live_soon().await;
        let [olive, joerg, amelie, _, luca] = bidders;
        let lot = self.lot(&self.timed, 1);
        for bidder in bidders {
            if !bidder.has_script() {
                bidder.opens(&format!("{}/notices", self.url())).await;
            }
            bidder.reads(&bidder.text("notice-sale-began")).await;
            bidder.looks("11-began").await;
            bidder.opens(&lot).await;
            bidder.reads(&bidder.about("bid", 500)).await;
        }
        looks(bidders, "11-open").await;

        // A press that is not confirmed sends nothing, and says so.
        olive.presses("[data-bid=next] button").await;
        olive.reads(&olive.about("bid-confirm", 500)).await;
        olive.looks("12-confirm").await;
        olive.reads(&olive.text("bid-expired")).await;
        olive.bids_next(500).await;
        olive.reads(&olive.about("standing-leads", 500)).await;
        self.assert_prices(&bidders.each_ref(), &self.timed, 1).await;
        looks(bidders, "13-first-bid").await;

        // A maximum leads at the least price, and its bidder can't raise the own price.
        joerg.bids_up_to("800", 800).await;
        joerg.reads(&joerg.about("standing-leads", 550)).await;
        joerg.reads(&joerg.about("standing-maximum", 800)).await;
        joerg.page.wait_until("!document.querySelector('[data-bid=next]')").await.unwrap();
        olive.reads(&olive.about("standing-outbid", 550)).await;
        looks(bidders, "14-maximum").await;
        amelie.opens(&lot).await;
        amelie.bids_next(600).await;
        amelie.reads(&amelie.about("standing-outbid", 650)).await;
        amelie.looks("15-outbid-at-once").await;
        self.assert_prices(&bidders.each_ref(), &self.timed, 1).await;

        self.bids_on_other_lots(bidders).await;
        self.raises_limit(luca).await;
        luca.bids_up_to("1.000", 1_000).await;
        luca.reads(&luca.about("standing-leads", 850)).await;
        joerg.reads(&joerg.about("standing-outbid", 850)).await;
        self.assert_prices(&bidders.each_ref(), &self.timed, 1).await;
        self.closes_softly(bidders).await;
        self.ends_timed_auction(bidders).await;
    }

    /// Staff plan the ends anew, and open bidding.
    async fn goes_live_soon(&self) {
        let staff = &self.house.staff;
        self.staff_opens(&format!("/auctions/{}/ends", self.timed.id), "Plan anew, staggered").await;
        self.sets("endsAt", &self.field_time(ENDS_IN_MS).await).await;
        self.sets("staggerSeconds", "").await;
        staff.evaluate("document.getElementById('endsAt').form.requestSubmit()").await.unwrap();
        staff.wait_until_shown("What will change").await.unwrap();
        staff.click_through("Move ends").await.unwrap();
        staff.wait_until_shown("The ends were moved.").await.unwrap();
        self.changes_status(&self.timed, "Go live").await;
    }

    /// One bidder has no rival, one stays below the reserve, and one only watches.
    async fn bids_on_other_lots(&self, bidders: &[Bidder; 5]) {
        let [olive, joerg, amelie, ..] = bidders;
        olive.opens(&self.lot(&self.timed, 2)).await;
        olive.bids_next(200).await;
        olive.reads(&olive.about("standing-leads", 200)).await;
        amelie.opens(&self.lot(&self.timed, 3)).await;
        amelie.bids_up_to("150", 150).await;
        amelie.reads(&amelie.about("standing-leads", 150)).await;
        joerg.opens(&self.lot(&self.timed, 4)).await;
        joerg.acts(&joerg.text("bid-watch")).await;
        joerg.reads(&joerg.text("bid-watched")).await;
        joerg.looks("16-watched").await;
        for bidder in [olive, joerg, amelie] {
            bidder.opens(&format!("{}/my-bids", self.url())).await;
            bidder.reads(&bidder.text("mine")).await;
            bidder.looks("16-my-bids").await;
            bidder.opens(&self.lot(&self.timed, 1)).await;
        }
    }

    /// A bid above the limit is refused, and the house raises the limit.
    async fn raises_limit(&self, luca: &Bidder) {
        let lot = self.lot(&self.timed, 1);
        luca.bids_up_to("900", 900).await;
        let limit = luca.pounds(LIMIT);
        let none = luca.pounds(0);
        luca.reads(&luca.with("refused-limit", [("limit", limit.into()), ("committed", none.into())])).await;
        luca.looks("17-over-limit").await;
        luca.opens(&format!("{}/register", self.catalogue(&self.timed))).await;
        luca.fills("amount", "1.500").await;
        luca.fills("words", "Per l’orologio, per favore").await;
        luca.acts(&luca.text("limit-button")).await;
        luca.reads(&luca.about("limit-waits", 1_500)).await;
        luca.looks("18-limit-asked").await;
        let staff = &self.house.staff;
        self.staff_opens(&format!("/auctions/{}/registrations", self.timed.id), "Per l’orologio, per favore").await;
        self.staff_looks("18-limit-asked").await;
        staff.click_through("Raise limit of paddle 5").await.unwrap();
        staff.wait_until_shown("New limit, GBP").await.unwrap();
        staff.click_element("main form button").await.unwrap();
        staff.wait_until_shown("was given another limit").await.unwrap();
        let granted = luca.pounds(1_500);
        luca.reads(&luca.with("notice-limit-granted", [("price", granted.into())])).await;
        luca.looks("19-limit-granted").await;
        luca.opens(&lot).await;
        luca.reads(&luca.about("bid", 700)).await;
    }

    /// Bids in the last seconds extend the end, which each live screen says.
    async fn closes_softly(&self, bidders: &[Bidder; 5]) {
        let [olive, joerg, amelie, carmen, luca] = bidders;
        let seconds = "(() => { const [minutes, seconds] = document.querySelector('.lot-clock .clock').textContent.split(':'); return minutes * 60 + Number(seconds); })()";
        carmen.waits_until(&format!("{seconds} < {SOFT_CLOSE}")).await;
        carmen.bids_next(900).await;
        carmen.reads(&carmen.about("standing-outbid", 950)).await;
        for bidder in bidders.iter().filter(|bidder| bidder.has_script()) {
            bidder.note_begins("live-extended", "time").await;
        }
        looks(bidders, "20-extended").await;
        carmen.bids_up_to("1.400", 1_400).await;
        carmen.reads(&carmen.about("standing-leads", 1_100)).await;
        luca.reads(&luca.about("standing-outbid", 1_100)).await;
        olive.bids_next(1_200).await;
        olive.reads(&olive.about("standing-outbid", 1_300)).await;
        joerg.reads(&joerg.about("standing-outbid", 1_300)).await;
        amelie.opens(&self.lot(&self.timed, 1)).await;
        amelie.reads(&amelie.about("standing-outbid", 1_300)).await;
        self.assert_prices(&bidders.each_ref(), &self.timed, 1).await;
        looks(bidders, "21-last-bids").await;
        for bidder in bidders {
            self.assert_accessible(bidder).await;
        }
    }

    /// At zero the screens wait for the server, which alone ends the lot.
    async fn ends_timed_auction(&self, bidders: &[Bidder; 5]) {
        let [olive, joerg, amelie, carmen, luca] = bidders;
        let last = "/^0:0[0-2]$/.test(document.querySelector('.lot-clock .clock').textContent)";
        carmen.waits_until(last).await;
        self.signal("-STOP");
        for bidder in [olive, joerg, carmen, luca] {
            let checking = json!(bidder.text("live-checking"));
            let standing = format!("document.querySelector('[data-live=standing]').textContent === {checking}");
            bidder.page.wait_until(&standing).await.unwrap();
            bidder.looks("22-checking").await;
        }
        self.signal("-CONT");
        let lot = self.lot(&self.timed, 1);
        let won = [("amount", carmen.pounds(1_300).into()), ("paddle", "4".into())];
        carmen.reads(&carmen.with("standing-won", won)).await;
        for bidder in [olive, joerg, amelie, luca] {
            bidder.comes_to_read(&lot, &bidder.about("standing-lost", 1_300)).await;
        }
        self.assert_prices(&bidders.each_ref(), &self.timed, 1).await;
        looks(bidders, "23-ended").await;
        olive.opens(&self.lot(&self.timed, 2)).await;
        let won = [("amount", olive.pounds(200).into()), ("paddle", "1".into())];
        olive.reads(&olive.with("standing-won", won)).await;
        let unsold = self.lot(&self.timed, 3);
        amelie.comes_to_read(&unsold, &amelie.text("standing-unsold")).await;
        joerg.opens(&self.lot(&self.timed, 4)).await;
        joerg.reads(&joerg.text("lot-unsold")).await;
        looks(bidders, "23-other-lots").await;
        let items = self.house.site.items(&self.timed.id).await.unwrap();
        let statuses: Vec<_> = items.iter().map(|item| item["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["SOLD", "SOLD", "UNSOLD", "UNSOLD"]);
        for number in 1..=4 {
            for bidder in bidders {
                bidder.opens(&self.lot(&self.timed, number)).await;
            }
            self.assert_prices(&bidders.each_ref(), &self.timed, number).await;
        }
        for bidder in bidders {
            bidder.opens(&self.catalogue(&self.timed)).await;
            bidder.looks("24-results").await;
        }
    }
}
