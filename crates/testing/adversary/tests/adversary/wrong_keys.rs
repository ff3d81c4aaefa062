//! Wrong keys from an address never lock out a good key from the same address.

use serde_json::{Value, json};

use crate::call::Api;
use crate::raw::{response, serve_answers};
use crate::support::{Account, Running, wait_until};

/// Number of wrong keys in a row. The provider limits an address after 20.
const WRONG: usize = 40;

async fn send_wrong_keys(api: &Api, path: &str, prefix: &str) -> usize {
    let mut limited = 0;
    for number in 0..WRONG {
        let answer = api.call("get", path, &format!("{prefix}{number:033}"), &Value::Null).await;
        assert!(matches!(answer.status, 401 | 429), "{answer:?}");
        limited += usize::from(answer.status == 429);
    }
    limited
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_provider_keys_do_not_lock_out_good_ones_nor_after_a_restart() {
    let running = Running::new(&[]).await;
    let used = Account::new(&running, "used").await;
    let limited = send_wrong_keys(&used.api, "/api/v1/app", "lwp_").await;
    assert!(limited >= WRONG - 25, "only {limited} wrong keys were limited");
    assert_eq!(used.api.call("get", "/api/v1/app", &used.key, &Value::Null).await.status, 200);
    let unused = running.launch.create_provider_key("unused").unwrap();
    assert_eq!(
        used.api.call("get", "/api/v1/app", &unused, &Value::Null).await.status,
        200,
        "a good key failed at its first use"
    );

    let running = running.restarted(&[]).await;
    send_wrong_keys(&used.api, "/api/v1/app", "lwp_").await;
    for key in [&used.key, &unused] {
        assert_eq!(
            used.api.call("get", "/api/v1/app", key, &Value::Null).await.status,
            200,
            "a good key failed after a restart"
        );
    }
    println!("wrong_keys: {limited} of {WRONG} wrong provider keys had to wait, no good one");
    drop(running);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_platform_keys_do_not_lock_out_good_ones_nor_after_a_restart() {
    let running = Running::new(&[]).await;
    let key = running.launch.create_staff_key("used").unwrap();
    let api = running.platform();
    for restarts in 0..2 {
        send_wrong_keys(&api, "/api/v1/customers", "lw_").await;
        assert_eq!(api.call("get", "/api/v1/customers", &key, &Value::Null).await.status, 200, "{restarts} restarts");
        let unused = running.launch.create_staff_key("unused").unwrap();
        assert_eq!(api.call("get", "/api/v1/customers", &unused, &Value::Null).await.status, 200);
        if restarts == 1 {
            break;
        }
    }
    let running = running.restarted(&[]).await;
    send_wrong_keys(&api, "/api/v1/customers", "lw_").await;
    assert_eq!(
        api.call("get", "/api/v1/customers", &key, &Value::Null).await.status,
        200,
        "a good key failed after a restart"
    );
    drop(running);
}

/// The publisher calls the embedded provider from the same machine as the attacker.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_keys_do_not_stop_the_embedded_publisher() {
    let running = Running::new(&[]).await;
    let staff = running.launch.create_staff_key("staff").unwrap();
    let account = Account::new(&running, "publisher").await;
    let api = running.platform();
    let receiver = serve_answers(|_| response("200 OK", "", "received")).await;
    account.endpoint(&format!("http://{receiver}/")).await;
    let make = async |path: &str, body: Value| api.make("post", path, &staff, &body).await.text("uuid");
    let customer = make("/api/v1/customers", json!({ "name": "publisher" })).await;
    let auctioneer = make("/api/v1/auctioneers", json!({ "customer": customer, "name": "publisher" })).await;
    send_wrong_keys(&account.api, "/api/v1/app", "lwp_").await;
    let entered = json!({ "providerUrl": "embedded", "applicationId": account.application, "apiKey": account.key });
    api.make("put", &format!("/api/v1/customers/{customer}/consumer"), &staff, &entered).await;
    let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    make("/api/v1/auctions", auction).await;
    wait_until("the webhook of an auction", async || {
        send_wrong_keys(&account.api, "/api/v1/app", "lwp_").await;
        let messages = account.get("msg").await;
        messages["data"].as_array().is_some_and(|messages| !messages.is_empty())
    })
    .await;
}
