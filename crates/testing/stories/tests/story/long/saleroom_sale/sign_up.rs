//! Bidders open accounts by the mailed link, accept the conditions, register for both sales, and get paddles: at once, or when staff have
//! decided.

use super::cast::{Bidder, CAST, Role};
use super::house::HOUSE;
use super::{Auction, Sale, looks};

const PASSWORD: &str = "three green lamps";
/// Subjects of the mail with the link, in the languages of the bidders.
const LINKS: [&str; 5] =
    ["Your account at", "Ihr Konto bei", "Votre compte chez", "Su cuenta en", "Il suo account presso"];
/// The limit of the last bidder in the timed auction, in pounds.
pub const LIMIT: i64 = 600;

impl Sale {
    /// A bidder with an account who has registered for both sales.
    pub async fn signs_up(&mut self, role: &'static Role) -> Bidder {
        let bidder = Bidder::arrive(role, &self.url(), self.pictures.clone()).await;
        bidder.looks("01-sales").await;
        bidder.opens(&self.catalogue(&self.timed)).await;
        bidder.looks("02-catalogue").await;
        bidder.opens(&self.lot(&self.timed, 1)).await;
        bidder.reads(&bidder.text("bid-sign-in")).await;
        self.assert_accessible(&bidder).await;
        bidder.looks("03-lot-before").await;
        bidder.acts(&bidder.text("sign-up")).await;
        bidder.fills("email", role.email).await;
        bidder.acts(&bidder.text("sign-up-send")).await;
        bidder.reads(&bidder.text("sign-up-mailbox")).await;
        bidder.looks("04-mailbox").await;
        let place = CAST.iter().position(|own| own.email == role.email).unwrap();
        let mail = self.house.mail(role.email, &format!("{} {HOUSE}", LINKS[place])).await;
        let link = mail.text.lines().find(|line| line.starts_with("http")).unwrap_or_else(|| panic!("{}", mail.text));
        bidder.opens(link).await;
        bidder.reads(&bidder.text("open-title")).await;
        bidder.fills("name", role.name).await;
        bidder.fills("password", PASSWORD).await;
        bidder.looks("05-account").await;
        bidder.acts(&bidder.text("open-button")).await;
        bidder.reads(&bidder.text("mine-welcome")).await;
        for auction in [&self.timed, &self.webcast] {
            self.registers(&bidder, auction).await;
        }
        bidder
    }

    async fn registers(&self, bidder: &Bidder, auction: &Auction) {
        bidder.opens(&self.lot(auction, 1)).await;
        bidder.acts(&bidder.text("bid-register")).await;
        bidder.acts(&bidder.with("register-conditions", [("number", "1".into())])).await;
        bidder.reads("The highest bidder is the buyer.").await;
        bidder.looks("06-conditions").await;
        bidder.opens(&format!("{}/register", self.catalogue(auction))).await;
        bidder.reads(&bidder.text("register-accept")).await;
        bidder.presses("[name=accepted]").await;
        bidder.looks("07-register").await;
        bidder.acts(&bidder.text("register-button")).await;
        let place = CAST.iter().position(|role| role.email == bidder.role.email).unwrap();
        // The house knows the fourth bidder, so staff decide.
        let standing = match place {
            3 => bidder.text("register-pending"),
            _ => bidder.with("register-approved", [("paddle", (place + 1).to_string().into())]),
        };
        bidder.reads(&standing).await;
        bidder.looks(if auction.id == self.timed.id { "08-registered" } else { "09-registered-webcast" }).await;
    }

    /// Staff approve the bidder whom they know, and limit the last one.
    pub async fn decides_on_registrations(&mut self, bidders: &[Bidder; 5]) {
        let staff = &self.house.staff;
        for auction in [&self.timed, &self.webcast] {
            self.staff_opens(&format!("/auctions/{}/registrations", auction.id), CAST[3].name).await;
            self.staff_looks("08-registrations").await;
            staff.click_through("Approve paddle 4").await.unwrap();
            staff.wait_until("!document.querySelector('[aria-label=\"Approve paddle 4\"]')").await.unwrap();
        }
        self.staff_opens(&format!("/auctions/{}/registrations", self.timed.id), CAST[4].name).await;
        staff.click_through("Edit paddle 5").await.unwrap();
        staff.wait_until_shown("Spending limit, GBP").await.unwrap();
        staff.fill("limit", &LIMIT.to_string()).await.unwrap();
        staff.click_through("Save registration").await.unwrap();
        staff.wait_until_shown("£600").await.unwrap();
        self.staff_looks("09-registrations").await;
        let carmen = &bidders[3];
        carmen.reads(&carmen.text("notice-approved")).await;
        looks(bidders, "10-before").await;
    }
}
