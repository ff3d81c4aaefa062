//! Notifications between nodes: this node sends its changes, and reads the changes of the others from the store.
//!
//! A notification names changed auctions and items without their states: tokens separated by commas, each `<auction>`
//! (the auction itself), `<auction>:<item>`, `<auction>:*` (the auction and all its items) or `*` (anything).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kit_runtime::signal::Signal;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Live;
use super::channel::LiveUpdate;
use crate::port::{NOTIFICATION_BYTES_MAX, Notification};

/// Items of an auction named one by one; with more, the notification names all items of the auction.
const ITEMS_NAMED_MAX: usize = 100;
/// Auctions named one by one; with more, the notification is `*`.
const AUCTIONS_NAMED_MAX: usize = 500;
/// Pause after a notification could not be sent.
const FAILED_PAUSE: Duration = Duration::from_secs(1);

/// Changes that the other nodes were not notified of yet.
#[derive(Default)]
pub(super) struct OutgoingChanges {
    pending: Mutex<PendingChanges>,
    added: Signal,
}

#[derive(Default)]
struct PendingChanges {
    auctions: HashMap<Uuid, ChangedAuction>,
    anything: bool,
}

#[derive(Default)]
struct ChangedAuction {
    auction: bool,
    items: BTreeSet<Uuid>,
    all: bool,
}

impl OutgoingChanges {
    /// Adds a change of an auction, or of an item of it.
    pub(super) fn add(&self, auction: Uuid, item: Option<Uuid>) {
        let mut pending = self.lock();
        if pending.auctions.len() >= AUCTIONS_NAMED_MAX && !pending.auctions.contains_key(&auction) {
            pending.anything = true;
        }
        if !pending.anything {
            let changed = pending.auctions.entry(auction).or_default();
            match item {
                None => changed.auction = true,
                Some(_) if changed.all => {}
                Some(item) => {
                    changed.items.insert(item);
                    changed.all = changed.items.len() > ITEMS_NAMED_MAX;
                }
            }
        }
        drop(pending);
        self.added.notify();
    }

    fn lock(&self) -> MutexGuard<'_, PendingChanges> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all pending changes as notifications.
    fn take(&self) -> Vec<String> {
        let pending = std::mem::take(&mut *self.lock());
        if pending.anything {
            return vec!["*".to_owned()];
        }
        let mut messages = vec![String::new()];
        for (auction, changed) in pending.auctions {
            let auction = auction.simple();
            let mut tokens = Vec::new();
            if changed.all {
                tokens.push(format!("{auction}:*"));
            } else {
                tokens.extend(changed.auction.then(|| auction.to_string()));
                tokens.extend(changed.items.iter().map(|item| format!("{auction}:{}", item.simple())));
            }
            for token in tokens {
                match messages.last_mut() {
                    Some(last) if last.len() + token.len() < NOTIFICATION_BYTES_MAX => {
                        if !last.is_empty() {
                            last.push(',');
                        }
                        last.push_str(&token);
                    }
                    _ => messages.push(token),
                }
            }
        }
        messages.retain(|message| !message.is_empty());
        messages
    }
}

impl Live {
    /// Makes the channels reload what another node changed.
    fn apply_notification(&self, message: &str) {
        for token in message.split(',') {
            let (auction, what) = token.split_once(':').map_or((token, None), |(auction, what)| (auction, Some(what)));
            let update = match what {
                None => Some(LiveUpdate::Reload(None)),
                Some("*") => None,
                Some(item) => Uuid::try_parse(item).ok().map(|item| LiveUpdate::Reload(Some(item))),
            };
            match (Uuid::try_parse(auction), update) {
                (Ok(auction), Some(update)) => drop(self.channel(auction).map(|channel| channel.send(update))),
                (Ok(auction), None) => drop(self.channel(auction).map(|channel| channel.reload_all())),
                // `*`, or a token of a newer version.
                (Err(_), _) => self.reload_all_channels(),
            }
        }
    }

    fn reload_all_channels(&self) {
        self.channels().iter().for_each(|channel| channel.reload_all());
    }
}

impl Live {
    /// Starts to send and receive notifications, if there can be other nodes. Ends the streams when the process stops.
    pub(crate) fn spawn_workers(&self, tasks: &Tasks) {
        let live = self.clone();
        tasks.spawn("notify other nodes of changes", move |stopping| {
            let live = live.clone();
            async move { live.send_notifications(stopping).await }
        });
        let live = self.clone();
        tasks.spawn("receive changes of other nodes", move |stopping| {
            let live = live.clone();
            async move { live.receive_notifications(stopping).await }
        });
    }

    async fn send_notifications(&self, stopping: CancellationToken) {
        let Some(outgoing) = &self.shared.outgoing else { return };
        while !stopping.is_cancelled() {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = outgoing.added.wait() => {}
            }
            let mut pause = self.shared.config.tell_every;
            for message in outgoing.take() {
                if let Err(error) = self.shared.store.broadcast(&message).await {
                    tracing::warn!(%error, "a notification to other nodes failed; the next one makes them reload everything");
                    outgoing.lock().anything = true;
                    outgoing.added.notify();
                    pause = FAILED_PAUSE;
                }
            }
            tokio::select! {
                () = stopping.cancelled() => {}
                () = kit_runtime::backoff::pause(pause) => {}
            }
        }
    }

    async fn receive_notifications(&self, stopping: CancellationToken) {
        if let Some(mut notifications) = self.shared.store.notifications() {
            loop {
                tokio::select! {
                    () = stopping.cancelled() => break,
                    notification = notifications.next() => match notification {
                        Some(Notification::Message(message)) => self.apply_notification(&message),
                        Some(Notification::Gap) => self.reload_all_channels(),
                        None => break,
                    },
                }
            }
        }
        stopping.cancelled().await;
        self.shared.stopping.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_changes_are_sent_once_and_many_changes_are_summarised() {
        let (auction, item) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let outgoing = OutgoingChanges::default();
        for _ in 0..3 {
            outgoing.add(auction, Some(item));
        }
        outgoing.add(auction, None);
        let named = format!("{0},{0}:{1}", auction.simple(), item.simple());
        assert_eq!(outgoing.take(), [named]);
        assert!(outgoing.take().is_empty());

        for number in 0..1_000 {
            outgoing.add(auction, Some(Uuid::from_u128(number)));
        }
        assert_eq!(outgoing.take(), [format!("{}:*", auction.simple())]);

        for number in 0..AUCTIONS_NAMED_MAX as u128 {
            outgoing.add(Uuid::from_u128(number), Some(item));
        }
        let messages = outgoing.take();
        assert!(messages.len() > 1 && messages.iter().all(|message| message.len() <= NOTIFICATION_BYTES_MAX));
        assert_eq!(messages.iter().flat_map(|message| message.split(',')).count(), AUCTIONS_NAMED_MAX);
        for number in 0..=AUCTIONS_NAMED_MAX as u128 {
            outgoing.add(Uuid::from_u128(number), Some(item));
        }
        assert_eq!(outgoing.take(), ["*"]);
    }
}
