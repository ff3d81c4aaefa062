//! A small provider on a loopback port. It sends the configured replies, records the requests, and shows the messages that
//! were posted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The provider's reaction to a request.
#[derive(Debug, Clone)]
pub enum Reply {
    Status(u16),
    With(u16, &'static str, String),
    /// Waits until this number of requests has arrived, then answers with the status.
    When(usize, u16),
    /// Never answers.
    Hang,
    /// Closes the connection.
    Close,
}

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    pub line: String,
    pub authorization: String,
    pub idempotency_key: String,
    pub ordering_key: String,
    pub body: String,
}

#[derive(Clone)]
pub struct Provider {
    pub url: String,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    otherwise: Arc<Mutex<Reply>>,
    message_replies: Arc<Mutex<VecDeque<Reply>>>,
    messages_read: Arc<Mutex<Vec<String>>>,
    requests: watch::Sender<Vec<ReceivedRequest>>,
    tested: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    /// Answers the first requests with `replies`, and 202 from then on.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            replies: Arc::new(Mutex::new(replies.into_iter().collect())),
            otherwise: Arc::new(Mutex::new(Reply::Status(202))),
            message_replies: Arc::default(),
            messages_read: Arc::default(),
            requests: watch::Sender::new(Vec::new()),
            tested: Arc::default(),
        };
        let served = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(served.clone().serve(stream));
            }
        });
        provider
    }

    /// Sets the reply to requests after `replies` are used up. If it is a status or a body, it also answers credential tests from now on.
    pub fn otherwise(&self, reply: Reply) {
        *self.otherwise.lock().unwrap() = reply;
    }

    /// Answers the next reads of a message with these replies. Later ones show the message as it was posted first.
    pub fn show(&self, replies: impl IntoIterator<Item = Reply>) {
        *self.message_replies.lock().unwrap() = replies.into_iter().collect();
    }

    /// The reads of messages, which are not among `requests`.
    pub fn messages_read(&self) -> Vec<String> {
        self.messages_read.lock().unwrap().clone()
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.borrow().clone()
    }

    /// The credential tests, which are not among `requests`. They are answered with 200 unless `otherwise` has set a reply.
    pub fn credential_tests(&self) -> Vec<String> {
        self.tested.lock().unwrap().clone()
    }

    /// Waits for request number `number`, counted from 1.
    pub async fn request(&self, number: usize) -> ReceivedRequest {
        let mut requests = self.requests.subscribe();
        let arrival = requests.wait_for(|requests| requests.len() >= number);
        let requests = tokio::time::timeout(std::time::Duration::from_secs(20), arrival).await;
        requests.unwrap_or_else(|_| panic!("no request {number}: {:#?}", self.requests())).unwrap()[number - 1].clone()
    }

    fn reply(&self, request: ReceivedRequest) -> Reply {
        let otherwise = self.otherwise.lock().unwrap().clone();
        if let Some((_, event_id)) = request.line.strip_prefix("GET ").and_then(|path| path.split_once("/msg/")) {
            self.messages_read.lock().unwrap().push(request.line.clone());
            let reply = self.message_replies.lock().unwrap().pop_front();
            return reply.unwrap_or_else(|| self.message(event_id.trim_end_matches('/')));
        }
        if request.line.starts_with("GET ") {
            self.tested.lock().unwrap().push(request.line);
            return if matches!(otherwise, Reply::Status(_) | Reply::With(_, "body", _)) {
                otherwise
            } else {
                Reply::Status(200)
            };
        }
        let reply = self.replies.lock().unwrap().pop_front().unwrap_or(otherwise);
        self.requests.send_modify(|requests| requests.push(request));
        reply
    }

    /// The message that was posted first with this event id, with its payload written anew.
    fn message(&self, event_id: &str) -> Reply {
        let requests = self.requests.borrow();
        let messages = requests.iter().filter_map(|request| serde_json::from_str::<Value>(&request.body).ok());
        let Some(mut message) = messages.into_iter().find(|message| message["eventId"] == event_id) else {
            return Reply::Status(404);
        };
        message["id"] = json!("msg_1");
        Reply::With(200, "body", serde_json::to_string_pretty(&message).unwrap())
    }

    async fn serve(self, mut stream: TcpStream) {
        let (reading, mut writing) = stream.split();
        let mut reading = BufReader::new(reading);
        while let Some(request) = read(&mut reading).await {
            let (status, header, body) = match self.reply(request) {
                Reply::Status(status) => (status, "x-none", "{}".to_owned()),
                Reply::With(status, "body", value) => (status, "x-none", value),
                Reply::With(status, header, value) => {
                    let answer = format!("HTTP/1.1 {status} X\r\n{header}: {value}\r\ncontent-length: 0\r\n\r\n");
                    writing.write_all(answer.as_bytes()).await.unwrap();
                    continue;
                }
                Reply::When(count, status) => {
                    self.request(count).await;
                    (status, "x-none", "{}".to_owned())
                }
                Reply::Hang => std::future::pending().await,
                Reply::Close => return,
            };
            let answer = format!("HTTP/1.1 {status} X\r\n{header}: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            writing.write_all(answer.as_bytes()).await.unwrap();
        }
    }
}

pub async fn read(reading: &mut (impl AsyncBufReadExt + Unpin)) -> Option<ReceivedRequest> {
    let mut line = String::new();
    if reading.read_line(&mut line).await.ok()? == 0 {
        return None;
    }
    let mut request = ReceivedRequest {
        line: line.trim().trim_end_matches(" HTTP/1.1").to_owned(),
        authorization: String::new(),
        idempotency_key: String::new(),
        ordering_key: String::new(),
        body: String::new(),
    };
    let mut length = 0;
    loop {
        let mut header = String::new();
        reading.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => request.authorization = value.trim().to_owned(),
            "lotwire-ordering-key" => request.ordering_key = value.trim().to_owned(),
            "idempotency-key" => request.idempotency_key = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reading.read_exact(&mut body).await.ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}
