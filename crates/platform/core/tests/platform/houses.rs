//! Houses, their conditions of sale, and what bidders read about their sales.

use std::time::Duration;

use contract::AuctionStatus;
use platform_core::customers::house_input::HOUSE_TEXT_CHARS_MAX;
use platform_core::port::{HouseProfile, Page};
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::auctions::copy::{AuctionCopy, CopiedItems};
use platform_core::sales::auctions::edit::AuctionPatch;
use platform_core::sales::auctions::shift::Shift;
use platform_core::sales::facts::SaleFactsInput;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, PlatformConfig, PlatformError, Role};
use platform_rules::{Admission, AuctionEdit, AuctionKind};

use crate::fixture::TestPlatform;
use crate::images::png;

const HOUR: Duration = Duration::from_secs(3_600);

fn profile() -> HouseProfile {
    HouseProfile {
        time_zone: Some("Europe/Berlin".into()),
        about: Some("Seit 1890.".into()),
        ..HouseProfile::default()
    }
}

fn facts(conditions: Option<u32>) -> SaleFactsInput {
    SaleFactsInput {
        description: "Clocks".into(),
        viewing: "Friday, 10 to 18 h".into(),
        conditions,
        ..SaleFactsInput::default()
    }
}

fn code<T>(outcome: Result<T, PlatformError>) -> Option<&'static str> {
    outcome.err().map(|error| error.code())
}

#[tokio::test]
async fn a_house_is_changed_by_its_version_and_by_those_who_look_after_customers() {
    let fixture = TestPlatform::new().await;
    let (platform, caller, house) = (&fixture.platform, &fixture.caller, fixture.customer.uuid);
    assert_eq!(platform.house(caller, house).await.unwrap().version, 0);
    let changed = platform.change_house(caller, house, profile(), Some(0)).await.unwrap();
    assert_eq!((changed.version, &changed.profile), (1, &profile()));
    assert_eq!(platform.house(caller, house).await.unwrap(), changed);
    let stale = platform.change_house(caller, house, HouseProfile::default(), Some(0)).await;
    assert_eq!(code(stale), Some("precondition_failed"));
    let long = HouseProfile { about: Some("a".repeat(HOUSE_TEXT_CHARS_MAX + 1)), ..profile() };
    assert_eq!(code(platform.change_house(caller, house, long, None).await), Some("invalid"));
    for (role, may_write) in [(Role::Support, true), (Role::Operator, false), (Role::Viewer, false)] {
        let user = Caller { scopes: role.scopes(), ..caller.clone() };
        assert_eq!(code(platform.house(&user, house).await), None);
        assert_eq!(platform.change_house(&user, house, profile(), None).await.is_ok(), may_write, "{role:?}");
        assert_eq!(platform.add_conditions(&user, house, role.name()).await.is_ok(), may_write, "{role:?}");
    }
}

#[tokio::test]
async fn a_logo_is_decoded_shown_and_replaced() {
    let fixture = TestPlatform::new().await;
    let (platform, caller, house) = (&fixture.platform, &fixture.caller, fixture.customer.uuid);
    assert_eq!(platform.logo(caller, house).await.unwrap(), None);
    let refused = platform.change_logo(caller, house, Some("<svg onload=\"alert(1)\"/>".into())).await;
    assert_eq!(code(refused), Some("invalid"));
    platform.change_logo(caller, house, Some(png(2_560).into())).await.unwrap();
    let (logo, content) = platform.logo(caller, house).await.unwrap().unwrap();
    assert_eq!(logo.width, 1_280);
    assert!(content.starts_with(&[0xff, 0xd8]), "the logo is not a JPEG");
    let changed = platform.change_house(caller, house, profile(), None).await.unwrap();
    assert_eq!(changed.logo, Some(logo), "a change of other fields removed the logo");
    platform.change_logo(caller, house, None).await.unwrap();
    assert_eq!(platform.logo(caller, house).await.unwrap(), None);
}

#[tokio::test]
async fn each_text_of_the_conditions_is_a_version_that_never_changes() {
    let fixture = TestPlatform::new().await;
    let (platform, caller, house) = (&fixture.platform, &fixture.caller, fixture.customer.uuid);
    let first = platform.add_conditions(caller, house, "1. The buyer pays.\n2. In a week.").await.unwrap();
    assert_eq!(first.number, 1);
    let same = platform.add_conditions(caller, house, &first.text).await;
    assert_eq!(code(same), Some("invalid"));
    assert_eq!(code(platform.add_conditions(caller, house, " \n").await), Some("invalid"));
    assert_eq!(platform.add_conditions(caller, house, "1. The buyer pays at once.").await.unwrap().number, 2);
    assert_eq!(platform.conditions(caller, house, 1).await.unwrap(), first);
    assert_eq!(code(platform.conditions(caller, house, 3).await), Some("not_found"));
    let list = platform.conditions_list(caller, house, Page { after: None, limit: 9 }).await.unwrap();
    assert_eq!(list.iter().map(|one| one.number).collect::<Vec<_>>(), [2, 1]);
}

#[tokio::test]
async fn the_conditions_of_a_sale_and_who_may_bid_are_fixed_when_it_is_live() {
    let fixture = TestPlatform::new().await;
    let (platform, caller, house) = (&fixture.platform, &fixture.caller, fixture.customer.uuid);
    for text in ["first", "second"] {
        platform.add_conditions(caller, house, text).await.unwrap();
    }
    let lot = NewItem { opening_bid: 100, fixed_increment: Some(10), ..NewItem::new("1", "A clock") };
    let mut new = fixture.timed(HOUR, vec![lot]);
    new.status = AuctionStatus::Draft;
    let auction = fixture.create(&new).await.auction;
    let change =
        async |input: SaleFactsInput, version| platform.change_sale_facts(caller, auction.uuid, &input, version).await;
    assert_eq!(platform.sale_facts(caller, auction.uuid).await.unwrap().version, 0);
    assert_eq!(code(change(facts(Some(3)), None).await), Some("invalid"));
    assert_eq!(change(facts(Some(1)), Some(0)).await.unwrap().version, 1);
    assert_eq!(change(facts(Some(1)), Some(1)).await.unwrap().version, 1, "an unchanged form raised the version");
    assert_eq!(code(change(facts(Some(2)), Some(0)).await), Some("precondition_failed"));
    let admit = async |registration| {
        let edit = AuctionEdit { registration: Some(registration), ..AuctionEdit::default() };
        platform.change_auction(caller, auction.uuid, &AuctionPatch { edit, address: None }, None).await
    };
    assert_eq!(admit(Admission::Required).await.unwrap().registration, Admission::Required);
    for to in [AuctionStatus::Preview, AuctionStatus::Live] {
        platform.change_auction_status(caller, auction.uuid, to, None, None).await.unwrap();
    }
    assert_eq!(code(admit(Admission::Open).await), Some("fields_locked"));
    assert_eq!(code(change(facts(Some(2)), None).await), Some("fields_locked"));
    let viewing = SaleFactsInput { viewing: "Saturday too".into(), ..facts(Some(1)) };
    let changed = change(viewing, None).await.unwrap();
    assert_eq!((changed.version, changed.conditions), (2, Some(1)));

    // A copy is held under the latest conditions, and has viewing times of its own.
    let copy = AuctionCopy { title: None, shift: Shift::Seconds(86_400), items: CopiedItems::None };
    let copied = platform.copy_auction(caller, auction.uuid, &copy, None).await.unwrap().fresh().unwrap();
    let facts = platform.sale_facts(caller, copied.auction.uuid).await.unwrap();
    assert_eq!((facts.description.as_str(), facts.viewing.as_str(), facts.conditions), ("Clocks", "", Some(2)));
}

#[tokio::test]
async fn a_webcast_has_a_film_of_a_listed_origin_and_its_copy_has_none() {
    let config = PlatformConfig {
        film_origins: vec!["https://live.example.com".into(), "https://bid.example.com".into()],
        saleroom_url: Some("https://bid.example.com".into()),
        ..PlatformConfig::default()
    };
    let fixture = TestPlatform::with(config).await;
    let (platform, caller) = (&fixture.platform, &fixture.caller);
    let lot = NewItem { opening_bid: 100, fixed_increment: Some(10), ..NewItem::new("1", "A clock") };
    let new = fixture.timed(HOUR, vec![lot.clone()]);
    let new = NewAuction { kind: AuctionKind::Webcast, starts_at: new.ends_at, ends_at: None, ..new };
    let webcast = fixture.create(&new).await.auction;
    let timed = fixture.create(&fixture.timed(HOUR, vec![lot])).await.auction;
    let with_film = |film: &str| SaleFactsInput { film: film.into(), film_delay: Some(10), ..facts(None) };
    let listed = with_film("https://live.example.com/clocks.M3U8");
    for (auction, input) in [
        (timed.uuid, &listed),
        (webcast.uuid, &with_film("https://live.example.com:8443/clocks.m3u8")),
        (webcast.uuid, &with_film("https://live.example.com.evil.example/clocks.m3u8")),
        // The saleroom itself, although it is listed.
        (webcast.uuid, &with_film("https://bid.example.com/hartley")),
    ] {
        let refused = platform.change_sale_facts(caller, auction, input, None).await;
        assert_eq!(code(refused), Some("invalid"), "{input:?}");
    }
    let film = platform.change_sale_facts(caller, webcast.uuid, &listed, None).await.unwrap().film.unwrap();
    assert_eq!((film.address.as_str(), film.delay_seconds), ("https://live.example.com/clocks.M3U8", Some(10)));
    assert_eq!(platform.film_problem(webcast.kind, &film).await.unwrap(), None);

    let copy = AuctionCopy { title: None, shift: Shift::Seconds(86_400), items: CopiedItems::None };
    let copied = platform.copy_auction(caller, webcast.uuid, &copy, None).await.unwrap().fresh().unwrap();
    let of_copy = platform.sale_facts(caller, copied.auction.uuid).await.unwrap();
    assert_eq!((of_copy.description.as_str(), of_copy.film), ("Clocks", None), "a new sale has another stream");
    let cleared = platform.change_sale_facts(caller, webcast.uuid, &facts(None), None).await.unwrap();
    assert_eq!(cleared.film, None);
}
