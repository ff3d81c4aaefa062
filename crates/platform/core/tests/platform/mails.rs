//! Mails to bidders with a real mail server: limits, "Send now", reminders, and mails of merged records.

use std::time::Duration;

use contract::AuctionStatus;
use kit_mail::Mailer;
use kit_runtime::clock::Clock as _;
use platform_core::bidders::{
    MergeChoices, NewRegistration, PartyInput, RecordPair, RegistrationDecision, RegistrationPatch,
};
use platform_core::config::MailLimits;
use platform_core::mails::{
    HouseMails, Language, MailForecast, MailKind, MailState, MailText, ReminderConfirmation, StoredMail, TestMail,
};
use platform_core::port::{Auctioneer, Customer, Page, PartyDetails, Registration, RegistrationStatus};
use platform_core::sales::auctions::NewAuction;
use platform_core::{Caller, PlatformConfig, PlatformError, Role};
use platform_rules::{Auction, AuctionKind};
use testkit::mail_server::MailServer;
use uuid::Uuid;

use crate::fixture::{TestPlatform, node};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

struct House {
    fixture: TestPlatform,
    server: MailServer,
}

impl House {
    /// A house whose bidders receive mails.
    async fn new(mail_limits: MailLimits) -> Self {
        let server = MailServer::start().await.unwrap();
        let mailer = Some(Mailer::new(&server.url, "Lotwire <mails@example.org>").unwrap());
        let fixture = TestPlatform::with(PlatformConfig { mailer, mail_limits, ..PlatformConfig::default() }).await;
        let house = Self { fixture, server };
        house.turn_on(house.fixture.customer.uuid).await;
        house
    }

    async fn turn_on(&self, customer: Uuid) {
        let mails = HouseMails { sends_decisions: true, ..HouseMails::default() };
        self.fixture.platform.change_house_mails(&self.fixture.caller, customer, mails, None).await.unwrap();
    }

    /// Another house of the same platform.
    async fn another(&self) -> (Customer, Auctioneer) {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let customer = platform.create_customer(caller, "Bell", None).await.unwrap().fresh().unwrap();
        let auctioneer = platform.create_auctioneer(caller, customer.uuid, "Bell", None).await.unwrap();
        self.turn_on(customer.uuid).await;
        (customer, auctioneer.fresh().unwrap())
    }

    /// A sale of this auctioneer in preview.
    async fn sale_of(&self, auctioneer: &Auctioneer, change: impl FnOnce(&mut NewAuction)) -> Auction {
        let mut new = self.fixture.timed(48 * HOUR, Vec::new());
        (new.auctioneer, new.status) = (auctioneer.uuid, AuctionStatus::Preview);
        change(&mut new);
        self.fixture.create(&new).await.auction
    }

    async fn sale(&self) -> Auction {
        self.sale_of(&self.fixture.auctioneer, |_| ()).await
    }

    async fn register(&self, auction: &Auction, paddle: &str, email: &str) -> Registration {
        let entry = NewRegistration {
            paddle: Some(paddle.into()),
            party: None,
            name: Some(format!("Bidder {paddle}")),
            email: Some(email.into()),
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        let registered = self.fixture.platform.register_bidder(&self.fixture.caller, auction.uuid, &entry, None).await;
        registered.unwrap().fresh().unwrap()
    }

    /// Runs the worker, and returns the recipients of the mails that arrived, in order of their addresses.
    async fn send(&mut self) -> Vec<String> {
        self.fixture.platform.send_mails().await.unwrap();
        let mut arrived: Vec<String> = self.server.arrived().into_iter().map(|mail| mail.to).collect();
        arrived.sort_unstable();
        arrived
    }

    /// Mails of the house in a state, the latest first.
    async fn mails(&self, state: MailState) -> Vec<StoredMail> {
        let (customer, page) = (self.fixture.customer.uuid, Page { after: None, limit: 99 });
        self.fixture.platform.mails(&self.fixture.caller, customer, state, page).await.unwrap()
    }

    /// Cause and minutes until the next try of the mails that wait, the one due first at first.
    async fn waiting(&self) -> Vec<(String, i64)> {
        let now = self.fixture.clock.now();
        let mut waiting: Vec<(String, i64)> = (self.mails(MailState::Waiting).await.into_iter())
            .map(|mail| (mail.fault.unwrap_or_default(), (mail.next_at.duration_since(now).as_secs() + 30) / 60))
            .collect();
        waiting.sort_by_key(|(_, minutes)| *minutes);
        waiting
    }

    async fn test_mail(&self, caller: &Caller, address: &str) -> Result<TestMail, PlatformError> {
        self.fixture.platform.send_test_mail(caller, self.fixture.customer.uuid, address).await
    }
}

#[tokio::test]
async fn mails_above_the_limit_of_a_house_wait_and_those_of_others_do_not() {
    let mut house = House::new(MailLimits { house_mails_per_hour: 3, house_mails_per_day: 5 }).await;
    let sale = house.sale().await;
    for number in 1..=7 {
        house.register(&sale, &number.to_string(), &format!("b{number}@example.com")).await;
    }
    let (other, auctioneer) = house.another().await;
    let of_other = house.sale_of(&auctioneer, |_| ()).await;
    assert_eq!(of_other.customer, other.uuid);
    house.register(&of_other, "1", "other@example.com").await;

    let sent = house.send().await;
    assert_eq!(sent.len(), 4, "three of the house, and the other one: {sent:?}");
    assert!(sent.contains(&"other@example.com".to_owned()), "{sent:?}");
    let of_hour = "waiting for the hourly limit of the house";
    let waiting = house.waiting().await;
    assert_eq!(waiting.len(), 4);
    assert!(waiting.iter().all(|(fault, minutes)| fault == of_hour && *minutes >= 20), "{waiting:?}");

    // No mail is lost: one is sent each 20 minutes, until the limit of the day counts.
    house.fixture.clock.advance(20 * MINUTE);
    assert_eq!(house.send().await.len(), 1);
    house.fixture.clock.advance(20 * MINUTE);
    assert_eq!(house.send().await.len(), 1);
    house.fixture.clock.advance(20 * MINUTE);
    assert_eq!(house.send().await, [""; 0]);
    let waiting = house.waiting().await;
    let of_day = "waiting for the daily limit of the house";
    assert_eq!(waiting.iter().filter(|(fault, _)| fault == of_day).count(), 2, "{waiting:?}");
    let mut rest = Vec::new();
    for _ in 0..12 {
        house.fixture.clock.advance(HOUR);
        rest.extend(house.send().await);
    }
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(house.mails(MailState::Sent).await.len(), 7);
    assert_eq!(house.waiting().await, []);
}

#[tokio::test]
async fn a_node_that_starts_with_a_higher_limit_sends_held_mails_at_once() {
    let mut house = House::new(MailLimits { house_mails_per_hour: 3, house_mails_per_day: 1_000 }).await;
    let sale = house.sale().await;
    for number in 1..=9 {
        house.register(&sale, &number.to_string(), &format!("b{number}@example.com")).await;
    }
    assert_eq!(house.send().await.len(), 3);
    let caller = house.fixture.caller.clone();
    let held = house.fixture.platform.held_mails(&caller).await.unwrap();
    let [(customer, held)] = held.try_into().unwrap();
    assert_eq!((customer.uuid, held.mails, held.since), (sale.customer, 6, house.fixture.clock.now()));
    // The same limit: the mails are tried and held again, in their order.
    house.fixture.clock.advance(MINUTE);
    assert_eq!(house.fixture.platform.release_held_mails().await.unwrap(), 6);
    assert_eq!(house.send().await, [""; 0]);
    assert_eq!(house.waiting().await.iter().filter(|(_, minutes)| *minutes >= 19).count(), 6);

    // The operator raises the limit and starts the server again.
    let mailer = Some(Mailer::new(&house.server.url, "Lotwire <mails@example.org>").unwrap());
    let mail_limits = MailLimits { house_mails_per_hour: 600, house_mails_per_day: 1_000 };
    let config = PlatformConfig { mailer, mail_limits, ..PlatformConfig::default() };
    let restarted = node(&house.fixture.store, &house.fixture.clock, config, 2);
    house.fixture.platform = restarted;
    assert_eq!(house.send().await, [""; 0], "nothing is due before the start");
    assert_eq!(house.fixture.platform.release_held_mails().await.unwrap(), 6);
    assert_eq!(house.send().await.len(), 6);
    assert_eq!(house.fixture.platform.held_mails(&caller).await.unwrap(), []);
    let viewer = Caller { scopes: Role::Viewer.scopes(), ..caller };
    assert_eq!(house.fixture.platform.held_mails(&viewer).await.unwrap_err().code(), "forbidden");
}

#[tokio::test]
async fn a_reminder_says_before_and_after_when_the_house_can_send_it() {
    let mut house = House::new(MailLimits { house_mails_per_hour: 6, house_mails_per_day: 1_000 }).await;
    let sale = house.sale().await;
    for number in 1..=4 {
        house.register(&sale, &number.to_string(), &format!("b{number}@example.com")).await;
    }
    let (platform, caller) = (house.fixture.platform.clone(), house.fixture.caller.clone());
    let start = house.fixture.clock.now();
    let shown = |forecast: MailForecast| {
        let minutes = forecast.last_at.map(|at| at.duration_since(start).as_secs() / 60);
        (forecast.mails, forecast.before, forecast.now, minutes)
    };
    // Four mails about decisions wait, and come first.
    let plan = platform.reminder_plan(&caller, sale.uuid).await.unwrap();
    assert_eq!(shown(plan.forecast), (4, 4, 2, Some(20)));
    assert_eq!(house.send().await.len(), 4);
    let plan = platform.reminder_plan(&caller, sale.uuid).await.unwrap();
    assert_eq!(shown(plan.forecast), (4, 0, 2, Some(20)));
    assert_eq!(platform.reminder_forecast(&caller, sale.uuid).await.unwrap(), None);
    let confirmed = ReminderConfirmation { id: plan.id, seen: None, house_version: plan.house_version };
    platform.remind_bidders(&caller, sale.uuid, confirmed).await.unwrap();
    // The same before the worker made the mails, and after it sent those that the limit allows.
    let queued = platform.reminder_forecast(&caller, sale.uuid).await.unwrap().unwrap();
    assert_eq!(shown(queued), (4, 0, 2, Some(20)));
    assert_eq!(house.send().await.len(), 2);
    let queued = platform.reminder_forecast(&caller, sale.uuid).await.unwrap().unwrap();
    assert_eq!(shown(queued), (4, 0, 2, Some(20)));
    // The forecast holds.
    house.fixture.clock.advance(19 * MINUTE);
    house.send().await;
    assert_eq!(house.mails(MailState::Waiting).await.len(), 1);
    house.fixture.clock.advance(MINUTE);
    house.send().await;
    assert_eq!(house.waiting().await, []);
}

#[tokio::test]
async fn a_reminder_of_a_live_sale_says_so_in_the_language_of_the_house() {
    let house = House::new(MailLimits::default()).await;
    let (platform, caller) = (house.fixture.platform.clone(), house.fixture.caller.clone());
    let auctioneer = house.fixture.auctioneer.clone();
    let now = house.fixture.clock.now();
    let webcast = house.sale_of(&auctioneer, |new| {
        (new.kind, new.starts_at, new.ends_at) = (AuctionKind::Webcast, Some(now + HOUR), None);
        new.extension_seconds = None;
    });
    let webcast = webcast.await;
    house.register(&webcast, "1", "ann@example.com").await;
    let text = async || platform.reminder_plan(&caller, webcast.uuid).await.unwrap().first.unwrap().mail.text;
    let before = text().await;
    assert!(before.contains("Bidding begins: ") && !before.contains("live now"), "{before}");
    // The clerk begins before the time that was announced.
    platform.change_auction_status(&caller, webcast.uuid, AuctionStatus::Live, None, None).await.unwrap();
    let live = text().await;
    assert!(live.contains("\n\nThe sale is live now.\n\n") && !live.contains("Bidding begins"), "{live}");
    let customer = house.fixture.customer.uuid;
    for (language, sentence) in [
        (Language::German, "Die Auktion läuft jetzt live."),
        (Language::French, "La vente a lieu en direct en ce moment."),
        (Language::Spanish, "La subasta está en directo ahora."),
        (Language::Italian, "L'asta è in diretta ora."),
    ] {
        let mails = HouseMails { language, ..HouseMails::default() };
        platform.change_house_mails(&caller, customer, mails, None).await.unwrap();
        let live = text().await;
        assert!(live.contains(sentence), "{live}");
    }
    // A house's own text has the sentence where it asks for it.
    for (own, sent) in
        [("Hello {bidder}\n{starts}", "Hello Bidder 1\n"), ("{live} Come in.", "The sale is live now. Come in.\n")]
    {
        let text_of_house = MailText { subject: "Now".into(), text: own.into() };
        let texts = [(MailKind::Reminder, text_of_house)].into();
        let mails = HouseMails { texts, ..HouseMails::default() };
        platform.change_house_mails(&caller, customer, mails, None).await.unwrap();
        assert_eq!(text().await, sent);
    }
}

#[tokio::test]
async fn addresses_that_are_no_mailbox_are_refused_and_two_of_google_are_one() {
    let house = House::new(MailLimits::default()).await;
    let sale = house.sale().await;
    let (platform, caller) = (house.fixture.platform.clone(), house.fixture.caller.clone());
    let entry = |email: &str| NewRegistration {
        paddle: None,
        party: None,
        name: Some("Ann".into()),
        email: Some(email.into()),
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    let customer = house.fixture.customer.uuid;
    for email in
        ["<ann@example.com>", "Ann <ann@example.com>", "\"a b\"@example.com", "a b@example.com", "a,b@c.example"]
    {
        let refused = platform.register_bidder(&caller, sale.uuid, &entry(email), None).await.unwrap_err();
        assert_eq!(refused.code(), "invalid", "{email}");
        assert!(refused.to_string().contains("is not an e-mail address"), "{refused}");
        let details =
            PartyDetails { name: "Ann".into(), is_bidder: true, email: Some(email.into()), ..PartyDetails::default() };
        let refused = platform.create_party(&caller, customer, &PartyInput { details, document: None }).await;
        assert_eq!(refused.unwrap_err().code(), "invalid", "{email}");
    }
    for email in ["ann.lee@gmail.com", "annlee@googlemail.com"] {
        platform.register_bidder(&caller, sale.uuid, &entry(email), None).await.unwrap().fresh().unwrap();
    }
    let plan = platform.reminder_plan(&caller, sale.uuid).await.unwrap();
    assert_eq!((plan.recipients, plan.mailboxes), (2, 1));
}

#[tokio::test]
async fn held_mails_become_due_one_after_the_other() {
    let mut house = House::new(MailLimits { house_mails_per_hour: 6, house_mails_per_day: 1_000 }).await;
    let sale = house.sale().await;
    for number in 1..=30 {
        house.register(&sale, &number.to_string(), &format!("b{number}@example.com")).await;
    }
    assert_eq!(house.send().await.len(), 6);
    let minutes: Vec<i64> = house.waiting().await.into_iter().map(|(_, minutes)| minutes).collect();
    // Mails that were claimed together are due together; the others follow each other.
    assert_eq!(
        (minutes.len(), minutes.first(), minutes.last().is_some_and(|last| *last >= 220)),
        (24, Some(&10), true),
        "{minutes:?}"
    );
    for _ in 0..24 {
        house.fixture.clock.advance(10 * MINUTE);
        assert_eq!(house.send().await.len(), 1);
    }
    assert_eq!(house.waiting().await, []);
}

#[tokio::test]
async fn a_refused_address_counts_for_the_house_and_an_unavailable_server_does_not() {
    let mut house = House::new(MailLimits { house_mails_per_hour: 2, house_mails_per_day: 100 }).await;
    let sale = house.sale().await;
    house.server.set_busy(true);
    for number in 1..=2 {
        house.register(&sale, &number.to_string(), &format!("b{number}@example.com")).await;
    }
    assert_eq!(house.send().await, [""; 0]);
    house.server.set_busy(false);
    house.server.set_refused("b1@example.com", true);
    house.server.set_refused("b2@example.com", true);
    house.fixture.clock.advance(MINUTE);
    assert_eq!(house.send().await, [""; 0]);
    assert_eq!(house.mails(MailState::Failed).await.len(), 2, "both were tried: the busy server used nothing up");
    house.register(&sale, "3", "b3@example.com").await;
    assert_eq!(house.send().await, [""; 0]);
    assert_eq!(house.waiting().await[0].0, "waiting for the hourly limit of the house");
}

#[tokio::test]
async fn a_user_sends_ten_test_mails_an_hour_and_a_house_no_more_than_its_limit() {
    let mut house = House::new(MailLimits { house_mails_per_hour: 12, house_mails_per_day: 100 }).await;
    let caller = house.fixture.caller.clone();
    for number in 0..10 {
        let sent = house.test_mail(&caller, &format!("t{number}@example.com")).await.unwrap();
        assert!(matches!(sent, TestMail::Taken(_)), "{sent:?}");
    }
    let refused = house.test_mail(&caller, "more@example.com").await.unwrap_err().to_string();
    assert!(refused.contains("you sent 10 test mails in an hour. The next one is possible in 6 minutes"), "{refused}");
    // Another user has tries left, and the house two mails.
    let other = Caller { actor: "user:other".into(), ..caller.clone() };
    house.server.set_refused("gone@example.com", true);
    assert!(matches!(house.test_mail(&other, "gone@example.com").await.unwrap(), TestMail::Refused(_)));
    assert!(matches!(house.test_mail(&other, "u@example.com").await.unwrap(), TestMail::Taken(_)));
    let refused = house.test_mail(&other, "v@example.com").await.unwrap_err().to_string();
    assert!(
        refused.contains(
            "has to wait: the house sent as many mails as its limit allows. The next one is possible in 5 minutes"
        ),
        "{refused}"
    );
    assert_eq!(house.server.arrived().len(), 11);
    house.fixture.clock.advance(6 * MINUTE);
    assert!(matches!(house.test_mail(&caller, "more@example.com").await.unwrap(), TestMail::Taken(_)));
}

#[tokio::test]
async fn a_title_and_a_name_of_a_house_make_no_link_in_a_mail() {
    let mut house = House::new(MailLimits::default()).await;
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let customer = platform.create_customer(caller, "Pay at evil.example", None).await.unwrap().fresh().unwrap();
    let auctioneer = platform.create_auctioneer(caller, customer.uuid, "Evil", None).await.unwrap().fresh().unwrap();
    house.turn_on(customer.uuid).await;
    let title = "Your account: https://evil.example/now";
    let sale = house.sale_of(&auctioneer, |new| new.title = title.into()).await;
    house.register(&sale, "1", "ann@example.com").await;
    house.fixture.platform.send_mails().await.unwrap();
    let mail = house.server.next().await.unwrap();
    let whole = format!("{}\n{}\n{}", mail.from, mail.subject, mail.text);
    assert!(whole.contains("Your account: https evil example now") && whole.contains("Pay at evil example"), "{whole}");
    assert!(!whole.contains("://") && !whole.contains("evil.example"), "{whole}");
}

#[tokio::test]
async fn a_mail_that_waits_is_sent_now_once_to_the_present_address() {
    let mut house = House::new(MailLimits::default()).await;
    let sale = house.sale().await;
    let registration = house.register(&sale, "12", "old@example.com").await;
    house.server.set_busy(true);
    assert_eq!(house.send().await, [""; 0]);
    let [waits] = house.mails(MailState::Waiting).await.try_into().unwrap();
    assert_eq!(waits.tries, 1);
    let email = Some(Some("new@example.com".to_owned()));
    let patch = RegistrationPatch { email, ..RegistrationPatch::default() };
    let (platform, caller) = (house.fixture.platform.clone(), house.fixture.caller.clone());
    platform.change_registration(&caller, (sale.uuid, registration.uuid), &patch, None).await.unwrap();
    house.server.set_busy(false);
    let customer = house.fixture.customer.uuid;
    let now = async |tries| platform.send_mail_now(&caller, customer, waits.mail.uuid, tries).await.unwrap();
    assert!(!now(0).await, "a form without the number of tries");
    let (one, two) = tokio::join!(now(1), now(1));
    assert!(one ^ two, "the button was pressed twice");
    assert_eq!(house.send().await, ["new@example.com"]);
    assert!(!now(1).await && !now(2).await, "it was sent");
    assert_eq!(house.send().await, [""; 0]);
    let viewer = Caller { scopes: Role::Viewer.scopes(), ..caller.clone() };
    assert_eq!(platform.send_mail_now(&viewer, customer, waits.mail.uuid, 2).await.unwrap_err().code(), "forbidden");
}

#[tokio::test]
async fn a_reminder_counts_mailboxes_and_announces_only_what_comes() {
    let mut house = House::new(MailLimits::default()).await;
    let now = house.fixture.clock.now();
    let auctioneer = house.fixture.auctioneer.clone();
    let sale = house.sale_of(&auctioneer, |new| new.starts_at = Some(now + HOUR)).await;
    for (paddle, email) in [("1", "an.n@example.com"), ("2", "ann+2@example.com"), ("3", "bo@example.com")] {
        house.register(&sale, paddle, email).await;
    }
    let (platform, caller) = (house.fixture.platform.clone(), house.fixture.caller.clone());
    let text = async || platform.reminder_plan(&caller, sale.uuid).await.unwrap();
    let plan = text().await;
    assert_eq!((plan.recipients, plan.mailboxes, plan.without_email), (3, 2, 0));
    let before = plan.first.unwrap().mail.text;
    assert!(before.contains("Bidding begins: ") && before.contains("The first lots end: "), "{before}");
    // The start has passed, and the sale is not live yet.
    house.fixture.clock.advance(2 * HOUR);
    let after = text().await.first.unwrap().mail.text;
    assert!(!after.contains("Bidding begins") && after.contains("The first lots end: "), "{after}");
    platform.change_auction_status(&caller, sale.uuid, AuctionStatus::Live, None, None).await.unwrap();
    let plan = text().await;
    let previewed = plan.first.clone().unwrap().mail.text;
    assert!(
        !previewed.contains("Bidding begins") && previewed.contains("You are registered for Prints"),
        "{previewed}"
    );
    let confirmed = ReminderConfirmation { id: plan.id, seen: None, house_version: plan.house_version };
    house.send().await;
    platform.remind_bidders(&caller, sale.uuid, confirmed).await.unwrap();
    platform.send_mails().await.unwrap();
    let sent = house.server.arrived();
    assert_eq!(sent.len(), 3);
    let first = sent.iter().find(|mail| mail.to == "an.n@example.com").unwrap();
    assert_eq!(first.text.trim_end(), previewed.trim_end());
}

#[tokio::test]
async fn the_mails_of_a_merged_record_are_sent_to_the_address_of_the_one_that_stayed() {
    let mut house = House::new(MailLimits::default()).await;
    let sale = house.sale().await;
    let (platform, caller, customer) =
        (house.fixture.platform.clone(), house.fixture.caller.clone(), house.fixture.customer.uuid);
    let add = async |name: &str, email: &str| {
        let details =
            PartyDetails { name: name.into(), is_bidder: true, email: Some(email.into()), ..PartyDetails::default() };
        platform.create_party(&caller, customer, &PartyInput { details, document: None }).await.unwrap().uuid
    };
    let (kept, merged) = (add("Ada King", "new@example.com").await, add("A. King", "old@example.com").await);
    let entry = NewRegistration {
        paddle: Some("12".into()),
        party: Some(merged),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    let registered = platform.register_bidder(&caller, sale.uuid, &entry, None).await.unwrap().fresh().unwrap();
    let ids = (sale.uuid, registered.uuid);
    let decide = async |to| {
        let step = RegistrationDecision { to, reason: Some("asked for it".into()) };
        platform.change_registration_status(&caller, ids, &step, None, None).await.unwrap();
    };
    // A mail that was given up, and one that waits for its next try.
    house.server.set_refused("old@example.com", true);
    assert_eq!(house.send().await, [""; 0]);
    let [failed] = house.mails(MailState::Failed).await.try_into().unwrap();
    house.server.set_busy(true);
    decide(RegistrationStatus::Suspended).await;
    assert_eq!(house.send().await, [""; 0]);
    let [waits] = house.mails(MailState::Waiting).await.try_into().unwrap();
    assert_eq!(waits.mail.recipient, "old@example.com");

    let pair = RecordPair { kept, merged, versions: None };
    platform.merge_parties(&caller, pair, &MergeChoices::default()).await.unwrap();
    house.server.set_busy(false);
    platform.send_mail_again(&caller, customer, failed.mail.uuid).await.unwrap();
    assert!(platform.send_mail_now(&caller, customer, waits.mail.uuid, waits.tries).await.unwrap());
    assert_eq!(house.send().await, ["new@example.com"; 2]);
    decide(RegistrationStatus::Approved).await;
    assert_eq!(house.send().await, ["new@example.com"]);
    platform.change_auction_status(&caller, sale.uuid, AuctionStatus::Live, None, None).await.unwrap();
    let plan = platform.reminder_plan(&caller, sale.uuid).await.unwrap();
    assert_eq!(plan.first.unwrap().recipient, "new@example.com");
    let confirmed = ReminderConfirmation { id: plan.id, seen: None, house_version: plan.house_version };
    platform.remind_bidders(&caller, sale.uuid, confirmed).await.unwrap();
    assert_eq!(house.send().await, ["new@example.com"]);
    let sent = house.mails(MailState::Sent).await;
    assert!(sent.iter().all(|mail| mail.mail.recipient == "new@example.com"), "{sent:?}");
    let bidders = platform.mail_bidders(&caller, &sent).await.unwrap();
    assert_eq!((bidders[&registered.uuid].paddle.as_str(), bidders.len()), ("12", 1));
}
