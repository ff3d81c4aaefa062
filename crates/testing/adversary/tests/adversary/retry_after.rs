//! `Retry-After` of a receiver and of a provider: each form is honoured, and none stops deliveries for more than a day.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use kit_runtime::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::raw::{response, serve_answers};
use crate::support::{Account, Running, wait_until};

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;

/// The header, and the pause that it requests; none if it requests none.
fn forms() -> Vec<(&'static str, String, Option<i64>)> {
    let at = SystemClock.now() + Duration::from_secs(6 * 3_600);
    let fixdate = httpdate::fmt_http_date(SystemTime::from(at));
    let zoned = at.to_zoned(jiff::tz::TimeZone::UTC);
    let form = |format: &str| zoned.strftime(format).to_string();
    vec![
        ("seconds", "7200".to_owned(), Some(2 * HOUR_S)),
        ("an IMF date", fixdate, Some(6 * HOUR_S)),
        ("an RFC 850 date", form("%A, %d-%b-%y %H:%M:%S GMT"), Some(6 * HOUR_S)),
        ("an asctime date", form("%a %b %e %H:%M:%S %Y"), Some(6 * HOUR_S)),
        ("a year of seconds", "31536000".to_owned(), Some(DAY_S)),
        ("seconds beyond 64 bits", "99999999999999999999999".to_owned(), Some(DAY_S)),
        ("a date in the year 9999", "Fri, 31 Dec 9999 23:59:59 GMT".to_owned(), Some(DAY_S)),
        ("a date that has passed", "Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), None),
        ("a negative number", "-5".to_owned(), None),
        ("a fraction", "1e9".to_owned(), None),
        ("words", "never".to_owned(), None),
        ("nothing", String::new(), None),
    ]
}

fn seconds_until(at: &Value) -> i64 {
    let at: Timestamp = at.as_str().unwrap_or_else(|| panic!("{at} is no time")).parse().unwrap();
    (at.as_millisecond() - SystemClock.now().as_millisecond()) / 1_000
}

/// Asserts that the pause is the requested one, plus jitter of at most 20 % and the duration of the test.
fn check(what: &str, waits_s: i64, asked_s: Option<i64>) {
    let (least, most) = asked_s.map_or((-300, 300), |asked_s| (asked_s - 300, asked_s * 6 / 5 + 1));
    assert!(
        (least..=most).contains(&waits_s),
        "{what}: the next attempt is in {waits_s} s, {asked_s:?} were requested"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_can_request_a_pause_of_at_most_a_day() {
    let running = Running::new(&[("PROVIDER__RETRY_SCHEDULE", "60s")]).await;
    let forms = forms();
    for (what, header, asked_s) in &forms {
        let account = Account::new(&running, what).await;
        let header = format!("retry-after: {header}\r\n");
        let receiver = serve_answers(move |_| response("503 Busy", &header, "")).await;
        account.endpoint(&format!("http://{receiver}/")).await;
        let message = account.message(json!({})).await;
        account.attempts(&message, 1).await;
        let delivery = &account.get(&format!("msg/{message}/endpoint")).await["data"][0];
        check(what, seconds_until(&delivery["nextAttempt"]), *asked_s);
    }
    println!("retry_after: {} forms from receivers", forms.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_can_request_a_pause_of_at_most_a_day() {
    let running =
        Running::new(&[("PLATFORM__PUBLISH_BACKOFF_BASE", "60s"), ("PLATFORM__PUBLISH_BACKOFF_CAP", "60s")]).await;
    let staff = running.launch.create_staff_key("staff").unwrap();
    let api = running.platform();
    let forms = forms();
    for (what, header, asked_s) in &forms {
        let header = format!("retry-after: {header}\r\n");
        let provider = serve_answers(move |request| match request.head.starts_with("POST") {
            true => response("503 Busy", &header, "{}"),
            false => response("200 OK", "content-type: application/json\r\n", "{}"),
        })
        .await;
        let make = async |path: &str, body: Value| api.make("post", path, &staff, &body).await.text("uuid");
        let customer = make("/api/v1/customers", json!({ "name": what })).await;
        let consumer = format!("/api/v1/customers/{customer}/consumer");
        let entered = json!({ "providerUrl": format!("http://{provider}"), "applicationId": "app_1", "apiKey": "key" });
        api.make("put", &consumer, &staff, &entered).await;
        let auctioneer = make("/api/v1/auctioneers", json!({ "customer": customer, "name": what })).await;
        let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
        make("/api/v1/auctions", auction).await;
        let shown = async || api.make("get", &consumer, &staff, &Value::Null).await.body["lastError"].clone();
        wait_until("the provider's answer", async || shown().await.is_object()).await;
        check(what, seconds_until(&shown().await["nextAttemptAt"]), *asked_s);
    }
    println!("retry_after: {} forms from providers", forms.len());
}
