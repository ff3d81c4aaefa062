//! The provider's accounts: no key or token reaches records of another account or application.

use serde_json::{Value, json};

use crate::call::Operation;
use crate::raw::{response, serve_answers};
use crate::support::{Account, Running};

/// An account with a record of each kind.
struct Victim {
    account: Account,
    endpoint: String,
    message: String,
    attempt: String,
    operational: String,
    secret: String,
}

impl Victim {
    async fn new(running: &Running) -> Self {
        let account = Account::new(running, "victim").await;
        let event_type = json!({ "name": "victim.only", "description": "of the victim" });
        account.api.make("post", "/api/v1/event-type", &account.key, &event_type).await;
        let receiver = serve_answers(|_| response("200 OK", "", "answer of the victim")).await;
        let endpoint = account.endpoint(&format!("http://{receiver}/")).await;
        let message = account.message(json!({ "secret": "payload of the victim" })).await;
        let attempt = account.attempts(&message, 1).await[0]["id"].as_str().unwrap().to_owned();
        let operational = json!({ "url": format!("http://{receiver}/operational") });
        let operational = account.api.make("post", "/api/v1/operational-webhook/endpoint", &account.key, &operational);
        let operational = operational.await.text("id");
        let secret = account.get(&format!("endpoint/{endpoint}/secret")).await["key"].as_str().unwrap().to_owned();
        Victim { account, endpoint, message, attempt, operational, secret }
    }

    fn path(&self, operation: &Operation) -> String {
        operation.path_with(|name| match name {
            "app_id" => self.account.application.clone(),
            "endpoint_id" if operation.path.contains("operational") => self.operational.clone(),
            "endpoint_id" => self.endpoint.clone(),
            "msg_id" => self.message.clone(),
            "attempt_id" => self.attempt.clone(),
            "event_type_name" => "victim.only".to_owned(),
            _ => "none".to_owned(),
        })
    }

    fn is_shown_in(&self, answer: &Value) -> bool {
        let text = answer.to_string();
        let own =
            [&self.account.application, &self.endpoint, &self.message, &self.attempt, &self.operational, &self.secret];
        own.iter().any(|record| text.contains(*record)) || text.contains("of the victim")
    }

    async fn state(&self) -> Vec<Value> {
        let mut answers = Vec::new();
        for path in ["", "endpoint", "msg", &format!("endpoint/{}/headers", self.endpoint)] {
            answers.push(self.account.get(path.trim_end_matches('/')).await);
        }
        answers.push(self.account.get(&format!("endpoint/{}/secret", self.endpoint)).await);
        answers
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_and_no_token_reaches_a_record_of_another_account() {
    for running in Running::on_both_stores().await {
        let victim = Victim::new(&running).await;
        let attacker = Account::new(&running, "attacker").await;
        let portal = format!("/api/v1/auth/app-portal-access/{}", attacker.application);
        let token = attacker.api.make("post", &portal, &attacker.key, &json!({})).await.text("token");
        let before = victim.state().await;
        let (mut tried, mut own) = (0, 0);
        for operation in attacker.api.operations().await.iter().filter(|operation| !operation.is_public) {
            let path = victim.path(operation);
            // A token that ended itself could call no further operation.
            if operation.path.ends_with("/logout") {
                continue;
            }
            for key in [&attacker.key, &token] {
                let replay = json!({ "since": "2024-01-01T00:00:00Z", "until": "2024-01-02T00:00:00Z" });
                let takes_times =
                    ["/bulk-replay", "/recover", "/replay-missing"].iter().any(|end| operation.path.ends_with(end));
                let body = if takes_times { &replay } else { &operation.body };
                let answer = attacker.api.call(&operation.method, &path, key, body).await;
                // Each account can have an event type of this name, and `PUT` creates it in the caller's own account.
                let makes_its_own = operation.method == "put"
                    && ["/app/{app_id}", "/operational-webhook/endpoint/{endpoint_id}"]
                        .iter()
                        .any(|end| operation.path.ends_with(end));
                let names_a_record = operation.path.contains('{') && !operation.path.contains("event-type");
                assert!(
                    !names_a_record || makes_its_own || matches!(answer.status, 403 | 404),
                    "{operation}: {answer:?}"
                );
                assert!(!victim.is_shown_in(&answer.body), "{operation}: {answer:?}");
                tried += 1;
            }
            if operation.method == "get" {
                let answer = victim.account.api.call("get", &path, &victim.account.key, &Value::Null).await;
                own += usize::from(answer.status == 200);
            }
        }
        assert_eq!(victim.state().await, before, "a record was changed");
        println!("provider_tenancy: {tried} calls on another account's records answered without them");
        assert!(tried > 100 && own > 15, "{tried} {own}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_reaches_no_other_application_of_its_account() {
    let running = Running::new(&[]).await;
    let victim = Victim::new(&running).await;
    let (api, key) = (victim.account.api.clone(), victim.account.key.clone());
    let second = api.make("post", "/api/v1/app", &key, &json!({ "name": "second", "uid": "second" })).await.text("id");
    let portal = format!("/api/v1/auth/app-portal-access/{second}");
    let token = api.make("post", &portal, &key, &json!({})).await.text("token");
    let before = victim.state().await;
    let mut tried = 0;
    for operation in api.operations().await.iter().filter(|operation| operation.path.contains("{app_id}")) {
        let answer = api.call(&operation.method, &victim.path(operation), &token, &operation.body).await;
        assert!(matches!(answer.status, 403 | 404), "{operation}: {answer:?}");
        // The records of one application by the path of the other.
        let mixed = victim.path(operation).replace(&victim.account.application, &second);
        let answer = api.call(&operation.method, &mixed, &token, &operation.body).await;
        assert!(!victim.is_shown_in(&answer.body), "{operation}: {answer:?}");
        tried += 2;
    }
    assert_eq!(victim.state().await, before, "a record was changed");
    println!("provider_tenancy: {tried} calls with a token of another application");
    assert!(tried > 60, "{tried}");
}
