//! Runs `lotwire listen`: a receiver on this machine that adds itself to an application as an endpoint.
//!
//! The endpoint's uid names the host and the port of the listener. The kernel gives a port to one process only, so an
//! endpoint whose port is free belongs to a listener that was killed, and the next start removes it.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use consumer::{VerificationError, Verifier};
use contract::event::{Event, EventType};
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Method, StatusCode, Uri};
use kit_outbound::{AddressPolicy, Client, ClientConfig, Destination, Request};
use kit_runtime::clock::{Clock as _, SharedClock, SystemClock};
use kit_runtime::random::{Random as _, SystemRandom};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::application_client::{ApplicationClient, KnownEndpoint, NewEndpoint, UnansweredAttempt};
use super::{hint, print, subnet_remedy};
use crate::cli::ListenCommand;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node;

/// Deadline of a forwarded event; a provider waits for 30 seconds by default.
const FORWARD_DEADLINE: Duration = Duration::from_secs(25);
const FORWARD_RESPONSE_BYTES_MAX: usize = 64 * 1024;
const SECRET_BYTES: usize = 32;
/// Characters of a body that one line shows.
const SUMMARY_CHARS_MAX: usize = 200;
/// Headers that belong to one connection. The forwarding client sets its own.
const CONNECTION_HEADERS: [&str; 10] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "keep-alive",
    "accept-encoding",
];

/// Time between two looks for attempts that did not reach the listener.
const UNANSWERED_CHECK_INTERVAL: Duration = Duration::from_secs(2);

struct Listener {
    client: ApplicationClient,
    clock: SharedClock,
    verifier: Verifier,
    forward: Option<(Client, Destination)>,
    as_json: bool,
    received: AtomicU64,
    count: Option<u64>,
    done: CancellationToken,
}

pub(super) async fn run(config: &Config, options: &ListenCommand) -> Result<ExitCode, CommandError> {
    let shutdown_signal = node::shutdown_signal()?;
    let begun_at = SystemClock.now();
    let forward = options.forward.as_deref().map(forward_to).transpose()?;
    let client = ApplicationClient::open(config, &options.target).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await.context(format!(
        "listening on 127.0.0.1:{} (if another listener uses the port, choose one with --port)",
        options.port
    ))?;
    let addr = listener.local_addr().context("reading the address of the listening socket")?;
    let url = options.endpoint_url.clone().unwrap_or_else(|| format!("http://{addr}/"));
    if let Some((_, to)) = &forward {
        refuse_loop(to, addr, &url).await?;
    }
    let uid_prefix = format!("lotwire-listen-{}-", host_name());
    remove_leftovers(&client, &uid_prefix, addr.port()).await?;

    let mut key = [0; SECRET_BYTES];
    SystemRandom.fill(&mut key);
    let secret = format!("whsec_{}", Verifier::encode_key(&key));
    let state = Arc::new(Listener {
        client,
        clock: Arc::new(SystemClock),
        verifier: Verifier::new(&secret).context("the signing secret")?,
        forward,
        as_json: options.json,
        received: AtomicU64::new(0),
        count: options.count,
        done: CancellationToken::new(),
    });
    let routes = Router::new().route("/", post(receive)).route("/{*path}", post(receive)).with_state(state.clone());
    let stop = CancellationToken::new();
    let server = tokio::spawn({
        let (surface, stop) = (kit_http::finish(routes), stop.clone());
        async move {
            kit_http::serve::serve(listener, surface, stop.cancelled_owned(), kit_http::serve::Limits::default()).await;
        }
    });
    let client = &state.client;
    let endpoint = client
        .create_endpoint(NewEndpoint {
            url: url.clone(),
            uid: format!("{uid_prefix}{}", addr.port()),
            description: format!("lotwire listen on {}", host_name()),
            event_types: options.event_types.clone(),
            secret,
        })
        .await?;
    // On a busy machine the endpoint may exist later than the first event that its user waits for.
    if let Err(error) = client.send_missing(&endpoint, begun_at).await {
        hint(&format!("Events of the last moments may be missing: {error}"));
    }
    let types = options.event_types.as_ref().map_or_else(|| "all event types".to_owned(), |types| types.join(", "));
    hint(&format!(
        "Listening as endpoint {endpoint} of {} at {url} for {types}. Press Ctrl-C to stop; the endpoint is then removed.",
        client.application()
    ));
    tokio::select! {
        _ = shutdown_signal => {}
        () = state.done.cancelled() => {}
        () = report_unanswered(client, &endpoint, config) => {}
    }
    // The endpoint goes first: the provider then starts no delivery to a closed port.
    let removed = client.delete_endpoint(&endpoint).await;
    stop.cancel();
    let _ = server.await;
    removed?;
    let received = state.received.load(Ordering::Relaxed);
    hint(&format!("{} received. Endpoint {endpoint} is removed.", super::pluralise(received, "event", "events")));
    Ok(ExitCode::SUCCESS)
}

fn forward_to(url: &str) -> Result<(Client, Destination), CommandError> {
    let is_http = url.starts_with("http://") || url.starts_with("https://");
    let to: Result<Destination, _> = url.parse();
    let to = to.ok().filter(|_| is_http).ok_or_else(|| {
        CommandError::new(format!("--forward {url} is not an address: write it such as http://127.0.0.1:3000/hooks"))
    })?;
    Ok((Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() }), to))
}

/// Refuses to forward events to the listener itself, at the address of its socket or at the URL of its endpoint.
async fn refuse_loop(to: &Destination, own: SocketAddr, endpoint_url: &str) -> Result<(), CommandError> {
    let origin = |uri: &Uri| {
        let usual_port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        (uri.host().unwrap_or_default().to_lowercase(), uri.port_u16().unwrap_or(usual_port))
    };
    let (host, port) = origin(to.uri());
    let is_endpoint = endpoint_url.parse().is_ok_and(|url| origin(&url) == (host.clone(), port));
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_own = port == own.port()
        && tokio::net::lookup_host((bare, port))
            .await
            .is_ok_and(|mut found| found.any(|found| found.ip() == own.ip() || found.ip().is_unspecified()));
    if is_endpoint || is_own {
        return Err(CommandError::new(format!(
            "--forward {} is the address of this listener, so each event would return to it. Give the address of your \
             own receiver, or choose another port for the listener with --port",
            to.uri()
        )));
    }
    Ok(())
}

/// Removes endpoints of listeners of this host whose port is free, and the one of `own_port`, which this process has.
async fn remove_leftovers(client: &ApplicationClient, uid_prefix: &str, own_port: u16) -> Result<(), CommandError> {
    for KnownEndpoint { id, uid } in client.endpoints().await? {
        let uid = uid.unwrap_or_default();
        let Some(port) = uid.strip_prefix(uid_prefix).and_then(|port| port.parse::<u16>().ok()) else { continue };
        if port == own_port || TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            client.delete_endpoint(&id).await?;
            hint(&format!("Endpoint {id} of an earlier listener that was killed is removed."));
        }
    }
    Ok(())
}

/// The host's name, limited to characters that a uid may have.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    if name.is_empty() { "host".to_owned() } else { name }
}

async fn receive(State(listener): State<Arc<Listener>>, headers: HeaderMap, body: Bytes) -> Response {
    let at = listener.clock.now();
    let id = match verify(&listener.verifier, &headers, &body, at.as_second()) {
        Ok(id) => id.to_owned(),
        Err(error) => {
            listener.show(at, None, &body, &format!("refused: {error}"), json!({ "verified": false }));
            return (StatusCode::UNAUTHORIZED, error.to_string()).into_response();
        }
    };
    let event_type = listener.client.event_type(&id).await;
    let received = Some((&*id, event_type.as_deref()));
    let Some((client, to)) = &listener.forward else {
        listener.show(at, received, &body, "", json!({ "verified": true }));
        listener.count_event();
        return StatusCode::NO_CONTENT.into_response();
    };
    let mut kept = headers;
    CONNECTION_HEADERS.iter().for_each(|name| _ = kept.remove(*name));
    let request = Request {
        method: Method::POST,
        to: to.clone(),
        headers: kept.into(),
        body: body.clone(),
        deadline: FORWARD_DEADLINE,
        response_bytes_max: FORWARD_RESPONSE_BYTES_MAX,
    };
    match client.send_fresh(request, Duration::ZERO).await.outcome {
        Ok(response) => {
            let status = response.status.as_u16();
            listener.show(
                at,
                received,
                &body,
                &format!("forwarded: {status}"),
                json!({ "verified": true, "forwardStatus": status }),
            );
            if response.status.is_success() {
                listener.count_event();
            }
            let mut answer = (response.status, response.body).into_response();
            if let Some(retry_after) = response.headers.get(RETRY_AFTER) {
                answer.headers_mut().insert(RETRY_AFTER, retry_after.clone());
            }
            answer
        }
        Err(error) => {
            let error = error.to_string();
            let shown = json!({ "verified": true, "forwardError": error });
            listener.show(at, received, &body, &format!("not forwarded: {error}"), shown);
            (StatusCode::BAD_GATEWAY, error).into_response()
        }
    }
}

/// Verifies a delivery. Returns the id of its message. Providers name the headers `webhook-…` or `svix-…`.
fn verify<'a>(
    verifier: &Verifier,
    headers: &'a HeaderMap,
    body: &[u8],
    now: i64,
) -> Result<&'a str, VerificationError> {
    let header = |name: &str| {
        let value = headers.get(format!("webhook-{name}")).or_else(|| headers.get(format!("svix-{name}")));
        value.and_then(|value| value.to_str().ok()).ok_or(VerificationError::Headers)
    };
    let id = header("id")?;
    verifier.verify(id, header("timestamp")?, header("signature")?, body, now)?;
    Ok(id)
}

impl Listener {
    fn count_event(&self) {
        let received = self.received.fetch_add(1, Ordering::Relaxed) + 1;
        if self.count.is_some_and(|count| received >= count) {
            self.done.cancel();
        }
    }

    /// Prints a delivery. `received` has the id and the event type of its message; none if its signature is not valid.
    fn show(
        &self,
        at: jiff::Timestamp,
        received: Option<(&str, Option<&str>)>,
        body: &[u8],
        note: &str,
        mut fields: Value,
    ) {
        if self.as_json {
            fields["at"] = json!(kit_runtime::clock::rfc3339_ms(at));
            fields["id"] = json!(received.map(|(id, _)| id));
            fields["type"] = json!(received.and_then(|(_, event_type)| event_type));
            fields["event"] = serde_json::from_slice(body).unwrap_or(Value::Null);
            print(&fields.to_string());
            return;
        }
        let time = at.strftime("%H:%M:%S%.3fZ");
        let note = if note.is_empty() { String::new() } else { format!("  {note}") };
        let Some((id, event_type)) = received else {
            return print(&format!("{time}  a delivery without a valid signature{note}"));
        };
        let event_type = event_type.unwrap_or("unknown type");
        print(&format!("{time}  {event_type:<21}  {id}  {}{note}", summary(event_type, body)));
    }
}

/// The content of an event on one line: status and UUIDs of an event of the platform, otherwise the beginning of the body.
fn summary(event_type: &str, body: &[u8]) -> String {
    let known = EventType::ALL.iter().find(|known| known.name() == event_type);
    let event = known.and_then(|known| Event::parse(*known, std::str::from_utf8(body).ok()?).ok());
    match event {
        Some(event) if event.event_type() == EventType::ItemStatusChange => {
            format!("{:<14}  item {}  auction {}", event.status_name(), event.subject(), event.auction())
        }
        Some(event) => format!("{:<14}  auction {}", event.status_name(), event.auction()),
        None => {
            let text: String = String::from_utf8_lossy(body).chars().take(SUMMARY_CHARS_MAX).collect();
            text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
        }
    }
}

/// Prints each attempt at the listener that received no response, such as one that the provider may not send to this
/// machine. Does not return.
async fn report_unanswered(client: &ApplicationClient, endpoint: &str, config: &Config) {
    let mut reported = HashSet::new();
    let mut interval = tokio::time::interval(UNANSWERED_CHECK_INTERVAL);
    loop {
        interval.tick().await;
        // The provider may be unavailable for a time; the next look finds the same attempts.
        let attempts = client.unanswered_attempts(endpoint).await.unwrap_or_default();
        for attempt in attempts.into_iter().rev() {
            if !reported.insert(attempt.id) {
                continue;
            }
            let UnansweredAttempt { message, reason, is_private_address, .. } = attempt;
            let event_type = client.event_type(&message).await.unwrap_or_default();
            let remedy = if is_private_address {
                format!(" {}.", subnet_remedy(&config.provider.allow_subnets))
            } else {
                String::new()
            };
            hint(&format!("{event_type} {message} did not arrive here: {reason}{remedy}"));
        }
    }
}
