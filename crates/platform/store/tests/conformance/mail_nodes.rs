//! Two nodes on one store, which send mails to bidders over a real SMTP server.

use std::sync::Arc;
use std::time::Duration;

use contract::AuctionStatus;
use kit_mail::Mailer;
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Vault};
use platform_core::bidders::{NewRegistration, PartyInput, RegistrationDecision, RegistrationPatch};
use platform_core::mails::{HouseMails, Language, MailKind, MailState, MailText, ReminderConfirmation, TestMail};
use platform_core::port::{HouseProfile, Page, PartyDetails, Registration, RegistrationStatus, StoredMail};
use platform_core::provider_access::ProviderAccess;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts};
use platform_rules::{AuctionKind, SaleMode};
use testkit::mail_server::{MailServer, ReceivedMail};
use uuid::Uuid;

use super::given::Shared;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A house with a sale, on two nodes.
struct House {
    store: Shared,
    clock: TestClock,
    nodes: [Platform; 2],
    caller: Caller,
    customer: Uuid,
    auctioneer: Uuid,
    auction: Uuid,
    server: MailServer,
}

impl House {
    async fn open(store: Shared) -> Self {
        let (clock, server, caller) =
            (TestClock::default(), MailServer::start().await.unwrap(), Caller::command_line());
        let mailer = Mailer::new(&server.url, "Lotwire <mails@example.org>").unwrap();
        let node = |seed| {
            let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
            Platform::new(PlatformParts {
                store: store.clone(),
                clock: Arc::new(clock.clone()),
                random: Arc::new(SeededRandom::new(seed)),
                vault: Arc::new(vault),
                providers: ProviderAccess::unfiltered(),
                config: PlatformConfig { mailer: Some(mailer.clone()), ..PlatformConfig::default() },
            })
        };
        let nodes = [node(1), node(2)];
        let platform = &nodes[0];
        let customer = platform.create_customer(&caller, "Hammer & Söhne", None).await.unwrap().fresh().unwrap().uuid;
        let auctioneer = platform.create_auctioneer(&caller, customer, "Hammer", None).await.unwrap().fresh().unwrap();
        let profile = HouseProfile { email: Some("gebote@hammer.example".into()), ..HouseProfile::default() };
        platform.change_house(&caller, customer, profile, None).await.unwrap();
        let mails = HouseMails { language: Language::German, sends_decisions: true, ..HouseMails::default() };
        platform.change_house_mails(&caller, customer, mails, None).await.unwrap();
        let mut house =
            Self { store, clock, nodes, caller, customer, auctioneer: auctioneer.uuid, auction: Uuid::nil(), server };
        house.auction = house.sale(SaleMode::Real).await;
        house
    }

    async fn sale(&self, mode: SaleMode) -> Uuid {
        let lot = NewItem { opening_bid: 100, fixed_increment: Some(10), ..NewItem::new("1", "Kommode") };
        let new = NewAuction {
            starts_at: Some(self.clock.now() + DAY),
            ends_at: Some(self.clock.now() + DAY * 8),
            status: AuctionStatus::Draft,
            items: vec![lot],
            sale_mode: mode,
            ..NewAuction::new(self.auctioneer, AuctionKind::Timed, "Möbel & Silber", "EUR", "Europe/Berlin")
        };
        let created = self.nodes[0].create_auction(&self.caller, &new, None).await.unwrap().fresh().unwrap();
        created.auction.uuid
    }

    async fn register(&self, paddle: &str, email: Option<&str>, status: RegistrationStatus) -> Registration {
        self.register_in(self.auction, paddle, email, status).await
    }

    async fn register_in(
        &self,
        auction: Uuid,
        paddle: &str,
        email: Option<&str>,
        status: RegistrationStatus,
    ) -> Registration {
        let entry = NewRegistration {
            paddle: Some(paddle.into()),
            party: None,
            name: Some(format!("Jörg Bieter {paddle}")),
            email: email.map(Into::into),
            limit: None,
            note: None,
            status,
        };
        self.nodes[0].register_bidder(&self.caller, auction, &entry, None).await.unwrap().fresh().unwrap()
    }

    async fn decide(&self, registration: &Registration, to: RegistrationStatus) -> Registration {
        let step = RegistrationDecision { to, reason: Some("did not pay in March".into()) };
        let ids = (registration.auction, registration.uuid);
        let decided = self.nodes[1].change_registration_status(&self.caller, ids, &step, None, None).await;
        decided.unwrap().fresh().unwrap()
    }

    /// A run of both nodes' workers at the same time; returns the mails that arrived.
    async fn run(&mut self) -> Vec<ReceivedMail> {
        let (one, two) = tokio::join!(self.nodes[0].send_mails(), self.nodes[1].send_mails());
        one.and(two).unwrap();
        self.server.arrived()
    }

    async fn in_state(&self, state: MailState) -> Vec<StoredMail> {
        let page = Page { after: None, limit: 500 };
        self.nodes[0].mails(&self.caller, self.customer, state, page).await.unwrap()
    }

    async fn only(&self, state: MailState) -> StoredMail {
        let mut found = self.in_state(state).await;
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

pub(super) async fn a_decision_reaches_the_bidder_in_the_language_of_the_house(store: Shared) {
    let mut house = House::open(store).await;
    let waits = house.register("12", Some("joerg@example.com"), RegistrationStatus::Pending).await;
    house.register("13", None, RegistrationStatus::Approved).await;
    assert_eq!(house.run().await, [], "nothing was decided, or there is no address");

    house.decide(&waits, RegistrationStatus::Approved).await;
    let [mail] = house.run().await.try_into().unwrap();
    assert_eq!((&*mail.to, &*mail.from), ("joerg@example.com", "Hammer & Söhne <mails@example.org>"));
    assert_eq!(mail.reply_to, "gebote@hammer.example");
    assert_eq!(mail.subject, "Ihre Registrierung zur Auktion Möbel & Silber: Bieternummer 12");
    for part in ["Guten Tag Jörg Bieter 12,", "Ihre Bieternummer lautet 12.", "Beginn: ", " Uhr (Europe/Berlin)"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    assert_eq!(house.run().await, [], "it is sent once");
    assert_eq!(house.only(MailState::Sent).await.mail.recipient, "joerg@example.com");

    // The house's own text, without the reason, which is of the staff alone. A link in a name is none in the mail.
    let text = MailText { subject: "Gesperrt: {paddle}".into(), text: "{bidder}, bitte melden: {contact}".into() };
    let mails =
        HouseMails { language: Language::German, sends_decisions: true, texts: [(MailKind::Suspended, text)].into() };
    house.nodes[1].change_house_mails(&house.caller, house.customer, mails.clone(), None).await.unwrap();
    let name = Some("Pay at https://evil.example/pay".to_owned());
    let patch = RegistrationPatch { name, ..RegistrationPatch::default() };
    let ids = (house.auction, waits.uuid);
    house.nodes[0].change_registration(&house.caller, ids, &patch, None).await.unwrap();
    house.decide(&waits, RegistrationStatus::Suspended).await;
    let [mail] = house.run().await.try_into().unwrap();
    assert_eq!(
        (&*mail.subject, &*mail.text),
        ("Gesperrt: 12", "Pay at https evil example pay, bitte melden: gebote@hammer.example")
    );

    // Approved and declined before the mail was sent: the bidder reads the last decision only.
    house.decide(&waits, RegistrationStatus::Approved).await;
    house.decide(&waits, RegistrationStatus::Refused).await;
    let [mail] = house.run().await.try_into().unwrap();
    assert!(mail.text.contains("leider nicht annehmen") && !mail.text.contains("March"), "{}", mail.text);

    // Neither a sandbox nor a house that has turned them off writes to bidders.
    let sandbox = house.sale(SaleMode::Sandbox).await;
    house.register_in(sandbox, "1", Some("joerg@example.com"), RegistrationStatus::Approved).await;
    let off = HouseMails { sends_decisions: false, ..mails };
    house.nodes[0].change_house_mails(&house.caller, house.customer, off, None).await.unwrap();
    house.decide(&waits, RegistrationStatus::Approved).await;
    assert_eq!(house.run().await, []);
    assert_eq!(house.in_state(MailState::Waiting).await, []);

    // After the configured time, nothing of the mails is left.
    house.clock.advance(DAY * 30 + MINUTE);
    assert_eq!(house.nodes[0].delete_old_mails().await.unwrap(), 3);
}

pub(super) async fn a_busy_server_gets_the_mail_again_and_a_refused_mail_is_shown(store: Shared) {
    let mut house = House::open(store).await;
    house.server.set_busy(true);
    let registration = house.register("12", Some("joerg@example.com"), RegistrationStatus::Approved).await;
    assert_eq!(house.run().await, []);
    let waits = house.only(MailState::Waiting).await;
    assert!(waits.fault.as_deref().unwrap().contains("the mailbox is busy"), "{waits:?}");
    assert_eq!((waits.tries, waits.failing_since), (1, Some(house.clock.now())));
    assert_eq!(waits.next_at, house.clock.now() + MINUTE);
    assert_eq!(house.run().await, [], "not before its time");
    house.clock.advance(MINUTE);
    assert_eq!(house.run().await, []);
    assert_eq!(house.only(MailState::Waiting).await.tries, 2);
    house.server.set_busy(false);
    house.clock.advance(MINUTE * 5);
    let [first] = house.run().await.try_into().unwrap();
    assert_eq!(house.only(MailState::Sent).await.fault, None);

    // The server refuses the address for good.
    house.server.set_refused("joerg@example.com", true);
    house.decide(&registration, RegistrationStatus::Suspended).await;
    assert_eq!(house.run().await, []);
    let failed = house.only(MailState::Failed).await;
    assert!(failed.fault.as_deref().unwrap().contains("no such user here"), "{failed:?}");
    house.clock.advance(DAY);
    assert_eq!(house.run().await, [], "no further try");

    // Sent again: to the address that the registration has now.
    let platform = &house.nodes[0];
    let patch = RegistrationPatch { email: Some(Some("neu@example.com".into())), ..RegistrationPatch::default() };
    platform.change_registration(&house.caller, (house.auction, registration.uuid), &patch, None).await.unwrap();
    platform.send_mail_again(&house.caller, house.customer, failed.mail.uuid).await.unwrap();
    let again = platform.send_mail_again(&house.caller, house.customer, failed.mail.uuid).await;
    assert_eq!(again.unwrap_err().code(), "invalid", "it waits already");
    let [second] = house.run().await.try_into().unwrap();
    assert_eq!(second.to, "neu@example.com");
    assert_ne!(first.id, second.id);
    assert_eq!(house.in_state(MailState::Failed).await, []);

    // Given up after seven tries.
    house.server.set_busy(true);
    house.decide(&registration, RegistrationStatus::Approved).await;
    for pause in [0, 1, 5, 30, 120, 360, 720] {
        house.clock.advance(MINUTE * pause);
        house.run().await;
    }
    assert_eq!(house.only(MailState::Failed).await.tries, 7);

    // A test mail says what the server answers.
    let platform = &house.nodes[0];
    let test = async |address: &str| platform.send_test_mail(&house.caller, house.customer, address).await;
    let TestMail::Unavailable(reason) = test("ann@example.com").await.unwrap() else { panic!("it is busy") };
    assert!(reason.contains("the mailbox is busy"), "{reason}");
    house.server.set_busy(false);
    let TestMail::Refused(answer) = test("joerg@example.com").await.unwrap() else { panic!("it refuses") };
    assert!(answer.contains("no such user here"), "{answer}");
    let TestMail::Taken(answer) = test(" ann@example.com").await.unwrap() else { panic!("it takes the mail") };
    assert!(answer.contains("taken as 4711"), "{answer}");
    assert_eq!(test("nobody").await.unwrap_err().code(), "invalid");
    let [mail] = house.server.arrived().try_into().unwrap();
    assert_eq!((&*mail.to, &*mail.subject), ("ann@example.com", "Testmail von Hammer & Söhne"));
}

pub(super) async fn a_mailbox_receives_at_most_its_allowance(store: Shared) {
    let mut house = House::open(store).await;
    // 22 paddles of one mailbox, and one of another.
    for number in 1..=22 {
        let address = format!("an.n+{number}@example.com");
        house.register(&number.to_string(), Some(&address), RegistrationStatus::Approved).await;
    }
    house.register("99", Some("bo@example.com"), RegistrationStatus::Approved).await;
    let (mut arrived, mut runs) = (Vec::new(), 0);
    while runs < 4 {
        arrived.extend(house.run().await);
        runs += 1;
    }
    assert_eq!(arrived.len(), 21, "20 to one mailbox, one to the other");
    let held = house.in_state(MailState::Waiting).await;
    assert_eq!(held.len(), 2);
    for mail in &held {
        assert_eq!((mail.tries, mail.failing_since), (0, None));
        assert!(mail.fault.as_deref().unwrap().contains("received 20 mails"), "{mail:?}");
    }
    // One more when its part of the day has passed, also on the other node. A waiting mail is no alert.
    assert_eq!(house.store.waiting_mails(house.clock.now()).await.unwrap().mails, 0);
    house.clock.advance(DAY / 20);
    assert_eq!(house.run().await.len(), 1);
    house.clock.advance(DAY / 20);
    assert_eq!(house.run().await.len(), 1);
    assert_eq!(house.in_state(MailState::Waiting).await, []);
}

pub(super) async fn a_reminder_is_previewed_and_sent_once_to_all(store: Shared) {
    let mut house = House::open(store).await;
    let off = HouseMails { language: Language::French, ..HouseMails::default() };
    house.nodes[0].change_house_mails(&house.caller, house.customer, off, None).await.unwrap();
    // More than one part: 260 with an address.
    for number in 1..=260 {
        let address = format!("bidder{number}@example.com");
        house.register(&number.to_string(), Some(&address), RegistrationStatus::Approved).await;
    }
    house.register("300", None, RegistrationStatus::Approved).await;
    house.register("301", Some("pending@example.com"), RegistrationStatus::Pending).await;
    let (platform, caller, auction) = (house.nodes[0].clone(), house.caller.clone(), house.auction);
    let plan = platform.reminder_plan(&caller, auction).await.unwrap();
    assert_eq!(plan.hindrance, Some("The sale is a draft: set it to preview first."));
    let confirmed = |plan: &platform_core::mails::ReminderPlan| ReminderConfirmation {
        id: plan.id,
        seen: plan.last.as_ref().map(|last| last.uuid),
        house_version: plan.house_version,
    };
    let refused = platform.remind_bidders(&caller, auction, confirmed(&plan)).await;
    assert_eq!(refused.unwrap_err().code(), "invalid");
    platform.change_auction_status(&caller, auction, AuctionStatus::Preview, None, None).await.unwrap();

    let plan = platform.reminder_plan(&caller, auction).await.unwrap();
    assert_eq!((plan.recipients, plan.without_email, plan.hindrance), (260, 1, None));
    let first = plan.first.clone().unwrap();
    assert_eq!((&*first.paddle, &*first.recipient), ("1", "bidder1@example.com"));
    assert_eq!(first.mail.subject, "Rappel : vente Möbel & Silber");
    assert!(first.mail.text.contains("numéro d'enchérisseur 1.") && first.mail.text.contains("Fin des premiers lots"));

    // Pressed twice, and a second tab that has not seen it.
    let (once, twice) = tokio::join!(
        house.nodes[0].remind_bidders(&caller, auction, confirmed(&plan)),
        house.nodes[1].remind_bidders(&caller, auction, confirmed(&plan)),
    );
    once.and(twice).unwrap();
    let tab = ReminderConfirmation { id: Uuid::from_u128(7), ..confirmed(&plan) };
    assert_eq!(platform.remind_bidders(&caller, auction, tab).await.unwrap_err().code(), "busy");

    let mut arrived = Vec::new();
    for _ in 0..10 {
        arrived.extend(house.run().await);
    }
    assert_eq!(arrived.iter().filter(|mail| mail.to == "bidder1@example.com").count(), 1);
    let mut recipients: Vec<String> = arrived.iter().map(|mail| mail.to.clone()).collect();
    recipients.sort_unstable();
    recipients.dedup();
    assert_eq!((arrived.len(), recipients.len()), (260, 260));
    let of_first = arrived.iter().find(|mail| mail.to == "bidder1@example.com").unwrap();
    assert_eq!(of_first.text, first.mail.text.trim_end(), "the mail is the one that was previewed");
    assert!(arrived.iter().all(|mail| mail.to.starts_with("bidder")));

    // The next page says when the last one was sent and to how many. With that seen, another one is possible.
    let plan = platform.reminder_plan(&caller, auction).await.unwrap();
    let last = plan.last.clone().unwrap();
    assert_eq!((last.recipients, last.without_email, last.created_at), (260, 1, house.clock.now()));
    assert!(last.ended_at.is_some());
    let changed = HouseMails::default();
    platform.change_house_mails(&caller, house.customer, changed, None).await.unwrap();
    let stale = platform.remind_bidders(&caller, auction, confirmed(&plan)).await;
    assert_eq!(stale.unwrap_err().code(), "precondition_failed", "another text than the previewed one");
    let plan = platform.reminder_plan(&caller, auction).await.unwrap();
    platform.remind_bidders(&caller, auction, confirmed(&plan)).await.unwrap();
    assert!(house.run().await.iter().all(|mail| mail.subject == "Reminder: Möbel & Silber"));
}

pub(super) async fn a_mail_of_a_node_that_died_is_sent_by_the_other(store: Shared) {
    let mut house = House::open(store).await;
    house.register("12", Some("joerg@example.com"), RegistrationStatus::Approved).await;
    // A node claims the mail and dies before it sends it.
    let now = house.clock.now();
    let claimed = house.store.claim_mails(now, now + kit_mail::queue::LEASE, 9).await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!(house.run().await, []);
    house.clock.advance(kit_mail::queue::LEASE);
    let [mail] = house.run().await.try_into().unwrap();
    assert_eq!(mail.id, format!("<{}@example.org>", claimed[0].mail.uuid));
    assert_eq!(house.only(MailState::Sent).await.tries, 2);
}

pub(super) async fn an_erasure_deletes_the_mails_of_the_person(store: Shared) {
    let mut house = House::open(store).await;
    let details = PartyDetails {
        name: "Jörg Bieter".into(),
        is_bidder: true,
        email: Some("joerg@example.com".into()),
        ..PartyDetails::default()
    };
    let input = PartyInput { details, document: None };
    let platform = house.nodes[0].clone();
    let party = platform.create_party(&house.caller, house.customer, &input).await.unwrap();
    let entry = NewRegistration {
        paddle: Some("12".into()),
        party: Some(party.uuid),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    let registered = platform.register_bidder(&house.caller, house.auction, &entry, None).await.unwrap();
    let registration = registered.fresh().unwrap();
    assert_eq!(house.run().await.len(), 1);
    house.server.set_refused("joerg@example.com", true);
    house.decide(&registration, RegistrationStatus::Suspended).await;
    house.run().await;
    house.decide(&registration, RegistrationStatus::Approved).await;
    let states = [MailState::Sent, MailState::Failed, MailState::Waiting];
    for state in states {
        assert_eq!(house.only(state).await.mail.party, Some(party.uuid));
    }
    let export = platform.export_party(&house.caller, party.uuid).await.unwrap();
    let mails = &export.registrations[0].mails;
    assert_eq!(mails.iter().map(|mail| mail.state).collect::<Vec<_>>(), ["waiting", "failed", "sent"]);
    assert!(mails.iter().all(|mail| mail.to == "joerg@example.com" && mail.text.contains("Jörg Bieter")));

    platform.erase_party(&house.caller, party.uuid, None).await.unwrap();
    for state in states {
        assert_eq!(house.in_state(state).await, []);
    }
    house.server.set_refused("joerg@example.com", false);
    assert_eq!(house.run().await, [], "an erasure sends none");
}
