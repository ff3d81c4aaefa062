//! Messages to bidders: sent once, with their cause.

use platform_core::port::{BidderMessage, CauseOfNotice, NoticeCause, StoreError};

use super::given::{Shared, at, auction_uuid, caller_uuid};

pub(super) async fn a_message_is_stored_once_with_its_cause(store: Shared) {
    let message = |number: usize, registration| BidderMessage {
        uuid: caller_uuid(number),
        auction: auction_uuid(1),
        registration,
        actor: "user:1".into(),
        subject: "Größe '12'".into(),
        text: "Zeile 1\nZeile 2".into(),
        at: at(number as i64),
    };
    let cause = |of: &BidderMessage| {
        let what = CauseOfNotice::Message { message: of.uuid };
        NoticeCause { auction: of.auction, what, at: of.at }
    };
    let (all, one) = (message(1, None), message(2, Some(caller_uuid(101))));
    for sent in [&all, &one] {
        store.send_message(sent.clone(), cause(sent)).await.unwrap();
    }
    let again = store.send_message(all.clone(), cause(&all)).await;
    assert!(matches!(again, Err(StoreError::Taken("message"))), "{again:?}");
    let causes: Vec<NoticeCause> = store.open_causes(9).await.unwrap().into_iter().map(|open| open.cause).collect();
    assert_eq!(causes, [cause(&all), cause(&one)]);
    assert_eq!(store.bidder_message(one.uuid).await.unwrap(), Some(one.clone()));
    assert_eq!(store.bidder_message(caller_uuid(9)).await.unwrap(), None);
    assert_eq!(store.messages_of_auction(auction_uuid(1), 9).await.unwrap(), [one.clone(), all]);
    assert_eq!(store.messages_of_auction(auction_uuid(1), 1).await.unwrap(), [one]);
    assert_eq!(store.messages_of_auction(auction_uuid(2), 9).await.unwrap(), []);
}
