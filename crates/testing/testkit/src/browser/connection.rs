//! The pipe to the browser: commands with their responses, and events.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Time limit for a command, after which the browser counts as hung. The longest command checks the 26,000 elements of an API
/// reference on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(300);
/// Maximum number of stored events. The first ones are enough to find the fault of a page that emits more.
const EVENTS_MAX: usize = 10_000;

/// Why the browser failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}")]
pub struct BrowserError {
    what: String,
    why: String,
}

impl BrowserError {
    /// `what` failed because of `why`.
    pub fn new(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        BrowserError { what: what.into(), why: why.to_string() }
    }
}

/// A handle to the pipe. Clones share the pipe.
#[derive(Clone)]
pub(super) struct Connection {
    /// None after [`Connection::close`].
    input: Arc<Mutex<Option<ChildStdin>>>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Value>>,
    events: Vec<Value>,
    is_closed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    pub(super) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let reader = shared.clone();
        std::thread::spawn(move || read(output, &reader));
        Connection { input: Arc::new(Mutex::new(Some(input))), shared }
    }

    /// Sends a command to a page's session or to the browser. Returns the result.
    pub(super) async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, BrowserError> {
        let failed = |why: &dyn std::fmt::Display| BrowserError::new(method, why);
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut shared = lock(&self.shared);
            if shared.is_closed {
                return Err(failed(&"the browser has ended"));
            }
            shared.last_id += 1;
            let id = shared.last_id;
            shared.waiting.insert(id, answer);
            id
        };
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        let mut text = command.to_string().into_bytes();
        text.push(0);
        match &mut *lock(&self.input) {
            Some(input) => input.write_all(&text).map_err(|error| failed(&error))?,
            None => return Err(failed(&"the pipe is closed")),
        }
        let answer = tokio::time::timeout(ANSWER_MAX, answered).await.map_err(|_| failed(&"it took too long"))?;
        let mut answer = answer.map_err(|_| failed(&"the browser has ended"))?;
        match answer.get("error") {
            Some(error) => Err(failed(error)),
            None => Ok(answer["result"].take()),
        }
    }

    /// Closes the pipe, which ends the browser.
    pub(super) fn close(&self) {
        lock(&self.input).take();
    }

    /// The events of this name that a page's session has emitted so far.
    pub(super) fn events(&self, session: &str, method: &str) -> Vec<Value> {
        let shared = lock(&self.shared);
        let of = |event: &&Value| event["sessionId"] == session && event["method"] == method;
        shared.events.iter().filter(of).map(|event| event["params"].clone()).collect()
    }
}

/// Reads responses and events until the pipe closes. Closing drops the channels of commands that still wait, which
/// fails them.
fn read(output: ChildStdout, shared: &Mutex<Shared>) {
    let mut output = BufReader::new(output);
    let mut message = Vec::new();
    while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
        message.pop();
        if let Ok(message) = serde_json::from_slice::<Value>(&message) {
            let mut shared = lock(shared);
            match message["id"].as_u64().and_then(|id| shared.waiting.remove(&id)) {
                Some(waiting) => drop(waiting.send(message)),
                None if shared.events.len() < EVENTS_MAX => shared.events.push(message),
                None => {}
            }
        }
        message.clear();
    }
    let mut shared = lock(shared);
    shared.is_closed = true;
    shared.waiting.clear();
}
