//! Two nodes on one PostgreSQL database: concurrent bids on many items in shared commits, while a bidder is suspended.

use std::sync::Arc;

use platform_core::Platform;
use platform_core::bidders::{NewRegistration, RegistrationDecision};
use platform_core::bidding::bids::NewBid;
use platform_core::port::{Page, RegistrationStatus, Store};
use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::test_sale::{TestSale, broken, platform};

const ITEMS: usize = 12;
const BIDDERS: i64 = 6;
const ROUNDS: i64 = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bidder_suspended_on_one_node_is_refused_on_both() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    let config = platform_store::postgres::PostgresConfig { url, pool_size: 6, ..Default::default() };
    let first_store = platform_store::postgres::open(&config).await.unwrap();
    let second_store: Arc<dyn Store> = platform_store::postgres::open(&config).await.unwrap();
    let sale = Arc::new(TestSale::new(first_store.clone(), 1).await);
    let office = platform(&second_store, &sale.clock, 2);
    let created = sale.auction(AuctionKind::Timed, ITEMS).await;
    let items: Vec<Uuid> = created.items.iter().map(|item| item.uuid).collect();
    let mut registered = Vec::new();
    for paddle in 1..=BIDDERS {
        let entry = NewRegistration {
            paddle: Some(paddle.to_string()),
            party: None,
            name: Some("A. Bidder".into()),
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        let bidder = office.register_bidder(&sale.caller, created.auction.uuid, &entry, None).await.unwrap();
        registered.push(bidder.fresh().unwrap());
    }

    let bid = |platform: Platform, item: Uuid, paddle: i64, amount: i64| {
        let sale = sale.clone();
        async move {
            let new = NewBid { bidder: paddle.to_string(), amount };
            platform.place_bid(&sale.caller, item, &new, None, None).await.map_err(|refusal| refusal.code())
        }
    };
    let mut bids = Vec::new();
    for round in 1..=ROUNDS {
        for (number, item) in items.iter().enumerate() {
            for paddle in 1..=BIDDERS {
                let node = if (paddle + round) % 2 == 0 { &office } else { &sale.platform };
                let amount = 100 + 1_000 * round + 10 * (paddle + number as i64);
                bids.push(tokio::spawn(bid(node.clone(), *item, paddle, amount)));
            }
        }
    }
    let decision = RegistrationDecision { to: RegistrationStatus::Suspended, reason: Some("it did not pay".into()) };
    let suspended = (created.auction.uuid, registered[2].uuid);
    office.change_registration_status(&sale.caller, suspended, &decision, None, None).await.unwrap();
    let after: Vec<_> = [&office, &sale.platform]
        .into_iter()
        .flat_map(|node| items.iter().map(move |item| (node.clone(), *item)))
        .map(|(node, item)| tokio::spawn(bid(node, item, 3, 1_000_000)))
        .collect();
    for refused in after {
        assert_eq!(refused.await.unwrap().unwrap_err(), "bidder_suspended");
    }

    let mut accepted = 0;
    for bid in bids {
        match bid.await.unwrap() {
            Ok(_) => accepted += 1,
            Err(code) => assert!(["bid_too_low", "maximum_not_raised", "bidder_suspended"].contains(&code), "{code}"),
        }
    }
    let mut stored = 0;
    for item in &items {
        let bids = second_store.bids(*item, Page { after: None, limit: 1_000 }).await.unwrap();
        let (found, _) = sale.item(*item).await;
        assert_eq!(found.bid_count, bids.len() as i64);
        assert!(bids.iter().zip(1..).all(|(bid, number)| bid.number == number));
        assert!(found.standing.unwrap().maximum.reveal() < 1_000_000);
        stored += bids.len();
    }
    assert_eq!(stored, accepted);
    assert!(stored >= ITEMS);
    assert_eq!(broken(&office).await, Vec::<String>::new());
}
