//! A provider that answers as it is told: the platform can't tell it from a real one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What to answer.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    Status(u16),
    /// 429 with `Retry-After` in seconds.
    RetryAfter(u64),
    /// The connection is closed without an answer.
    Close,
}

/// A message that was posted.
#[derive(Debug, Clone)]
pub struct Posted {
    pub event_id: String,
    pub idempotency_key: String,
    pub authorization: String,
    pub at: Instant,
    /// Whether it was answered 202 or 409.
    pub accepted: bool,
}

#[derive(Default)]
struct State {
    script: VecDeque<Answer>,
    otherwise: Option<Answer>,
    posted: Vec<Posted>,
}

/// The running fake.
#[derive(Clone)]
pub struct FakeProvider {
    state: Arc<Mutex<State>>,
    changed: Arc<Notify>,
    pub url: String,
}

impl FakeProvider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = FakeProvider { state: Arc::default(), changed: Arc::default(), url };
        tokio::spawn(fake.clone().serve(listener));
        fake
    }

    /// The next messages are answered so, one after the other; later ones are accepted.
    pub fn script(&self, answers: &[Answer]) {
        self.state.lock().unwrap().script = answers.iter().copied().collect();
    }

    /// Every message is answered so from now on; `None` accepts.
    pub fn always(&self, answer: Option<Answer>) {
        self.state.lock().unwrap().otherwise = answer;
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.state.lock().unwrap().posted.clone()
    }

    pub fn accepted(&self) -> Vec<Posted> {
        self.posted().into_iter().filter(|posted| posted.accepted).collect()
    }

    /// Waits until it is so.
    pub async fn wait_until(&self, is_so: impl Fn(&Self) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if is_so(self) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap_or_else(|_| panic!("{:#?}", self.posted()));
    }

    async fn serve(self, listener: TcpListener) {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let fake = self.clone();
            tokio::spawn(async move {
                let service = service_fn(|request| fake.answer(request));
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, std::io::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap_or_default().to_bytes();
        let path = head.uri.path().to_owned();
        let header =
            |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        if !path.contains("/msg") {
            // Support's test of the credentials.
            return Ok(response(StatusCode::OK));
        }
        let answer = {
            let mut state = self.state.lock().unwrap();
            let otherwise = state.otherwise;
            let answer = state.script.pop_front().or(otherwise).unwrap_or(Answer::Status(202));
            let message: Value = serde_json::from_slice(&body).unwrap();
            state.posted.push(Posted {
                event_id: message["eventId"].as_str().unwrap().to_owned(),
                idempotency_key: header("idempotency-key"),
                authorization: header("authorization"),
                at: Instant::now(),
                accepted: matches!(answer, Answer::Status(202 | 409)),
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
            Answer::Close => Err(std::io::Error::other("closed on purpose")),
        }
    }
}

fn response(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(br#"{"code":"scripted","detail":"as told"}"#)));
    *response.status_mut() = status;
    response
}
