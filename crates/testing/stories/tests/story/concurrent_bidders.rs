//! Two hundred concurrent bidders on one item: every accepted bid is stored, in one order, and the prices follow from
//! that order by the rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use consumer::ApiClient;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use testkit::site::{CustomerSite, http_client};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::support::{WAIT_MAX, launch, timed_auction, two_nodes};

const BIDDERS: usize = 200;
const BIDS_EACH: usize = 5;
const OPENING: i64 = 100;
const INCREMENT: i64 = 10;
/// Lots of another sale that end during the bids. The receiver holds their webhooks.
const ENDING: usize = 20;

/// A bid with its maximum, which only the bidder knows, and the response.
struct Placed {
    bidder: String,
    maximum: i64,
    answer: Value,
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_bidders_on_one_node() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let accepted = bid_all_at_once(&site, std::slice::from_ref(&site.platform)).await;
    let metric = async |name: &str| launch.metric(&format!("lotwire_platform_{name}")).await.unwrap() as usize;
    assert_eq!(metric("bids_accepted_total").await, accepted);
    assert_eq!(metric("end_lateness_seconds_count").await, ENDING);
    // A webhook can arrive before the provider's response reaches the platform.
    let published = async { while metric("publish_seconds_count").await < ENDING + 2 {} };
    tokio::time::timeout(WAIT_MAX, published).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_bidders_on_two_nodes() {
    let nodes = two_nodes().await;
    let (site, second_api) = (nodes.site, nodes.second_api);
    bid_all_at_once(&site, &[site.platform.clone(), second_api]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_registrations_and_new_lots_all_succeed() {
    let nodes = two_nodes().await;
    let auction = json!({ "kind": "timed", "title": "A sale", "endsAt": nodes.site.in_ms(600_000) });
    let auction = nodes.site.create_auction(auction).await.unwrap();
    let mut adding = JoinSet::new();
    for number in 0..80 {
        let api = if number % 2 == 0 { nodes.site.platform.clone() } else { nodes.second_api.clone() };
        let auction = format!("/api/v1/auctions/{auction}");
        adding.spawn(async move {
            if number % 4 < 2 {
                api.post(&format!("{auction}/registrations"), &json!({ "name": "A bidder" })).await
            } else {
                let lot = json!({ "lotNumber": number.to_string(), "title": "A lot" });
                api.post(&format!("{auction}/items"), &lot).await
            }
        });
    }
    for answer in adding.join_all().await {
        answer.unwrap();
    }
}

/// Lets all bidders bid at the same time and checks the result. Returns the number of accepted bids.
async fn bid_all_at_once(site: &CustomerSite, nodes: &[ApiClient]) -> usize {
    let auction = json!({ "kind": "timed", "title": "One lot", "status": "LIVE", "endsAt": site.in_ms(600_000),
        "increments": [{ "from": 0, "increment": INCREMENT }],
        "items": [{ "lotNumber": "1", "title": "A lot", "openingBid": OPENING }] });
    let auction = site.create_auction(auction).await.unwrap();
    let item = site.items(&auction).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
    // The receiver holds all webhooks while the bidders bid.
    let before = 1;
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= before).await);
    site.receiver.hold();
    timed_auction(site, ENDING, 2_000).await;

    let mut bidders = JoinSet::new();
    let begin = Arc::new(Barrier::new(BIDDERS));
    for number in 0..BIDDERS {
        let api = nodes[number % nodes.len()].clone();
        let item = item.clone();
        let begin = begin.clone();
        bidders.spawn(async move {
            begin.wait().await;
            bid_in_turn(&api, &item, number).await
        });
    }
    let placed = tokio::time::timeout(WAIT_MAX, async {
        let mut placed = Vec::new();
        while let Some(bids) = bidders.join_next().await {
            placed.extend(bids.unwrap());
        }
        placed
    });
    let placed = placed.await.expect("a bid received no response");
    let accepted = placed.len();
    check(site, &item, placed).await;

    site.receiver.release();
    let wanted = before + 1 + ENDING;
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= wanted).await);
    accepted
}

/// Bids at or above the last known minimum, by different amounts. Every tenth bidder sends each bid twice.
async fn bid_in_turn(api: &ApiClient, item: &str, number: usize) -> Vec<Placed> {
    let (path, bidder) = (format!("/api/v1/items/{item}"), format!("paddle-{number}"));
    let mut placed = Vec::new();
    let mut minimum = OPENING;
    for turn in 0..BIDS_EACH {
        let maximum = minimum + INCREMENT * ((number * 7 + turn * 13) % 40) as i64 + (number % 3) as i64;
        let body = json!({ "bidder": bidder, "amount": maximum });
        let key = HeaderValue::try_from(format!("{bidder}-{turn}")).unwrap();
        let headers = HeaderMap::from_iter([(HeaderName::from_static("idempotency-key"), key)]);
        let path_of_bids = format!("{path}/bids");
        let send = || api.post_with_headers(&path_of_bids, headers.clone(), &body);
        let answer = if number.is_multiple_of(10) {
            let (one, two) = tokio::join!(send(), send());
            if let (Ok(one), Ok(two)) = (&one, &two) {
                assert_eq!(one.body["bid"], two.body["bid"], "a repeated request placed a second bid");
            }
            one.or(two)
        } else {
            send().await
        };
        match answer {
            Ok(answer) => {
                minimum = answer.body["item"]["minimumBid"].as_i64().unwrap();
                placed.push(Placed { bidder: bidder.clone(), maximum, answer: answer.body });
            }
            Err(refused) => {
                // Other bidders were faster, or this bidder already leads. Any other refusal is a fault.
                let reason = refused.to_string();
                assert!(
                    ["below the minimum", "this bidder leads already"].iter().any(|known| reason.contains(known)),
                    "{reason}"
                );
                let item = api.get(&path).await.unwrap();
                minimum = item.body["minimumBid"].as_i64().unwrap();
            }
        }
    }
    placed
}

/// Checks the responses and the stored bids against an independent implementation of the bidding rules.
async fn check(site: &CustomerSite, item: &str, placed: Vec<Placed>) {
    let acknowledged: BTreeMap<i64, Placed> =
        placed.into_iter().map(|placed| (placed.answer["bid"]["number"].as_i64().unwrap(), placed)).collect();
    let stored = bids(site, item).await;
    let accepted = stored.len() as i64;
    assert!(acknowledged.keys().copied().eq(1..=accepted), "the acknowledged bid numbers have gaps");
    assert!(accepted > 20, "only {accepted} bids were accepted");

    let (mut price, mut leader): (i64, Option<&Placed>) = (0, None);
    for (placed, row) in acknowledged.values().zip(&stored) {
        assert_eq!(placed.answer["bid"], *row, "the stored bid differs from the response");
        assert_eq!(row["bidder"], json!(placed.bidder));
        let minimum = if leader.is_some() { price + INCREMENT } else { OPENING };
        let leads = leader.is_none_or(|leader| placed.maximum > leader.maximum);
        let raises_own = leader.is_some_and(|leader| leader.bidder == placed.bidder);
        assert!(placed.maximum >= minimum || raises_own, "{row} is below {minimum}");
        price = match leader {
            None => OPENING,
            Some(_) if raises_own => price,
            Some(leader) if leads => placed.maximum.min(leader.maximum + INCREMENT),
            Some(leader) => leader.maximum.min(placed.maximum + INCREMENT),
        };
        if leads {
            leader = Some(placed);
        }
        assert_eq!(placed.answer["item"]["price"], json!(price), "after {row}");
        assert_eq!(row["amount"], json!(if leads { price } else { placed.maximum }), "{row}");
    }
    let seen = site.platform.get(&format!("/api/v1/items/{item}")).await.unwrap().body;
    assert_eq!((&seen["price"], &seen["bidCount"]), (&json!(price), &json!(accepted)));
}

async fn bids(site: &CustomerSite, item: &str) -> Vec<Value> {
    let mut bids = Vec::new();
    let mut after = String::new();
    loop {
        let page = site.platform.get(&format!("/api/v1/items/{item}/bids?limit=250{after}")).await.unwrap().body;
        bids.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return bids,
        }
    }
}
