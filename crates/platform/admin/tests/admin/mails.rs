//! Mails to bidders: the texts of a house, and an installation without a mail server. Registrations that can't be approved.

use contract::AuctionStatus;
use platform_core::Role;
use platform_core::bidders::{NewRegistration, PartyInput};
use platform_core::port::{PartyDetails, RegistrationStatus};

use crate::sale_fixture::{Sale, staff};

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
    sale.operator.get(&format!("/customers/{customer}")).await.shows("no mail server is set");
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
