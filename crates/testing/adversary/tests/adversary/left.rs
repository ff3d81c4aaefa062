//! Former users and leaked secrets: streams of ended sessions, passwords that others have seen, and guessed codes of a second
//! factor.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use kit_runtime::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::raw::exchange;
use crate::support::{Running, WAIT_MAX};

const PASSWORD: &str = "correct horse battery";
/// Number of guessed codes, and of addresses that take turns.
const CODES: usize = 300;
const ADDRESSES: usize = 8;
/// Streams end within five seconds; a busy machine may take longer to notice.
const STREAM_ENDS_WITHIN: Duration = Duration::from_secs(15);

/// A browser without script. It keeps cookies, and sends the client address as a trusted proxy does.
struct Browser {
    address: SocketAddr,
    from: String,
    cookies: Vec<(String, String)>,
}

impl Browser {
    fn new(address: SocketAddr, from: usize) -> Self {
        Self { address, from: format!("198.51.100.{from}"), cookies: Vec::new() }
    }

    async fn post(&mut self, path: &str, fields: &str) -> (u16, String) {
        self.send("POST", path, fields).await
    }

    async fn send(&mut self, method: &str, path: &str, fields: &str) -> (u16, String) {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = format!(
            "{method} /dashboard{path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nsec-fetch-site: same-origin\r\n\
             x-forwarded-for: {}\r\ncookie: {}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{fields}",
            self.address,
            self.from,
            cookies.join("; "),
            fields.len(),
        );
        let text = exchange(self.address, request.as_bytes()).await;
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        for line in text.lines().take_while(|line| !line.is_empty()) {
            let Some(set) = line.strip_prefix("set-cookie: ") else { continue };
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.retain(|(own, _)| own != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
        (status, text)
    }
}

/// The code that an authenticator shows now (RFC 6238).
fn code(secret: &str) -> String {
    let secret = data_encoding::BASE32_NOPAD.decode(secret.as_bytes()).unwrap();
    let step = SystemClock.now().as_second() / 30;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &secret);
    let tag = ring::hmac::sign(&key, &step.to_be_bytes());
    let offset = usize::from(tag.as_ref()[19] & 15);
    let taken: [u8; 4] = tag.as_ref()[offset..offset + 4].try_into().unwrap();
    format!("{:06}", (u32::from_be_bytes(taken) & 0x7fff_ffff) % 1_000_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_of_a_known_password_are_limited_at_the_dashboard() {
    let running = Running::new(&[("PROVIDER__TRUSTED_PROXIES", "127.0.0.1/32")]).await;
    let account = running.launch.create_provider_account("Hartley & Sons").unwrap();
    let link = running.launch.run_command(&["provider", "account", "sign-in-code", &account, "--json"]).unwrap();
    let key = link["url"].as_str().unwrap().split_once("#key=").unwrap().1.to_owned();
    let mut ann = Browser::new(running.launch.provider, 200);
    assert_eq!(ann.post("/join", &format!("key={key}")).await.0, 303);
    let joining = format!("name=Ann&email=ann%40example.com&password={}", PASSWORD.replace(' ', "+"));
    assert_eq!(ann.post("/join/account", &joining).await.0, 303);
    let enrolling = format!("password={}", PASSWORD.replace(' ', "+"));
    assert_eq!(ann.post("/profile/second-factor", &enrolling).await.0, 303);
    let (_, page) = ann.send("GET", "/profile/second-factor", "").await;
    let secret = page.split("id=\"totp\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert_eq!(ann.post("/profile/second-factor/confirm", &format!("code={}", code(&secret))).await.0, 200);

    let right = format!("email=ann%40example.com&password={}", PASSWORD.replace(' ', "+"));
    let (mut tried, mut refused) = (0, 0);
    for number in 0..CODES {
        let mut thief = Browser::new(running.launch.provider, number % ADDRESSES);
        if thief.post("/sign-in", &right).await.0 != 303 {
            refused += 1;
            continue;
        }
        match thief.post("/sign-in/code", &format!("code={number:06}")).await.0 {
            422 => tried += 1,
            429 => refused += 1,
            other => panic!("{other}"),
        }
    }
    println!(
        "left: {tried} of {CODES} codes of a second factor were tried from {ADDRESSES} addresses, {refused} refused"
    );
    assert!(tried <= 10, "{tried} codes were tried");
    drop(running);
}

/// Opens a live stream, and reads its first event.
async fn listen(address: SocketAddr, path: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut seen = String::new();
    while !seen.contains("event: snapshot") {
        let mut bytes = [0; 4_096];
        let count = tokio::time::timeout(WAIT_MAX, stream.read(&mut bytes)).await.unwrap().unwrap();
        assert!(count > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_their_session_and_a_generated_password_only_allows_its_change() {
    for running in Running::on_both_stores().await {
        let (api, staff) = (running.platform(), running.launch.create_staff_key("staff").unwrap());
        let make = async |path: &str, body: Value| api.make("post", path, &staff, &body).await.text("uuid");
        let customer = make("/api/v1/customers", json!({ "name": "Hartley" })).await;
        let auctioneer = make("/api/v1/auctioneers", json!({ "customer": customer, "name": "Hartley" })).await;
        let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
        let auction = make("/api/v1/auctions", auction).await;
        let user = |arguments: &[&str]| running.launch.command().arg("user").args(arguments).output().unwrap();

        let create = ["user", "create", "otto@example.com", "--role", "operator", "--require-new-password", "--json"];
        let seen = running.launch.run_command(&create).unwrap()["password"].as_str().unwrap().to_owned();
        let sign_in = async |password: &str| {
            let credentials = json!({ "email": "otto@example.com", "password": password });
            api.make("post", "/api/v1/sessions", "", &credentials).await.text("token")
        };
        let token = sign_in(&seen).await;
        for operation in api.operations().await {
            if operation.is_public || operation.path == "/api/v1/me/password" {
                continue;
            }
            let path = operation.path.replace(['{', '}'], "");
            let answer = api.call(&operation.method, &path, &token, &Value::Null).await;
            assert_eq!((answer.status, answer.code()), (403, "new_password_required"), "{} {path}", operation.method);
        }
        let change = json!({ "old": seen, "new": PASSWORD });
        api.make("post", "/api/v1/me/password", &token, &change).await;

        let path = format!("/api/v1/auctions/{auction}/live");
        let mut slowest = Duration::ZERO;
        for end in [&["sign-out", "otto@example.com"][..], &["disable", "otto@example.com"]] {
            let token = sign_in(PASSWORD).await;
            let mut stream = listen(running.launch.platform, &path, &token).await;
            assert!(user(end).status.success());
            let began = Instant::now();
            let mut rest = Vec::new();
            tokio::time::timeout(STREAM_ENDS_WITHIN, stream.read_to_end(&mut rest))
                .await
                .expect("the stream did not end with its session")
                .ok();
            slowest = slowest.max(began.elapsed());
        }
        println!("left: a stream ended at most {slowest:?} after its session");
        drop(running);
    }
}
