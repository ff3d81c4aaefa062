//! Notifications between nodes: this node sends its changes, and reads the changes of the others from the store.
//!
//! A notice names auctions and items, not what they have become: tokens with commas between, each `<auction>` (the
//! auction itself), `<auction>:<item>`, `<auction>:*` (it and all of its items) or `*` (anything).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kit_runtime::signal::Signal;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Live;
use super::channel::LiveUpdate;
use crate::Platform;
use crate::port::{NOTIFICATION_BYTES_MAX, Notification};

/// Items of an auction named one by one in a round; with more, all are meant.
const ITEMS_NAMED_MAX: usize = 100;
/// Auctions named in a round; with more, anything may have changed.
const AUCTIONS_NAMED_MAX: usize = 500;
/// Pause after a notice could not be given.
const FAILED_PAUSE: Duration = Duration::from_secs(1);

/// What has not been told yet.
#[derive(Default)]
pub(super) struct NoticeQueue {
    pending: Mutex<PendingNotices>,
    more: Signal,
}

#[derive(Default)]
struct PendingNotices {
    auctions: HashMap<Uuid, ChangedAuction>,
    anything: bool,
}

#[derive(Default)]
struct ChangedAuction {
    auction: bool,
    items: BTreeSet<Uuid>,
    all: bool,
}

impl NoticeQueue {
    /// An auction, or an item of it, changed.
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
        self.more.notify();
    }

    fn lock(&self) -> MutexGuard<'_, PendingNotices> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notices about all that was not told yet.
    fn take(&self) -> Vec<String> {
        let pending = std::mem::take(&mut *self.lock());
        if pending.anything {
            return vec!["*".to_owned()];
        }
        let mut notices = vec![String::new()];
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
                match notices.last_mut() {
                    Some(last) if last.len() + token.len() < NOTIFICATION_BYTES_MAX => {
                        if !last.is_empty() {
                            last.push(',');
                        }
                        last.push_str(&token);
                    }
                    _ => notices.push(token),
                }
            }
        }
        notices.retain(|notice| !notice.is_empty());
        notices
    }
}

impl Live {
    /// Looks up what another node says has changed.
    fn apply_notice(&self, notice: &str) {
        for token in notice.split(',') {
            let (auction, what) = token.split_once(':').map_or((token, None), |(auction, what)| (auction, Some(what)));
            let update = match what {
                None => Some(LiveUpdate::Reload(None)),
                Some("*") => None,
                Some(item) => Uuid::try_parse(item).ok().map(|item| LiveUpdate::Reload(Some(item))),
            };
            match (Uuid::try_parse(auction), update) {
                (Ok(auction), Some(update)) => drop(self.channel(auction).map(|channel| channel.send(update))),
                (Ok(auction), None) => drop(self.channel(auction).map(|channel| channel.reload_all())),
                // `*`, or something that a newer version says.
                (Err(_), _) => self.reload_all_channels(),
            }
        }
    }

    fn reload_all_channels(&self) {
        self.channels().iter().for_each(|channel| channel.reload_all());
    }
}

impl Platform {
    /// Starts telling and hearing, if there can be other nodes, and ends the streams at the end.
    pub(crate) fn spawn_live(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("telling other nodes of changes", move |stopping| {
            let platform = platform.clone();
            async move { platform.send_notices(stopping).await }
        });
        let platform = self.clone();
        tasks.spawn("hearing of changes at other nodes", move |stopping| {
            let platform = platform.clone();
            async move { platform.receive_notices(stopping).await }
        });
    }

    async fn send_notices(&self, stopping: CancellationToken) {
        let Some(notices_out) = &self.live().shared.notices_out else { return };
        while !stopping.is_cancelled() {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = notices_out.more.wait() => {}
            }
            let mut pause = self.config().live.tell_every;
            for notice in notices_out.take() {
                if let Err(error) = self.store().broadcast(&notice).await {
                    tracing::warn!(%error, "a notification to other nodes failed; later changes are sent again");
                    notices_out.lock().anything = true;
                    notices_out.more.notify();
                    pause = FAILED_PAUSE;
                }
            }
            tokio::select! {
                () = stopping.cancelled() => {}
                () = kit_runtime::backoff::pause(pause) => {}
            }
        }
    }

    async fn receive_notices(&self, stopping: CancellationToken) {
        let live = self.live();
        if let Some(mut notices) = self.store().notifications() {
            loop {
                tokio::select! {
                    () = stopping.cancelled() => break,
                    heard = notices.next() => match heard {
                        Some(Notification::Message(notice)) => live.apply_notice(&notice),
                        Some(Notification::Gap) => live.reload_all_channels(),
                        None => break,
                    },
                }
            }
        }
        stopping.cancelled().await;
        live.shared.stopping.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_often_is_told_once_and_what_is_much_is_told_as_a_whole() {
        let (auction, item) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let notices_out = NoticeQueue::default();
        for _ in 0..3 {
            notices_out.add(auction, Some(item));
        }
        notices_out.add(auction, None);
        let named = format!("{0},{0}:{1}", auction.simple(), item.simple());
        assert_eq!(notices_out.take(), [named]);
        assert!(notices_out.take().is_empty());

        for number in 0..1_000 {
            notices_out.add(auction, Some(Uuid::from_u128(number)));
        }
        assert_eq!(notices_out.take(), [format!("{}:*", auction.simple())]);

        for number in 0..AUCTIONS_NAMED_MAX as u128 {
            notices_out.add(Uuid::from_u128(number), Some(item));
        }
        let notices = notices_out.take();
        assert!(notices.len() > 1 && notices.iter().all(|notice| notice.len() <= NOTIFICATION_BYTES_MAX));
        assert_eq!(notices.iter().flat_map(|notice| notice.split(',')).count(), AUCTIONS_NAMED_MAX);
        for number in 0..=AUCTIONS_NAMED_MAX as u128 {
            notices_out.add(Uuid::from_u128(number), Some(item));
        }
        assert_eq!(notices_out.take(), ["*"]);
    }
}
