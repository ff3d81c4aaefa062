//! Requests of bidders for a higher limit: one at a time, answered once, and told.

use platform_core::bidders::{LimitAnswer, LimitRequest, RegistrationPatch};
use platform_core::notices::NoticeKind;
use platform_core::port::RegistrationRule;
use platform_core::saleroom::{SaleroomBid, SignedInBidder};
use platform_core::{PlatformConfig, PlatformError};
use uuid::Uuid;

use crate::saleroom_accounts::{House, code};

async fn house() -> House {
    let saleroom_url = Some("https://bid.example".to_owned());
    House::open_with(RegistrationRule::AtOnce, PlatformConfig { saleroom_url, ..PlatformConfig::default() }).await
}

impl House {
    async fn limit(&self, registration: Uuid, limit: Option<i64>) {
        let patch = RegistrationPatch { limit: Some(limit), ..RegistrationPatch::default() };
        let key = (self.items[0].auction, registration);
        self.fixture.platform.change_registration(&self.fixture.caller, key, &patch, None).await.unwrap();
    }

    async fn ask(&self, bidder: &SignedInBidder, amount: i64, words: &str) -> Result<(), PlatformError> {
        let auction = self.items[0].auction;
        self.fixture.platform.ask_for_limit(&self.saleroom, bidder, auction, (amount, words)).await
    }

    async fn waiting(&self) -> Vec<LimitRequest> {
        let auction = self.items[0].auction;
        let found = self.fixture.platform.limit_requests(&self.fixture.caller, auction, 9).await.unwrap();
        found.into_iter().map(|(request, _)| request).collect()
    }

    async fn answer(&self, request: &LimitRequest, answer: LimitAnswer) -> Result<(), PlatformError> {
        let key = (request.auction, request.registration);
        self.fixture.platform.answer_limit_request(&self.fixture.caller, key, request, &answer).await
    }
}

#[tokio::test]
async fn a_request_is_granted_once_and_the_bidder_can_bid_up_to_the_new_limit() {
    let house = house().await;
    let platform = &house.fixture.platform;
    let (ann, registration) = house.registered("ann@example.com").await;
    assert_eq!(code(house.ask(&ann, 500, "").await), Some("registration_required"), "no limit, nothing to raise");
    house.limit(registration.uuid, Some(150)).await;
    assert_eq!(house.bid(&ann, 0, SaleroomBid::UpTo(140)).await, Ok((true, 100)));
    assert_eq!(house.bid(&ann, 1, SaleroomBid::Next(100)).await, Err("spending_limit_reached"));
    let now = platform.own_registration(&ann, house.items[0].auction).await.unwrap().unwrap();
    let own = platform.own_limit(&now).await.unwrap().unwrap();
    assert_eq!((own.limit, own.used, own.can_ask), (150, 140, true));

    assert_eq!(code(house.ask(&ann, 150, "").await), Some("invalid"), "no more than the limit");
    assert_eq!(code(house.ask(&ann, 500, "a\nb").await), Some("invalid"));
    house.ask(&ann, 500, " For the clock ").await.unwrap();
    assert_eq!(code(house.ask(&ann, 600, "").await), Some("taken"), "one at a time");
    let waiting = house.waiting().await;
    assert_eq!((waiting.len(), waiting[0].amount, waiting[0].words.as_str()), (1, 500, "For the clock"));

    house.answer(&waiting[0], LimitAnswer::Grant(400)).await.unwrap();
    assert_eq!(code(house.answer(&waiting[0], LimitAnswer::Grant(500)).await), Some("not_found"), "answered once");
    assert_eq!(house.waiting().await, []);
    assert_eq!(house.bid(&ann, 1, SaleroomBid::Next(100)).await, Ok((true, 100)));
    platform.make_notices().await.unwrap();
    let told = platform.own_notices(&ann, None).await.unwrap().remove(0);
    assert_eq!((told.kind, told.facts.amount), (NoticeKind::LimitDecided, Some(400)));
    let verified = house.fixture.store.registration(registration.uuid).await.unwrap().unwrap();
    assert_eq!(verified.limit, Some(400));
}

#[tokio::test]
async fn a_declined_request_says_why_and_leaves_the_limit() {
    let house = house().await;
    let platform = &house.fixture.platform;
    let (ann, registration) = house.registered("ann@example.com").await;
    house.limit(registration.uuid, Some(150)).await;
    house.ask(&ann, 500, "").await.unwrap();
    let waiting = house.waiting().await.remove(0);
    assert_eq!(code(house.answer(&waiting, LimitAnswer::Decline(" ".into())).await), Some("reason_required"));
    let earlier = LimitRequest { asked_at: waiting.asked_at - std::time::Duration::from_secs(1), ..waiting.clone() };
    assert_eq!(code(house.answer(&earlier, LimitAnswer::Grant(900)).await), Some("not_found"), "another request");
    house.answer(&waiting, LimitAnswer::Decline("Send a deposit first".into())).await.unwrap();
    let now = platform.own_registration(&ann, waiting.auction).await.unwrap().unwrap();
    let own = platform.own_limit(&now).await.unwrap().unwrap();
    let decision = own.request.unwrap().decision.unwrap();
    assert_eq!((own.limit, own.can_ask, decision.granted), (150, true, None));
    assert_eq!(decision.reason.as_deref(), Some("Send a deposit first"));
    platform.make_notices().await.unwrap();
    let told = platform.own_notices(&ann, None).await.unwrap().remove(0);
    assert_eq!((told.kind, told.facts.text.as_deref()), (NoticeKind::LimitDecided, Some("Send a deposit first")));
}

#[tokio::test]
async fn a_bidder_asks_five_times_a_day_at_most() {
    let house = house().await;
    let (ann, registration) = house.registered("ann@example.com").await;
    house.limit(registration.uuid, Some(150)).await;
    for _ in 0..5 {
        house.ask(&ann, 500, "").await.unwrap();
        let waiting = house.waiting().await.remove(0);
        house.answer(&waiting, LimitAnswer::Decline("No".into())).await.unwrap();
    }
    assert_eq!(code(house.ask(&ann, 500, "").await), Some("too_many_attempts"));
}
