//! Puts a reverse proxy in front of a server, with the example from docs/operate/proxies, and uses both APIs, uploads and live
//! updates through it.
//!
//! The clients are curl processes, which speak HTTP/2 with the proxy. Two of them have other addresses of the loopback interface, so
//! that the server has to take the client's address from the proxy.

mod example;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use self::example::Running;
use crate::site::RigSite;
use crate::{RigError, say};

/// Names of the examples.
const PLATFORM: &str = "auctions.example.com";
const PROVIDER: &str = "hooks.example.com";
/// Attempts of one user to sign in, and of one address: five times as many.
const SIGN_IN_ATTEMPTS: usize = 3;
const ATTEMPTS_OF_AN_ADDRESS: usize = 5 * SIGN_IN_ATTEMPTS;
/// Items of the uploaded catalogue.
const ITEMS: u32 = 10_000;
/// Time in which a bid has to reach a listener.
const PROMPT: Duration = Duration::from_secs(2);

/// Options of `proxies`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The proxies [default: all].
    #[arg(long, value_enum, value_delimiter = ',')]
    proxy: Vec<Proxy>,
    /// Seconds without a bid, after which a live stream has to be open still. The examples close a silent connection after 60.
    #[arg(long, default_value_t = 70)]
    quiet: u64,
    /// The examples.
    #[arg(long, default_value = "docs/operate/proxies")]
    examples: PathBuf,
}

/// A reverse proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Proxy {
    Nginx,
    Caddy,
    Haproxy,
}

/// Runs the rig. True when every proxy passed.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let all = [Proxy::Nginx, Proxy::Caddy, Proxy::Haproxy];
    let wanted = if options.proxy.is_empty() { &all[..] } else { &options.proxy };
    for proxy in wanted {
        say(&format!("{proxy:?}"));
        try_proxy(*proxy, options).await.map_err(|error| format!("{proxy:?}: {error}"))?;
    }
    Ok(true)
}

async fn try_proxy(proxy: Proxy, options: &Options) -> Result<(), RigError> {
    let port = example::free_port()?;
    let (site, _server) = RigSite::set_up_on(
        None,
        &[
            ("PLATFORM__TRUSTED_PROXIES", "127.0.0.1/32"),
            ("PLATFORM__PUBLIC_URL", &format!("https://{PLATFORM}:{port}")),
            ("PLATFORM__SIGN_IN_ATTEMPTS", &SIGN_IN_ATTEMPTS.to_string()),
            ("PROVIDER__TRUSTED_PROXIES", "127.0.0.1/32"),
            ("PROVIDER__PUBLIC_URL", &format!("https://{PROVIDER}:{port}")),
        ],
    )
    .await?;
    let running = Running::start(proxy, &options.examples, port, &site.launch)?;
    let key = site.launch.create_staff_key("proxies")?;
    let proxied = Proxied { running, key };

    let health =
        proxied.ask(PLATFORM, "/api/v1/health", &["--retry", "30", "--retry-delay", "1", "--retry-all-errors"])?;
    require(health.ends_with("2 200"), "the platform's health over HTTP/2", &health)?;
    let health = proxied.ask(PROVIDER, "/api/v1/health", &[])?;
    require(health.ends_with("2 204"), "the provider's health over HTTP/2", &health)?;
    let page = proxied.ask(PLATFORM, "/admin/sign-in", &[])?;
    require(page.contains("<form") && page.ends_with("2 200"), "the page to sign in", &page)?;
    say("  both APIs and a page over HTTP/2");

    proxied.count_addresses()?;
    say("  sign-in attempts count for the client's address, and a claimed address counts for nothing");
    proxied.upload(&site).await?;
    say(&format!("  a catalogue of {ITEMS} lots"));
    proxied.listen(&site, Duration::from_secs(options.quiet)).await?;
    say(&format!("  a live stream: bids at once, and again after {} quiet seconds", options.quiet));
    Ok(())
}

fn require(holds: bool, what: &str, found: &str) -> Result<(), RigError> {
    let found: String = found.chars().take(2_000).collect();
    if holds { Ok(()) } else { Err(format!("{what}: {found}").into()) }
}

/// The APIs as clients of the proxy see them.
struct Proxied {
    running: Running,
    key: String,
}

impl Proxied {
    fn curl(&self, name: &str, path: &str) -> Command {
        let port = self.running.port;
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--http2", "--cacert"]).arg(self.running.authority());
        curl.args(["--resolve", &format!("{name}:{port}:127.0.0.1")]).arg(format!("https://{name}:{port}{path}"));
        curl
    }

    /// The body, and after it the HTTP version and the status.
    fn ask(&self, name: &str, path: &str, arguments: &[&str]) -> Result<String, RigError> {
        let mut curl = self.curl(name, path);
        let output = curl.args(["--write-out", "\n%{http_version} %{http_code}"]).args(arguments).output()?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(errors + &String::from_utf8_lossy(&output.stdout))
    }

    /// The status of an attempt to sign in from an address of this machine.
    fn sign_in(&self, from: &str, number: usize, further: &[&str]) -> Result<String, RigError> {
        let body =
            json!({ "email": format!("stranger{number}@example.com"), "password": "not the password" }).to_string();
        let arguments = ["--interface", from, "--header", "Content-Type: application/json", "--data", &body];
        let answer = self.ask(PLATFORM, "/api/v1/sessions", &[&arguments, further].concat())?;
        Ok(answer.rsplit(' ').next().unwrap_or_default().to_owned())
    }

    /// One address uses up its attempts, also while it claims others; another address does not notice.
    fn count_addresses(&self) -> Result<(), RigError> {
        for number in 0..ATTEMPTS_OF_AN_ADDRESS {
            let claimed = format!("X-Forwarded-For: 198.51.100.{number}");
            let status = self.sign_in("127.0.0.2", number, &["--header", &claimed])?;
            require(status == "401", "a wrong sign-in", &status)?;
        }
        let status = self.sign_in("127.0.0.2", ATTEMPTS_OF_AN_ADDRESS, &[])?;
        require(status == "429", "an attempt too many of one address", &status)?;
        let status = self.sign_in("127.0.0.3", ATTEMPTS_OF_AN_ADDRESS + 1, &[])?;
        require(status == "401", "the first attempt of another address", &status)
    }

    async fn upload(&self, site: &RigSite) -> Result<(), RigError> {
        let auction = json!({ "kind": "timed", "title": "Uploaded", "endsAt": site.in_ms(3_600_000) });
        let auction = site.create_auction(auction).await?;
        let file = self.running.folder().join("catalogue.csv");
        std::fs::write(&file, crate::bench::items::catalogue(ITEMS))?;
        let (bearer, data) = (format!("Authorization: Bearer {}", self.key), format!("@{}", file.display()));
        let arguments = ["--header", &bearer, "--header", "Content-Type: text/csv", "--data-binary", &data];
        let answer = self.ask(PLATFORM, &format!("/api/v1/auctions/{auction}/catalogue"), &arguments)?;
        require(answer.ends_with("2 200") || answer.ends_with("2 201"), "the upload", &answer)?;
        let counted = site.platform.get(&format!("/api/v1/auctions/{auction}")).await?.body;
        require(counted["itemCounts"]["total"] == ITEMS, "the items of the uploaded catalogue", &counted.to_string())
    }

    /// A bid reaches a listener at once, and another one after a quiet time.
    async fn listen(&self, site: &RigSite, quiet: Duration) -> Result<(), RigError> {
        let auction = json!({ "kind": "timed", "title": "Live", "status": "LIVE", "endsAt": site.in_ms(3_600_000),
            "items": [{ "lotNumber": "1", "title": "A lot", "openingBid": 100 }] });
        let auction = site.create_auction(auction).await?;
        let item = site.items(&auction).await?.remove(0);
        let uuid = item["uuid"].as_str().unwrap_or_default().to_owned();
        let mut curl = self.curl(PLATFORM, &format!("/api/v1/items/{uuid}/live"));
        curl.args(["--no-buffer", "--header", &format!("Authorization: Bearer {}", self.key)]);
        let stream = Stream::open(curl)?;
        stream.wait_for("event: snapshot")?;
        let mut amount = item["minimumBid"].as_i64().unwrap_or(100);
        for bidder in ["paddle-1", "paddle-2"] {
            if bidder == "paddle-2" {
                tokio::time::sleep(quiet).await;
                stream.drain();
            }
            let begin = Instant::now();
            let bid = json!({ "bidder": bidder, "amount": amount });
            let placed = site.platform.post(&format!("/api/v1/items/{uuid}/bids"), &bid).await?.body;
            stream.wait_for("event: item")?;
            require(
                begin.elapsed() < PROMPT,
                "the time until a listener has a bid",
                &format!("{:?}", begin.elapsed()),
            )?;
            amount = next_amount(&placed, amount);
        }
        Ok(())
    }
}

fn next_amount(placed: &Value, amount: i64) -> i64 {
    placed["item"]["minimumBid"].as_i64().unwrap_or(amount * 2)
}

/// A stream of server-sent events. Dropping it ends the client.
struct Stream {
    curl: Child,
    lines: Receiver<String>,
}

impl Stream {
    fn open(mut curl: Command) -> Result<Self, RigError> {
        let mut curl = curl.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let output = curl.stdout.take().ok_or("curl has no output")?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { curl, lines })
    }

    fn wait_for(&self, wanted: &str) -> Result<(), RigError> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line == wanted => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(format!("the stream has no {wanted:?}: {error}").into()),
            }
        }
    }

    /// Forgets what has arrived.
    fn drain(&self) {
        while self.lines.try_recv().is_ok() {}
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.curl.kill();
        let _ = self.curl.wait();
    }
}
