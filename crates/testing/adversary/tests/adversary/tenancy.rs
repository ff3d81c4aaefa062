//! The platform's customers: a customer's key never reads or changes records of another customer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::call::{Api, Operation};
use crate::support::Running;

/// A customer with a record of each kind, and a key with all scopes that is confined to it.
struct Customer {
    key: String,
    /// Records by the kind in the paths of the API.
    records: BTreeMap<&'static str, String>,
}

async fn customer(running: &Running, staff: &str, name: &str) -> Customer {
    let api = running.platform();
    let make = async |path: &str, body: Value| api.make("post", &format!("/api/v1/{path}"), staff, &body).await;
    let uuid = make("customers", json!({ "name": name })).await.text("uuid");
    let auctioneer = make("auctioneers", json!({ "customer": uuid, "name": name })).await.text("uuid");
    let item = json!({ "lotNumber": "1", "title": format!("Lot of {name}"), "openingBid": 100 });
    let auction = json!({ "auctioneer": auctioneer, "currency": "GBP", "timeZone": "UTC", "kind": "timed",
        "title": format!("Sale of {name}"), "status": "LIVE", "endsAt": "2031-01-01T00:00:00.000Z", "items": [item] });
    let auction = make("auctions", auction).await.text("uuid");
    let items = api.make("get", &format!("/api/v1/auctions/{auction}/items"), staff, &Value::Null).await.body;
    let item = items["data"][0]["uuid"].as_str().unwrap().to_owned();
    let bid = json!({ "bidder": format!("bidder of {name}"), "amount": 100 });
    let bid = make(&format!("items/{item}/bids"), bid).await.body;
    let bidder = json!({ "name": format!("bidder of {name}"), "paddle": "7" });
    let registration = make(&format!("auctions/{auction}/registrations"), bidder).await.body;
    let create = ["key", "create", "--name", name, "--customer", &uuid, "--scope", "all", "--json"];
    let key = running.launch.run_command(&create).unwrap();
    let text = |of: &Value, names: &[&str]| {
        let found = names.iter().find_map(|name| of.pointer(name).and_then(Value::as_str));
        found.unwrap_or_else(|| panic!("{of}")).to_owned()
    };
    let records = BTreeMap::from([
        ("customers", uuid),
        ("auctioneers", auctioneer),
        ("auctions", auction),
        ("items", item),
        ("bids", text(&bid, &["/bid/uuid", "/uuid", "/bid"])),
        ("registrations", text(&registration, &["/uuid"])),
        ("api-keys", text(&key, &["/uuid"])),
    ]);
    Customer { key: text(&key, &["/key"]), records }
}

impl Customer {
    /// The path of an operation with this customer's records; none if it names a record of no customer.
    fn path(&self, operation: &Operation) -> Option<String> {
        let parts: Vec<&str> = operation.path.split('/').collect();
        let mut known = true;
        let filled: Vec<String> = (0..parts.len())
            .map(|at| {
                match (parts[at].starts_with('{'), at.checked_sub(1).and_then(|kind| self.records.get(parts[kind]))) {
                    (true, Some(record)) => record.clone(),
                    (true, None) => {
                        known = false;
                        String::new()
                    }
                    (false, _) => parts[at].to_owned(),
                }
            })
            .collect();
        known.then(|| filled.join("/"))
    }

    fn is_shown_in(&self, answer: &Value) -> bool {
        let text = answer.to_string();
        self.records.values().any(|record| text.contains(record))
    }
}

/// A body that the operation accepts, so that it reads the record.
fn body_of(operation: &Operation) -> Value {
    let of = |end: &str| operation.method == "post" && operation.path.ends_with(end);
    match () {
        () if of("/clock/advance") => json!({ "seconds": 1 }),
        () if of("/ends") => json!({ "shiftSeconds": 60 }),
        () if of("/{registration}/status") => json!({ "status": "approved" }),
        () if of("/{uuid}/status") => json!({ "status": "PREVIEW" }),
        () => operation.body.clone(),
    }
}

/// The responses of the reading operations about the customer.
async fn state(api: &Api, operations: &[Operation], of: &Customer, key: &str) -> Vec<(String, Value)> {
    let mut answers = Vec::new();
    for operation in
        operations.iter().filter(|operation| operation.method == "get" && !operation.path.ends_with("/live"))
    {
        let Some(path) = of.path(operation).filter(|path| operation.path.contains('{') && !path.contains("api-keys"))
        else {
            continue;
        };
        let answer = api.call("get", &path, key, &Value::Null).await;
        if answer.status == 200 {
            let mut body = answer.body;
            remove_server_time(&mut body);
            answers.push((operation.to_string(), body));
        }
    }
    answers
}

fn remove_server_time(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "serverTime");
            fields.values_mut().for_each(remove_server_time);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_server_time),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customers_key_neither_sees_nor_changes_a_record_of_another_customer() {
    for running in Running::on_both_stores().await {
        let staff = running.launch.create_staff_key("staff").unwrap();
        let (one, other) = (customer(&running, &staff, "one").await, customer(&running, &staff, "other").await);
        let api = running.platform();
        let operations = api.operations().await;
        let before = state(&api, &operations, &one, &staff).await;
        let mut refused = 0;
        let mut lists = 0;
        let mut own = 0;
        let mut reached = Vec::new();
        for operation in operations.iter().filter(|operation| !operation.is_public) {
            let Some(path) = one.path(operation) else { continue };
            if operation.path.contains('{') {
                let answer = api.call(&operation.method, &path, &other.key, &body_of(operation)).await;
                if !matches!(answer.status, 403 | 404) {
                    reached.push(format!("{operation}: {answer:?}"));
                }
                let empty = json!({});
                let answer = api.call(&operation.method, &path, &other.key, &empty).await;
                assert!(matches!(answer.status, 403 | 404 | 415 | 422), "{operation} with an empty body: {answer:?}");
                assert!(!one.is_shown_in(&answer.body), "{operation}: {answer:?}");
                refused += 1;
                if operation.method == "get" && !operation.path.ends_with("/live") {
                    let answer = api.call("get", &path, &one.key, &Value::Null).await;
                    own += usize::from(answer.status == 200);
                }
            } else if operation.method == "get" {
                let names = ["customer", "auctioneer", "auction"].iter().zip(["customers", "auctioneers", "auctions"]);
                let filters = names.map(|(name, kind)| format!("{path}?{name}={}", one.records[kind]));
                for path in [path.clone()].into_iter().chain(filters) {
                    let answer = api.call("get", &path, &other.key, &Value::Null).await;
                    assert!(!one.is_shown_in(&answer.body), "{path}: {answer:?}");
                    lists += 1;
                }
            }
        }
        assert!(reached.is_empty(), "{reached:#?}");
        let after = state(&api, &operations, &one, &staff).await;
        assert_eq!(after.len(), before.len());
        for (after, before) in after.iter().zip(&before) {
            assert_eq!(after, before, "a record was changed");
        }
        println!("tenancy: {refused} operations on another customer's records refused, {lists} lists without them");
        assert!(refused > 60 && lists > 20 && own > 15, "{refused} {lists} {own}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_can_not_be_created_for_or_moved_to_another_customer() {
    let running = Running::new(&[]).await;
    let staff = running.launch.create_staff_key("staff").unwrap();
    let (one, other) = (customer(&running, &staff, "one").await, customer(&running, &staff, "other").await);
    let api = running.platform();
    let auction = json!({ "auctioneer": one.records["auctioneers"], "currency": "GBP", "timeZone": "UTC",
        "kind": "timed", "title": "Mine" });
    let key = json!({ "name": "mine", "customer": one.records["customers"], "scopes": ["auctions:read"] });
    let item = format!("/api/v1/items/{}", other.records["items"]);
    let bid = one.records["bids"].clone();
    for (method, path, body) in [
        ("post", "/api/v1/auctions".to_owned(), auction),
        ("post", "/api/v1/auctioneers".to_owned(), json!({ "customer": one.records["customers"], "name": "Mine" })),
        ("post", "/api/v1/api-keys".to_owned(), key),
        ("post", "/api/v1/customers".to_owned(), json!({ "name": "Mine" })),
        ("post", format!("{item}/bids/{bid}/cancel"), json!({ "reason": "mine" })),
        (
            "post",
            format!("/api/v1/auctions/{}/relist", other.records["auctions"]),
            json!({ "items": [one.records["items"]] }),
        ),
        ("delete", format!("/api/v1/api-keys/{}", one.records["api-keys"]), Value::Null),
    ] {
        let answer = api.call(method, &path, &other.key, &body).await;
        assert!(matches!(answer.status, 403 | 404 | 409 | 412 | 422), "{method} {path}: {answer:?}");
        assert!(!answer.body.to_string().contains("Lot of one"), "{method} {path}: {answer:?}");
    }
    let count = api.call("get", "/api/v1/auctions", &one.key, &Value::Null).await.body;
    assert_eq!(count["data"].as_array().map(Vec::len), Some(1), "{count}");
    assert_eq!(api.call("get", "/api/v1/auctions", &one.key, &Value::Null).await.status, 200);
}
