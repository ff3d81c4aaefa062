//! Two nodes on one store, which send alerts to a real SMTP server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kit_mail::Mailer;
use kit_outbound::{Exchange, Request, TransportError};
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::SystemRandom;
use kit_runtime::vault::{Key, Vault};
use provider_core::dispatcher::{ExchangeFuture, Transport};
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, Endpoint};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use provider_core::{
    ApplicationInput, Caller, Cause, Created, EndpointInput, FailureDetail, IfExists, Provider, ProviderConfig,
    ProviderError, ProviderParts, ids,
};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::given::*;

pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// Nothing is delivered in these stories.
pub(super) struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: Request) -> ExchangeFuture<'_> {
        Box::pin(async { Exchange::untimed(Err(TransportError::Stale)) })
    }
}

/// A mail server that takes every mail, unless it is busy.
pub(super) struct MailServer {
    pub(super) url: String,
    pub(super) received: mpsc::UnboundedReceiver<String>,
    pub(super) is_busy: Arc<AtomicBool>,
}

impl MailServer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let (sender, received) = mpsc::unbounded_channel();
        let is_busy = Arc::new(AtomicBool::new(false));
        let busy = Arc::clone(&is_busy);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, sender.clone(), Arc::clone(&busy)));
            }
        });
        Self { url, received, is_busy }
    }

    /// The only mail that arrived since the last call.
    pub(super) fn only(&mut self) -> String {
        let mail = self.received.try_recv().expect("no mail arrived");
        assert!(self.received.try_recv().is_err(), "more than one mail arrived");
        mail
    }

    pub(super) fn is_quiet(&mut self) -> bool {
        self.received.try_recv().is_err()
    }
}

/// One SMTP session (RFC 5321).
async fn converse(stream: TcpStream, mails: mpsc::UnboundedSender<String>, is_busy: Arc<AtomicBool>) {
    let (read, mut write) = stream.into_split();
    let (mut lines, mut to) = (BufReader::new(read).lines(), String::new());
    write.write_all(b"220 test\r\n").await.unwrap();
    while let Ok(Some(line)) = lines.next_line().await {
        let answer: &[u8] = match line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "EHLO" => b"250-test\r\n250 8BITMIME\r\n",
            "MAIL" if is_busy.load(Ordering::SeqCst) => b"451 busy\r\n",
            "RCPT" => {
                to = line;
                b"250 ok\r\n"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.unwrap();
                let mut mail = format!("{to}\n");
                while let Ok(Some(line)) = lines.next_line().await {
                    if line == "." {
                        break;
                    }
                    // Dots are doubled (RFC 5321), long lines broken, and equals signs written as codes (RFC 2045).
                    let line = line.strip_prefix('.').unwrap_or(&line);
                    match line.strip_suffix('=') {
                        Some(part) => mail.push_str(part),
                        None => mail.extend([line, "\n"]),
                    }
                }
                let _ = mails.send(mail.replace("=3D", "="));
                b"250 taken\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        if write.write_all(answer).await.is_err() {
            return;
        }
    }
}

/// Two nodes on one store.
pub(super) struct Nodes {
    pub(super) store: Shared,
    pub(super) clock: Arc<TestClock>,
    pub(super) nodes: [Provider; 2],
    pub(super) caller: Caller,
}

impl Nodes {
    pub(super) async fn new(store: Shared, mailer: Option<Mailer>) -> Self {
        let clock = Arc::new(TestClock::new("2026-11-21T06:00:00Z".parse().unwrap()));
        let key = Key::generate(&SystemRandom);
        let vault = Arc::new(Vault::new(vec![(key.id(), key)]).unwrap());
        let node = || {
            Provider::new(ProviderParts {
                store: Arc::clone(&store),
                clock: clock.clone(),
                random: Arc::new(SystemRandom),
                vault: Arc::clone(&vault),
                transport: Arc::new(Nowhere),
                config: ProviderConfig { mailer: mailer.clone(), ..ProviderConfig::default() },
            })
        };
        let nodes = [node(), node()];
        let caller = Caller::operator(&nodes[0].create_account("Customer").await.unwrap());
        let application =
            ApplicationInput { name: "House".into(), uid: Some("a".into()), ..ApplicationInput::default() };
        nodes[0].create_application(&caller, application, IfExists::Refuse, None, |_| String::new()).await.unwrap();
        Self { store, clock, nodes, caller }
    }

    pub(super) async fn endpoint(&self) -> Endpoint {
        let input =
            EndpointInput { url: "https://hooks.example.com/in?token=hidden".into(), ..EndpointInput::default() };
        match self.nodes[0].create_endpoint(&self.caller, "a", input, None, |_| String::new()).await.unwrap() {
            Created::New(endpoint) => endpoint,
            other => panic!("{other:?}"),
        }
    }

    /// An attempt at this moment, with what follows from it.
    pub(super) async fn attempt(&self, endpoint: &Endpoint, code: u16, response: &str, effect: EndpointEffect) {
        self.record(endpoint, code, response, None, effect).await;
    }

    /// An attempt at this moment that got no response.
    pub(super) async fn attempt_without_response(
        &self,
        endpoint: &Endpoint,
        error: TransportError,
        effect: EndpointEffect,
    ) {
        let cause = Cause::of_transport_error(&error, &endpoint.url);
        self.record(endpoint, 0, &error.to_string(), Some(cause), effect).await;
    }

    pub(super) async fn record(
        &self,
        endpoint: &Endpoint,
        code: u16,
        response: &str,
        cause: Option<Cause>,
        effect: EndpointEffect,
    ) {
        self.clock.advance(Duration::from_secs(1));
        let now = self.clock.now();
        let attempt = Attempt {
            id: ids::lowest_id_at(ids::ATTEMPT, now).into(),
            message: ids::lowest_id_at(ids::MESSAGE, now).into(),
            endpoint: endpoint.id.clone(),
            application: endpoint.application.clone(),
            url: endpoint.url.clone(),
            status: if code == 200 { AttemptStatus::Success } else { AttemptStatus::Fail },
            response_status_code: code,
            response: response.to_owned(),
            failure_detail: cause.map(FailureDetail::Transport),
            response_headers: String::new(),
            times: None,
            response_duration_ms: 1,
            trigger: AttemptTrigger::Scheduled,
            at: now,
        };
        let (outcome, notice) = (DeliveryOutcome::Done, AttemptEvent::None);
        let record = AttemptRecord { attempt, outcome, endpoint: effect, notice };
        self.store.record_attempts(vec![record].into(), NO_DELAY).await.unwrap();
    }

    /// A round of both nodes at the same time, and another one.
    pub(super) async fn round(&self) {
        for _ in 0..2 {
            let [first, second] = &self.nodes;
            let (first, second) = tokio::join!(first.send_alerts(), second.send_alerts());
            first.unwrap();
            second.unwrap();
        }
    }

    /// Rounds before and after alerts were collected for a report.
    pub(super) async fn report(&self) {
        self.round().await;
        self.clock.advance(Duration::from_secs(60));
        self.round().await;
    }

    /// The operational events since the last call that are about alerts.
    pub(super) async fn events(&self) -> Vec<Value> {
        let events = self.store.operational_events(100).await.unwrap();
        self.store.delete_operational_events(events.iter().map(|event| event.no).collect()).await.unwrap();
        let payloads = events.iter().map(|event| serde_json::from_slice::<Value>(&event.payload).unwrap());
        let reported = [
            "endpoint.failing",
            "endpoint.disabling",
            "endpoint.disabled",
            "endpoint.disabled_by_failures",
            "endpoint.recovered",
        ];
        payloads.filter(|payload| reported.iter().any(|name| payload["type"] == *name)).collect()
    }

    pub(super) async fn confirm(&self, mails: &mut MailServer, application: Option<&str>, address: &str) {
        let node = &self.nodes[0];
        node.add_alert_recipient(&self.caller, application, address).await.unwrap();
        self.round().await;
        let mail = mails.only();
        let code = mail.split("on the page Alerts: ").nth(1).unwrap().split_whitespace().next().unwrap();
        contains(&mail, &[&format!("/app-portal/alerts/confirm?code={code}")]);
        let wrong = node.confirm_alert_recipient("wrong").await;
        assert!(matches!(wrong, Err(ProviderError::NotFound)));
        // The link and the code may both be used.
        for _ in 0..2 {
            let confirmed = self.nodes[1].confirm_alert_recipient(code).await.unwrap();
            assert_eq!((confirmed.address.as_str(), confirmed.confirmed_at.is_some()), (address, true));
            assert_eq!(confirmed.scope.application.is_some(), application.is_some());
        }
    }
}

#[track_caller]
pub(super) fn contains(mail: &str, parts: &[&str]) {
    for part in parts {
        assert!(mail.contains(part), "{part} is not in {mail}");
    }
}
