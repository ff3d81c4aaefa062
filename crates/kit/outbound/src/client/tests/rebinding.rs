//! DNS rebinding, with a scripted resolver.

use std::net::IpAddr;
use std::sync::Mutex;

use crate::resolver::{Resolve, ResolveFuture};

use super::*;

/// Returns the next of these results for each lookup, and then repeats the last one.
#[derive(Debug)]
pub(super) struct ScriptedResolver {
    turns: Mutex<Vec<Vec<IpAddr>>>,
    lookups: AtomicUsize,
}

impl ScriptedResolver {
    pub(super) fn new(turns: &[&[&str]]) -> Arc<Self> {
        let turn = |turn: &&[&str]| turn.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(Self { turns: Mutex::new(turns.iter().map(turn).collect()), lookups: AtomicUsize::new(0) })
    }
}

impl Resolve for ScriptedResolver {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> ResolveFuture<'a> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut turns = self.turns.lock().unwrap();
        let turn = if turns.len() > 1 { turns.remove(0) } else { turns[0].clone() };
        Box::pin(async move { Ok(turn.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()) })
    }
}

fn resolving(answers: &Arc<ScriptedResolver>, allowed: &[&str]) -> Client {
    let allowed = allowed.iter().map(|subnet| subnet.parse().unwrap()).collect();
    let resolver = Arc::clone(answers) as Arc<dyn Resolve>;
    Client::new(ClientConfig { policy: AddressPolicy::public_only(allowed), resolver, ..ClientConfig::default() })
}

#[tokio::test]
async fn a_name_that_changes_to_a_private_address_is_refused_at_the_next_connection() {
    // The policy allows 127.0.0.1, as if it were public, and not 127.0.0.2. The server listens on both.
    let (address, taken) = answering(OK, 1).await;
    let answers = ScriptedResolver::new(&[&["127.0.0.1"], &["127.0.0.2"], &["::ffff:169.254.169.254"], &["::1"]]);
    let client = resolving(&answers, &["127.0.0.1/32"]);
    let request = || get(format_args!("http://rebinding.example:{}/", address.port()));
    client.send(request()).await.unwrap();
    settle().await;
    for turn in 0..3 {
        let error = client.send(request()).await.unwrap_err();
        assert_eq!(error.code(), "refused_address", "turn {turn}: {error}");
        assert!(!error.to_string().contains("127.0.0.2"), "the error contains the resolved address: {error}");
    }
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    assert_eq!(answers.lookups.load(Ordering::SeqCst), 4, "each connection resolves the name once");
}

#[tokio::test]
async fn only_the_allowed_addresses_of_a_name_are_tried() {
    let (address, taken) = answering(OK, 9).await;
    let answers = ScriptedResolver::new(&[&["127.0.0.2", "10.0.0.1", "::1", "127.0.0.1"]]);
    let client = resolving(&answers, &["127.0.0.1/32"]);
    let response = client.send(get(format_args!("http://mixed.example:{}/", address.port()))).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(taken.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn resolved_addresses_of_every_kind_are_checked() {
    for ip in [
        "127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "168.63.129.16",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:0:1::1",
        "fe80::1",
        "fec0::1",
        "fd00:ec2::254",
        "2a00:1450::5efe:7f00:1",
        "ff02::1",
    ] {
        let answers = ScriptedResolver::new(&[&[ip]]);
        let error = resolving(&answers, &[]).send(get("http://name.example/")).await.unwrap_err();
        assert_eq!(error.code(), "refused_address", "{ip}: {error}");
    }
}
