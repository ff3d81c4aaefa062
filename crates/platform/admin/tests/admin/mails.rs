//! Mails to bidders: the texts of a house, and an installation without a mail server. Registrations that can't be approved.

use contract::AuctionStatus;
use kit_mail::Mailer;
use platform_core::bidders::{NewRegistration, PartyInput};
use platform_core::config::MailLimits;
use platform_core::port::{PartyDetails, RegistrationStatus};
use platform_core::{PlatformConfig, Role};

use crate::fixture::Fixture;
use crate::sale_fixture::{Sale, staff};
use testkit::mail_server::MailServer;

#[tokio::test]
async fn a_house_replaces_texts_which_are_checked_and_previewed() {
    let sale = Sale::new(AuctionStatus::Preview, &["A spoon"]).await;
    let customer = sale.fixture.platform.auction(&staff(), sale.auction).await.unwrap().customer;
    let (list, texts) = (format!("/customers/{customer}/mails"), format!("/customers/{customer}/mails/texts"));
    let mut support = sale.fixture.signed_in(Role::Support).await;
    let form = support.get(&texts).await;
    form.is(200).shows("Your registration for December silver: paddle 12").shows("Dear Ann Hartley,");
    form.shows("Friday 4 December 2026, 19:00 (Europe/London)").hides("Bidding begins: \n");

    let typed = [
        ("version", "0"),
        ("language", "italian"),
        ("decisions", "yes"),
        ("approvedSubject", "{sale}: <b>{paddle}</b>"),
    ];
    let preview = [&typed[..], &[("approvedText", "Ciao {bidder}!"), ("do", "preview")]].concat();
    let shown = support.post(&texts, &preview).await;
    shown
        .is(200)
        .shows("December silver: &#60;b&#62;12&#60;/b&#62;")
        .shows("Ciao Ann Hartley!")
        .shows("Gentile Ann Hartley,");
    let wrong = [&typed[..], &[("approvedText", "Ciao {nome}, {bidder"), ("do", "save")]].concat();
    let refused = support.post(&texts, &wrong).await;
    refused.is(422).shows("has {nome}, which is no placeholder: write one of {bidder}").shows("Ciao {nome}");
    let lacking = [&typed[..], &[("do", "save")]].concat();
    support.post(&texts, &lacking).await.is(422).shows("is empty");
    let right = [&typed[..], &[("approvedText", "Ciao {bidder}!"), ("do", "save")]].concat();
    support.submit(&texts, &right).await.is(200).shows("The texts were saved.");
    support.post(&texts, &right).await.is(422).shows("Someone else changed the house");
    let house = sale.fixture.platform.house(&staff(), customer).await.unwrap();
    assert!(house.mails.sends_decisions && house.mails.texts.len() == 1, "{:?}", house.mails);

    // An operator sees the mails and does not change the texts.
    let mut operator = sale.operator;
    operator.get(&list).await.is(200).hides("Texts and language");
    operator.get(&texts).await.is(403);
}

#[tokio::test]
async fn without_a_mail_server_nothing_is_queued_and_the_pages_say_so() {
    let mut sale = Sale::new(AuctionStatus::Preview, &["A spoon"]).await;
    let (platform, caller) = (sale.fixture.platform.clone(), staff());
    let customer = platform.auction(&caller, sale.auction).await.unwrap().customer;
    let mails = platform_core::mails::HouseMails { sends_decisions: true, ..Default::default() };
    platform.change_house_mails(&caller, customer, mails, None).await.unwrap();
    let entry = NewRegistration {
        paddle: Some("12".into()),
        party: None,
        name: Some("Ada".into()),
        email: Some("ada@example.com".into()),
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    platform.register_bidder(&caller, sale.auction, &entry, None).await.unwrap();
    let list = format!("/customers/{customer}/mails");
    let page = sale.operator.get(&list).await;
    page.is(200).shows("This platform sends no mail").shows("Waiting 0").hides("Send test mail");
    sale.operator
        .get(&format!("/customers/{customer}"))
        .await
        .shows("off: no mail server is set (mail.smtp_url and mail.from")
        .hides("none waits");
    sale.operator.get(&format!("{list}?state=waiting")).await.shows("Mails are off").hides("No mail waits");
    sale.operator.get(&sale.path("")).await.is(200).hides("Remind bidders</a> by e-mail");
    let remind = sale.operator.get(&sale.path("/remind")).await;
    remind.is(200).shows("This platform sends no mail").shows("Dear Ada,").hides("Send to 1 bidder");
    let id = uuid::Uuid::from_u128(7).to_string();
    let refused = sale.operator.post(&sale.path("/remind"), &[("id", &id), ("houseVersion", "1")]).await;
    refused.is(409).shows("No reminder was sent");
    let test = sale.operator.post(&format!("{list}/test"), &[("address", "ann@example.com")]).await;
    test.is(422).shows("No test mail was sent");
}

#[tokio::test]
async fn a_reminder_above_the_limit_says_what_waits_and_today_shows_it() {
    let mut server = MailServer::start().await.unwrap();
    let mailer = Some(Mailer::new(&server.url, "Lotwire <mails@example.org>").unwrap());
    let mail_limits = MailLimits { house_mails_per_hour: 2, house_mails_per_day: 1_000 };
    let fixture = Fixture::of_platform(PlatformConfig { mailer, mail_limits, ..PlatformConfig::default() });
    let mut sale = Sale::on(fixture, AuctionStatus::Preview, &["A spoon"]).await;
    let (platform, caller) = (sale.fixture.platform.clone(), staff());
    let customer = platform.auction(&caller, sale.auction).await.unwrap().customer;
    for paddle in ["12", "13", "14"] {
        let entry = NewRegistration {
            paddle: Some(paddle.into()),
            party: None,
            name: Some(format!("Bidder {paddle}")),
            email: Some(format!("b{paddle}@example.com")),
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        platform.register_bidder(&caller, sale.auction, &entry, None).await.unwrap();
    }
    let remind = sale.operator.get(&sale.path("/remind")).await;
    remind.is(200).shows("3 mails: the house can send 2 now, and the last <time").shows("in 30 minutes");
    remind.shows("at most 2 mails an hour and 1,000 a day").hides("comes first");
    let field = |name: &str| remind.between(&format!("name=\"{name}\" value=\""), "\"");
    let (id, version) = (field("id"), field("houseVersion"));
    let sent = sale.operator.submit(&sale.path("/remind"), &[("id", &*id), ("houseVersion", &*version)]).await;
    sent.is(200)
        .shows("3 mails queued: the house can send 2 now, and the last <time")
        .shows("Reminder queued")
        .hides("to more than");
    sale.operator.get("/").await.is(200).hides("for a limit <time");

    platform.send_mails().await.unwrap();
    assert_eq!(server.arrived().len(), 2);
    // The same figures after the worker sent those that it could.
    let after = sale.operator.get(&sale.path("/registrations?done=reminded")).await;
    after.shows("3 mails queued: the house can send 2 now, and the last <time").shows(", to 3 bidders.");
    let another = sale.operator.get(&sale.path("/remind")).await;
    another.shows("3 mails: the house can send none now").shows("1 mail of the house waits and comes first");
    another.shows("A reminder was queued").hides("A reminder was sent");
    let today = sale.operator.get("/").await;
    today.shows("<b>1</b> <span>mail to a bidder waits for a limit <time").shows("for a few seconds");
    today.shows(&format!("/admin/customers/{customer}/mails?state=waiting"));
    let list = sale.operator.get(&format!("/customers/{customer}/mails?state=waiting")).await;
    list.is(200).shows("Waiting for the hourly limit of the house");
    // Ten minutes later the notice has no figures, which would be wrong by the mails sent since.
    sale.fixture.clock.advance(std::time::Duration::from_secs(600));
    sale.operator.get("/").await.shows("for 10 minutes");
    let later = sale.operator.get(&sale.path("/registrations?done=reminded")).await;
    later.hides("mails queued:").shows("The mails of the reminder are queued.");
    // Who may not see bidders sees no mails on Today.
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get("/").await.is(200).hides("waits for a limit");
}

#[tokio::test]
async fn a_registration_that_cannot_be_approved_says_why_and_has_no_button() {
    let mut sale = Sale::new(AuctionStatus::Preview, &["A spoon"]).await;
    let (platform, caller) = (sale.fixture.platform.clone(), staff());
    let customer = platform.auction(&caller, sale.auction).await.unwrap().customer;
    let register = async |paddle: &str, name: &str| {
        let details = PartyDetails { name: name.into(), is_bidder: true, ..PartyDetails::default() };
        let party = platform.create_party(&caller, customer, &PartyInput { details, document: None }).await.unwrap();
        let entry = NewRegistration {
            paddle: Some(paddle.into()),
            party: Some(party.uuid),
            name: None,
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Pending,
        };
        platform.register_bidder(&caller, sale.auction, &entry, None).await.unwrap();
        party.uuid
    };
    let (erased, blocked) = (register("12", "Ada").await, register("13", "Bo").await);
    register("14", "Cy").await;
    let list = format!("/auctions/{}/registrations", sale.auction);
    let page = sale.operator.get(&list).await;
    page.is(200).shows("Approve paddle 12").shows("Approve paddle 13").shows("Approve paddle 14");
    platform.erase_party(&caller, erased, None).await.unwrap();
    platform.block_party(&caller, blocked, "did not pay", None).await.unwrap();
    let page = sale.operator.get(&list).await;
    page.is(200)
        .hides("Approve paddle 12")
        .hides("Edit paddle 12")
        .shows("The person was erased: nothing can be approved");
    page.hides("Approve paddle 13")
        .shows("Edit paddle 13")
        .shows("Blocked in the register: end the block there first.");
    page.shows("Approve paddle 14");
}
