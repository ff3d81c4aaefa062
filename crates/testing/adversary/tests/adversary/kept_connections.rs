//! The provider reuses a connection to a receiver for one account only, so no account reads the response to another account.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::raw::{read_request, response, serve};
use crate::support::{Account, Running};

/// Deliveries of each account, taking turns.
const ROUNDS: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn no_account_reads_the_answer_to_another_account() {
    let owners: Arc<Mutex<Vec<BTreeSet<String>>>> = Arc::default();
    let seen = owners.clone();
    // Each request is answered twice. The second answer stays on the connection for the next request.
    let receiver = serve(move |mut stream, number| {
        let seen = seen.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let owner = request.path().trim_start_matches('/').to_owned();
                {
                    let mut seen = seen.lock().unwrap();
                    let connections = seen.len().max(number + 1);
                    seen.resize_with(connections, BTreeSet::new);
                    seen[number].insert(owner.clone());
                }
                let answers = [
                    response("200 OK", "", &format!("answer to {owner}")),
                    response("200 OK", "", &format!("secret of {owner}")),
                ];
                if stream.write_all(&answers.concat()).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let running = Running::new(&[]).await;
    let accounts = [Account::new(&running, "one").await, Account::new(&running, "other").await];
    for (account, name) in accounts.iter().zip(["one", "other"]) {
        account.endpoint(&format!("http://{receiver}/{name}")).await;
    }
    for _ in 0..ROUNDS {
        for (account, name) in accounts.iter().zip(["one", "other"]) {
            let message = account.message(json!({})).await;
            let attempt = &account.attempts(&message, 1).await[0];
            // The response must not be one that an earlier delivery left on the connection.
            assert_eq!(attempt["response"], format!("answer to {name}"), "{attempt}");
        }
    }
    let owners = owners.lock().unwrap();
    assert!(owners.iter().all(|owners| owners.len() <= 1), "a connection carried requests of two accounts: {owners:?}");
    println!("kept_connections: {} deliveries on {} connections", 2 * ROUNDS, owners.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_reuses_its_connection() {
    let receiver = serve(move |mut stream, number| async move {
        while read_request(&mut stream).await.is_some() {
            if stream.write_all(&response("200 OK", "", &format!("connection {number}"))).await.is_err() {
                return;
            }
        }
    })
    .await;
    let running = Running::new(&[]).await;
    let accounts = [Account::new(&running, "one").await, Account::new(&running, "other").await];
    let mut connections = [BTreeSet::new(), BTreeSet::new()];
    for account in &accounts {
        account.endpoint(&format!("http://{receiver}/")).await;
    }
    for _ in 0..ROUNDS {
        for (account, connections) in accounts.iter().zip(&mut connections) {
            let message = account.message(json!({})).await;
            connections.insert(account.attempts(&message, 1).await[0]["response"].to_string());
        }
    }
    assert!(connections[0].is_disjoint(&connections[1]), "{connections:?}");
    assert!(
        connections.iter().all(|connections| connections.len() < ROUNDS),
        "no connection was reused: {connections:?}"
    );
}
