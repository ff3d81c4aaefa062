//! Proofs that a server belongs to this installation: it answers a challenge with the sealing key (`secrets.key`).
//!
//! A management command that is about to send an API key asks for a proof first, so that no other program on the port
//! receives the key. The proof names the role and the address. A program at another address that passes the challenge
//! on gets no proof for its own address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use kit_outbound::{Client, Headers, Request};
use kit_runtime::random::Random;
use kit_runtime::vault::{Challenge, Vault};
use serde::{Deserialize, Serialize};

use crate::config::{Role, listen_address};

/// Where a server answers challenges, on the port of each role.
pub(crate) const PATH: &str = "/.well-known/lotwire-proof";
/// Time limit for a proof.
const DEADLINE: Duration = Duration::from_secs(3);
const RESPONSE_BYTES_MAX: usize = 4 << 10;

/// What a server needs to answer challenges.
#[derive(Clone)]
struct Prover {
    vault: Arc<Vault>,
    role: Role,
    /// Host and port of each address that is this server's.
    own: Arc<[String]>,
}

/// A challenge for the server at an address.
#[derive(Deserialize)]
struct Asked {
    challenge: String,
    address: String,
}

/// Proofs, one for each configured key.
#[derive(Serialize, Deserialize)]
struct Proofs {
    proofs: Vec<String>,
}

/// What answers at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// A server with the sealing key of this installation.
    Own,
    /// A Lotwire server without it.
    Other,
    /// Another program.
    NoLotwire,
    /// Nothing.
    Silent,
}

/// The surface that answers challenges for a server that listens on `listen` and is reached at `urls` besides.
pub(crate) fn router(vault: Arc<Vault>, role: Role, listen: SocketAddr, urls: &[String]) -> Router {
    let own = listen_address::local_addresses(listen).into_iter().map(|address| address.to_string());
    let own = own.chain(urls.iter().filter_map(|url| address_of(url))).collect();
    Router::new().route("/", get(prove)).with_state(Prover { vault, role, own })
}

async fn prove(State(prover): State<Prover>, Query(asked): Query<Asked>) -> Result<Json<Proofs>, StatusCode> {
    let challenge = Challenge::parse(&asked.challenge).map_err(|_| StatusCode::BAD_REQUEST)?;
    // A proof for an address of another server would let that server pose as this one.
    if !prover.own.contains(&asked.address) {
        return Err(StatusCode::MISDIRECTED_REQUEST);
    }
    Ok(Json(Proofs { proofs: prover.vault.prove(challenge, &claim(prover.role, &asked.address)) }))
}

/// What the proof is about.
fn claim(role: Role, address: &str) -> String {
    format!("{} {address}", role.name())
}

/// Host and port of a base URL.
fn address_of(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

/// Asks what answers at a base URL. No secret is sent.
pub(crate) async fn identify(client: &Client, vault: &Vault, random: &dyn Random, role: Role, base: &str) -> Server {
    let Some(address) = address_of(base) else { return Server::Silent };
    let challenge = Challenge::generate(random);
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("challenge", &challenge.to_text())
        .append_pair("address", &address)
        .finish();
    let Some(answer) = call(client, &format!("{base}{PATH}?{query}")).await else { return Server::Silent };
    if let Ok(Proofs { proofs }) = serde_json::from_slice(&answer)
        && vault.is_proof(challenge, &claim(role, &address), proofs.iter().map(String::as_str))
    {
        return Server::Own;
    }
    let health = call(client, &format!("{base}/api/v1/health")).await.unwrap_or_default();
    let is_lotwire = serde_json::from_slice::<serde_json::Value>(&health).is_ok_and(|health| health.is_object());
    if is_lotwire || serde_json::from_slice::<Proofs>(&answer).is_ok() { Server::Other } else { Server::NoLotwire }
}

/// The body of the answer, whatever its status; none if nothing answers.
async fn call(client: &Client, url: &str) -> Option<bytes::Bytes> {
    let request = Request {
        method: http::Method::GET,
        to: url.parse().ok()?,
        headers: Headers::default(),
        body: bytes::Bytes::new(),
        deadline: DEADLINE,
        response_bytes_max: RESPONSE_BYTES_MAX,
    };
    match client.send_fresh(request, Duration::ZERO).await.outcome {
        Ok(answer) => Some(answer.body),
        Err(error) if error.is_unconnected() && !error.is_timeout() => None,
        // Something accepted the connection.
        Err(_) => Some(bytes::Bytes::new()),
    }
}

#[cfg(test)]
mod tests {
    use kit_outbound::{AddressPolicy, ClientConfig};
    use kit_runtime::random::{SeededRandom, SystemRandom};
    use kit_runtime::vault::Key;
    use tokio::net::TcpListener;

    use super::*;

    fn vault(seed: u64) -> Arc<Vault> {
        let key = Key::generate(&SeededRandom::new(seed));
        Arc::new(Vault::new(vec![(key.id(), key)]).unwrap())
    }

    fn client() -> Client {
        Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })
    }

    /// A server with the key of `seed` that takes `claimed` for its own address.
    async fn server(seed: u64, claimed: Option<SocketAddr>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proofs = router(vault(seed), Role::Provider, claimed.unwrap_or(address), &[]);
        let surface = Router::new().nest_service(PATH, proofs);
        tokio::spawn(async move { axum::serve(listener, surface).await });
        address
    }

    async fn identified(seed: u64, address: SocketAddr) -> Server {
        identify(&client(), &vault(seed), &SystemRandom, Role::Provider, &format!("http://{address}")).await
    }

    #[tokio::test]
    async fn only_a_server_with_the_same_key_at_the_asked_address_proves_itself() {
        let own = server(1, None).await;
        assert_eq!(identified(1, own).await, Server::Own);
        assert_eq!(identified(2, own).await, Server::Other);
        // It has the key, and is reached at an address that is not its own: something passes the challenge on.
        let relayed = server(1, Some("127.0.0.1:1".parse().unwrap())).await;
        assert_ne!(identified(1, relayed).await, Server::Own);
        let role = identify(&client(), &vault(1), &SystemRandom, Role::Platform, &format!("http://{own}")).await;
        assert_ne!(role, Server::Own, "the provider does not pass for the platform");
        assert_eq!(identified(1, "127.0.0.1:1".parse().unwrap()).await, Server::Silent);
    }

    #[tokio::test]
    async fn a_challenge_of_another_length_gets_no_proof() {
        let own = server(1, None).await;
        for challenge in ["", "00", &"0".repeat(66)] {
            let url = format!("http://{own}{PATH}?challenge={challenge}&address={own}");
            assert_eq!(call(&client(), &url).await.unwrap(), "", "{challenge}");
        }
    }
}
