//! Receives the notifications of other processes on one connection for each schema, and reconnects when it breaks.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kit_runtime::signal::Signal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_postgres::{AsyncMessage, Connection};

use super::connector::Connector;
use crate::EngineError;

/// Minimum time between the starts of two connections.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of notices that wait for a reader. A reader that lags further behind loses the oldest.
const NOTICES_MAX: usize = 1_024;

/// Notices of other processes. `None` means that notices may have been lost.
type Notices = broadcast::Sender<Option<Arc<str>>>;

/// The task that listens. It ends when this is dropped.
pub(super) struct Listener {
    channel: String,
    signal: Signal,
    notices: Notices,
    task: JoinHandle<()>,
}

impl Listener {
    /// Starts the task and returns when it listens. The task ignores notifications of `sender`, which is this process.
    pub(super) async fn start(connector: Connector, schema: &str, sender: String) -> Result<Self, EngineError> {
        let channel = format!("lotwire_{schema}");
        let signal = Signal::new();
        let (listens, first) = oneshot::channel();
        let notices = broadcast::channel(NOTICES_MAX).0;
        let listen_task = ListenTask {
            connector,
            channel: channel.clone(),
            sender,
            signal: signal.clone(),
            notices: notices.clone(),
        };
        let task = tokio::spawn(listen_task.run(listens));
        let listener = Self { channel, signal, notices, task };
        first.await.map_err(|_| EngineError::Closed)??;
        Ok(listener)
    }

    pub(super) fn channel(&self) -> &str {
        &self.channel
    }

    /// The channel of notices, which have a text as payload.
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

/// Reports whether the first connection listens. `None` after the report.
type ReadySender = Option<oneshot::Sender<Result<(), EngineError>>>;

impl ListenTask {
    async fn run(self, first: oneshot::Sender<Result<(), EngineError>>) {
        let mut first = Some(first);
        let mut reconnect = tokio::time::interval(RECONNECT_INTERVAL);
        reconnect.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            reconnect.tick().await;
            let ended = self.listen(&mut first).await;
            if let Some(first) = first.take() {
                // The send fails if the caller no longer waits for the listener.
                let _ = first.send(ended);
                return;
            }
            if let Err(error) = ended {
                tracing::warn!(%error, channel = self.channel, "the connection for notifications of other nodes \
                broke; it reconnects");
            }
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
            // Notifications that were sent between the two connections are lost.
            None => {
                self.signal.notify();
                let _ = self.notices.send(None);
            }
        }
        // Keep the client until the connection ends: dropping the client would close the connection.
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
            let AsyncMessage::Notification(notification) = message? else { continue };
            if notification.channel() == self.channel && notification.payload() != self.sender {
                self.signal.notify();
            }
            // Only the payload of a notice contains a space.
            if let Some((sender, notice)) = notification.payload().split_once(' ')
                && sender != self.sender
            {
                // The send fails when no reader exists.
                let _ = self.notices.send(Some(notice.into()));
            }
        }
        Ok(())
    }
}
