//! A provider on a loopback port that shows endpoints, attempts, messages and statistics as a test sets them.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use kit_runtime::clock::{Clock as _, TestClock};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::provider::read;

/// A request: its line, the credentials, and when it arrived by the test's clock.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    pub line: String,
    pub authorization: String,
    pub at: Timestamp,
}

type Answer = dyn Fn(&str) -> (u16, String) + Send + Sync;

#[derive(Clone)]
pub struct EndpointProvider {
    pub url: String,
    clock: TestClock,
    answer: Arc<Mutex<Arc<Answer>>>,
    requests: Arc<Mutex<Vec<ReadRequest>>>,
}

impl EndpointProvider {
    /// Answers each request line, such as `GET /api/v1/app/app_1/endpoint/?limit=51`, with a status and a body.
    pub async fn start(clock: &TestClock, answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            clock: clock.clone(),
            answer: Arc::new(Mutex::new(Arc::new(answer))),
            requests: Arc::default(),
        };
        let served = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(served.clone().serve(stream));
            }
        });
        provider
    }

    /// Answers from now on like this.
    pub fn set(&self, answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) {
        *self.answer.lock().unwrap() = Arc::new(answer);
    }

    /// The requests since the last call.
    pub fn take_requests(&self) -> Vec<ReadRequest> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    async fn serve(self, mut stream: TcpStream) {
        let (reading, mut writing) = stream.split();
        let mut reading = BufReader::new(reading);
        while let Some(request) = read(&mut reading).await {
            let answer = Arc::clone(&self.answer.lock().unwrap());
            let (status, body) = answer(&request.line);
            let at = self.clock.now();
            let seen = ReadRequest { line: request.line, authorization: request.authorization, at };
            self.requests.lock().unwrap().push(seen);
            let retry_after = if status == 429 { "retry-after: 900\r\n" } else { "" };
            let head = format!("HTTP/1.1 {status} X\r\n{retry_after}content-length: {}\r\n\r\n", body.len());
            writing.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        }
    }
}

/// A page of a list that is complete.
pub fn list(data: Vec<Value>) -> (u16, String) {
    (200, json!({"data": data, "iterator": null, "prevIterator": null, "done": true}).to_string())
}

pub fn endpoint(id: &str, is_disabled: bool) -> Value {
    json!({
        "id": id, "url": format!("https://{}.example.com/hook/secret", id.replace('_', "-")), "description": "",
        "disabled": is_disabled, "metadata": {}, "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
    })
}

/// An attempt that a receiver answered with this status code.
pub fn attempt(status_code: u16, at: &str) -> Value {
    let status = if (200..300).contains(&status_code) { 0 } else { 2 };
    json!({
        "status": status, "responseStatusCode": status_code, "timestamp": at, "response": "{}", "responseDurationMs": 7,
        "id": "atmpt_1", "msgId": "msg_1", "endpointId": "ep_1", "url": "https://example.com", "triggerType": 0,
    })
}

/// A message at an endpoint.
pub fn message(event_id: &str, status: u8, next_attempt: Option<&str>) -> Value {
    json!({
        "id": "msg_1", "eventId": event_id, "eventType": "ITEM_STATUS_CHANGE", "payload": {}, "status": status,
        "nextAttempt": next_attempt, "timestamp": "2026-01-01T00:00:00Z",
    })
}

pub fn stats(success: u64, fail: u64, sending: u64) -> (u16, String) {
    (200, json!({"success": success, "fail": fail, "pending": 0, "sending": sending, "canceled": 0}).to_string())
}
