//! Requests for a higher limit: one is open at a time, and it is decided once, with its cause.

use platform_core::port::{
    CauseOfNotice, DecidedLimit, LimitDecision, LimitRequest, NoticeCause, Registration, StoreError,
};

use super::given::{Shared, at, auction_uuid};
use super::parties::{party, registration, write};

fn request(of: &Registration, amount: i64, asked_at: i64) -> LimitRequest {
    LimitRequest {
        registration: of.uuid,
        auction: of.auction,
        amount,
        words: "für die 'große' Uhr".into(),
        asked_at: at(asked_at),
        decision: None,
    }
}

fn decided(request: &LimitRequest, granted: Option<i64>) -> DecidedLimit {
    let decision = LimitDecision { granted, reason: Some("'nein'".into()), actor: "user:1".into(), at: at(50) };
    DecidedLimit { registration: request.registration, asked_at: request.asked_at, decision }
}

pub(super) async fn a_request_is_open_until_it_is_decided_once(store: Shared) {
    let (ann, ben) = (registration(1, 1, "1", &party(1, "Ann")), registration(2, 1, "2", &party(2, "Ben")));
    for registration in [&ann, &ben] {
        store.put_registration(write(0, registration.clone())).await.unwrap();
    }
    let (of_ann, of_ben) = (request(&ann, 500, 20), request(&ben, 900, 10));
    for request in [&of_ann, &of_ben] {
        store.ask_limit(request.clone()).await.unwrap();
    }
    let again = store.ask_limit(request(&ann, 600, 30)).await;
    assert!(matches!(again, Err(StoreError::Taken("limit_request"))), "{again:?}");
    assert_eq!(store.limit_request(ann.uuid).await.unwrap(), Some(of_ann.clone()));
    let open = async |limit| store.open_limit_requests(auction_uuid(1), limit).await.unwrap();
    assert_eq!(open(9).await, [of_ben.clone(), of_ann.clone()]);
    assert_eq!(open(1).await, std::slice::from_ref(&of_ben));
    assert_eq!(store.open_limit_requests(auction_uuid(2), 9).await.unwrap(), []);

    let what = CauseOfNotice::LimitDecided { registration: ann.uuid, granted: None, reason: Some("'nein'".into()) };
    let cause = NoticeCause { auction: ann.auction, what, at: at(50) };
    let declined = decided(&of_ann, None);
    store.decline_limit(declined.clone(), Some(cause.clone())).await.unwrap();
    let twice = store.decline_limit(declined.clone(), Some(cause.clone())).await;
    assert!(matches!(twice, Err(StoreError::Conflict)));
    let causes: Vec<NoticeCause> = store.open_causes(9).await.unwrap().into_iter().map(|open| open.cause).collect();
    assert_eq!(causes, [cause], "a conflict inserts no cause");
    let known = store.limit_request(ann.uuid).await.unwrap().unwrap();
    assert_eq!(known, LimitRequest { decision: Some(declined.decision), ..of_ann });
    let later = request(&ann, 700, 60);
    store.ask_limit(later.clone()).await.unwrap();
    assert_eq!(open(9).await, [of_ben, later], "a new one takes the place of the decided one");
}

pub(super) async fn a_granted_request_is_decided_with_the_limit_or_not_at_all(store: Shared) {
    let ann = registration(1, 1, "1", &party(1, "Ann"));
    store.put_registration(write(0, ann.clone())).await.unwrap();
    let asked = request(&ann, 500, 20);
    store.ask_limit(asked.clone()).await.unwrap();
    let grant = |of: &LimitRequest| {
        let mut entry = write(1, Registration { limit: Some(500), version: 2, ..ann.clone() });
        entry.limit_decided = Some(decided(of, Some(500)));
        entry
    };
    let other = store.put_registration(grant(&request(&ann, 500, 21))).await;
    assert!(matches!(other, Err(StoreError::Conflict)));
    assert_eq!(store.registration(ann.uuid).await.unwrap().unwrap().limit, ann.limit);
    store.put_registration(grant(&asked)).await.unwrap();
    assert_eq!(store.registration(ann.uuid).await.unwrap().unwrap().limit, Some(500));
    let known = store.limit_request(ann.uuid).await.unwrap().unwrap();
    assert_eq!(known.decision.unwrap().granted, Some(500));
    assert_eq!(store.open_limit_requests(ann.auction, 9).await.unwrap(), []);
}
