//! A delivery provider with scripted responses, which shows the messages that were posted. The platform can't distinguish it
//! from a real one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::sync::Notify;

use crate::http_server;
use crate::support::WAIT_MAX;

/// A scripted response.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    Status(u16),
    /// 429 with `Retry-After` in seconds.
    RetryAfter(u64),
    /// 202 after this time.
    Late(Duration),
    /// Closes the connection without a response.
    Close,
}

/// A message that the platform posted.
#[derive(Debug, Clone)]
pub struct Posted {
    pub event_id: String,
    pub idempotency_key: String,
    pub authorization: String,
    pub at: Instant,
    /// Whether the response is 202 or 409.
    pub accepted: bool,
}

#[derive(Default)]
struct State {
    script: VecDeque<Answer>,
    otherwise: Option<Answer>,
    posted: Vec<Posted>,
    /// The messages as they were posted.
    messages: Vec<Value>,
    /// Event ids of the messages that were read.
    read: Vec<String>,
}

/// The running provider. Clones share its state.
#[derive(Clone)]
pub struct FakeProvider {
    state: Arc<Mutex<State>>,
    changed: Arc<Notify>,
    pub url: String,
}

impl FakeProvider {
    pub async fn start() -> Self {
        let mut fake = FakeProvider { state: Arc::default(), changed: Arc::default(), url: String::new() };
        let responder = fake.clone();
        fake.url = http_server::serve(move |request| {
            let responder = responder.clone();
            async move { responder.answer(request).await }
        })
        .await;
        fake
    }

    /// Answers the next messages with these responses, in order, and accepts later ones.
    pub fn script(&self, answers: &[Answer]) {
        self.state.lock().unwrap().script = answers.iter().copied().collect();
    }

    /// Answers every message with this response from now on; `None` accepts.
    pub fn always(&self, answer: Option<Answer>) {
        self.state.lock().unwrap().otherwise = answer;
    }

    /// Event ids of the messages that the platform has read.
    pub fn read(&self) -> Vec<String> {
        self.state.lock().unwrap().read.clone()
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.state.lock().unwrap().posted.clone()
    }

    pub fn accepted(&self) -> Vec<Posted> {
        self.posted().into_iter().filter(|posted| posted.accepted).collect()
    }

    /// Waits until `is_reached` holds for the posted messages.
    pub async fn wait_until(&self, is_reached: impl Fn(&Self) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if is_reached(self) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(WAIT_MAX, wait).await.unwrap_or_else(|_| panic!("{:#?}", self.posted()));
    }

    /// The message that was posted first with this event id.
    fn message(&self, event_id: &str) -> Response<Full<Bytes>> {
        let mut state = self.state.lock().unwrap();
        state.read.push(event_id.to_owned());
        match state.messages.iter().find(|message| message["eventId"] == event_id) {
            Some(message) => Response::new(Full::new(message.to_string().into())),
            None => response(StatusCode::NOT_FOUND),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, std::io::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap_or_default().to_bytes();
        let path = head.uri.path().to_owned();
        let header =
            |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        if !path.contains("/msg") {
            // The test of the credentials.
            return Ok(response(StatusCode::OK));
        }
        if head.method == Method::GET {
            return Ok(self.message(path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()));
        }
        let answer = {
            let mut state = self.state.lock().unwrap();
            let otherwise = state.otherwise;
            let answer = state.script.pop_front().or(otherwise).unwrap_or(Answer::Status(202));
            let message: Value = serde_json::from_slice(&body).unwrap();
            state.messages.push(message.clone());
            state.posted.push(Posted {
                event_id: message["eventId"].as_str().unwrap().to_owned(),
                idempotency_key: header("idempotency-key"),
                authorization: header("authorization"),
                at: Instant::now(),
                accepted: matches!(answer, Answer::Status(202 | 409) | Answer::Late(_)),
            });
            answer
        };
        self.changed.notify_waiters();
        match answer {
            Answer::Status(status) => Ok(response(StatusCode::from_u16(status).unwrap())),
            Answer::RetryAfter(seconds) => {
                let mut response = response(StatusCode::TOO_MANY_REQUESTS);
                response.headers_mut().insert("retry-after", seconds.into());
                Ok(response)
            }
            Answer::Late(time) => {
                tokio::time::sleep(time).await;
                Ok(response(StatusCode::ACCEPTED))
            }
            Answer::Close => Err(std::io::Error::other("closed on purpose")),
        }
    }
}

fn response(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(br#"{"code":"scripted","detail":"as scripted"}"#)));
    *response.status_mut() = status;
    response
}
