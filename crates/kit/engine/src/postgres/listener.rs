//! Hears what other processes tell of a schema: one connection that listens, and connects again when it breaks.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kit_runtime::signal::Signal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Connection};

use super::connector::Connector;
use crate::EngineError;

/// Time between two tries to connect.
const RECONNECT_EVERY: Duration = Duration::from_secs(1);

/// Notices that a reader may be behind before it is told of a gap.
const NOTICES_MAX: usize = 1_024;

/// Notices of other processes; `None` where some may have been missed.
type Notices = broadcast::Sender<Option<Arc<str>>>;

/// A task that listens, until this is dropped.
pub(super) struct Listener {
    channel: String,
    signal: Signal,
    notices: Notices,
    task: JoinHandle<()>,
}

impl Listener {
    /// Answers when it listens. What `sender` says is not heard: it is this process.
    pub(super) async fn start(connector: Connector, schema: &str, sender: String) -> Result<Self, EngineError> {
        let channel = format!("lotwire_{schema}");
        let signal = Signal::new();
        let (listens, first) = oneshot::channel();
        let notices = broadcast::channel(NOTICES_MAX).0;
        let ears = ListenTask {
            connector,
            channel: channel.clone(),
            sender,
            signal: signal.clone(),
            notices: notices.clone(),
        };
        let task = tokio::spawn(ears.listen_always(listens));
        let listener = Self { channel, signal, notices, task };
        first.await.map_err(|_| EngineError::Closed)??;
        Ok(listener)
    }

    pub(super) fn channel(&self) -> &str {
        &self.channel
    }

    /// The channel of notices, which say what they are about.
    pub(super) fn notice_channel(&self) -> String {
        notice_channel(&self.channel)
    }

    pub(super) fn notifications(&self) -> broadcast::Receiver<Option<Arc<str>>> {
        self.notices.subscribe()
    }

    pub(super) fn signal(&self) -> Signal {
        self.signal.clone()
    }
}

fn notice_channel(channel: &str) -> String {
    format!("{channel}_notices")
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct ListenTask {
    connector: Connector,
    channel: String,
    sender: String,
    signal: Signal,
    notices: Notices,
}

/// Tells of the first success or failure.
type ReadySender = Option<oneshot::Sender<Result<(), EngineError>>>;

impl ListenTask {
    async fn listen_always(self, first: oneshot::Sender<Result<(), EngineError>>) {
        let mut first = Some(first);
        loop {
            let ended = self.listen(&mut first).await;
            if let Some(first) = first.take() {
                // Nobody waits for it when opening was given up.
                let _ = first.send(ended);
                return;
            }
            if let Err(error) = ended {
                tracing::warn!(%error, channel = self.channel, "the connection that hears other nodes broke");
            }
            tokio::time::sleep(RECONNECT_EVERY).await;
        }
    }

    /// Listens until the connection ends.
    async fn listen(&self, first: &mut ReadySender) -> Result<(), EngineError> {
        let (client, connection) = self.connector.connect().await?;
        let mut messages = pin!(self.receive_notifications(connection));
        let listen = format!("LISTEN {0}; LISTEN {1}", self.channel, notice_channel(&self.channel));
        tokio::select! {
            ended = &mut messages => return ended,
            listens = client.batch_execute(&listen) => listens?,
        }
        match first.take() {
            Some(first) => drop(first.send(Ok(()))),
            // What was told meanwhile was not heard.
            None => {
                self.signal.notify();
                let _ = self.notices.send(None);
            }
        }
        // The client is kept: the connection ends with it.
        let ended = messages.await;
        drop(client);
        ended
    }

    async fn receive_notifications<S, T>(&self, mut connection: Connection<S, T>) -> Result<(), EngineError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        T: AsyncRead + AsyncWrite + Unpin,
    {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            let AsyncMessage::Notification(told) = message? else { continue };
            if told.channel() == self.channel && told.payload() != self.sender {
                self.signal.notify();
            }
            // Only a notice has a blank in it.
            if let Some((sender, notice)) = told.payload().split_once(' ')
                && sender != self.sender
            {
                // Nobody may be reading.
                let _ = self.notices.send(Some(notice.into()));
            }
        }
        Ok(())
    }
}
