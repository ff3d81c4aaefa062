//! Notices to bidders: causes with a commit, notices with their mails, followers, browsers and pushes.

use platform_core::bidding::bid::{BidStrike, StruckBid};
use platform_core::mails::MailKind;
use platform_core::port::{
    BidderAccount, BidderSession, CauseOfNotice, Change, Notice, NoticeCause, NoticeFacts, NoticeKind, NoticeStep,
    OpenCause, PushSubscription, StoreError, WatchedItem,
};
use platform_rules::StrikeReason;
use uuid::Uuid;

use super::bidder_accounts::{account, open, session};
use super::given::{Shared, at, auction_uuid, bid, caller_uuid, item, item_uuid};
use super::mails::mail;
use super::parties::{party, registration, write};

const MAIL: MailKind = MailKind::Outbid;

fn outbid(paddle: &str) -> NoticeCause {
    let what = CauseOfNotice::Outbid { item: item_uuid(1), paddle: paddle.into() };
    NoticeCause { auction: auction_uuid(1), what, at: at(5) }
}

async fn cause(store: &Shared, causes: Vec<NoticeCause>) {
    let change = Change { notice_causes: causes, ..Change::default() };
    store.commit(vec![change], None).await.unwrap().pop().unwrap().unwrap();
}

fn notice(number: usize, account: &BidderAccount, item: Option<Uuid>) -> Notice {
    Notice {
        uuid: caller_uuid(600 + number),
        account: account.id,
        auction: auction_uuid(1),
        item,
        kind: NoticeKind::Outbid,
        facts: NoticeFacts { sale: "Größe '12'".into(), amount: Some(500), ..NoticeFacts::default() },
        at: at(10 * number as i64),
        seen_at: None,
        is_mailed: false,
    }
}

/// The session of an account.
fn session_of(account: &BidderAccount) -> BidderSession {
    session(usize::from(account.id.as_bytes()[15]), account, 20)
}

async fn make(store: &Shared, notices: Vec<Notice>) {
    cause(store, vec![outbid("1")]).await;
    let cause = store.open_causes(10).await.unwrap().pop().unwrap();
    let notices = notices.into_iter().map(|notice| (notice, None)).collect();
    store.make_notices(NoticeStep { cause, through: None, notices, mails: Vec::new() }).await.unwrap();
}

pub(super) async fn causes_are_read_in_order_and_end_with_their_notices(store: Shared) {
    let ann = account(1, 1, "ann@example.com");
    open(&store, &ann).await;
    cause(&store, vec![outbid("1"), outbid("2'")]).await;
    let decided = CauseOfNotice::RegistrationDecided { registration: caller_uuid(101) };
    let decided = NoticeCause { auction: auction_uuid(1), what: decided, at: at(6) };
    let ann_registered = registration(1, 1, "1", &party(1, "Ann"));
    let mut entry = write(0, ann_registered.clone());
    entry.notice_cause = Some(decided.clone());
    store.put_registration(entry).await.unwrap();
    let open = store.open_causes(10).await.unwrap();
    let causes: Vec<NoticeCause> = open.iter().map(|open| open.cause.clone()).collect();
    assert_eq!(causes, [outbid("1"), outbid("2'"), decided]);
    assert!(open.is_sorted_by_key(|open| open.number) && open.iter().all(|open| open.through.is_empty()));
    assert_eq!(store.open_causes(1).await.unwrap(), open[..1]);

    let step = |cause: &OpenCause, through: Option<&str>, number: usize| NoticeStep {
        cause: cause.clone(),
        through: through.map(str::to_owned),
        notices: vec![(notice(number, &ann, None), Some(mail(number, &ann_registered, MAIL)))],
        mails: Vec::new(),
    };
    store.make_notices(step(&open[0], Some("a'1"), 1)).await.unwrap();
    assert!(matches!(store.make_notices(step(&open[0], None, 2)).await, Err(StoreError::Conflict)), "it went on");
    let next = store.open_causes(1).await.unwrap().remove(0);
    assert_eq!((next.number, next.through.as_str()), (open[0].number, "a'1"));
    store.make_notices(step(&next, None, 3)).await.unwrap();
    assert!(matches!(store.make_notices(step(&next, None, 4)).await, Err(StoreError::Conflict)), "it has ended");
    assert_eq!(store.open_causes(10).await.unwrap(), open[1..]);
    let made = store.notices(ann.id, None, 10).await.unwrap();
    assert_eq!(made, [notice(3, &ann, None), notice(1, &ann, None)], "none of those that conflicted");
    let claimed = store.claim_mails(at(1_000), at(2_000), 10).await.unwrap();
    let claimed: Vec<_> = claimed.into_iter().map(|claimed| claimed.mail).collect();
    assert_eq!(claimed, [mail(1, &ann_registered, MAIL), mail(3, &ann_registered, MAIL)]);
}

pub(super) async fn notices_are_those_of_one_open_account(store: Shared) {
    let (ann, ben) = (account(1, 1, "ann@example.com"), account(2, 1, "ben@example.com"));
    open(&store, &ann).await;
    open(&store, &ben).await;
    let gone = account(3, 1, "cid@example.com");
    let (of_lot, other_lot) = (notice(1, &ann, Some(item_uuid(1))), notice(2, &ann, Some(item_uuid(2))));
    let made = [&of_lot, &other_lot, &notice(3, &ben, None), &notice(4, &gone, None)].map(Notice::clone);
    make(&store, made.into()).await;
    assert_eq!(store.notices(ann.id, None, 10).await.unwrap(), [other_lot.clone(), of_lot.clone()]);
    assert_eq!(store.notices(ann.id, Some(of_lot.uuid), 10).await.unwrap(), std::slice::from_ref(&other_lot));
    assert_eq!(store.notices(ann.id, None, 1).await.unwrap(), std::slice::from_ref(&other_lot));
    assert_eq!(store.notices_about(ann.id, item_uuid(1), 10).await.unwrap(), std::slice::from_ref(&of_lot));
    assert_eq!(store.notices(gone.id, None, 10).await.unwrap(), [], "there is no such account");
    let unseen = async |counted_max| store.unseen_notices(ann.id, counted_max).await.unwrap();
    assert_eq!((unseen(10).await, unseen(1).await), ((2, Some(other_lot.uuid)), (1, Some(other_lot.uuid))));
    store.see_notices(ann.id, of_lot.uuid, at(50)).await.unwrap();
    assert_eq!(unseen(10).await, (1, Some(other_lot.uuid)));
    assert_eq!(store.unseen_notices(gone.id, 10).await.unwrap(), (0, None));
    store.see_notices(ann.id, of_lot.uuid, at(60)).await.unwrap();
    let seen = store.notices(ann.id, None, 10).await.unwrap();
    assert_eq!(seen, [other_lot, Notice { seen_at: Some(at(50)), ..of_lot }]);
    assert_eq!(store.delete_old_notices(at(20), 10).await.unwrap(), 1);
    assert_eq!(store.notices(ann.id, None, 10).await.unwrap().len(), 1);
    store.delete_bidder_account(ann.id, ann.version).await.unwrap();
    assert_eq!(store.notices(ann.id, None, 10).await.unwrap(), []);
    assert_eq!(store.notices(ben.id, None, 10).await.unwrap().len(), 1);
}

pub(super) async fn who_follows_an_item_is_read_in_pages(store: Shared) {
    let bids = [("9", None), ("10", None), ("9", None), ("7", Some(())), ("Ä'1", None)];
    let bids = bids.into_iter().enumerate().map(|(place, (paddle, struck))| {
        let mut bid = bid(item(1), 100).bids.remove(0);
        (bid.uuid, bid.number) = (caller_uuid(900 + place), place as i64 + 1);
        bid.bidder = paddle.into();
        let strike = struck.map(|()| StruckBid {
            strike: StrikeReason::Cancelled,
            after: 5,
            reason: None,
            actor: "key:1".into(),
            at: at(9),
        });
        (bid, strike)
    });
    let bids: Vec<_> = bids.collect();
    let strikes = bids.iter().filter_map(|(bid, strike)| {
        Some(BidStrike { item: bid.item, number: bid.number, struck: Some(strike.clone()?) })
    });
    let bid_strikes = strikes.collect();
    let bids = bids.into_iter().map(|(bid, _)| bid).collect();
    let change = Change { bid_strikes, bids, ..Change::default() };
    store.commit(vec![change], None).await.unwrap().pop().unwrap().unwrap();
    assert_eq!(store.paddles_on(item_uuid(1), "", 10).await.unwrap(), ["10", "9", "Ä'1"]);
    assert_eq!(store.paddles_on(item_uuid(1), "10", 1).await.unwrap(), ["9"]);
    assert_eq!(store.paddles_on(item_uuid(2), "", 10).await.unwrap(), [""; 0]);
    for number in 1..=3 {
        let (account, item) = (caller_uuid(400 + number), item_uuid(1 + number / 3));
        store.watch_item(WatchedItem { account, auction: auction_uuid(1), item, at: at(1) }, 10).await.unwrap();
    }
    let watching = store.accounts_watching(item_uuid(1), Uuid::nil(), 10).await.unwrap();
    assert_eq!(watching, [caller_uuid(401), caller_uuid(402)]);
    assert_eq!(store.accounts_watching(item_uuid(1), caller_uuid(401), 10).await.unwrap(), [caller_uuid(402)]);
    assert_eq!(store.accounts_watching(item_uuid(1), Uuid::nil(), 1).await.unwrap(), [caller_uuid(401)]);
}

pub(super) async fn browsers_are_replaced_and_pushes_claimed_once(store: Shared) {
    let (ann, ben) = (account(1, 1, "ann@example.com"), account(2, 1, "ben@example.com"));
    open(&store, &ann).await;
    open(&store, &ben).await;
    let browser = |number: usize, account: &BidderAccount, endpoint: &str| PushSubscription {
        uuid: caller_uuid(800 + number),
        account: account.id,
        session: session_of(account).id,
        endpoint: format!("https://push.example/'{endpoint}'"),
        key: vec![4; 65],
        auth: vec![0; 16],
        created_at: at(7),
    };
    for account in [&ann, &ben] {
        store.begin_bidder_session(session_of(account), account.version, 9).await.unwrap();
    }
    let put = async |browser: &PushSubscription| store.put_push_subscription(browser.clone(), 2).await.unwrap();
    let browsers = [1, 2, 3].map(|number| browser(number, &ann, &number.to_string()));
    for browser in &browsers {
        put(browser).await;
    }
    assert_eq!(store.push_subscriptions(ann.id).await.unwrap(), browsers[1..], "the oldest is removed");
    let taken = browser(4, &ben, "3");
    put(&taken).await;
    assert_eq!(store.push_subscriptions(ann.id).await.unwrap(), [browsers[1].clone()], "it is another bidder's now");
    assert_eq!(store.push_subscriptions(ben.id).await.unwrap(), std::slice::from_ref(&taken));

    let without = account(3, 1, "cid@example.com");
    open(&store, &without).await;
    make(&store, vec![notice(1, &ann, None), notice(2, &ben, None), notice(3, &without, None)]).await;
    let claimed = store.claim_pushes(at(100), at(200), 1).await.unwrap();
    assert_eq!(
        claimed.iter().map(|push| (push.notice.clone(), push.tries)).collect::<Vec<_>>(),
        [(notice(1, &ann, None), 1)]
    );
    let others = store.claim_pushes(at(100), at(200), 10).await.unwrap();
    assert_eq!(others.iter().map(|push| push.notice.account).collect::<Vec<_>>(), [ben.id], "none without a browser");
    store.end_push(notice(1, &ann, None).uuid, Some(at(150))).await.unwrap();
    store.end_push(notice(2, &ben, None).uuid, None).await.unwrap();
    let again = store.claim_pushes(at(150), at(300), 10).await.unwrap();
    assert_eq!(again.iter().map(|push| (push.notice.uuid, push.tries)).collect::<Vec<_>>(), [(caller_uuid(601), 2)]);
    assert_eq!(store.claim_pushes(at(250), at(300), 10).await.unwrap(), [], "the claim holds");
    assert_eq!(store.claim_pushes(at(300), at(400), 10).await.unwrap().len(), 1, "and ends");
    store.remove_push_subscription(&taken.endpoint).await.unwrap();
    assert_eq!(store.push_subscriptions(ben.id).await.unwrap(), []);
}
