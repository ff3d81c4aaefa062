//! A whole webcast with two clerks who send every command at the same time, and a kill of the server during the sale.

use consumer::{ApiClient, ApiError};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::support::{launch, received};

#[tokio::test(flavor = "multi_thread")]
async fn two_clerks_sell_a_webcast_on_sqlite() {
    let data = tempfile::tempdir().unwrap();
    a_whole_webcast(&launch(data.path())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clerks_sell_a_webcast_on_postgres() {
    let data = tempfile::tempdir().unwrap();
    a_whole_webcast(&launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap())).await;
}

/// Two clerks with the same view of the ring, who send the same commands.
struct Clerks {
    desks: [ApiClient; 2],
    ring: String,
    etag: Option<HeaderValue>,
    /// The ring's last state that both clerks know.
    now: Value,
}

impl Clerks {
    async fn refresh(&mut self) {
        let reply = self.desks[0].get(&self.ring).await.unwrap();
        (self.etag, self.now) = (reply.etag, reply.body);
    }

    async fn send_command(&self, desk: usize, command: &str, body: &Value) -> Result<consumer::ApiResponse, ApiError> {
        self.desks[desk].post_if_match(&format!("{}/{command}", self.ring), self.etag.as_ref(), body).await
    }

    /// Both clerks send the command at the same time: one succeeds, the other receives 412.
    async fn race(&mut self, command: &str, body: Value) {
        let (one, other) = tokio::join!(self.send_command(0, command, &body), self.send_command(1, command, &body));
        let (accepted, refused) = if one.is_ok() { (one, other) } else { (other, one) };
        let accepted = accepted.unwrap();
        let refused = refused.expect_err(command);
        assert_eq!(refused.status(), Some(StatusCode::PRECONDITION_FAILED), "{command}: {refused}");
        (self.etag, self.now) = (accepted.etag, accepted.body);
    }

    async fn refused(&self, command: &str, body: Value, status: StatusCode) {
        let error = self.send_command(0, command, &body).await.expect_err(command);
        assert_eq!(error.status(), Some(status), "{command}: {error}");
    }

    fn at(&self, pointer: &str) -> &Value {
        self.now.pointer(pointer).unwrap_or(&Value::Null)
    }

    fn offer(&self) -> (&Value, &Value, &Value) {
        (self.at("/offer/standing/bidder"), self.at("/offer/standing/amount"), self.at("/offer/askingPrice"))
    }

    /// The state without server times, which change by themselves.
    fn without_times(&self) -> Value {
        let mut now = self.now.clone();
        now["serverTime"] = Value::Null;
        now["item"]["serverTime"] = Value::Null;
        now
    }
}

async fn key(site: &CustomerSite, launch: &Launch, scopes: &[&str]) -> ApiClient {
    let key = json!({ "name": "desk", "scopes": scopes, "customer": site.customer });
    let key = site.platform.post("/api/v1/api-keys", &key).await.unwrap();
    ApiClient::new(http_client(), launch.platform_url(), key.text("/key").unwrap()).unwrap()
}

async fn a_whole_webcast(launch: &Launch) {
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(launch, launch).await.unwrap();
    let auction = json!({ "kind": "webcast", "title": "Webcast", "status": "LIVE", "startsAt": site.in_ms(0),
        "increments": [{ "from": 0, "increment": 10 }], "items": crate::support::lots(4) });
    let auction = site.create_auction(auction).await.unwrap();
    let lots: Vec<String> =
        site.items(&auction).await.unwrap().iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
    let desks = [key(&site, launch, &["ring:write"]).await, key(&site, launch, &["ring:write"]).await];
    let bidder = key(&site, launch, &["bids:write", "auctions:read"]).await;
    let ring = format!("/api/v1/auctions/{auction}/ring");
    let mut clerks = Clerks { desks, ring: ring.clone(), etag: None, now: Value::Null };

    // Before the sale, absentees leave their maximum bids. Only the clerk sees them.
    let absentee = format!("/api/v1/items/{}/absentee-bids", lots[0]);
    let left = bidder
        .post(&absentee, &json!({ "bidder": "absent", "maximum": 471_113, "unusualAmount": true }))
        .await
        .unwrap();
    assert!(!left.body.to_string().contains("471113"), "{}", left.body);
    clerks.refresh().await;
    assert_eq!((clerks.at("/phase"), clerks.at("/desk/commands")), (&json!("pre_bidding"), &json!(["begin", "send"])));
    clerks.race("begin", json!({})).await;
    // Absentee bids on a lot are accepted until the lot is sent to the ring.
    bidder.post(&absentee, &json!({ "bidder": "late", "maximum": 500 })).await.unwrap();
    let withdrawal = json!({ "bidder": "late", "reason": "bought another lot" });
    bidder.post(&format!("{absentee}/withdraw"), &withdrawal).await.unwrap();
    clerks.refresh().await;
    clerks.race("send", json!({})).await;
    let closed = bidder.post(&absentee, &json!({ "bidder": "late", "maximum": 500 })).await.unwrap_err();
    assert_eq!(closed.status(), Some(StatusCode::CONFLICT), "{closed}");
    assert_eq!(clerks.at("/item/lotNumber"), "1");
    assert_eq!(clerks.at("/desk/commissions/0/maximum"), 471_113);
    let public = bidder.get(&ring).await.unwrap().body.to_string();
    assert!(!public.contains("471113") && !public.contains("desk") && public.contains("askingPrice"), "{public}");

    // The room, the absentee through the clerk, and the internet.
    clerks.race("bid", json!({ "source": "room", "bidder": "7" })).await;
    assert_eq!(clerks.offer(), (&json!("7"), &json!(100), &json!(110)));
    clerks.race("commission-bid", json!({ "bidder": "absent" })).await;
    assert_eq!(clerks.offer(), (&json!("absent"), &json!(110), &json!(120)));
    let online = format!("/api/v1/items/{}/internet-bids", lots[0]);
    let waiting = bidder.post(&online, &json!({ "bidder": "b-17", "amount": 120 })).await.unwrap();
    assert_eq!(waiting.body["state"], "waiting");
    // A sale is refused while the clerk does not know of a waiting bid.
    clerks.refused("sell", json!({}), StatusCode::PRECONDITION_FAILED).await;
    clerks.refresh().await;
    assert_eq!(clerks.at("/desk/pending/0/bidder"), "b-17");
    clerks.race("accept", json!({ "bid": waiting.body["uuid"] })).await;
    assert_eq!(clerks.offer(), (&json!("b-17"), &json!(120), &json!(130)));
    clerks.race("fair-warning", json!({})).await;

    // A kill changes nothing in the ring's state, the warnings and the entity tag included.
    clerks.refresh().await;
    let (tag, before) = (clerks.etag.clone(), clerks.without_times());
    server.kill();
    let _server = launch.start(&http_client()).await.unwrap();
    clerks.refresh().await;
    assert_eq!((&clerks.etag, clerks.without_times()), (&tag, before));
    assert_eq!(clerks.at("/offer/warnings"), 1);

    // Sell, reopen with a reason, undo the last bid, sell again.
    // The absentee's maximum is higher: the sale over this bid needs a confirmation.
    clerks.refused("sell", json!({}), StatusCode::CONFLICT).await;
    assert_eq!(clerks.at("/desk/waiting/source"), "commission");
    clerks.race("sell", json!({ "overWaitingBid": true })).await;
    assert_eq!((clerks.at("/last/status"), clerks.at("/item")), (&json!("SOLD"), &Value::Null));
    clerks.refused("reopen", json!({ "reason": " " }), StatusCode::UNPROCESSABLE_ENTITY).await;
    clerks.race("reopen", json!({ "reason": "the wrong paddle" })).await;
    assert_eq!(clerks.offer(), (&json!("b-17"), &json!(120), &json!(130)));
    clerks.race("undo", json!({ "reason": "the wrong paddle" })).await;
    assert_eq!(clerks.offer(), (&json!("absent"), &json!(110), &json!(120)));
    clerks.race("sell", json!({})).await;

    // Pass, offer again, remove; the running order continues and returns to the skipped lot.
    clerks.race("send", json!({})).await;
    clerks.race("pass", json!({})).await;
    clerks.race("send", json!({})).await;
    assert_eq!(clerks.at("/item/lotNumber"), "3");
    clerks.race("offer-again", json!({ "item": lots[1] })).await;
    clerks.race("remove", json!({})).await;
    assert_eq!(clerks.at("/desk/next/0/lotNumber"), "4");
    clerks.race("send", json!({})).await;

    // Pause, lower and raise the asking price, retract a bid.
    clerks.race("bid", json!({ "source": "room", "bidder": "7", "amount": 100 })).await;
    clerks.race("bid", json!({ "source": "room", "bidder": "8", "amount": 200 })).await;
    clerks.race("pause", json!({})).await;
    clerks.refused("bid", json!({ "source": "room", "bidder": "9" }), StatusCode::CONFLICT).await;
    clerks.race("resume", json!({})).await;
    clerks.refused("asking-price", json!({ "amount": 150 }), StatusCode::CONFLICT).await;
    clerks.race("asking-price", json!({ "amount": 150, "belowStandingBid": true })).await;
    assert_eq!(clerks.offer(), (&json!("7"), &json!(100), &json!(150)));
    clerks.race("asking-price", json!({ "amount": 250 })).await;
    assert_eq!(clerks.offer(), (&json!("8"), &json!(200), &json!(250)));
    let standing = clerks.at("/offer/standing/uuid").clone();
    clerks.race("retract", json!({ "bid": standing, "reason": "bid by mistake" })).await;
    assert_eq!(clerks.at("/offer/standing"), &Value::Null);
    clerks.refused("sell", json!({}), StatusCode::CONFLICT).await;
    clerks.race("pass", json!({})).await;
    clerks.race("send", json!({})).await;
    assert_eq!(clerks.at("/item/lotNumber"), "2");
    clerks.race("bid", json!({ "source": "internet", "bidder": "elsewhere-4" })).await;
    clerks.race("sell", json!({})).await;

    // Each status change was announced once, in order.
    let expected: [(&str, &[&str]); 5] = [
        (&auction, &["LIVE"]),
        (&lots[0], &["SOLD", "LIVE", "SOLD"]),
        (&lots[1], &["PASSED", "LIVE", "SOLD"]),
        (&lots[2], &[]),
        (&lots[3], &["PASSED"]),
    ];
    let count = expected.iter().map(|(_, statuses)| statuses.len()).sum();
    let tally = received(&site, count).await;
    // After a kill, a duplicate is allowed; a loss or another order is not.
    assert_eq!((tally.expected, tally.lost, tally.invalid, tally.out_of_order), (count as u64, 0, 0, 0), "{tally:?}");
    for (subject, statuses) in expected {
        let arrived: Vec<&str> = site.receiver.read(|record| {
            let of_subject = record.arrivals().iter().filter(|arrival| arrival.subject.to_string() == subject);
            of_subject.map(|arrival| arrival.status).collect()
        });
        assert_eq!(arrived, statuses, "{subject}");
    }
    same_command_twice(&site, &mut clerks).await;
}

/// A command repeated with its idempotency key runs once and receives the same response.
async fn same_command_twice(site: &CustomerSite, clerks: &mut Clerks) {
    let mut headers = http::HeaderMap::new();
    headers.insert(http::header::IF_MATCH, clerks.etag.clone().unwrap());
    headers.insert("idempotency-key", HeaderValue::from_static("send-3"));
    let send = format!("{}/send", clerks.ring);
    let first = site.platform.post_with_headers(&send, headers.clone(), &json!({})).await.unwrap();
    let again = site.platform.post_with_headers(&send, headers, &json!({})).await.unwrap();
    assert_eq!((first.body["item"]["lotNumber"].as_str(), &again.body), (Some("3"), &first.body));
}
