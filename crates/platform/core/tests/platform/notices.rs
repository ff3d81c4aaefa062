//! Notices to bidders with accounts: who receives which, once, with its mail, and in browsers.

use std::time::Duration;

use contract::AuctionStatus;
use http::StatusCode;
use kit_mail::Mailer;
use platform_core::PlatformConfig;
use platform_core::bidders::NewRegistration;
use platform_core::notices::{NewMessage, Notice, NoticeKind, PushKeys};
use platform_core::port::{RegistrationRule, RegistrationStatus};
use platform_core::saleroom::{SaleroomBid, SignedInBidder};
use platform_core::sales::auctions::NewAuction;
use testkit::mail_server::MailServer;
use testkit::push_service::{PushBrowser, PushService};

use crate::saleroom_accounts::{House, form};

const RULE: RegistrationRule = RegistrationRule::AtOnce;

/// A house whose server has salerooms and sends mail.
async fn house() -> (House, MailServer) {
    let server = MailServer::start().await.unwrap();
    let mailer = Some(Mailer::new(&server.url, "Lotwire <mails@example.org>").unwrap());
    let saleroom_url = Some("https://bid.example".to_owned());
    let push_networks = vec!["127.0.0.0/8".parse().unwrap()];
    let config = PlatformConfig { mailer, saleroom_url, push_networks, ..PlatformConfig::default() };
    let house = House::open_with(RULE, config).await;
    // The sale began before anyone registered.
    house.fixture.platform.make_notices().await.unwrap();
    (house, server)
}

impl House {
    /// The bidder's notices, the oldest first: kind, lot, and amount.
    async fn told(&self, bidder: &SignedInBidder) -> Vec<(NoticeKind, String, Option<i64>)> {
        self.fixture.platform.make_notices().await.unwrap();
        let notices = self.fixture.platform.own_notices(bidder, None).await.unwrap();
        let fact = |notice: Notice| (notice.kind, notice.facts.lot_number, notice.facts.amount);
        notices.into_iter().rev().map(fact).collect()
    }

    /// The subjects of the mails to the bidder that were sent now, in the order of the alphabet.
    async fn mails(&self, server: &mut MailServer, bidder: &SignedInBidder) -> Vec<String> {
        self.fixture.platform.make_notices().await.unwrap();
        self.fixture.platform.send_mails().await.unwrap();
        let mails = server.arrived().into_iter().filter(|mail| mail.to == bidder.account.email);
        let mut subjects: Vec<String> = mails.map(|mail| mail.subject).collect();
        subjects.sort();
        subjects
    }
}

#[tokio::test]
async fn only_those_whose_standing_changed_are_told() {
    let (house, mut server) = house().await;
    let ((ann, _), (ben, _)) = (house.registered("ann@example.com").await, house.registered("ben@example.com").await);
    let decided = (NoticeKind::RegistrationDecided, String::new(), None);
    assert_eq!(house.told(&ann).await, std::slice::from_ref(&decided));
    house.bid(&ann, 0, SaleroomBid::Next(100)).await.unwrap();
    assert_eq!(house.told(&ann).await.len(), 1, "a bidder is not told of their own bid");
    house.bid(&ben, 0, SaleroomBid::Next(110)).await.unwrap();
    let outbid = |amount| (NoticeKind::Outbid, "1".to_owned(), Some(amount));
    assert_eq!(house.told(&ann).await, [decided.clone(), outbid(110)]);
    assert_eq!(house.told(&ben).await, std::slice::from_ref(&decided));
    let decision = "Your registration for Prints: paddle 1";
    assert_eq!(house.mails(&mut server, &ann).await, ["Outbid on lot 1: Prints", decision]);
    // Outbid again within a quarter of an hour: on the page, without another mail.
    house.bid(&ann, 0, SaleroomBid::Next(120)).await.unwrap();
    house.bid(&ben, 0, SaleroomBid::Next(130)).await.unwrap();
    assert_eq!(house.told(&ann).await, [decided.clone(), outbid(110), outbid(130)]);
    assert_eq!(house.mails(&mut server, &ann).await, [""; 0]);
    // A bidder who leads again by the time the worker comes.
    house.bid(&ann, 0, SaleroomBid::Next(140)).await.unwrap();
    house.bid(&ben, 0, SaleroomBid::Next(150)).await.unwrap();
    house.bid(&ann, 0, SaleroomBid::Next(160)).await.unwrap();
    assert_eq!(house.told(&ann).await.len(), 3);
    assert_eq!(house.told(&ben).await, [decided.clone(), outbid(160)], "of what happened meanwhile, the last counts");

    house.bid(&ann, 1, SaleroomBid::Next(100)).await.unwrap();
    let lot = (house.items[1].auction, house.items[1].uuid);
    let key = house.fixture.platform.new_form_key();
    house.fixture.platform.buy_now_in_saleroom(&house.saleroom, &ben, lot, 900, form(&key)).await.unwrap();
    let sold = |kind| (kind, "2".to_owned(), Some(900));
    assert_eq!(house.told(&ann).await.last(), Some(&sold(NoticeKind::NotWon)));
    assert_eq!(house.told(&ben).await.last(), Some(&sold(NoticeKind::Won)));
    assert_eq!(house.told(&ben).await.len(), 3, "and once");
    let mails = house.mails(&mut server, &ben).await;
    assert_eq!(mails, ["Outbid on lot 1: Prints", "Yours: lot 2 at £9"]);
}

#[tokio::test]
async fn a_link_ends_the_mails_of_its_kind_and_no_others() {
    let (house, mut server) = house().await;
    let ((ann, _), (ben, _)) = (house.registered("ann@example.com").await, house.registered("ben@example.com").await);
    house.bid(&ann, 0, SaleroomBid::Next(100)).await.unwrap();
    house.bid(&ben, 0, SaleroomBid::Next(110)).await.unwrap();
    house.fixture.platform.make_notices().await.unwrap();
    house.fixture.platform.send_mails().await.unwrap();
    let mail = server
        .arrived()
        .into_iter()
        .find(|mail| mail.to == "ann@example.com" && mail.subject.starts_with("Outbid"))
        .unwrap();
    let link = mail.text.lines().find_map(|line| line.split_once("https://bid.example/hartley/mails/")).unwrap().1;
    let platform = &house.fixture.platform;
    let ended = platform.ended_mails(link).unwrap();
    assert_eq!((ended.account, ended.kind), (ann.account.id, NoticeKind::Outbid));
    for wrong in [link.replace("outbid", "won"), link[..link.len() - 1].to_owned(), String::new(), "a.b.c".into()] {
        assert_eq!(platform.ended_mails(&wrong), None, "{wrong}");
    }
    platform.end_notice_mails(&house.saleroom, ended, false).await.unwrap();
    platform.end_notice_mails(&house.saleroom, ended, false).await.unwrap();
    let refused = platform.end_notice_mails(&house.other, ended, false).await;
    assert_eq!(refused.unwrap_err().code(), "not_found", "the account is of another house");
    house.fixture.clock.advance(Duration::from_secs(20 * 60));
    house.bid(&ann, 0, SaleroomBid::Next(120)).await.unwrap();
    house.bid(&ben, 0, SaleroomBid::Next(130)).await.unwrap();
    house.bid(&ann, 1, SaleroomBid::Next(100)).await.unwrap();
    let key = platform.new_form_key();
    let lot = (house.items[1].auction, house.items[1].uuid);
    platform.buy_now_in_saleroom(&house.saleroom, &ben, lot, 900, form(&key)).await.unwrap();
    assert_eq!(house.mails(&mut server, &ann).await, ["Lot 2 has ended: Prints"]);
    platform.end_notice_mails(&house.saleroom, ended, true).await.unwrap();
    let account = house.fixture.store.bidder_account(ann.account.id).await.unwrap().unwrap();
    assert_eq!(account.profile.details.no_mails_about.len(), NoticeKind::ALL.len());
}

#[tokio::test]
async fn a_sale_that_begins_is_told_to_those_who_registered_before() {
    let (house, mut server) = house().await;
    let platform = &house.fixture.platform;
    let (ann, _) = house.open_account(&house.saleroom, "ann@example.com").await;
    let new = house.fixture.timed(Duration::from_secs(3_600), Vec::new());
    let new = NewAuction { status: AuctionStatus::Preview, title: "Silver".into(), ..new };
    let auction = house.fixture.create(&new).await.auction;
    platform.register_for_sale(&house.saleroom, &ann, auction.uuid, None).await.unwrap();
    assert_eq!(house.mails(&mut server, &ann).await, ["Your registration for Silver: paddle 1"]);
    let changing = platform.change_auction_status(&house.fixture.caller, auction.uuid, AuctionStatus::Live, None, None);
    changing.await.unwrap();
    assert_eq!(house.told(&ann).await.last(), Some(&(NoticeKind::SaleBegan, String::new(), None)));
    assert_eq!(house.mails(&mut server, &ann).await, ["The sale has begun: Silver"]);
}

#[tokio::test]
async fn a_notice_is_shown_in_each_browser_of_its_bidder() {
    let (house, _server) = house().await;
    let platform = &house.fixture.platform;
    let ((ann, _), (ben, _)) = (house.registered("ann@example.com").await, house.registered("ben@example.com").await);
    platform.make_notices().await.unwrap();
    platform.send_pushes().await.unwrap();
    let mut service = PushService::start().await.unwrap();
    let browsers = ["phone", "desk"].map(|name| service.browser(name));
    for browser in &browsers {
        let PushBrowser { endpoint, key, auth, .. } = browser.clone();
        platform.add_push_browser(&ann, PushKeys { endpoint, key, auth }).await.unwrap();
    }
    let wrong = PushKeys { endpoint: "http://push.example/1".into(), key: vec![4; 65], auth: vec![0; 16] };
    assert_eq!(platform.add_push_browser(&ann, wrong).await.unwrap_err().code(), "invalid");
    house.bid(&ann, 0, SaleroomBid::Next(100)).await.unwrap();
    house.bid(&ben, 0, SaleroomBid::Next(110)).await.unwrap();

    // A service that is busy gets the message again, one browser as the other.
    service.answer(StatusCode::SERVICE_UNAVAILABLE);
    platform.make_notices().await.unwrap();
    platform.send_pushes().await.unwrap();
    assert_eq!(service.arrived().len(), 2);
    platform.make_notices().await.unwrap();
    platform.send_pushes().await.unwrap();
    assert_eq!(service.arrived().len(), 0, "not at once");
    service.answer(StatusCode::CREATED);
    house.fixture.clock.advance(Duration::from_secs(10));
    platform.make_notices().await.unwrap();
    platform.send_pushes().await.unwrap();
    let arrived = service.arrived();
    assert_eq!(arrived.len(), 2);
    let phone = arrived.iter().find(|message| message.browser == "phone").unwrap();
    let message: serde_json::Value = serde_json::from_str(&browsers[0].read(phone).unwrap()).unwrap();
    let path = format!("sales/{}/lots/{}", house.items[0].auction, house.items[0].uuid);
    assert_eq!(
        (&message["title"], &message["body"], &message["path"]),
        (&"Outbid on lot 1: Prints".into(), &"A table".into(), &path.into())
    );
    assert_eq!(browsers[1].read(phone), None, "another browser can't read it");
    let public = format!("k={}", platform.push_public_key().unwrap());
    assert!(phone.headers["authorization"].to_str().unwrap().ends_with(&public), "{:?}", phone.headers);

    // A browser that is gone is forgotten, and no further message is sent to it.
    service.answer(StatusCode::GONE);
    house.bid(&ann, 0, SaleroomBid::Next(120)).await.unwrap();
    house.bid(&ben, 0, SaleroomBid::Next(130)).await.unwrap();
    platform.make_notices().await.unwrap();
    platform.send_pushes().await.unwrap();
    assert_eq!((service.arrived().len(), platform.push_browsers(&ann).await.unwrap()), (2, 0));
}

#[tokio::test]
async fn a_message_reaches_bidders_with_an_account_and_others_by_mail_once() {
    let (house, mut server) = house().await;
    let platform = &house.fixture.platform;
    let (ann, own) = house.registered("ann@example.com").await;
    let auction = house.items[0].auction;
    let entered = NewRegistration {
        paddle: None,
        party: None,
        name: Some("Bea".into()),
        email: Some("bea@example.com".into()),
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    platform.register_bidder(&house.fixture.caller, auction, &entered, None).await.unwrap();
    house.mails(&mut server, &ann).await;
    let (reached, _) = platform.recipients_of_message(&house.fixture.caller, (auction, None)).await.unwrap();
    assert_eq!((reached.bidders, reached.with_account, reached.with_mail), (2, 1, 2));
    let subject = "Viewing on Friday {paddle}".to_owned();
    let text = "From nine to five.\nSee https://hartley.example".to_owned();
    let message = NewMessage { id: platform.new_message_id(), subject: subject.clone(), text };
    for _ in 0..2 {
        platform.write_to_bidders(&house.fixture.caller, (auction, None), &message).await.unwrap();
    }
    platform.make_notices().await.unwrap();
    platform.send_mails().await.unwrap();
    let mut mails: Vec<_> = server.arrived().into_iter().filter(|mail| mail.subject == subject).collect();
    mails.sort_by(|one, other| one.to.cmp(&other.to));
    let to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    assert_eq!(to, ["ann@example.com", "bea@example.com"]);
    for mail in &mails {
        assert!(mail.text.contains("From nine to five.\nSee https://hartley.example\n"), "{}", mail.text);
    }
    assert!(mails[0].text.contains("/mails/") && !mails[1].text.contains("/mails/"), "{mails:?}");
    let told = platform.own_notices(&ann, None).await.unwrap();
    let of_message: Vec<&Notice> = told.iter().filter(|notice| notice.kind == NoticeKind::Message).collect();
    assert_eq!((of_message.len(), of_message[0].facts.title.as_str()), (1, subject.as_str()));
    assert_eq!(platform.messages_to_bidders(&house.fixture.caller, auction).await.unwrap().len(), 1);

    let one = NewMessage { id: platform.new_message_id(), subject: "Yours".into(), text: "Only you.".into() };
    platform.write_to_bidders(&house.fixture.caller, (auction, Some(own.uuid)), &one).await.unwrap();
    platform.make_notices().await.unwrap();
    platform.send_mails().await.unwrap();
    let to: Vec<String> = server.arrived().into_iter().map(|mail| mail.to).collect();
    assert_eq!(to, ["ann@example.com"]);
    let empty = NewMessage { id: platform.new_message_id(), subject: " ".into(), text: String::new() };
    let refused = platform.write_to_bidders(&house.fixture.caller, (auction, None), &empty).await;
    assert_eq!(refused.unwrap_err().code(), "invalid");
}
